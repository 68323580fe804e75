//! The engines, and unprivileged observation of connections.

use std::io;
use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use fleet::{Moment, Namespace, Watcher};
use lab::{Cancel, EngineKind};
use linux::{Network, NetworkConfig};
use scenario::Scenario;
use tables::numbers;

use super::finding::{Finding, by_root};

/// A run that takes a few milliseconds.
const SHORT_SCENARIO: &str = "name = \"doctor\"\nduration = \"200ms\"\npath = { rate = \"10mbit\", rtt = \"20ms\", buffer = \"1bdp\" }\n\
                     flow = [{ controller = \"bbr1\" }]\n";

/// The longest wait for a packet over the loopback interface.
const PACKET_TIMEOUT: Duration = Duration::from_secs(1);

/// The parts that need no privilege.
pub fn plain() -> Vec<Finding> {
    [sim(), quic(), watch()]
        .into_iter()
        .map(Finding::basic)
        .collect()
}

fn sim() -> Finding {
    let name = "engine sim";
    let report_it = "this is an error of Fullpipe: report it";
    let scenario: Scenario = match SHORT_SCENARIO.parse() {
        Ok(scenario) => scenario,
        Err(error) => return Finding::lacking(name, error.to_string(), report_it),
    };
    match EngineKind::Sim
        .engine()
        .run(&scenario, &|_| {}, &Cancel::new())
    {
        Ok(_) => Finding::ok(
            name,
            "runs scenarios in virtual time; so do sweep, advise and diagnose",
        ),
        Err(error) => Finding::lacking(name, error.to_string(), report_it),
    }
}

fn quic() -> Finding {
    let name = "engine quic";
    match cross_loopback() {
        Ok(()) => Finding::ok(
            name,
            "packets cross the loopback interface; so race, emulate, send and recv work",
        ),
        Err(error) => Finding::lacking(
            name,
            format!("no packet crosses the loopback interface: {error}"),
            by_root("ip link set lo up"),
        ),
    }
}

fn cross_loopback() -> io::Result<()> {
    let [from, to] = [(); 2].map(|()| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)));
    let (from, to) = (from?, to?);
    to.set_read_timeout(Some(PACKET_TIMEOUT))?;
    from.send_to(b"doctor", to.local_addr()?)?;
    to.recv(&mut [0; 16]).map(drop)
}

fn watch() -> Finding {
    let name = "watch";
    let nothing = Moment {
        at: units::Duration::ZERO,
        unix_s: 0.0,
    };
    let looked = Watcher::new(&[Namespace::Here], Default::default(), None)
        .map_err(|error| error.to_string())
        .and_then(|mut watcher| {
            let looked = watcher.look(nothing).map_err(|error| error.to_string());
            looked.map(|()| watcher.table().all().len())
        });
    match looked {
        Ok(seen) => Finding::ok(
            name,
            format!(
                "sees this machine's {}",
                numbers::count(seen as u64, "TCP connection")
            ),
        ),
        Err(error) => Finding::lacking(name, error, by_root("modprobe tcp_diag")),
    }
}

/// The engine `linux`, and the shell: two network namespaces and a tunnel. Without privileges, this process enters a
/// user namespace of its own and stays there.
pub fn linux() -> Finding {
    let name = "engine linux, shell";
    let made = linux::privilege::acquire()
        .and_then(|()| Network::create(&NetworkConfig::default()).map(drop));
    match made {
        Ok(()) => Finding::ok(name, "network namespaces and tunnels can be made"),
        Err(error) => {
            let error = error.to_string();
            let fix = fix(&error);
            Finding::lacking(name, error, fix)
        }
    }
}

/// The fix for an error of namespaces or tunnels.
fn fix(error: &str) -> String {
    for (part, command) in [
        ("/dev/net/tun may not", "chmod 666 /dev/net/tun"),
        ("/dev/net/tun", "modprobe tun"),
        (
            "kernel.apparmor_restrict_unprivileged_userns",
            "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
        ),
        (
            "kernel.unprivileged_userns_clone",
            "sysctl -w kernel.unprivileged_userns_clone=1",
        ),
        (
            "user.max_user_namespaces",
            "sysctl -w user.max_user_namespaces=10000",
        ),
    ] {
        if error.contains(part) {
            return by_root(command);
        }
    }
    by_root(
        "fullpipe doctor (root needs no user namespace; in a container, start it with --cap-add SYS_ADMIN --cap-add NET_ADMIN --device /dev/net/tun)",
    )
}
