//! Sequence numbers that do not wrap.

/// Where the first number of a stream is put, so that what was sent before it has a place too.
const ORIGIN: u64 = 1 << 32;

/// The positions of one direction's bytes: sequence numbers of 64 bits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Positions {
    /// A position that was seen lately.
    near: Option<u64>,
}

impl Positions {
    /// The position of a sequence number: the nearest one to what was seen lately.
    #[inline]
    pub fn of(&mut self, seq: u32) -> u64 {
        let position = self.peek(seq);
        self.near = Some(position);
        position
    }

    /// The same, if the number may be of something old.
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

    /// Whether any was seen.
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
    }
}
