//! The share of packets that the connections of a client network resent.

use std::net::Ipv6Addr;

use units::Ratio;

use crate::drawn_unit::{DrawnUnit, halves};

/// The maximum number of client networks that are remembered. The kernel takes up to 100 bytes for each.
pub const MAX_REMEMBERED_NETWORKS: u32 = 1 << 16;

/// The minimum number of packets of a network for a known share: `KNOWN_PACKETS` of `bpf/steer/resent.h`.
pub const KNOWN_PACKETS: u64 = 1000;

const MILLION: u32 = 1_000_000;

/// The remembered packets of a client network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Resent {
    /// Packets with data of connections that have ended. Old ones count less.
    pub sent: u64,
    /// The number of these that were resent.
    pub resent: u64,
    /// The share that rules see. `None` if it is unknown.
    pub share: Option<Ratio>,
}

impl Resent {
    /// The word of `bpf/steer/resent.h`.
    pub fn of_word(word: u64) -> Resent {
        let sent = word & 0xffff;
        let share = Ratio::new((word >> 32) as u32, MILLION);
        Resent {
            sent,
            resent: word >> 16 & 0xffff,
            share: (sent >= KNOWN_PACKETS).then_some(share),
        }
    }
}

/// The packets with data that a connection resent. The kernel's total also counts SYNs, SYN-ACKs
/// (`tcp_create_openreq_child`) and FINs. If no bytes were resent, it counts only those. The twin in
/// `bpf/steer/resent.h` has the same name.
pub fn resent_with_data(total: u64, bytes: u64, sent: u64) -> u64 {
    if bytes == 0 { 0 } else { total.min(sent) }
}

/// `struct around` of `bpf/steer/memory.h`.
#[cfg_attr(
    not(any(test, feature = "load")),
    expect(dead_code, reason = "for the loader")
)]
pub(crate) fn around(unit: DrawnUnit, address: Ipv6Addr) -> Vec<u8> {
    let [_, v4_high, v4_low, v6_high, v6_low, ..] = unit.words();
    let masks = match address.to_ipv4_mapped() {
        Some(_) => [v4_high, v4_low],
        None => [v6_high, v6_low],
    };
    let halves = halves(address.to_bits()).into_iter().zip(masks);
    halves
        .flat_map(|(half, mask)| (half & mask).to_ne_bytes())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_read() {
        let word = |share: u64, resent: u64, sent: u64| share << 32 | resent << 16 | sent;
        assert_eq!(Resent::of_word(0), Resent::default());
        let known = Resent::of_word(word(25_000, 31, 1000));
        assert_eq!((known.sent, known.resent), (1000, 31));
        assert_eq!(known.share, Some(Ratio::new(1, 40)));
        assert_eq!(Resent::of_word(word(0, 31, 999)).share, None);
    }

    #[test]
    fn packets_without_data_are_not_resent_data() {
        for (total, bytes, sent, resent) in [(5, 0, 10, 0), (3, 100, 10, 3), (6, 100, 2, 2)] {
            assert_eq!(resent_with_data(total, bytes, sent), resent);
        }
    }

    #[test]
    fn addresses_of_a_network_share_a_memory() {
        let unit = DrawnUnit::Prefix(24, 48);
        let of = |text: &str| {
            let address: std::net::IpAddr = text.parse().unwrap();
            around(unit, rules::mapped(address))
        };
        for (one, other, is_same) in [
            ("192.0.2.1", "192.0.2.255", true),
            ("192.0.2.1", "::ffff:192.0.2.9", true),
            ("192.0.2.1", "192.0.3.1", false),
            ("2001:db8::1", "2001:db8:0:ffff::1", true),
            ("2001:db8::1", "2001:db8:1::1", false),
        ] {
            assert_eq!(of(one) == of(other), is_same, "{one} {other}");
        }
        let words = [0, 0xffff_c000_0200_u64].map(u64::to_ne_bytes);
        assert_eq!(of("192.0.2.7"), words.concat());
    }
}
