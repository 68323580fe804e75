//! The addresses of both ends.

use std::net::IpAddr;

use linux::{Family, Host, Network};
use serde::Serialize;

/// The addresses of one end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct End {
    /// IPv4.
    pub v4: IpAddr,
    /// IPv6, if the kernel has it.
    pub v6: Option<IpAddr>,
}

/// The addresses of both ends, the same in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Addresses {
    /// The host of the command.
    pub near: End,
    /// The far host, which the command reaches.
    pub far: End,
}

impl Addresses {
    pub(super) fn of(network: &Network) -> Addresses {
        let end = |host: &Host| End {
            v4: host.address(0, Family::V4),
            v6: host.has_ipv6().then(|| host.address(0, Family::V6)),
        };
        Addresses {
            near: end(&network.near),
            far: end(&network.far),
        }
    }

    /// The environment variables with these addresses, for a command.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let all = [
            ("FULLPIPE_FAR", Some(self.far.v4)),
            ("FULLPIPE_NEAR", Some(self.near.v4)),
            ("FULLPIPE_FAR6", self.far.v6),
            ("FULLPIPE_NEAR6", self.near.v6),
        ];
        let known = |(name, address): (_, Option<IpAddr>)| Some((name, address?.to_string()));
        all.into_iter().filter_map(known).collect()
    }
}
