//! Identifies hosts by their address.

use std::net::IpAddr;

/// A host, as far as its address identifies it: an IPv4 address, or an IPv6 network of 64 bits, which usually belongs to
/// one host (RFC 4291, section 2.5.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Host(u128);

impl Host {
    /// The host with this address.
    pub fn of(address: IpAddr) -> Host {
        match address.to_canonical() {
            IpAddr::V4(address) => Host(address.to_ipv6_mapped().to_bits()),
            IpAddr::V6(address) => Host(address.to_bits() & !u128::from(u64::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_machine_are_one_host() {
        let ip = |text: &str| Host::of(text.parse().unwrap());
        assert_eq!(ip("2001:db8::1"), ip("2001:db8::ffff:1"));
        assert_ne!(ip("2001:db8::1"), ip("2001:db8:0:1::1"));
        assert_eq!(ip("::ffff:10.0.0.1"), ip("10.0.0.1"));
        assert_ne!(ip("10.0.0.1"), ip("10.0.0.2"));
        assert_ne!(ip("::1"), ip("10.0.0.1"));
    }
}
