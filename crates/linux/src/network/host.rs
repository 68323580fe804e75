//! One end: a network namespace that only this process knows, with a TUN device in it.

use std::fs::{self, File};
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::panic::resume_unwind;
use std::thread;

use netlink_packet_route::link::LinkAttribute;
use netlink_packet_route::route::RouteMetric;

use super::address::{Family, Side};
use super::settings::{Settings, write_if_present};
use super::{NetworkConfig, tun};
use crate::Error;
use crate::error::Context;
use crate::namespace::{Namespace, enter};
use crate::netlink::Netlink;

/// The number of packets that the kernel keeps for the reader of the TUN device before it drops some. The device
/// never makes the sender wait (tun_net_xmit in drivers/net/tun.c drops when its ring is full), so unread packets
/// must fit: at a million packets a second, a reader that is delayed by 65 ms loses none. An entry costs eight bytes.
const QUEUE_PACKETS: u32 = 1 << 16;

/// The most connections in TIME-WAIT, and the most half-open connections. By default both follow from the size of the
/// host's table of connections (tcp_set_hashinfo in net/ipv4/tcp_ipv4.c), and would be too few for many short
/// transfers.
const MAX_TIME_WAIT: &str = "262144";
const MAX_HALF_OPEN: &str = "4096";

/// The loopback device's index in every namespace (linux/net_namespace.h, LOOPBACK_IFINDEX).
const LOOPBACK: u32 = 1;

/// The minimum MTU of a link that carries IPv6 (RFC 8200, section 5).
const MIN_IPV6_MTU: u16 = 1280;

/// The number of the metric `rto_min` (linux/rtnetlink.h, RTAX_RTO_MIN).
const RTO_MIN_METRIC: u32 = 13;

/// One end of a [`Network`](super::Network).
#[derive(Debug)]
pub struct Host {
    namespace: OwnedFd,
    tun: OwnedFd,
    side: Side,
    ipv6: bool,
}

impl Host {
    /// Creates the namespace, its device, addresses and routes.
    pub(super) fn create(side: Side, config: &NetworkConfig) -> Result<Host, Error> {
        on_a_thread(|| {
            Namespace::Network.unshare()?;
            let namespace = File::open("/proc/thread-self/ns/net").map_err(|source| {
                Error::system(
                    "cannot open /proc/thread-self/ns/net; this takes a mounted /proc",
                    source,
                )
            })?;
            let ipv6 =
                config.mtu >= MIN_IPV6_MTU && fs::exists("/proc/sys/net/ipv6").unwrap_or(false);
            let tun = set_up(side, config, ipv6)?;
            Ok(Host {
                namespace: namespace.into(),
                tun,
                side,
                ipv6,
            })
        })
    }

    /// The packet side of the TUN device: packets that the host sends are read from it, and packets written to it reach
    /// the host. It is nonblocking. Each packet follows a `virtio_net_hdr` of ten bytes (`IFF_VNET_HDR`), and large TCP
    /// segments are not cut. `try_clone` gives a descriptor to keep: the device lives as long as any of them.
    pub fn tun(&self) -> &OwnedFd {
        &self.tun
    }

    /// The host's address in an address group.
    pub fn address(&self, group: u16, family: Family) -> IpAddr {
        self.side.address(group, family)
    }

    /// Whether it has IPv6 addresses: not in a kernel without IPv6, nor with an MTU under 1280.
    pub fn has_ipv6(&self) -> bool {
        self.ipv6
    }

    /// Makes all addresses with the first `length` bits of `network` local to the host. One host can so stand for
    /// many clients or servers.
    ///
    /// # Errors
    ///
    /// The namespace cannot be entered, or the kernel refuses.
    pub fn own(&self, network: IpAddr, length: u8) -> Result<(), Error> {
        self.inside(|| {
            let mut netlink = Netlink::open().context("cannot open a netlink socket")?;
            netlink
                .add_own_network(LOOPBACK, network, length)
                .context(format!("cannot make {network}/{length} the host's own"))
        })?
    }

    /// Packets that the host has sent and the kernel dropped because nobody had read them from the device.
    ///
    /// # Errors
    ///
    /// The namespace cannot be entered, or the kernel does not report them.
    pub fn overflows(&self) -> Result<u64, Error> {
        let table = self.inside(|| fs::read_to_string("/proc/thread-self/net/dev"))?;
        let table = table.context("cannot read /proc/thread-self/net/dev")?;
        sent_and_dropped(&table).ok_or(Error::Answer("no device in /proc/net/dev"))
    }

