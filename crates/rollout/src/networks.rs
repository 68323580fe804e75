//! The networks of rules, as the program in the kernel has them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use experiment::Prefix;
use kernel::mapped;

/// The table of the kernel's program: networks, each with a bit for each rule that applies there. `rest` has the bits
/// of the rules that apply in all other networks.
///
/// The program's table has IPv4 addresses mapped into IPv6, where `::/0` covers all addresses. So the table always has
/// an entry for the whole of IPv4, too.
pub(crate) fn table(
    networks: impl IntoIterator<Item = (Prefix, u64)>,
    rest: u64,
) -> Vec<(Ipv6Addr, u8, u64)> {
    let all = [
        Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::from(Ipv6Addr::UNSPECIFIED),
    ];
    let all = all.map(|address| (Prefix::around(address, 0), rest));
    let network = |(prefix, rules): (Prefix, u64)| {
        let before = if prefix.first().is_ipv4() { 96 } else { 0 };
        (mapped(prefix.first()), before + prefix.length(), rules)
    };
    // If two entries have the same network, the later one counts.
    all.into_iter().chain(networks).map(network).collect()
}

#[cfg(test)]
mod tests {
    use experiment::policy::Policy;

    use super::*;

    /// The bits that the program finds for an address.
    fn bits(table: &[(Ipv6Addr, u8, u64)], address: &str) -> u64 {
        let address = mapped(address.parse().unwrap()).to_bits();
        let is_in = |(first, length, _): &&(Ipv6Addr, u8, u64)| {
            let apart = first.to_bits() ^ address;
            apart.checked_shr(128 - u32::from(*length)).unwrap_or(0) == 0
        };
        // Among entries of the greatest length, the last one: later entries replace earlier ones.
        let found = table.iter().filter(is_in).max_by_key(|one| one.1);
        found.map_or(0, |one| one.2)
    }

    #[test]
    fn all_of_one_version_are_none_of_the_other() {
        for (prefix, v4, v6) in [
            ("::/0", 0b10, 0b11),
            ("0.0.0.0/0", 0b11, 0b10),
            ("::/64", 0b10, 0b10),
            ("::ffff:0.0.0.0/96", 0b11, 0b10),
        ] {
            let text = format!(
                "cgroup = \"a\"\n[[rule]]\nname = \"one\"\nlisten = [443]\nprefix = [\"{prefix}\"]\ncontroller = \"bbr\"\n\
                 [[rule]]\nname = \"rest\"\nlisten = [443]\ncontroller = \"cubic\"\n"
            );
            let policy = Policy::parse(&text).unwrap();
            let (networks, everywhere) = policy.networks();
            let table = table(networks, everywhere);
            assert_eq!(bits(&table, "192.0.2.7"), v4, "{prefix}");
            assert_eq!(bits(&table, "2001:db8::1"), v6, "{prefix}");
        }
    }
}
