//! The contents of a namespace.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, UdpSocket};
use std::time::Duration;

use libtest_mimic::Trial;
use linux::{Family, Host, Network, NetworkConfig};

use crate::support::{line, network, read};
use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![
        trial(
            "every group has an address of each family, and no two the same",
            groups,
        ),
        trial(
            "a count of groups that cannot be is refused",
            impossible_groups,
        ),
        trial("nothing but lo and the device is there", devices),
        trial("a host sends nothing on its own", silence),
        trial("the MTU is what was asked for", mtu),
        trial("a host has all addresses of a network", own),
    ]
}

fn addresses(host: &Host, groups: u16) -> Vec<IpAddr> {
    let families = [Family::V4, Family::V6];
    let families = if host.has_ipv6() {
        &families[..]
    } else {
        &families[..1]
    };
    families
        .iter()
        .flat_map(|&family| (0..groups).map(move |group| host.address(group, family)))
        .collect()
}

fn groups() {
    let network = Network::create(&NetworkConfig {
        groups: 200,
        ..NetworkConfig::default()
    })
    .expect("200 groups");
    let mut all = BTreeSet::new();
    for host in [&network.near, &network.far] {
        for address in addresses(host, 200) {
            assert!(all.insert(address), "{address} twice");
            // A socket can bind only to a local address, and not to a tentative one.
            host.inside(|| UdpSocket::bind((address, 0)))
                .expect("inside")
                .expect("an own address");
        }
        let stranger = host.address(200, Family::V4);
        assert!(
            host.inside(|| UdpSocket::bind((stranger, 0)))
                .expect("inside")
                .is_err()
        );
    }
}

fn impossible_groups() {
    for groups in [0, 201, u16::MAX] {
        let error = Network::create(&NetworkConfig {
            groups,
            ..NetworkConfig::default()
        })
        .expect_err("no such count");
        assert!(line(&error).contains("1 to 200"), "{error}");
    }
}

fn devices() {
    let network = network();
    for host in [&network.near, &network.far] {
        let devices = read(host, "/proc/thread-self/net/dev");
        let names: BTreeSet<&str> = devices
            .lines()
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name.trim())
            .collect();
        // Modules for tunnels may add their devices to every namespace; they are down.
        assert!(
            names.contains("lo") && names.contains(linux::DEVICE),
            "{names:?}"
        );
        let routes = read(host, "/proc/thread-self/net/route");
        let routes: Vec<Vec<&str>> = routes
            .lines()
            .skip(1)
            .map(|route| route.split_whitespace().take(2).collect())
            .collect();
        assert_eq!(routes, [[linux::DEVICE, "00000000"]]);
    }
}

fn silence() {
    let network = network();
    // Longer than the delays of multicast listener reports, router solicitations and duplicate address detection.
    std::thread::sleep(Duration::from_millis(1500));
    for host in [&network.near, &network.far] {
        let mut device = File::from(host.tun().try_clone().expect("a descriptor"));
        let nothing = device
            .read(&mut [0; 2048])
            .expect_err("nobody has sent a packet");
        assert_eq!(nothing.kind(), std::io::ErrorKind::WouldBlock);
    }
}

/// The length of a `virtio_net_hdr`.
const HEADER: usize = 10;

fn mtu() {
    for mtu in [576, 1280, 1500, 9000, 65535] {
        let network = Network::create(&NetworkConfig {
            mtu,
            ..NetworkConfig::default()
        })
        .expect("an MTU");
        assert!(mtu >= 1280 || !network.near.has_ipv6());
        let to = network.far.address(0, Family::V4);
        let host = &network.near;
        let sent = host.inside(|| {
            UdpSocket::bind(("0.0.0.0", 0))
                .and_then(|socket| socket.send_to(&vec![0; usize::from(mtu) - 28], (to, 9)))
        });
        sent.expect("inside").expect("the largest datagram");
        let mut device = File::from(host.tun().try_clone().expect("a descriptor"));
        let mut packet = vec![0; 1 << 17];
        let length = device.read(&mut packet).expect("one packet");
        assert_eq!(length, HEADER + usize::from(mtu));
        let more = device
            .read(&mut packet)
            .expect_err("one packet, not fragments");
        assert_eq!(more.kind(), std::io::ErrorKind::WouldBlock);
    }
    let error = Network::create(&NetworkConfig {
        mtu: 60,
        ..NetworkConfig::default()
    })
    .expect_err("IPv4 takes 68");
    assert!(line(&error).contains("MTU 60"), "{error}");
}

fn own() {
    let network = network();
    let bind = |address: [u8; 4]| {
        let address = IpAddr::from(address);
        network
            .far
            .inside(|| UdpSocket::bind((address, 0)))
            .expect("inside")
    };
    assert!(bind([10, 77, 3, 4]).is_err());
    network
        .far
        .own(IpAddr::from([10, 77, 0, 0]), 16)
        .expect("a network");
    for own in [[10, 77, 3, 4], [10, 77, 255, 1]] {
        bind(own).expect("an own address");
    }
    assert!(bind([10, 78, 0, 1]).is_err());
    let again = network.far.own(IpAddr::from([10, 77, 0, 0]), 16);
    let again = line(&again.expect_err("it is there"));
    assert!(again.contains("10.77.0.0/16"), "{again}");
}
