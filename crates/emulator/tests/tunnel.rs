//! A tunnel between two sockets that stand for TUN devices. Times are asserted from below only: a busy machine may be
//! late, never early.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;
use std::thread;
use std::time::{Duration, Instant};

use emulator::tunnel::{
    Direction, Hop, Route, TunCounters, Tunnel, TunnelConfig, TunnelCounters, TunnelError, Way,
    WayCounters,
};
use etherparse::{Ipv4Header, Ipv4HeaderSlice, PacketBuilder, TcpHeaderSlice};
use path::{Buffer, Capacity, Change, CoDel, Discipline, Effects, LinkConfig, Loss, Mtu};
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};
use units::{Rate, Ratio};

/// A limit that only a failing test reaches, on any machine.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A `struct virtio_net_hdr` of a packet without remaining work.
const PLAIN: [u8; 10] = [0; 10];

/// The kernel's ends of two devices, and the tunnel between them.
struct World {
    near: OwnedFd,
    far: OwnedFd,
    tunnel: Tunnel,
}

/// A pair of sockets that keep messages apart, as a TUN device does with its frames.
fn pair() -> (OwnedFd, OwnedFd) {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .unwrap()
}

fn start(forward: Way, reverse: Way) -> Result<World, TunnelError> {
    let (near, near_device) = pair();
    let (far, far_device) = pair();
    for kernel in [&near, &far] {
        rustix::net::sockopt::set_socket_timeout(
            kernel,
            rustix::net::sockopt::Timeout::Recv,
            Some(TIMEOUT),
        )
        .unwrap();
    }
    let tunnel = Tunnel::start(TunnelConfig {
        near: near_device,
        far: far_device,
        forward,
        reverse,
        seed: 1,
    })?;
    Ok(World { near, far, tunnel })
}

/// A direction whose link has no effect.
fn open() -> Way {
    Way::single(LinkConfig::default())
}

fn delay(millis: u64) -> LinkConfig {
    LinkConfig {
        delay: units::Duration::from_millis(millis),
        ..LinkConfig::default()
    }
}

/// A frame with one UDP packet of this payload to 10.0.0.`to`; `ecn` is the field of the IP header.
fn udp(to: u8, ecn: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = PLAIN.to_vec();
    PacketBuilder::ipv4([10, 0, 1, 1], [10, 0, 0, to], 64)
        .udp(1000, 2000)
        .write(&mut frame, payload)
        .unwrap();
    let (mut header, _) = Ipv4Header::from_slice(&frame[10..]).unwrap();
    header.ecn = ecn.try_into().unwrap();
    header.header_checksum = header.calc_header_checksum();
    frame[10..30].copy_from_slice(&header.to_bytes());
    frame
}

fn send(device: &OwnedFd, frame: &[u8]) {
    rustix::net::send(device, frame, SendFlags::empty()).unwrap();
}

fn receive(device: &OwnedFd) -> Vec<u8> {
    let mut frame = vec![0; 70_000];
    let (length, _) = rustix::net::recv(device, &mut frame, RecvFlags::empty()).unwrap();
    frame.truncate(length);
    frame
}

/// A frame with a large packet of TCP: `count` segments of 1000 bytes of payload.
fn large(to: u8, count: usize) -> Vec<u8> {
    // Checksum needed, TCP over IPv4, 40 bytes of headers, 1000 a segment, checksum from 20, at 16.
    let words = [40u16, 1_000, 20, 16].map(u16::to_ne_bytes);
    let mut frame = [&[1, 1][..], words.as_flattened()].concat();
    PacketBuilder::ipv4([10, 0, 1, 1], [10, 0, 0, to], 64)
        .tcp(1000, 2000, 0, 100)
        .write(&mut frame, &vec![7; 1_000 * count])
        .unwrap();
    frame
}

