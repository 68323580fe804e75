//! A network: the addresses that begin with the same bits.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// Addresses that have their first `length` bits in common: `192.0.2.0/24`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// The prefix of this length that the address is in; one that is too long is the address itself.
    pub fn around(address: IpAddr, length: u8) -> Prefix {
        let length = length.min(bits(address));
        let address = match address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
                Ipv4Addr::from_bits(address.to_bits() & mask).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
                Ipv6Addr::from_bits(address.to_bits() & mask).into()
            }
        };
        Prefix { address, length }
    }

    /// Whether the address is in it.
    pub fn has(&self, address: IpAddr) -> bool {
        address.is_ipv4() == self.address.is_ipv4() && Prefix::around(address, self.length) == *self
    }

    /// How many bits count.
    pub fn length(&self) -> u8 {
        self.length
    }

    /// The first address.
    pub fn first(&self) -> IpAddr {
        self.address
    }

    /// The last address.
    pub fn last(&self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) => {
                let host = u32::MAX.checked_shr(self.length.into()).unwrap_or(0);
                Ipv4Addr::from_bits(address.to_bits() | host).into()
            }
            IpAddr::V6(address) => {
                let host = u128::MAX.checked_shr(self.length.into()).unwrap_or(0);
                Ipv6Addr::from_bits(address.to_bits() | host).into()
            }
        }
    }
}

fn bits(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

units::as_text!(Prefix);

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// An address, or an address and a length. Bits behind the prefix are ignored.
impl FromStr for Prefix {
    type Err = String;

    fn from_str(text: &str) -> Result<Prefix, String> {
        let (address, length) = text.split_once('/').unwrap_or((text, ""));
        let expected = || "expected an address or a prefix such as 192.0.2.0/24 or 2001:db8::/32";
        let address: IpAddr = address.parse().map_err(|_| expected())?;
        if length.is_empty() && !text.contains('/') {
            return Ok(Prefix::around(address, bits(address)));
        }
        let most = bits(address);
        match length.parse() {
            Ok(length) if length <= most => Ok(Prefix::around(address, length)),
            _ => Err(format!(
                "a prefix of {address} has a length from 0 to {most}"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
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
}
