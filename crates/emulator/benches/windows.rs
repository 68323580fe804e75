//! The bytes that a link delivers in each window of time, on this machine: `cargo bench -p fullpipe-emulator --bench
//! windows`. An argument selects the measurements with it in their names (`relay`, `tunnel`, `10mbit`, `stalled`).
//!
//! A sender offers 1.2 times the rate, so that the link is never idle. Arrivals have the kernel's time
//! (`SO_TIMESTAMPNS`), so the time of delivery counts, and not that of the read. A packet's bytes are spread over its
//! transmission time, as on a link. So each window of a link that is on time has its rate exactly. `stalled` halts all
//! processors repeatedly, by threads of real-time priority: up to 3 ms long, 15 ms apart on average, in all for 9 % of
//! the time. It needs the right to real-time priority. Capacity is the delivered share of what the rate allows, from
//! the first packet to the last.

use std::io::IoSliceMut;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use emulator::tunnel::{Tunnel, TunnelConfig, Way};
use emulator::{Awake, Relay, RelayConfig, Sharing};
use linux::{Family, Network, NetworkConfig};
use nix::sys::socket::{
    ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt, sockopt,
};
use path::{Buffer, Capacity, LinkConfig, PathConfig};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};
use units::{Bytes, Rate};

/// A full packet with 28 bytes of headers.
const PAYLOAD: usize = 1_472;
const SIZE: f64 = 1_500.0;

const SPAN: Duration = Duration::from_secs(5);
/// The seconds at the start that are not counted.
const SETTLE: f64 = 0.3;

const RATES: [&str; 3] = ["10mbit", "100mbit", "500mbit"];
const WINDOWS_MS: [f64; 3] = [1.0, 10.0, 100.0];

/// The maximum length of a stall, and the mean distance of stalls.
const MAX_STALL: Duration = Duration::from_millis(3);
const STALL_GAP: Duration = Duration::from_millis(15);

fn main() {
    let arguments = std::env::args().skip(1).collect::<Vec<_>>();
    // As a test, the program asserts nothing.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return;
    }
    let wanted: Vec<_> = arguments
        .iter()
        .filter(|one| !one.starts_with("--"))
        .collect();
    let is_wanted = |name: &str| wanted.iter().all(|wanted| name.contains(wanted.as_str()));
    let awake = Awake::keep();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!(
        "load average before: {}; kept awake by {}",
        load.trim(),
        awake.means()
    );
    let can_tunnel = linux::privilege::acquire()
        .and_then(|()| Network::create(&NetworkConfig::default()))
        .map(drop);
    println!(
        "delivered / rate             capacity   1 ms: p99    max   10 ms: p99    max  100 ms: p99    max   late, mean us"
    );
    for state in ["", " stalled"] {
        for rate in RATES {
            for kind in ["relay", "tunnel"] {
                let name = format!("{kind} {rate}{state}");
                if !is_wanted(&name) {
                    continue;
                }
                if let ("tunnel", Err(error)) = (kind, &can_tunnel) {
                    skipping::skip!("{name}: {error}");
                    continue;
                }
                let rate: Rate = rate.parse().unwrap();
                let stalls = (!state.is_empty()).then(Stalls::start);
                let (times, late) = if kind == "relay" {
                    relay(rate)
                } else {
                    tunnel(rate)
                };
                drop(stalls);
                println!("{name:<28} {}   {late}", line(&times, rate));
            }
        }
    }
}

fn link(rate: Rate) -> LinkConfig {
    LinkConfig {
        capacity: Capacity::Rate(rate),
        delay: units::Duration::from_millis(5),
        buffer: Buffer::Bytes(rate.bytes_in(units::Duration::from_millis(50))),
        ..LinkConfig::default()
    }
}

