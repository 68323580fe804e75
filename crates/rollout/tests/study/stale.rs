//! Tests with a real kernel that a rule is taken back when its reason disappears: the path between two hosts loses
//! packets at first, and later does not.
//!
//! The configuration needs fewer connections than a real server: nearly half of the networks explore, and all networks
//! are alike. If one network in fifty explored, many more connections would be needed.

use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use emulator::tunnel::{Tunnel, TunnelConfig, Way};
use experiment::policy::Policy;
use linux::{Family, Network, socket};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss};
use rollout::steer::Steer;
use rollout::study::Step;
use rules::Connection;
use units::{Bytes, Rate, Ratio};

use crate::group::Group;
use crate::policy::journal;
use crate::process::{TIMEOUT, now};
use crate::server::{PORT, Server};
use crate::{alone_between, connect_to, own_mounts};

/// The rule must be taken back within this many of its connections, counted from the end of the loss.
const MAX_STALE_CONNECTIONS: u64 = 2000;

/// The number of explorers' connections that the rule has seen before: more than one check needs.
const MIN_EXPLORED: u64 = 110;

/// The number of client networks.
const NETWORKS: u64 = 200;

/// The number of clients that download at the same time.
const AT_ONCE: u64 = 4;

fn policy(group: &Path) -> String {
    format!(
        "cgroup = {group:?}\nseed = \"a\"\n\
         [[rule]]\nname = \"lossy\"\nexplore = \"45%\"\nprefix = [\"10.201.0.0/16\"]\nlisten = [{PORT}]\ncontroller = \"bbr\"\nexpect = \"400%\"\n\
         [[rule]]\nname = \"rest\"\nlisten = [{PORT}]\ncontroller = \"cubic\"\n"
    )
}

#[test]
fn a_rule_is_taken_back_when_its_networks_lose_no_packets_any_more() {
    let offered = linux::controllers_here().unwrap_or_default();
    if !["bbr", "cubic"]
        .iter()
        .all(|name| offered.iter().any(|one| one == name))
    {
        skipping::skip!("a stale rule in a kernel: it offers no bbr, or no cubic");
        return;
    }
    alone_between("a stale rule in a kernel", |group, network| {
        thread::scope(|scope| {
            let test = || {
                own_mounts();
                stale(group, network);
            };
            scope.spawn(test).join().expect("no panic");
        });
    });
}

/// A path that loses data packets.
pub fn join(network: &Network, loss: Ratio) -> Tunnel {
    let delay = units::Duration::from_millis(2);
    let acks = LinkConfig {
        delay,
        ..LinkConfig::default()
    };
    let data = LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(400_000_000)),
        // The buffer is large, so that only the configured loss occurs.
        buffer: Buffer::Bytes(Bytes::new(16_000_000)),
        effects: Effects {
            loss: Loss::Independent(loss),
            ..Effects::default()
        },
        ..acks.clone()
    };
    let device = |host: &linux::Host| host.tun().try_clone().expect("a descriptor");
    let config = TunnelConfig {
        near: device(&network.near),
        far: device(&network.far),
        forward: Way::single(acks),
        reverse: Way::single(data),
        seed: 1,
    };
    Tunnel::start(config).expect("a path")
}

/// An address in one of the client networks.
pub fn client(number: u64) -> IpAddr {
    let network = u8::try_from(number % NETWORKS).expect("less than 256");
    Ipv4Addr::new(10, 201, network, 1).into()
}

/// Downloads the file.
pub fn fetch(to: IpAddr, from: SocketAddr) {
    let mut stream = connect_to(to, from);
    stream.set_read_timeout(Some(TIMEOUT)).expect("a timeout");
    stream
        .write_all(b"GET /4mb HTTP/1.0\r\n\r\n")
        .expect("sent");
    while socket::discard(&stream, 1 << 20).expect("received") > 0 {}
}

