//! A network: the addresses with a common prefix.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::{IpNet, IpSubnets, Ipv4Subnets, Ipv6Subnets};

/// The addresses whose first `length` bits are equal: `192.0.2.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix(IpNet);

impl Prefix {
    /// The network of this length around an address. A length that is too great gives the address itself.
    pub fn around(address: IpAddr, length: u8) -> Prefix {
        let whole = IpNet::from(address);
        Prefix(IpNet::new(address, length).map_or(whole, |network| network.trunc()))
    }

    /// True if the network contains the address.
    pub fn has(&self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }

    /// The prefix length.
    pub fn length(&self) -> u8 {
        self.0.prefix_len()
    }

    /// The first address.
    pub fn first(&self) -> IpAddr {
        self.0.network()
    }

    /// The last address.
    pub fn last(&self) -> IpAddr {
        self.0.broadcast()
    }

    /// True if all of its addresses are private (RFC 1918, RFC 4193), link-local or of the host itself.
    pub fn is_private(&self) -> bool {
        let is_private = |address: IpAddr| match address {
            IpAddr::V4(of) => of.is_private() || of.is_link_local() || of.is_loopback(),
            IpAddr::V6(of) => {
                of.is_unique_local() || of.is_unicast_link_local() || of.is_loopback()
            }
        };
        is_private(self.first()) && is_private(self.last())
    }

    /// The fewest networks that cover exactly the addresses from `first` to `last`. Empty if the two have different
    /// versions, or `last` is before `first`.
    pub fn of_range(first: IpAddr, last: IpAddr) -> Vec<Prefix> {
        let networks = match (first, last) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                IpSubnets::V4(Ipv4Subnets::new(first, last, 0))
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                IpSubnets::V6(Ipv6Subnets::new(first, last, 0))
            }
            _ => return Vec::new(),
        };
        networks.map(Prefix).collect()
    }

    /// Its parts of this length, in order. If the network is not larger than that, the network itself.
    pub fn parts(self, length: u8) -> impl Iterator<Item = Prefix> {
        let length = length.clamp(self.length(), self.0.max_prefix_len());
        self.0.subnets(length).into_iter().flatten().map(Prefix)
    }

    /// The fewest networks that together cover exactly the addresses of these networks.
    pub fn fewest(all: Vec<Prefix>) -> Vec<Prefix> {
        let all = all.into_iter().map(|prefix| prefix.0).collect();
        IpNet::aggregate(&all).into_iter().map(Prefix).collect()
    }
}

units::as_text!(Prefix);

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

