//! The size of a transfer's datagrams. The tests use noq's own CUBIC, which the driver does not pace, so that the
//! result does not depend on the machine's speed.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};

use super::*;

/// The maximum UDP payload on Ethernet with an MTU of 1500 bytes, over IPv4 and over IPv6.
const ETHERNET: u16 = 1_472;
const USUAL: u16 = 1_452;

/// The size of the file, which takes many round trips.
const SIZE: u64 = 64 * BLOCK;

/// Sends a file. Returns the size of the last datagrams.
async fn transfer(world: &World, receiver: Receiver) -> u16 {
    let files = [world.file("big", SIZE, 1)];
    let log = Log::default();
    both(receiver, &files, &log).await;
    assert!(same_content(&files[0], &world.out().join("big")));
    let connection = log.connection.lock().unwrap();
    connection.as_ref().unwrap().path_stats().current_mtu
}

#[tokio::test]
async fn datagrams_become_larger_than_an_ethernets_where_the_route_carries_them() {
    let world = World::new();
    let size = transfer(&world, world.receiver().await).await;
    // Loopback has an MTU of 65,536 bytes by default.
    assert!(size > ETHERNET, "{size}");
}

/// Two hosts, with a router between them.
struct Hosts {
    near: File,
    router: File,
    far: File,
}

const NEAR: &str = "192.0.2.1";
const FAR: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 129);

impl Hosts {
    /// Creates a network namespace for each host. The near link has an MTU of 9000 bytes, the far link `far_mtu`.
    fn make(far_mtu: u16) -> Result<Hosts, String> {
        let hosts = Hosts {
            near: namespace()?,
            router: namespace()?,
            far: namespace()?,
        };
        let place = |host: &File| format!("/proc/{}/fd/{}", std::process::id(), host.as_raw_fd());
        let (router, far) = (place(&hosts.router), place(&hosts.far));
        let veth = |ours, theirs, place| {
            format!("link add {ours} type veth peer name {theirs} netns {place}")
        };
        for (host, lines) in [
            (&hosts.near, vec![veth("out", "near", &router)]),
            (&hosts.router, vec![veth("far", "out", &far)]),
            (&hosts.near, up("out", 9000, NEAR)),
            (&hosts.router, up("near", 9000, "192.0.2.2")),
            (&hosts.router, up("far", far_mtu, "192.0.2.130")),
            (&hosts.far, up("out", far_mtu, &FAR.to_string())),
            (
                &hosts.near,
                vec!["route add default via 192.0.2.2".to_owned()],
            ),
            (
                &hosts.far,
                vec!["route add default via 192.0.2.130".to_owned()],
            ),
        ] {
            inside(host, || lines.iter().try_for_each(|line| ip(line)))?;
        }
        let forward = || fs::write("/proc/sys/net/ipv4/ip_forward", "1");
        inside(&hosts.router, forward).map_err(|error| format!("no forwarding: {error}"))?;
        Ok(hosts)
    }
}

/// A new network namespace. It exists as long as its file is open.
fn namespace() -> Result<File, String> {
    let thread = thread::spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("no namespace: {error}"))?;
        Ok(File::open("/proc/thread-self/ns/net").unwrap())
    });
    thread.join().unwrap()
}

/// Moves the calling thread, and the threads that it starts, to this host.
fn enter(host: &File) {
    setns(host, CloneFlags::CLONE_NEWNET).unwrap();
}

/// Calls `f` at this host.
fn inside<T: Send>(host: &File, f: impl FnOnce() -> T + Send) -> T {
    let there = || {
        enter(host);
        f()
    };
    thread::scope(|scope| scope.spawn(there).join().unwrap())
}

/// Runs ip(8).
fn ip(line: &str) -> Result<(), String> {
    let output = Command::new("ip").args(line.split(' ')).output();
    let output = output.map_err(|error| format!("no ip: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "ip {line}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    ))
}

/// The arguments of ip(8) that set a device's MTU and address.
fn up(device: &str, mtu: u16, address: &str) -> Vec<String> {
    vec![
        format!("link set {device} mtu {mtu} up"),
        format!("addr add {address}/25 dev {device}"),
    ]
}

/// Sends a file from the near host to the far one. Returns the size of the last datagrams.
async fn cross(hosts: &Hosts) -> u16 {
    let world = World::new();
    let config = ReceiverConfig {
        listen: (FAR, 0).into(),
        ..world.config()
    };
    enter(&hosts.far);
    let receiver = Receiver::bind(config).await.unwrap();
    enter(&hosts.near);
    transfer(&world, receiver).await
}

/// The sender's interface allows 9000 bytes. The sender discovers the router's MTU.
#[test]
fn datagrams_are_no_larger_than_the_path_carries() {
    for (far_mtu, sizes) in [(9_000, USUAL + 1..=8_972), (1_500, 1_200..=ETHERNET)] {
        let hosts = match Hosts::make(far_mtu) {
            Ok(hosts) => hosts,
            Err(why) => return skipping::skip!("datagrams over a router: {why}"),
        };
        let crossing = || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(cross(&hosts))
        };
        // The thread that enters the hosts ends here.
        let size = thread::scope(|scope| scope.spawn(crossing).join().unwrap());
        assert!(sizes.contains(&size), "{size} over {far_mtu}");
    }
}