fn relay(rate: Rate) -> (Vec<f64>, String) {
    let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
    let relay = Relay::start(RelayConfig {
        listen: "127.0.0.1:0".parse().unwrap(),
        to: receiver.local_addr().unwrap(),
        path: PathConfig {
            forward: link(rate),
            reverse: LinkConfig::default(),
        },
        seed: 1,
        sharing: Sharing::OneBottleneck,
    })
    .unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    let times = arrivals(&sender, relay.local_addr(), &receiver, rate);
    let way = relay.stop().forward;
    let late = lateness(
        way.late_packets,
        way.lateness_total_ns,
        way.delivered_packets,
    );
    (times, late)
}

fn tunnel(rate: Rate) -> (Vec<f64>, String) {
    let network = Network::create(&NetworkConfig::default()).unwrap();
    let tunnel = Tunnel::start(TunnelConfig {
        near: network.near.tun().try_clone().unwrap(),
        far: network.far.tun().try_clone().unwrap(),
        forward: Way::single(link(rate)),
        reverse: Way::single(LinkConfig::default()),
        seed: 1,
    })
    .unwrap();
    let to = SocketAddr::new(network.far.address(0, Family::V4), 5_000);
    let receiver = network.far.inside(|| UdpSocket::bind(to).unwrap()).unwrap();
    let sender = network
        .near
        .inside(|| UdpSocket::bind("0.0.0.0:0").unwrap())
        .unwrap();
    let times = arrivals(&sender, to, &receiver, rate);
    let way = tunnel.stop().forward.tun;
    (
        times,
        lateness(way.late_packets, way.lateness_total_ns, way.written_packets),
    )
}

fn lateness(late: u64, total_ns: u64, packets: u64) -> String {
    let mean = total_ns as f64 / 1e3 / packets.max(1) as f64;
    let share = late as f64 * 100.0 / packets.max(1) as f64;
    format!("{share:>4.1} % {mean:>7.0}")
}

/// Returns the arrivals, in seconds, of packets that were sent faster than the link's rate.
fn arrivals(sender: &UdpSocket, to: SocketAddr, receiver: &UdpSocket, rate: Rate) -> Vec<f64> {
    receiver
        .set_read_timeout(Some(Duration::from_millis(300)))
        .unwrap();
    setsockopt(receiver, sockopt::ReceiveTimestampns, &true).unwrap();
    // A large buffer, so that packets that the receiver reads late are not lost.
    let forced = rustix::net::sockopt::set_socket_recv_buffer_size_force(receiver, 8 << 20);
    if forced.is_err() {
        let options = socket2::SockRef::from(receiver);
        options.set_recv_buffer_size(8 << 20).unwrap();
    }
    thread::scope(|scope| {
        let arrived = scope.spawn(|| {
            first_come(1);
            let mut times = Vec::new();
            while let Some(at) = receive(receiver) {
                times.push(at);
            }
            times
        });
        first_come(1);
        let gap = rate.time_for(Bytes::new(SIZE as u64)).as_secs_f64() / 1.2;
        let (start, mut sent) = (Instant::now(), 0_u64);
        while start.elapsed() < SPAN {
            // Late packets are sent at once: the buffer holds 50 ms.
            while (sent as f64) * gap < start.elapsed().as_secs_f64() {
                let _ = sender.send_to(&[0; PAYLOAD], to);
                sent += 1;
            }
            thread::sleep(Duration::from_micros(500));
        }
        arrived.join().unwrap()
    })
}

/// Returns the time at which the kernel received the next packet; `None` if nothing more arrives.
fn receive(socket: &UdpSocket) -> Option<f64> {
    let mut payload = [0; PAYLOAD];
    let mut parts = [IoSliceMut::new(&mut payload)];
    let mut control = nix::cmsg_space!(nix::sys::time::TimeSpec);
    let control = Some(control.as_mut_slice());
    let flags = MsgFlags::empty();
    let message =
        recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut parts, control, flags).ok()?;
    let times = message.cmsgs().unwrap().filter_map(|one| match one {
        ControlMessageOwned::ScmTimestampns(at) => {
            Some(at.tv_sec() as f64 + at.tv_nsec() as f64 / 1e9)
        }
        _ => None,
    });
    Some(times.last().expect("the kernel tells the time"))
}

