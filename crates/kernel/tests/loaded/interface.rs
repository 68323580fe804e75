//! Rules for interfaces: two pairs of veth devices between two network namespaces.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;
use std::process::Command;
use std::thread;

use kernel::{Attached, DrawnUnit, Steering, SteeringRule};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{getsockopt, sockopt::TcpCongestion};
use rules::{Conditions, Networks};
use units::Duration;

use super::steered::{Group, ports};

/// The port at which the near host accepts, and the port to which it connects.
const IN: u16 = 7000;
const OUT: u16 = 7001;

/// The two links, with an address of the near host and of the far host in each version of IP.
const LINKS: [(&str, [[&str; 2]; 2]); 2] = [
    (
        "one",
        [["10.1.0.1", "10.1.0.2"], ["fd00:1::1", "fd00:1::2"]],
    ),
    (
        "two",
        [["10.2.0.1", "10.2.0.2"], ["fd00:2::1", "fd00:2::2"]],
    ),
];

/// The near host is in the calling thread's namespace.
struct World<'g> {
    group: &'g Group,
    far: File,
}

/// Runs ip(8).
fn ip(arguments: &str) -> Result<(), String> {
    let output = Command::new("ip").args(arguments.split(' ')).output();
    let output = output.map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    Err(format!("ip {arguments}: {told}"))
}

/// Answers may leave through another interface than the one through which the question came (ip-sysctl, `rp_filter`).
fn allow_other_ways() {
    for entry in fs::read_dir("/proc/sys/net/ipv4/conf").expect("settings") {
        let file = entry.expect("an entry").path().join("rp_filter");
        fs::write(file, "0").expect("a setting");
    }
}

impl World<'_> {
    /// Makes the hosts and links. The error is the reason why that is impossible.
    fn make(group: &Group) -> Result<World<'_>, String> {
        ip("-V")?;
        // A separate thread makes the far host's namespace, which lives as long as its file is open.
        let far = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Ok::<_, nix::Error>(File::open("/proc/thread-self/ns/net").expect("it is there"))
        });
        let far = far
            .join()
            .expect("it ends")
            .map_err(|error| error.to_string())?;
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| error.to_string())?;
        let world = World { group, far };
        for link in LINKS {
            world.link(link, link.0)?;
        }
        Ok(world)
    }

    /// Makes a link. Its near end first has another name.
    fn link(&self, (name, addresses): (&str, [[&str; 2]; 2]), first: &str) -> Result<(), String> {
        let place = format!("/proc/{}/fd/{}", std::process::id(), self.far.as_raw_fd());
        ip(&format!(
            "link add {first} type veth peer name {name} netns {place}"
        ))?;
        if first != name {
            ip(&format!("link set {first} name {name}"))?;
        }
        let up = |end: usize| {
            ip("link set lo up")?;
            ip(&format!("link set {name} up"))?;
            ip(&format!("addr add {}/24 dev {name}", addresses[0][end]))?;
            ip(&format!(
                "-6 addr add {}/64 dev {name} nodad",
                addresses[1][end]
            ))?;
            allow_other_ways();
            Ok(())
        };
        up(0)?;
        self.inside_far(|| up(1))
    }

    fn inside_far<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        let inside = || {
            setns(self.far.as_fd(), CloneFlags::CLONE_NEWNET).expect("a namespace");
            f()
        };
        thread::scope(|scope| scope.spawn(inside).join().expect("no panic"))
    }

    /// The controller of the near end of a connection that the near host accepts at this address.
    fn accepted(&self, at: &str) -> String {
        let at = SocketAddr::new(at.parse().expect("an address"), IN);
        let listener = self
            .group
            .inside(|| TcpListener::bind(at))
            .expect("a listener");
        let _far = self
            .inside_far(|| TcpStream::connect(at))
            .expect("a connection");
        controller(&listener.accept().expect("a connection").0)
    }

    /// The controller of the near end of a connection to this address.
    fn connecting(&self, to: &str) -> String {
        let to = SocketAddr::new(to.parse().expect("an address"), OUT);
        let _listener = self
            .inside_far(|| TcpListener::bind(to))
            .expect("a listener");
        controller(
            &self
                .group
                .inside(|| TcpStream::connect(to))
                .expect("a connection"),
        )
    }
}

