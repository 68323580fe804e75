//! Sequence numbers of 64 bits, which do not wrap.

/// The position of a stream's first number, so that earlier numbers have a position, too.
const ORIGIN: u64 = 1 << 32;

/// The positions of one direction's bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Positions {
    /// A position that was seen recently.
    near: Option<u64>,
}

impl Positions {
    /// The position of a sequence number: the one nearest to the recent position. It becomes the recent position.
    #[inline]
    pub fn of(&mut self, seq: u32) -> u64 {
        let position = self.peek(seq);
        self.near = Some(position);
        position
    }

    /// The position of a sequence number, which may be old and so does not become the recent position.
    #[inline]
    pub fn peek(&self, seq: u32) -> u64 {
        match self.near {
            None => ORIGIN + u64::from(seq),
            Some(near) => {
                let low = u32::try_from(near & u64::from(u32::MAX)).unwrap_or_default();
                let ahead = seq.wrapping_sub(low).cast_signed();
                near.saturating_add_signed(ahead.into())
            }
        }
    }

    /// The position of a sequence number that is beyond `end`, however far. It becomes the recent position.
    pub fn beyond(&mut self, end: u64, seq: u32) -> u64 {
        self.near = Some(end);
        let ahead = self.peek(seq).wrapping_sub(end) & u64::from(u32::MAX);
        let position = end + ahead;
        self.near = Some(position);
        position
    }

    /// True if any number was seen.
    pub fn is_known(&self) -> bool {
        self.near.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::Positions;

    #[test]
    fn numbers_wrap_and_positions_do_not() {
        let mut positions = Positions::default();
        let first = positions.of(u32::MAX - 9);
        assert_eq!(positions.of(0), first + 10);
        assert_eq!(positions.peek(u32::MAX - 9), first);
        assert_eq!(positions.of(1 << 30), first + 10 + (1 << 30));
        assert_eq!(
            positions.beyond(first, u32::MAX - 10),
            first + u64::from(u32::MAX)
        );
    }
}