/// Returns the capacity, and the 99th percentile and the maximum of the windows of each length, as shares of the rate.
fn line(times: &[f64], rate: Rate) -> String {
    let Some(first) = times.first() else {
        return "nothing arrived".into();
    };
    let takes = SIZE / rate.bytes_per_sec() as f64;
    // The sender ended after SPAN, and the rest of the buffer came later.
    let counted = |at: &&f64| (SETTLE..SPAN.as_secs_f64()).contains(&(**at - first));
    let times: Vec<f64> = times.iter().filter(counted).map(|at| at - first).collect();
    let (Some(from), Some(to)) = (times.first(), times.last()) else {
        return "nothing arrived".into();
    };
    let mut said = format!("{:>8.4}", (times.len() - 1) as f64 * takes / (to - from));
    for window in WINDOWS_MS.map(|ms| ms / 1e3) {
        let mut shares = windows(&times, takes, window);
        shares.sort_by(f64::total_cmp);
        let at = |share: f64| shares[((shares.len() - 1) as f64 * share) as usize];
        said += &format!("   {:>8.3} {:>6.3}", at(0.99), at(1.0));
    }
    said
}

/// Returns the delivery of each window, as a share of the rate. Windows begin at every twentieth of their length.
fn windows(times: &[f64], takes: f64, window: f64) -> Vec<f64> {
    let (from, to) = (times[0], times[times.len() - 1]);
    let count = ((to - from - window) / (window / 20.0)) as usize;
    // These are the packets that were complete by then, and the parts of those that were being transmitted.
    let mut places = [0_usize; 2];
    let mut delivered = |which: usize, at: f64| {
        let whole = &mut places[which];
        while times.get(*whole).is_some_and(|time| *time <= at) {
            *whole += 1;
        }
        let begun = times[*whole..].iter().map(|time| 1.0 - (time - at) / takes);
        *whole as f64 + begun.take_while(|part| *part > 0.0).sum::<f64>()
    };
    (0..count)
        .map(|number| from + number as f64 * window / 20.0)
        .map(|at| {
            let before = delivered(0, at);
            (delivered(1, at + window) - before) * takes / window
        })
        .collect()
}

/// Gives this thread priority over all normal ones, so that other work does not affect the measurement. Returns true if
/// the system allows it.
fn first_come(priority: u8) -> bool {
    let priority = ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(priority).unwrap());
    let first_come = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), priority, first_come).is_ok()
}

/// Threads that halt all processors at the same times.
struct Stalls {
    is_over: &'static AtomicBool,
    threads: Vec<thread::JoinHandle<()>>,
}

impl Stalls {
    fn start() -> Stalls {
        let is_over: &'static AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        let begin = Instant::now() + Duration::from_millis(50);
        let allowed = sched_getaffinity(None).unwrap();
        let processors = (0..CpuSet::MAX_CPU).filter(|one| allowed.is_set(*one));
        let start = |processor| thread::spawn(move || stall(processor, begin, is_over));
        Stalls {
            is_over,
            threads: processors.map(start).collect(),
        }
    }
}

impl Drop for Stalls {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            thread.join().unwrap();
        }
    }
}

/// Keeps the processor busy at times that are the same for all processors.
fn stall(processor: usize, mut at: Instant, is_over: &AtomicBool) {
    let mut own = CpuSet::new();
    own.set(processor);
    sched_setaffinity(None, &own).unwrap();
    if !first_come(80) {
        eprintln!("no right to real-time priority: processor {processor} is not stalled");
        return;
    }
    let mut draw = 1_u64;
    let mut share = move || {
        draw = draw
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (draw >> 33) as f64 / f64::from(1_u32 << 31)
    };
    while !is_over.load(Ordering::Relaxed) {
        at += STALL_GAP.mul_f64(share() * 2.0) + Duration::from_micros(50);
        thread::sleep(at.saturating_duration_since(Instant::now()));
        at += MAX_STALL.mul_f64(share());
        while Instant::now() < at {
            std::hint::spin_loop();
        }
    }
}
