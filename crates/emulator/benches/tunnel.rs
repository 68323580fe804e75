//! The capacity of a tunnel for kernel traffic, and its precision: `cargo bench -p fullpipe-emulator --bench tunnel`.
//! An argument selects the measurements with it in their names.
//!
//! The hosts are network namespaces of this process (as root, or where the kernel allows user namespaces). Delay errors
//! are those of `--bench precision`, of UDP packets from socket to socket: the tunnel's lateness, and the time that the
//! kernel takes to pass a packet through two devices and to wake three sleeping threads. Results of a busy machine mean
//! little.

#[path = "common/lateness.rs"]
mod lateness;

use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use emulator::tunnel::{Tunnel, TunnelConfig, TunnelCounters, Way};
use linux::{Family, Network, NetworkConfig};
use path::{Buffer, Capacity, LinkConfig};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use units::{Bytes, Rate};

use lateness::{Errors, lateness, receiver};

/// The time of each measurement, and the time before it begins.
const SPAN: Duration = Duration::from_secs(3);
const SETTLE: Duration = Duration::from_secs(1);

/// A full segment's payload (IPv4 and timestamps), of a packet of 1500 bytes.
const PAYLOAD_SHARE: f64 = 1_448.0 / 1_500.0;

fn main() {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    // As a test, the program asserts nothing.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let wanted = arguments
        .iter()
        .find(|argument| !argument.starts_with("--"));
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| name.contains(wanted.as_str()));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load average before: {}", load.trim());
    if is_wanted("sockets") {
        sockets();
    }
    if let Err(error) = linux::privilege::acquire()
        .and_then(|()| Network::create(&NetworkConfig::default()))
        .map(drop)
    {
        skipping::skip!("all measurements with real TUN devices: {error}");
        return;
    }
    println!(
        "{:<28} {:>12} {:>9} {:>12} {:>12} {:>9} {:>9}",
        "kernel TCP, 1 flow", "goodput", "share", "frame read", "written", "late", "errors"
    );
    let millis = units::Duration::from_millis;
    let shaped = |rate: &str, delay| LinkConfig {
        capacity: Capacity::Rate(rate.parse().unwrap()),
        delay,
        buffer: Buffer::Bytes(Bytes::new(4 << 20)),
        ..LinkConfig::default()
    };
    let runs = [
        ("tcp unshaped", Way::single(LinkConfig::default())),
        (
            "tcp only delayed 1ms",
            Way::single(LinkConfig {
                delay: millis(1),
                ..LinkConfig::default()
            }),
        ),
        (
            "tcp 10gbit, cut to packets",
            Way::single(shaped("10gbit", millis(0))),
        ),
        ("tcp 1gbit, 5ms", Way::single(shaped("1gbit", millis(5)))),
        (
            "tcp 100mbit, 5ms",
            Way::single(shaped("100mbit", millis(5))),
        ),
    ];
    for (name, way) in runs {
        if is_wanted(name) {
            tcp(name, way);
        }
    }
    println!("{:<28} {}", "UDP, 100mbit, errors in us", Errors::HEADER);
    if is_wanted("udp no tunnel") {
        let offered = "50mbit".parse().unwrap();
        udp(
            "udp no tunnel, 50mbit",
            offered,
            LinkConfig::default(),
            false,
        );
    }
    for (name, offered) in [
        ("udp below: 50mbit offered", "50mbit"),
        ("udp above: 120mbit offered", "120mbit"),
    ] {
        if is_wanted(name) {
            let link = LinkConfig {
                buffer: Buffer::Unlimited,
                ..shaped("100mbit", millis(20))
            };
            udp(name, offered.parse().unwrap(), link, true);
        }
    }
}

/// Two hosts and a tunnel between them.
fn world(forward: Way) -> (Network, Tunnel) {
    let network = Network::create(&NetworkConfig::default()).unwrap();
    let tunnel = Tunnel::start(TunnelConfig {
        near: network.near.tun().try_clone().unwrap(),
        far: network.far.tun().try_clone().unwrap(),
        forward,
        reverse: Way::single(LinkConfig::default()),
        seed: 1,
    })
    .unwrap();
    (network, tunnel)
}