/// Parses an address, or an address and a length. Bits after the prefix are ignored. An IPv4 network in IPv6 notation
/// (`::ffff:192.0.2.0/120`) becomes an IPv4 network.
impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Prefix, String> {
        let (address, length) = text.split_once('/').unwrap_or((text, ""));
        let expected = || "expected an address or a prefix such as 192.0.2.0/24 or 2001:db8::/32";
        let address: IpAddr = address.parse().map_err(|_| expected())?;
        let most = IpNet::from(address).max_prefix_len();
        let length = if length.is_empty() && !text.contains('/') {
            Ok(most)
        } else {
            length.parse()
        };
        match (length, address.to_canonical()) {
            (Ok(length @ 96..=128), canonical) if canonical != address => {
                Ok(Prefix::around(canonical, length - 96))
            }
            (Ok(length), _) if length <= most => Ok(Prefix::around(address, length)),
            _ => Err(format!(
                "a prefix of {address} has a length from 0 to {most}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    fn prefix(text: &str) -> Prefix {
        text.parse().unwrap()
    }

    #[test]
    fn a_prefix_has_its_addresses_and_no_others() {
        let has = |of: &str, address: &str| prefix(of).has(address.parse().unwrap());
        assert!(has("192.0.2.7/24", "192.0.2.255") && !has("192.0.2.0/24", "192.0.3.0"));
        assert!(has("0.0.0.0/0", "255.1.1.1") && !has("0.0.0.0/0", "::1"));
        assert!(has("2001:db8::/32", "2001:db8:ffff::") && !has("2001:db8::/32", "2001:db9::"));
        assert!(has("::1", "::1") && !has("::1", "::2"));
        assert_eq!(prefix("10.1.2.3/8").to_string(), "10.0.0.0/8");
        assert_eq!(prefix("::ffff:10.1.2.3/120").to_string(), "10.1.2.0/24");
        assert_eq!(prefix("::ffff:10.1.2.3").to_string(), "10.1.2.3/32");
        assert_eq!(prefix("::ffff:10.1.2.3/95").to_string(), "::fffe:0:0/95");
    }

    #[test]
    fn the_ends_of_a_prefix() {
        for (text, first, last) in [
            ("192.0.2.0/24", "192.0.2.0", "192.0.2.255"),
            ("192.0.2.9/32", "192.0.2.9", "192.0.2.9"),
            ("0.0.0.0/0", "0.0.0.0", "255.255.255.255"),
            ("2001:db8::/127", "2001:db8::", "2001:db8::1"),
        ] {
            let ends = (
                prefix(text).first().to_string(),
                prefix(text).last().to_string(),
            );
            assert_eq!(ends, (first.to_owned(), last.to_owned()));
        }
    }

    #[test]
    fn the_parts_of_a_prefix() {
        let parts = |text: &str, length| {
            let parts = prefix(text).parts(length);
            parts.map(|part| part.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(parts("192.0.2.0/23", 24), ["192.0.2.0/24", "192.0.3.0/24"]);
        assert_eq!(parts("192.0.2.128/25", 24), ["192.0.2.128/25"]);
        assert_eq!(
            parts("255.255.255.254/31", 40),
            ["255.255.255.254/32", "255.255.255.255/32"]
        );
        assert_eq!(
            parts("2001:db8::/47", 48),
            ["2001:db8::/48", "2001:db8:1::/48"]
        );
        assert_eq!(prefix("::/0").parts(48).take(70_000).count(), 70_000);
    }

    #[test]
    fn what_is_no_prefix_is_refused() {
        for text in [
            "",
            "x",
            "10.0.0.0/",
            "10.0.0.0/33",
            "::/129",
            "10.0.0.0/-1",
            "10.0.0.0/8/8",
        ] {
            assert!(text.parse::<Prefix>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_range_is_the_fewest_prefixes() {
        let of = |first: &str, last: &str| {
            let all = Prefix::of_range(first.parse().unwrap(), last.parse().unwrap());
            all.iter().map(Prefix::to_string).collect::<Vec<_>>()
        };
        assert_eq!(of("10.0.0.0", "10.0.0.255"), ["10.0.0.0/24"]);
        assert_eq!(of("0.0.0.0", "255.255.255.255"), ["0.0.0.0/0"]);
        assert_eq!(
            of("::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"),
            ["::/0"]
        );
        assert_eq!(
            of("10.0.0.1", "10.0.0.6"),
            ["10.0.0.1/32", "10.0.0.2/31", "10.0.0.4/31", "10.0.0.6/32"]
        );
        assert!(of("10.0.0.1", "10.0.0.0").is_empty() && of("10.0.0.1", "::1").is_empty());
    }

    #[test]
    fn networks_side_by_side_are_one() {
        let fewest = |all: &[&str]| {
            let all = Prefix::fewest(all.iter().map(|text| prefix(text)).collect());
            all.iter().map(Prefix::to_string).collect::<Vec<_>>()
        };
        assert_eq!(
            fewest(&[
                "192.0.3.0/24",
                "192.0.2.0/24",
                "192.0.4.0/24",
                "::/1",
                "8000::/1"
            ]),
            ["192.0.2.0/23", "192.0.4.0/24", "::/0"]
        );
        assert_eq!(
            fewest(&["10.0.0.0/8", "10.1.0.0/16", "255.255.255.255", "::"]),
            ["10.0.0.0/8", "255.255.255.255/32", "::/128"]
        );
    }

    proptest::proptest! {
        #[test]
        fn the_fewest_networks_have_the_same_addresses(said in proptest::collection::vec((0_u8.., 26_u8..=32), 0..20), address: u8) {
            let at = |low| IpAddr::from(Ipv4Addr::new(192, 0, 2, low));
            let all: Vec<Prefix> = said.into_iter().map(|(low, length)| Prefix::around(at(low), length)).collect();
            let has = |all: &[Prefix]| all.iter().filter(|one| one.has(at(address))).count();
            let fewest = Prefix::fewest(all.clone());
            proptest::prop_assert_eq!(has(&fewest), has(&all).min(1));
            proptest::prop_assert!(fewest.len() <= all.len());
        }

        #[test]
        fn a_range_is_covered_without_gaps_or_overlaps(one: u128, other: u128, is_near: bool) {
            let other = if is_near { one ^ (other & 0xffff) } else { other };
            let (first, last) = (one.min(other), one.max(other));
            let address = |number| IpAddr::from(Ipv6Addr::from_bits(number));
            let mut next = Some(first);
            for prefix in Prefix::of_range(address(first), address(last)) {
                proptest::prop_assert_eq!(next.map(address), Some(prefix.first()));
                let IpAddr::V6(end) = prefix.last() else { unreachable!() };
                next = end.to_bits().checked_add(1);
            }
            proptest::prop_assert_eq!(next, last.checked_add(1));
        }
    }
}
