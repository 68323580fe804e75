//! The unit of randomisation of a rule.

use units::Duration;

/// The unit of randomisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawnUnit {
    /// A connection.
    Connection,
    /// A client network, by this number of bits of IPv4 and of IPv6 addresses.
    Prefix(u8, u8),
    /// A slot of the calendar's time.
    Slot {
        /// The length of a slot.
        length: Duration,
        /// The time of boot, since 1970.
        boot: Duration,
    },
    /// A client network in a slot of the calendar's time.
    PrefixInSlot {
        /// The number of bits of IPv4 addresses.
        v4: u8,
        /// The number of bits of IPv6 addresses.
        v6: u8,
        /// The length of a slot.
        length: Duration,
        /// The time of boot, since 1970.
        boot: Duration,
    },
}

/// The upper and the lower half.
#[expect(clippy::cast_possible_truncation, reason = "the halves of a word")]
pub(crate) fn halves(bits: u128) -> [u64; 2] {
    [(bits >> 64) as u64, bits as u64]
}

/// A mask of the first bits.
fn mask(length: u8) -> [u64; 2] {
    let bits = 128 - u32::from(length.min(128));
    halves(u128::MAX.checked_shl(bits).unwrap_or(0))
}

/// The fields of `struct unit` for a client network. A slot of length zero is none.
fn prefix(v4: u8, v6: u8, slot: u64, boot: u64) -> [u64; 7] {
    let ([a, b], [c, d]) = (mask(96 + v4.min(32)), mask(v6));
    [1, a, b, c, d, slot, boot]
}

impl DrawnUnit {
    /// The inverse of `words`. `None` if the kind is unknown.
    pub(crate) fn of_words(words: [u64; 7]) -> Option<DrawnUnit> {
        let [kind, a, b, c, d, length, boot] = words;
        let bits = |high: u64, low: u64| high.count_ones() + low.count_ones();
        let prefix = || {
            let v4 = bits(a, b).checked_sub(96)?;
            Some((u8::try_from(v4).ok()?, u8::try_from(bits(c, d)).ok()?))
        };
        let (length, boot) = (Duration::from_nanos(length), Duration::from_nanos(boot));
        match kind {
            0 => Some(DrawnUnit::Connection),
            1 => prefix().map(|(v4, v6)| match length {
                Duration::ZERO => DrawnUnit::Prefix(v4, v6),
                length => DrawnUnit::PrefixInSlot {
                    v4,
                    v6,
                    length,
                    boot,
                },
            }),
            2 => Some(DrawnUnit::Slot { length, boot }),
            _ => None,
        }
    }

    /// `struct unit` of `bpf/steer/assign.h`.
    pub fn words(self) -> [u64; 7] {
        match self {
            DrawnUnit::Connection => [0; 7],
            DrawnUnit::Prefix(v4, v6) => prefix(v4, v6, 0, 0),
            DrawnUnit::PrefixInSlot {
                v4,
                v6,
                length,
                boot,
            } => prefix(v4, v6, length.as_nanos(), boot.as_nanos()),
            DrawnUnit::Slot { length, boot } => [2, 0, 0, 0, 0, length.as_nanos(), boot.as_nanos()],
        }
    }
}
