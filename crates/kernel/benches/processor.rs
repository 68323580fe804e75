//! Processor time per gigabyte: Fullpipe's controllers in the kernel and the kernel's own BBR, over the loopback device
//! of a network namespace, with one connection and with a hundred.
//!
//! `cargo bench -p fullpipe-kernel --features load --bench processor [-- ROUNDS [GIGABYTES]]`, as root. The controllers
//! take turns. Each round gives a ratio to the kernel's own BBR in the same round, and the output has the medians of
//! these ratios. The time is that of this process, which sends and receives. The output also has the interrupts of the
//! whole machine, because a kernel may count interrupts that arrive while the process runs in both.

use std::env;
use std::error::Error;
use std::fs;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::Instant;

use kernel::{Algorithm, Settings};
use linux::socket::{self, ConnectOptions, Listener, connect_here, listen_here};
use linux::{Network, NetworkConfig};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// The kernel's own controller comes first. The others are compared with it.
const CONTROLLERS: [&str; 3] = ["bbr", "fullpipe_bbr1", "fullpipe_bbr3"];
const FLOWS: [usize; 2] = [1, 100];

/// The payload of a packet of 1500 bytes.
const MSS: u16 = 1_460;

const CHUNK: usize = 256 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    // As a test, it asserts nothing.
    if !env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let lack = kernel::check()
        .into_iter()
        .find_map(|required| required.lack);
    if let Some(lack) = lack {
        skipping::skip!("processor time in the kernel: {lack}");
        return Ok(());
    }
    let numbers: Vec<u64> = env::args().filter_map(|text| text.parse().ok()).collect();
    let rounds = numbers.first().copied().unwrap_or(9).max(1);
    let bytes = numbers.get(1).copied().unwrap_or(4).max(1) * 1_000_000_000;
    let offered = linux::controllers_here()?;
    let is_missing = |one: &&Algorithm| !offered.iter().any(|name| name == one.kernel_name());
    let missing = Algorithm::ALL.iter().filter(is_missing);
    let missing: Vec<Settings> = missing.copied().map(Settings::new).collect();
    let _loaded = kernel::load(&missing, "of a benchmark")?;
    let network = Network::create(&NetworkConfig::default())?;
    let load = fs::read_to_string("/proc/loadavg")?;
    println!(
        "{rounds} rounds of {} GB; load average {}",
        bytes / 1_000_000_000,
        load.trim()
    );
    for flows in FLOWS {
        network.near.inside(|| compare(flows, rounds, bytes))?;
    }
    Ok(())
}

/// The controllers take turns. The first round is a warm-up and does not count.
fn compare(flows: usize, rounds: u64, bytes: u64) {
    let mut all = CONTROLLERS.map(|_| Vec::new());
    for round in 0..=rounds {
        for (name, measured) in CONTROLLERS.iter().zip(&mut all) {
            let one = transfer(name, flows, bytes);
            if round > 0 {
                measured.push(one);
            }
        }
    }
    let own = all[0].clone();
    for (name, measured) in CONTROLLERS.iter().zip(all) {
        let of = |what: fn(&Measured) -> f64| sorted(measured.iter().map(what));
        let ratios = measured.iter().zip(&own);
        let ratio = sorted(ratios.map(|(one, own)| one.seconds / own.seconds));
        let middle = ratio.len() / 2;
        println!(
            "{flows:>3} flows  {name:<14} {:.3} s/GB  ratio {:.3} ({:.3}–{:.3})  {:.1} Gbit/s  interrupts {:.3} s/GB",
            of(|one| one.seconds)[middle],
            ratio[middle],
            ratio[0],
            ratio[ratio.len() - 1],
            of(|one| one.gbit)[middle],
            of(|one| one.interrupts)[middle],
        );
    }
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all
}

/// A transfer. Times are per gigabyte.
#[derive(Debug, Clone, Copy)]
struct Measured {
    seconds: f64,
    interrupts: f64,
    gbit: f64,
}

fn transfer(name: &str, flows: usize, bytes: u64) -> Measured {
    let listener = listen_here(SocketAddr::from((Ipv4Addr::LOCALHOST, 0))).expect("a listener");
    let (near, far): (Vec<_>, Vec<_>) = (0..flows).map(|_| pair(&listener, name)).unzip();
    let (own, machine, started) = (own_time(), interrupt_time(), Instant::now());
    thread::scope(|scope| {
        scope.spawn(|| send(near, bytes));
        receive(far);
    });
    let giga = bytes as f64 / 1e9;
    Measured {
        seconds: (own_time() - own) / giga,
        interrupts: (interrupt_time() - machine) / giga,
        gbit: giga * 8.0 / started.elapsed().as_secs_f64(),
    }
}

/// Sends this many bytes over all connections together, and closes them.
fn send(near: Vec<TcpStream>, bytes: u64) {
    let mut left = bytes;
    while left > 0 {
        for place in ready(&near, PollFlags::POLLOUT) {
            if let Ok(sent) = socket::send(&near[place], CHUNK) {
                left = left.saturating_sub(sent as u64);
            }
        }
    }
}

/// Reads until all connections are closed.
fn receive(mut far: Vec<TcpStream>) {
    while !far.is_empty() {
        for place in ready(&far, PollFlags::POLLIN).into_iter().rev() {
            if matches!(socket::discard(&far[place], CHUNK), Ok(0)) {
                far.swap_remove(place);
            }
        }
    }
}

/// The indices of the connections that are ready.
fn ready<S: AsFd>(all: &[S], events: PollFlags) -> Vec<usize> {
    let polled = all.iter().map(|one| PollFd::new(one.as_fd(), events));
    let mut polled: Vec<_> = polled.collect();
    poll(&mut polled, PollTimeout::NONE).expect("poll");
    let places = polled.iter().enumerate();
    places
        .filter(|(_, one)| one.any().unwrap_or(true))
        .map(|(place, _)| place)
        .collect()
}

fn pair(listener: &Listener, name: &str) -> (TcpStream, TcpStream) {
    let to = listener.address();
    let options = ConnectOptions {
        controller: name,
        mss: Some(MSS),
    };
    let near = connect_here(to.ip(), to, &options).expect("a connection");
    ready(&[listener], PollFlags::POLLIN);
    (near, listener.accept().expect("its other end").0)
}

/// The processor time of this process, in seconds.
fn own_time() -> f64 {
    let own = getrusage(UsageWho::RUSAGE_SELF).expect("our own");
    let micros = own.user_time().num_microseconds() + own.system_time().num_microseconds();
    micros as f64 / 1e6
}

/// The time of hard and soft interrupts on all processors, in seconds (proc_stat(5), which counts hundredths).
fn interrupt_time() -> f64 {
    let stat = fs::read_to_string("/proc/stat").expect("/proc/stat");
    let ticks = stat.split_whitespace().skip(6).take(2);
    ticks
        .filter_map(|text| text.parse::<f64>().ok())
        .sum::<f64>()
        / 100.0
}