/// The numbers of the segments of such a packet that are in a frame.
fn segments(frame: &[u8]) -> std::ops::Range<usize> {
    let tcp = TcpHeaderSlice::from_slice(&frame[30..]).unwrap();
    let first = tcp.sequence_number() as usize / 1_000;
    assert!(frame[50..].iter().all(|byte| *byte == 7));
    assert_eq!((frame.len() - 50) % 1_000, 0);
    first..first + (frame.len() - 50) / 1_000
}

fn ecn(frame: &[u8]) -> u8 {
    let ip = Ipv4HeaderSlice::from_slice(&frame[10..]).unwrap();
    assert_eq!(ip.header_checksum(), ip.to_header().calc_header_checksum());
    ip.ecn().value()
}

fn rate(mbit: u64) -> Capacity {
    Capacity::Rate(Rate::from_bits_per_sec(mbit * 1_000_000))
}

/// Waits until the counters satisfy `condition`.
fn wait_for(tunnel: &Tunnel, condition: impl Fn(&TunnelCounters) -> bool) {
    let start = Instant::now();
    while !condition(&tunnel.counters()) {
        assert!(start.elapsed() < TIMEOUT, "{:?}", tunnel.counters());
        thread::sleep(Duration::from_micros(100));
    }
}

#[test]
fn frames_pass_unchanged_both_ways_and_are_counted() {
    let world = start(open(), open()).unwrap();
    let frames = [0, 1, 100, 1_472, 9_000, 60_000].map(|size| udp(1, 0, &vec![size as u8; size]));
    for (from, to) in [(&world.near, &world.far), (&world.far, &world.near)] {
        for frame in &frames {
            send(from, frame);
        }
        for frame in &frames {
            assert_eq!(&receive(to), frame);
        }
    }
    let bytes = frames.iter().map(|frame| frame.len() as u64 - 10).sum();
    let TunnelCounters { forward, reverse } = world.tunnel.stop();
    for way in [forward, reverse] {
        let expected = TunCounters {
            read_frames: 6,
            read_packets: 6,
            read_bytes: bytes,
            written_frames: 6,
            written_packets: 6,
            written_bytes: bytes,
            late_packets: way.tun.late_packets,
            lateness_max_ns: way.tun.lateness_max_ns,
            lateness_total_ns: way.tun.lateness_total_ns,
            ..TunCounters::default()
        };
        assert_eq!(way.tun, expected);
        assert_eq!(way.links.len(), 1);
        assert_eq!(way.links[0].delivered_packets, 6);
        assert_eq!(way.links[0].delivered_bytes, bytes);
    }
}

#[test]
fn large_packets_pass_whole_where_links_only_delay() {
    let way = Way {
        links: vec![delay(5), delay(3)],
        routes: vec![Route {
            to: Vec::new(),
            links: [0, 1].map(Hop::Own).to_vec(),
        }],
    };
    let world = start(way, open()).unwrap();
    let frame = large(1, 40);
    let sent = Instant::now();
    send(&world.near, &frame);
    assert_eq!(receive(&world.far), frame);
    assert!(sent.elapsed() >= Duration::from_millis(8));
    let WayCounters { links, tun } = world.tunnel.stop().forward;
    for link in links {
        assert_eq!((link.entered_packets, link.transmitted_packets), (40, 40));
        assert_eq!(link.delivered_packets, 40);
        assert_eq!(
            (link.entered_bytes, link.transmitted_bytes),
            (41_600, 41_600)
        );
        assert_eq!((link.delivered_bytes, link.in_transit_packets), (41_600, 0));
    }
    assert_eq!((tun.read_frames, tun.read_packets), (1, 40));
    assert_eq!((tun.written_frames, tun.written_packets), (1, 40));
    assert_eq!(tun.written_bytes, 40 * 1_040);
}