fn controller(stream: &TcpStream) -> String {
    let name = getsockopt(stream, TcpCongestion).expect("its controller");
    name.to_string_lossy().trim_end_matches('\0').to_owned()
}

/// A rule for connections through some interfaces.
fn steering(controller: &str, interfaces: &[&str]) -> Steering {
    let interfaces = interfaces.iter().map(|name| name.parse().expect("a name"));
    Steering {
        key: [1, 2],
        unit: DrawnUnit::Connection,
        rules: vec![SteeringRule {
            name: "some".to_owned(),
            conditions: Conditions::new(
                vec![ports(IN, IN)],
                vec![ports(OUT, OUT)],
                interfaces.collect(),
            ),
            objects: Some(0),
            arms: vec![(1 << 32, controller.to_owned())],
        }],
        networks: Networks::new([], 1),
    }
}

/// True if the rule matches a connection over each link: accepted and connecting, with IPv4 and with IPv6.
fn matched(world: &World<'_>, own: &str) -> [bool; 2] {
    LINKS.map(|(name, addresses)| {
        let all = addresses.map(|[near, far]| [world.accepted(near), world.connecting(far)]);
        let is_first = all[0][0] == own;
        assert!(
            all.as_flattened()
                .iter()
                .all(|one| (one == own) == is_first),
            "{name}: {all:?}"
        );
        is_first
    })
}

#[test]
fn a_rule_holds_for_the_interface_through_which_data_leave() {
    let Some(group) = Group::make("interface") else {
        return;
    };
    let test = || match World::make(&group) {
        Ok(world) => through_interfaces(&world),
        Err(why) => skipping::skip!("rules for interfaces: {why}"),
    };
    thread::scope(|scope| scope.spawn(test).join().expect("no panic"));
}

fn through_interfaces(world: &World<'_>) {
    let default = kernel::default().expect("a default");
    let own = if default == "reno" { "cubic" } else { "reno" };
    let lease = Duration::from_secs(600);
    let open = File::open(&world.group.0).expect("a directory");
    let mut attached = kernel::attach(&open, &steering(own, &["two"])).expect("attached");
    attached.renew(lease).expect("a lease");
    let put = |attached: &mut Attached, names: &[&str]| {
        attached
            .replace(&steering(own, names), lease)
            .expect("other rules");
    };
    assert_eq!(matched(world, own), [false, true]);
    // With SYN cookies, the route is looked up at another place.
    let cookies = Path::new("/proc/sys/net/ipv4/tcp_syncookies");
    fs::write(cookies, "2").expect("a setting");
    assert_eq!(matched(world, own), [false, true]);
    fs::write(cookies, "1").expect("a setting");
    // The last of the most interfaces, and names that only begin alike.
    let many = [
        "tw",
        "two0",
        "twos",
        "lo",
        "fifteen-letters",
        "one1",
        "o",
        "one",
    ];
    put(&mut attached, &many);
    assert_eq!(matched(world, own), [true, false]);
    put(&mut attached, &["lo"]);
    assert_eq!(matched(world, own), [false, false]);
    put(&mut attached, &[]);
    assert_eq!(matched(world, own), [true, true]);

    // The interface goes, and another one has its name, with the rest of an earlier name behind it.
    put(&mut attached, &["two"]);
    ip("link del two").expect("it goes");
    world
        .link(LINKS[1], "fifteen-letters")
        .expect("it comes again");
    assert_eq!(matched(world, own), [false, true]);

    // The SYN comes in through one interface, and the data leave through the other.
    world.inside_far(|| {
        ip("addr add 10.3.0.1/32 dev lo").expect("an address");
        ip("route replace 10.1.0.1/32 dev one src 10.3.0.1").expect("a route");
    });
    ip("route add 10.3.0.1/32 via 10.2.0.2 dev two").expect("a route");
    assert_eq!(world.accepted("10.1.0.1"), own);
    assert_eq!(world.accepted("fd00:1::1"), default);
}