    /// The namespace, as a file descriptor for setns(2).
    pub fn namespace(&self) -> BorrowedFd<'_> {
        self.namespace.as_fd()
    }

    /// Calls `f` on a thread inside the namespace. Sockets that it opens belong to the namespace, whatever thread uses
    /// them later.
    ///
    /// # Errors
    ///
    /// The thread may not enter the namespace (CAP_SYS_ADMIN).
    pub fn inside<T: Send>(&self, f: impl FnOnce() -> T + Send) -> Result<T, Error> {
        on_a_thread(|| {
            enter(&self.namespace)?;
            Ok(f())
        })
    }
}

/// The packets sent and dropped according to `/proc/net/dev`: after the name, eight columns are of packets received,
/// and this is the fourth of the next eight (`dev_seq_printf_stats` in net/core/net-procfs.c).
fn sent_and_dropped(table: &str) -> Option<u64> {
    let mut lines = table.lines().filter_map(|line| line.split_once(':'));
    let (_, columns) = lines.find(|(name, _)| name.trim() == tun::DEVICE)?;
    columns.split_whitespace().nth(8 + 3)?.parse().ok()
}

/// Calls `f` on a new thread, so that the caller does not change its namespace.
pub(crate) fn on_a_thread<T: Send>(
    f: impl FnOnce() -> Result<T, Error> + Send,
) -> Result<T, Error> {
    thread::scope(|scope| {
        let thread = thread::Builder::new()
            .name("namespace".to_owned())
            .spawn_scoped(scope, f)
            .context("cannot start a thread")?;
        thread.join().unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Sets up the calling thread's namespace; returns the device's packet side.
fn set_up(side: Side, config: &NetworkConfig, ipv6: bool) -> Result<OwnedFd, Error> {
    if ipv6 {
        // The machine may have IPv6 switched off. Here only our addresses use it: there are no link-local addresses,
        // and no router solicitations (RFC 4861, section 6.3.7).
        write_if_present("net.ipv6.conf.all.disable_ipv6", "0")?;
        write_if_present("net.ipv6.conf.default.addr_gen_mode", "1")?;
        write_if_present("net.ipv6.conf.default.router_solicitations", "0")?;
    }
    write_if_present("net.ipv4.tcp_max_tw_buckets", MAX_TIME_WAIT)?;
    write_if_present("net.ipv4.tcp_max_syn_backlog", MAX_HALF_OPEN)?;
    config.host.apply()?;
    let tun = tun::create()?;
    let device = nix::net::if_::if_nametoindex(tun::DEVICE)
        .context(format!("cannot find {}", tun::DEVICE))?;
    let mut netlink = Netlink::open().context("cannot open a netlink socket")?;
    netlink
        .up(LOOPBACK, Vec::new())
        .context("cannot switch lo on")?;
    let attributes = vec![
        LinkAttribute::Mtu(config.mtu.into()),
        LinkAttribute::TxQueueLen(QUEUE_PACKETS),
    ];
    netlink.up(device, attributes).context(format!(
        "cannot switch {} on with MTU {}",
        tun::DEVICE,
        config.mtu
    ))?;
    let families: &[Family] = if ipv6 {
        &[Family::V4, Family::V6]
    } else {
        &[Family::V4]
    };
    for &family in families {
        for group in 0..config.groups {
            let address = side.address(group, family);
            netlink
                .add_address(device, address)
                .context(format!("cannot add the address {address}"))?;
        }
        netlink
            .add_default_route(device, side.address(0, family), metrics(&config.host))
            .context(format!("cannot add the {family:?} default route"))?;
    }
    Ok(tun)
}

/// The metrics of the route for TCP (ip-route(8)).
fn metrics(settings: &Settings) -> Vec<RouteMetric> {
    let mut metrics = Vec::new();
    if let Some(segments) = settings.initial_cwnd {
        metrics.push(RouteMetric::InitCwnd(segments));
    }
    if let Some(span) = settings.min_rto {
        // Zero would select the kernel's default.
        let millis = span.as_nanos().div_ceil(1_000_000).max(1);
        // TCP uses the metric only if it is locked (tcp_rto_min in include/net/tcp.h).
        metrics.push(RouteMetric::Lock(1 << RTO_MIN_METRIC));
        metrics.push(RouteMetric::RtoMin(
            u32::try_from(millis).unwrap_or(u32::MAX),
        ));
    }
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_are_those_of_packets_sent_through_the_device() {
        let table = "Inter-|   Receive\n face |bytes\n    lo:  1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n \
                     path0: 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36\n";
        assert_eq!(sent_and_dropped(table), Some(32));
        assert_eq!(sent_and_dropped(""), None);
        assert_eq!(sent_and_dropped("path0: 1 2\n"), None);
    }
}