#[test]
fn large_packets_are_cut_before_the_bottleneck_and_none_is_early() {
    let way = Way {
        links: vec![
            delay(4),
            LinkConfig {
                // 1040 bytes take 0.832 ms.
                capacity: rate(10),
                ..LinkConfig::default()
            },
        ],
        routes: vec![Route {
            to: Vec::new(),
            links: [0, 1].map(Hop::Own).to_vec(),
        }],
    };
    let world = start(way, open()).unwrap();
    let sent = Instant::now();
    send(&world.near, &large(1, 40));
    let mut next = 0;
    while next < 40 {
        let segments = segments(&receive(&world.far));
        assert_eq!(segments.start, next, "in order");
        let due = Duration::from_millis(4) + Duration::from_micros(832) * segments.end as u32;
        assert!(sent.elapsed() >= due, "{segments:?} came early");
        next = segments.end;
    }
    let forward = world.tunnel.stop().forward;
    assert_eq!(forward.links[0].entered_packets, 40);
    assert_eq!(forward.links[1].entered_packets, 40);
    assert_eq!(forward.links[1].delivered_bytes, 40 * 1_040);
    assert_eq!(forward.links[1].busy_ns, 40 * 832_000);
    assert_eq!(forward.tun.written_packets, 40);
}

#[test]
fn neighbours_that_leave_together_are_joined_again() {
    let way = Way::single(LinkConfig {
        capacity: Capacity::Unlimited,
        effects: Effects {
            // A policer that passes everything: the link has an effect, but takes no time.
            policer: Some(path::Policer {
                rate: Rate::from_bits_per_sec(1_000_000),
                burst: units::Bytes::new(1 << 20),
            }),
            ..Effects::default()
        },
        ..LinkConfig::default()
    });
    let world = start(way, open()).unwrap();
    let frame = large(1, 40);
    send(&world.near, &frame);
    assert_eq!(receive(&world.far), frame);
    let forward = world.tunnel.stop().forward;
    assert_eq!(forward.links[0].entered_packets, 40);
    assert_eq!(forward.tun.written_frames, 1);
}

#[test]
fn routes_have_their_own_delays_before_a_shared_bottleneck() {
    let to = |host: u8| vec![Ipv4Addr::new(10, 0, 0, host).into()];
    let bottleneck = LinkConfig {
        capacity: rate(100),
        ..LinkConfig::default()
    };
    let route = |to, links: &[usize]| Route {
        to,
        links: links.iter().copied().map(Hop::Own).collect(),
    };
    let way = Way {
        links: vec![delay(2), delay(30), bottleneck],
        routes: vec![route(to(1), &[0, 2]), route(to(2), &[1, 2])],
    };
    let world = start(way, open()).unwrap();
    let sent = Instant::now();
    send(&world.near, &udp(2, 0, b"far"));
    send(&world.near, &udp(1, 0, b"near"));
    // No route has this destination, so the first one applies.
    send(&world.near, &udp(9, 0, b"unknown"));
    assert_eq!(receive(&world.far), udp(1, 0, b"near"));
    assert!(sent.elapsed() >= Duration::from_millis(2));
    assert_eq!(receive(&world.far), udp(9, 0, b"unknown"));
    assert_eq!(receive(&world.far), udp(2, 0, b"far"));
    assert!(sent.elapsed() >= Duration::from_millis(30));
    let links = world.tunnel.stop().forward.links;
    let entered = links.iter().map(|link| link.entered_packets);
    assert!(entered.eq([2, 1, 3]));
}

