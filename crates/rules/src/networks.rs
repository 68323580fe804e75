//! The networks of rules, as the program in the kernel has them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::prefix::Prefix;

/// The 128 bits of an address. IPv4 is `::ffff:a.b.c.d`.
pub fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

/// The table of the kernel's program: networks, each with a bit for each rule that is for its clients. The most specific
/// network counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Networks(Vec<(Ipv6Addr, u8, u64)>);

impl Networks {
    /// A table of these networks. `rest` has the bits of the rules that are for clients in all other networks. Of two
    /// entries with the same network, the later one counts.
    ///
    /// The program's table has IPv4 addresses mapped into IPv6, where `::/0` covers all addresses. So the table always has
    /// an entry for the whole of IPv4, too.
    pub fn new(networks: impl IntoIterator<Item = (Prefix, u64)>, rest: u64) -> Networks {
        let all = [
            Ipv4Addr::UNSPECIFIED.into(),
            IpAddr::from(Ipv6Addr::UNSPECIFIED),
        ];
        let all = all.map(|address| (Prefix::around(address, 0), rest));
        let entry = |(prefix, rules): (Prefix, u64)| {
            let before = if prefix.first().is_ipv4() { 96 } else { 0 };
            (mapped(prefix.first()), before + prefix.length(), rules)
        };
        Networks(all.into_iter().chain(networks).map(entry).collect())
    }

    /// Each network by its first address and its prefix length, with the bits of its rules.
    pub fn entries(&self) -> &[(Ipv6Addr, u8, u64)] {
        &self.0
    }

    /// The bits of the rules that are for this client: `rules_of_network` of `crates/kernel/bpf/steer/rule.h`.
    pub fn rules(&self, client: IpAddr) -> u64 {
        let client = mapped(client).to_bits();
        let is_in = |(first, length, _): &&(Ipv6Addr, u8, u64)| {
            let apart = first.to_bits() ^ client;
            apart.checked_shr(128 - u32::from(*length)).unwrap_or(0) == 0
        };
        // Of entries of the greatest length, the last one.
        let found = self.0.iter().filter(is_in).max_by_key(|one| one.1);
        found.map_or(0, |one| one.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_one_version_are_none_of_the_other() {
        for (prefix, v4, v6) in [
            ("::/0", 0b10, 0b11),
            ("0.0.0.0/0", 0b11, 0b10),
            ("::/64", 0b10, 0b10),
            ("::ffff:0.0.0.0/96", 0b11, 0b10),
        ] {
            let networks = Networks::new([(prefix.parse().unwrap(), 0b11)], 0b10);
            assert_eq!(networks.rules("192.0.2.7".parse().unwrap()), v4, "{prefix}");
            let v6_client = "2001:db8::1".parse().unwrap();
            assert_eq!(networks.rules(v6_client), v6, "{prefix}");
        }
    }

    #[test]
    fn the_most_specific_network_counts_and_of_equal_ones_the_later() {
        let of = |text: &str, rules| (text.parse().unwrap(), rules);
        let networks = Networks::new(
            [
                of("10.9.0.0/16", 0),
                of("10.0.0.0/8", 2),
                of("10.0.0.0/8", 4),
            ],
            1,
        );
        for (client, rules) in [
            ("10.9.1.1", 0),
            ("::ffff:10.1.1.1", 4),
            ("11.0.0.1", 1),
            ("::1", 1),
        ] {
            assert_eq!(networks.rules(client.parse().unwrap()), rules, "{client}");
        }
    }
}