/// A bulk transfer of the kernel's TCP.
fn tcp(name: &str, way: Way) {
    let rate = way.links.first().and_then(|link| match link.capacity {
        Capacity::Rate(rate) => Some(rate),
        _ => None,
    });
    let (network, tunnel) = world(way);
    let address = SocketAddr::new(network.far.address(0, Family::V4), 5_000);
    let listen = || TcpListener::bind(address).unwrap();
    let listener = network.far.inside(listen).unwrap();
    let connect = || TcpStream::connect(address).unwrap();
    let sender = network.near.inside(connect).unwrap();
    let (receiver, _) = listener.accept().unwrap();
    let delivered = AtomicU64::new(0);
    let (goodput, cpu) = thread::scope(|scope| {
        scope.spawn(|| {
            while let Ok(length @ 1..) = linux::socket::discard(&receiver, 1 << 20) {
                delivered.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        scope.spawn(|| while linux::socket::send(&sender, 1 << 20).is_ok() {});
        thread::sleep(SETTLE);
        let (start, before, cpu) = (Instant::now(), delivered.load(Ordering::Relaxed), cpu());
        thread::sleep(SPAN);
        let bytes = delivered.load(Ordering::Relaxed) - before;
        let took = start.elapsed().as_secs_f64();
        let used = (self::cpu() - cpu) / took;
        for end in [&sender, &receiver] {
            end.shutdown(Shutdown::Both).unwrap();
        }
        (bytes as f64 * 8.0 / took, used)
    });
    let TunnelCounters { forward, reverse } = tunnel.stop();
    let share = rate.map_or(f64::NAN, |rate| {
        goodput / (rate.bits_per_sec() as f64 * PAYLOAD_SHARE)
    });
    let tun = forward.tun;
    println!(
        "{name:<28} {:>6.0} Mbit/s {:>8.2}% {:>7.1} pkts {:>7.1} pkts {:>9} {:>9}   cpu {cpu:.2}, acks {}, drops {}",
        goodput / 1e6,
        share * 100.0,
        tun.read_packets as f64 / tun.read_frames as f64,
        tun.written_packets as f64 / tun.written_frames as f64,
        tun.late_packets,
        tun.write_errors + reverse.tun.write_errors,
        reverse.tun.read_frames,
        forward.links[0].buffer_drops,
    );
}

/// UDP packets, from host to host or within one.
fn udp(name: &str, offered: Rate, link: LinkConfig, tunnelled: bool) {
    let (network, tunnel) = world(Way::single(link.clone()));
    let to = if tunnelled {
        network.far.address(0, Family::V4)
    } else {
        IpAddr::V4(Ipv4Addr::LOCALHOST)
    };
    let host = if tunnelled {
        &network.far
    } else {
        &network.near
    };
    let receiver = host.inside(|| receiver((to, 5_000))).unwrap();
    let connect = || {
        let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.connect((to, 5_000)).unwrap();
        socket
    };
    let sender = network.near.inside(connect).unwrap();
    let errors = lateness(&link, offered, SPAN.into(), &sender, &receiver);
    let tun = tunnel.stop().forward.tun;
    let latest = tun.lateness_max_ns as f64 / 1e3;
    println!("{name:<28} {errors}   in the tunnel at most {latest:.1}");
}

/// Sends frames through a tunnel between sockets in place of devices, as many as possible.
fn sockets() {
    let (near, near_device) = pair();
    let (far, far_device) = pair();
    let tunnel = Tunnel::start(TunnelConfig {
        near: near_device,
        far: far_device,
        forward: Way::single(LinkConfig::default()),
        reverse: Way::single(LinkConfig::default()),
        seed: 1,
    })
    .unwrap();
    let frame = udp_frame();
    let (sent, received) = (AtomicU64::new(0), AtomicU64::new(0));
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut buffer = vec![0; 1 << 16];
            // The time of the last packet is the end.
            while let Ok((1.., _)) = rustix::net::recv(&far, &mut buffer, RecvFlags::empty()) {
                received.fetch_add(1, Ordering::Relaxed);
            }
        });
        while start.elapsed() < SPAN {
            let on_the_way = sent.load(Ordering::Relaxed) - received.load(Ordering::Relaxed);
            // This is fewer than a socket holds.
            if on_the_way < 64 {
                rustix::net::send(&near, &frame, SendFlags::empty()).unwrap();
                sent.fetch_add(1, Ordering::Relaxed);
            } else {
                thread::yield_now();
            }
        }
        let per_second = received.load(Ordering::Relaxed) as f64 / start.elapsed().as_secs_f64();
        println!(
            "sockets, unshaped: {per_second:.0} packets/s, {:.2} Gbit/s",
            per_second * (frame.len() - 10) as f64 * 8.0 / 1e9
        );
        let errors = tunnel.stop().forward.tun.write_errors;
        if errors > 0 {
            println!("LOST in sockets: {errors}");
        }
    });
}

/// Messages stay separate, as the frames of a device do.
fn pair() -> (OwnedFd, OwnedFd) {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .unwrap()
}

/// A packet of 1500 bytes behind a `virtio_net_hdr`.
fn udp_frame() -> Vec<u8> {
    let mut frame = vec![0; 10];
    etherparse::PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
        .udp(1, 2)
        .write(&mut frame, &[0; lateness::PAYLOAD])
        .unwrap();
    frame
}

/// Seconds of processor time that this process has used.
fn cpu() -> f64 {
    let times = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    times.tv_sec as f64 + times.tv_nsec as f64 / 1e9
}
