//! Two hosts connected only by the packet sides of their TUN devices.
//!
//! The namespaces have no names and no processes in them: file descriptors of this process hold them, and they end
//! with it, however it ends. Nothing exists outside them: no device, no route.
//!
//! A TCP connection with unacknowledged data outlives its closing. It keeps its unreachable namespace for as long as
//! the kernel retries: about two minutes (tcp_orphan_retries in net/ipv4/tcp_timer.c). To end it at once, close it
//! with `SO_LINGER` zero.

mod address;
mod host;
mod settings;
mod tap;
mod tun;

use std::ops::RangeInclusive;
use std::{fs, io};

pub use address::Family;
pub use host::Host;
pub(crate) use host::on_a_thread;
pub use settings::Settings;
pub use tap::{Tap, Tapped};
pub use tun::DEVICE;

use crate::Error;
use crate::error::Context;
use crate::namespace::Namespace;
use address::Side;

/// The number of address groups, bounded by the addresses of a subnet.
const GROUP_RANGE: RangeInclusive<u16> = 1..=200;

/// The number of entries in a host's table of connections. The machine's table, which it would share otherwise, has
/// many times as many, and each dump of the host's sockets walks all of them.
const CONNECTION_TABLE_ENTRIES: &str = "16384";

/// The configuration of two hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkConfig {
    /// The number of addresses of each family on a host, 1 to 200. The path may treat each pair differently.
    pub groups: u16,
    /// The MTU of both devices: the largest IP packet, in bytes. Under 1280 there is no IPv6.
    pub mtu: u16,
    /// The TCP settings of both hosts.
    pub host: Settings,
}

impl Default for NetworkConfig {
    fn default() -> NetworkConfig {
        NetworkConfig {
            groups: 1,
            mtu: 1500,
            host: Settings::default(),
        }
    }
}

/// Two hosts, each in a network namespace of its own.
#[derive(Debug)]
pub struct Network {
    /// The host that opens connections.
    pub near: Host,
    /// The host that accepts them.
    pub far: Host,
}

impl Network {
    /// Creates both hosts.
    ///
    /// # Errors
    ///
    /// Something is missing; the error says what in one line. Call [`privilege::acquire`](crate::privilege::acquire)
    /// first.
    pub fn create(config: &NetworkConfig) -> Result<Network, Error> {
        if !GROUP_RANGE.contains(&config.groups) {
            let source = io::Error::from(io::ErrorKind::InvalidInput);
            return Err(Error::system(
                format!("{} address groups, not 1 to 200", config.groups),
                source,
            ));
        }
        host::on_a_thread(|| {
            // A namespace gets a connection table of its own if the namespace in which it is created says so. That
            // one ends with this thread.
            Namespace::Network.unshare()?;
            settings::write_if_present(
                "net.ipv4.tcp_child_ehash_entries",
                CONNECTION_TABLE_ENTRIES,
            )?;
            Ok(Network {
                near: Host::create(Side::Near, config)?,
                far: Host::create(Side::Far, config)?,
            })
        })
    }
}

/// The congestion controllers that the kernel offers a socket of `host`: those built in or loaded.
///
/// # Errors
///
/// The namespace cannot be entered, or the kernel does not list them.
pub fn controllers(host: &Host) -> Result<Vec<String>, Error> {
    host.inside(controllers_here)?
}

/// The congestion controllers that the kernel offers in the calling thread's namespace.
///
/// # Errors
///
/// The kernel does not list them.
pub fn controllers_here() -> Result<Vec<String>, Error> {
    let list = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")
        .context("cannot read tcp_available_congestion_control")?;
    Ok(list.split_whitespace().map(str::to_owned).collect())
}