#[test]
fn what_a_queue_marks_is_marked_and_not_joined_to_what_it_does_not() {
    let way = Way::single(LinkConfig {
        // 8.32 ms a packet, which is far beyond the target.
        capacity: rate(1),
        effects: Effects {
            queue: Discipline::CoDel(CoDel {
                target: units::Duration::from_micros(1),
                interval: units::Duration::from_millis(1),
                ecn: true,
            }),
            ..Effects::default()
        },
        ..LinkConfig::default()
    });
    let world = start(way, open()).unwrap();
    let mut frame = large(1, 20);
    // ECT(0) in the IP header, with its checksum.
    let (mut header, _) = Ipv4Header::from_slice(&frame[10..]).unwrap();
    header.ecn = 2.try_into().unwrap();
    header.header_checksum = header.calc_header_checksum();
    frame[10..30].copy_from_slice(&header.to_bytes());
    send(&world.near, &frame);
    send(&world.near, &udp(1, 2, b"single"));
    let mut marked = 0;
    let mut next = 0;
    while next < 20 {
        let frame = receive(&world.far);
        let segments = segments(&frame);
        assert_eq!(segments.start, next);
        next = segments.end;
        match ecn(&frame) {
            3 => marked += segments.len() as u64,
            other => assert_eq!(other, 2),
        }
    }
    marked += u64::from(ecn(&receive(&world.far)) == 3);
    let link = world.tunnel.stop().forward.links[0];
    assert!(marked > 0);
    assert_eq!(link.marked_packets, marked);
    assert_eq!(link.buffer_drops, 0);
}

#[test]
fn losses_and_copies_are_of_single_packets() {
    let way = Way::single(LinkConfig {
        effects: Effects {
            loss: Loss::Independent(Ratio::new(1, 4)),
            duplicate: Ratio::new(1, 4),
            ..Effects::default()
        },
        ..LinkConfig::default()
    });
    let world = start(way, open()).unwrap();
    let count = 60;
    let frame = large(1, count);
    send(&world.near, &frame);
    send(&world.near, &udp(2, 0, b"last"));
    wait_for(&world.tunnel, |counters| {
        counters.forward.tun.read_frames == 2
    });
    let forward = world.tunnel.stop().forward;
    let mut seen = vec![0u64; count];
    for _ in 0..forward.tun.written_frames {
        let frame = receive(&world.far);
        if frame[19] == 6 {
            segments(&frame).for_each(|segment| seen[segment] += 1);
        }
    }
    let link = forward.links[0];
    let single = 61 - link.random_losses - link.duplicated_packets;
    assert!((5..30).contains(&link.random_losses), "{link:?}");
    assert!((5..30).contains(&link.duplicated_packets), "{link:?}");
    assert_eq!(
        forward.tun.written_packets,
        single + 2 * link.duplicated_packets
    );
    assert!(seen.contains(&0) && seen.contains(&1) && seen.contains(&2));
}

#[test]
fn damaged_packets_arrive_alone_and_with_a_checksum_that_is_wrong() {
    let way = Way::single(LinkConfig {
        effects: Effects {
            corruption: Ratio::ONE,
            ..Effects::default()
        },
        ..LinkConfig::default()
    });
    let world = start(way, open()).unwrap();
    send(&world.near, &large(1, 3));
    send(&world.near, &udp(2, 0, b"a checksum of its own"));
    for _ in 0..3 {
        let mut frame = receive(&world.far);
        assert_eq!(frame[..10], PLAIN, "the kernel is to check it");
        let is_right = |frame: &[u8]| {
            let ip = Ipv4Header::from_slice(&frame[10..]).unwrap().0;
            let (tcp, payload) = etherparse::TcpHeader::from_slice(&frame[30..]).unwrap();
            tcp.checksum == tcp.calc_checksum_ipv4(&ip, payload).unwrap()
        };
        assert!(!is_right(&frame));
        *frame.last_mut().unwrap() ^= 1;
        assert!(is_right(&frame));
    }
    let mut damaged = udp(2, 0, b"a checksum of its own");
    *damaged.last_mut().unwrap() ^= 1;
    assert_eq!(receive(&world.far), damaged);
    let link = world.tunnel.stop().forward.links[0];
    assert_eq!((link.corrupted_packets, link.delivered_packets), (4, 4));
}