/// Stops a thread when this is dropped, even by a panic.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The numbers of ended connections of a rule: with the rule's own controller, and exploring.
fn ended(steer: &Steer, rule: &str) -> [u64; 2] {
    let text = steer.metrics();
    ["no", "yes"].map(|exploring| {
        let is_it = |line: &&str| {
            line.starts_with("fullpipe_steer_ended_total")
                && line.contains(&format!("rule=\"{rule}\""))
                && line.contains(&format!("exploring=\"{exploring}\""))
        };
        let counts = text.lines().filter(is_it);
        let counts = counts.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        counts.sum()
    })
}

fn stale(group: &Group, network: &Network) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    let address: IpAddr = network.far.address(0, Family::V4);
    let clients = Ipv4Addr::new(10, 201, 0, 0);
    network.near.own(clients.into(), 16).expect("a route");
    let server = network
        .far
        .inside(|| Server::start_at(path, &group.0, address));
    let _server = server.expect("inside");
    let policy = Policy::parse(&policy(&group.0)).expect("a policy");
    let own = policy.clone();
    let own = own.lowered();
    let explores = |client| {
        let of = Connection {
            at: std::time::Duration::from_secs_f64(now()).into(),
            ..Connection::incoming(client, PORT)
        };
        own.decide(&of).is_some_and(|decided| decided.is_exploring)
    };
    let begin = Instant::now();
    let lease = units::Duration::from_secs(600);
    let mut steer =
        Steer::begin(policy, lease, Some(&path.join("journal")), now()).expect("in force");

    let (stop, next) = (AtomicBool::new(false), AtomicU64::new(0));
    let from = SocketAddr::new(address, PORT);
    // The sum of the logarithms of download times in seconds, and their number: own controller, exploring.
    let times = Mutex::new([[0.0_f64; 2]; 2]);
    let download = || {
        while !stop.load(Ordering::Relaxed) {
            let to = client(next.fetch_add(1, Ordering::Relaxed));
            let begin = Instant::now();
            fetch(to, from);
            let mut times = times.lock().expect("no panic");
            let [sum, count] = &mut times[usize::from(explores(to))];
            *sum += begin.elapsed().as_secs_f64().ln();
            *count += 1.0;
        }
    };
    let told = |when: &str| {
        let means = std::mem::take(&mut *times.lock().expect("no panic"));
        let [own, exploring] = means.map(|[sum, count]| ((sum / count).exp(), count));
        eprintln!(
            "{when}, after {:?}: {:.3} s for {} downloads, {:.3} s for {} that explore",
            begin.elapsed(),
            own.0,
            own.1,
            exploring.0,
            exploring.1
        );
    };
    let clients = || {
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(download);
            }
        });
    };
    // The path exists until the last download has ended.
    let mut tunnel = Some(join(network, Ratio::new(3, 100)));
    thread::scope(|scope| {
        scope.spawn(|| network.near.inside(clients).expect("inside"));
        let _stop = Stop(&stop);
        while ended(&steer, "lossy")[1] < MIN_EXPLORED {
            step(&mut steer);
        }
        assert_eq!(
            journal(path),
            ["began"],
            "it holds as long as packets are lost"
        );
        let lossy: u64 = ended(&steer, "lossy").iter().sum();
        told("with loss");
        drop(tunnel.take());
        tunnel = Some(join(network, Ratio::new(0, 1)));
        loop {
            // A rule that was taken back is no longer in the metrics.
            let without: u64 = ended(&steer, "lossy").iter().sum::<u64>() - lossy;
            assert!(
                without <= MAX_STALE_CONNECTIONS,
                "{without} connections, and it is still there"
            );
            step(&mut steer);
            if journal(path).iter().any(|what| what == "taken_back") {
                told(&format!(
                    "taken back after {without} connections without loss"
                ));
                break;
            }
        }
        // From then on, these networks use the last rule.
        while ended(&steer, "rest")[0] < 20 {
            step(&mut steer);
        }
        assert_eq!(ended(&steer, "rest")[1], 0);
    });
    drop(tunnel);
    steer.finish(now());
}

pub fn step(steer: &mut Steer) {
    thread::sleep(Duration::from_millis(50));
    let step = steer.step(now(), |trouble| eprintln!("{trouble}"));
    assert_eq!(step, Step::On);
}
