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