#[test]
fn what_is_larger_than_the_mtu_is_dropped_and_its_sender_told() {
    // It applies from the start, but as a change, so the link is not one that only delays.
    let way = Way::single(LinkConfig {
        changes: vec![Change {
            mtu: Mtu::new(1_000),
            ..Change::default()
        }],
        ..LinkConfig::default()
    });
    let world = start(way, open()).unwrap();
    // Segments of 1040 bytes, and packets of 1001 and of 1000.
    send(&world.near, &large(1, 3));
    send(&world.near, &udp(2, 0, &[0; 973]));
    send(&world.near, &udp(2, 0, &[0; 972]));
    assert_eq!(receive(&world.far), udp(2, 0, &[0; 972]));
    for (to, port, protocol) in [(1, 1_000, 6), (2, 1_000, 17)] {
        let report = receive(&world.near);
        assert_eq!(report[..10], PLAIN);
        let (ip, icmp) = Ipv4Header::from_slice(&report[10..]).unwrap();
        assert_eq!((ip.source, ip.destination), ([10, 0, 0, to], [10, 0, 1, 1]));
        // Destination unreachable, fragmentation needed, and the MTU.
        assert_eq!((icmp[0], icmp[1], &icmp[6..8]), (3, 4, &[3, 232][..]));
        let (quoted, rest) = Ipv4Header::from_slice(&icmp[8..]).unwrap();
        assert_eq!(quoted.protocol.0, protocol);
        assert_eq!(u16::from_be_bytes([rest[0], rest[1]]), port);
    }
    let counters = world.tunnel.stop();
    let link = counters.forward.links[0];
    assert_eq!((link.entered_packets, link.too_big_packets), (5, 4));
    assert_eq!(link.delivered_packets, 1);
}

#[test]
fn a_queue_can_be_watched_and_stopping_throws_it_away() {
    let way = Way::single(LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(80)),
        buffer: Buffer::Packets(10),
        ..LinkConfig::default()
    });
    let world = start(way, open()).unwrap();
    send(&world.near, &large(1, 30));
    wait_for(&world.tunnel, |counters| {
        counters.forward.links[0].entered_packets == 30
    });
    let queued = world.tunnel.queued(Direction::Forward, 0);
    assert_eq!((queued.packets, queued.bytes.get()), (10, 10_400));
    assert_eq!(world.tunnel.queued(Direction::Forward, 7).packets, 0);
    let link = world.tunnel.stop().forward.links[0];
    assert_eq!(link.buffer_drops, 19);
    assert_eq!(link.in_transit_packets, 11);
    // The tunnel has closed its ends, which ours report.
    let end = rustix::net::recv(&world.far, &mut [0; 8], RecvFlags::empty());
    assert_eq!(end.unwrap().0, 0);
}

#[test]
fn what_makes_no_sense_is_counted_and_goes_no_further() {
    let world = start(open(), open()).unwrap();
    for nonsense in [&[1][..], &[0; 10], &[0; 60], &[0xff; 3_000]] {
        send(&world.near, nonsense);
    }
    let mut of_no_size = large(1, 2);
    of_no_size[4..6].copy_from_slice(&[0, 0]);
    send(&world.near, &of_no_size);
    send(&world.near, &udp(1, 0, b"sense"));
    assert_eq!(receive(&world.far), udp(1, 0, b"sense"));
    let tun = world.tunnel.stop().forward.tun;
    assert_eq!(tun.malformed_frames, 5);
    assert_eq!(tun.read_frames, 1);
}

#[test]
fn a_full_device_is_a_counted_loss() {
    let world = start(open(), open()).unwrap();
    // This is more than the socket of a silent reader holds.
    let count = 200;
    for _ in 0..count {
        send(&world.near, &udp(1, 0, &[0; 1_400]));
    }
    wait_for(&world.tunnel, |counters| {
        let tun = counters.forward.tun;
        tun.written_packets + tun.write_errors == count
    });
    assert!(world.tunnel.is_running(Direction::Forward));
    let forward = world.tunnel.stop().forward;
    assert!(forward.tun.write_errors > 0);
    assert_eq!(forward.links[0].send_errors, forward.tun.write_errors);
}

#[test]
fn a_direction_ends_when_its_device_is_gone() {
    let world = start(open(), open()).unwrap();
    drop(world.near);
    let start = Instant::now();
    while world.tunnel.is_running(Direction::Forward) {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_micros(100));
    }
    // The other direction detects it when it writes.
    send(&world.far, &udp(1, 0, b"into the void"));
    while world.tunnel.is_running(Direction::Reverse) {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_micros(100));
    }
    world.tunnel.stop();
}

#[test]
fn packets_in_both_directions_wait_at_the_link_that_their_routes_share() {
    // 1000 bytes and their headers take more than 1 ms.
    let slow = LinkConfig {
        capacity: rate(8),
        ..LinkConfig::default()
    };
    let route = |hop| Route {
        to: Vec::new(),
        links: vec![hop],
    };
    let forward = Way {
        links: vec![LinkConfig::default()],
        routes: vec![route(Hop::Opposite(0))],
    };
    let reverse = Way {
        links: vec![slow],
        routes: vec![route(Hop::Own(0))],
    };
    let world = start(forward, reverse).unwrap();
    let ends = [(&world.near, &world.far), (&world.far, &world.near)];
    let sent = Instant::now();
    for (from, _) in ends {
        for _ in 0..10 {
            send(from, &udp(1, 0, &[0; 1_000]));
        }
    }
    for (_, to) in ends {
        for _ in 0..10 {
            receive(to);
        }
    }
    assert!(sent.elapsed() >= Duration::from_millis(20));
    let TunnelCounters { forward, reverse } = world.tunnel.stop();
    assert_eq!(forward.links[0].delivered_packets, 0);
    assert_eq!(reverse.links[0].delivered_packets, 20);
    for way in [forward, reverse] {
        assert_eq!((way.tun.read_packets, way.tun.written_packets), (10, 10));
    }
}

#[test]
fn one_thread_of_both_directions_reports_to_the_sender_and_ends_with_a_device() {
    let narrow = LinkConfig {
        effects: Effects {
            mtu: Mtu::new(1_000),
            ..Effects::default()
        },
        ..LinkConfig::default()
    };
    let over = |link, hop| Way {
        links: vec![link],
        routes: vec![Route {
            to: Vec::new(),
            links: vec![hop],
        }],
    };
    let forward = over(narrow, Hop::Own(0));
    let reverse = over(LinkConfig::default(), Hop::Opposite(0));
    let world = start(forward, reverse).unwrap();
    for end in [&world.near, &world.far] {
        send(end, &udp(1, 0, &[0; 1_200]));
        let report = receive(end);
        assert_eq!(report[PLAIN.len() + 9], 1, "not ICMP");
    }
    drop(world.far);
    let start = Instant::now();
    while world.tunnel.is_running(Direction::Forward) || world.tunnel.is_running(Direction::Reverse)
    {
        assert!(start.elapsed() < TIMEOUT);
        thread::sleep(Duration::from_micros(100));
    }
    world.tunnel.stop();
}

#[test]
fn impossible_ways_are_refused() {
    let refusal = |forward| start(open(), forward).err().unwrap().to_string();
    let address = [IpAddr::from(Ipv4Addr::LOCALHOST); 2];
    assert_eq!(
        refusal(Way::default()),
        "the reverse way has no route; give it at least one, whose links may be none"
    );
    let mut way = open();
    way.routes[0].links.push(Hop::Own(3));
    assert_eq!(
        refusal(way),
        "reverse route 0 names reverse link 3, but there are 1"
    );
    let mut way = open();
    way.routes[0].links.push(Hop::Opposite(2));
    assert_eq!(
        refusal(way),
        "reverse route 0 names forward link 2, but there are 1"
    );
    let mut way = open();
    way.routes[0].to.extend(address);
    assert_eq!(
        refusal(way),
        "reverse routes name the destination 127.0.0.1 twice"
    );
    let mut way = open();
    way.links[0].capacity = Capacity::Rate(Rate::ZERO);
    assert_eq!(
        refusal(way),
        "reverse link 0: rate is zero: nothing would move; give a rate such as 20mbit"
    );
}
