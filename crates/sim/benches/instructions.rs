//! Instructions of the hot paths, compared with the previous run: `cargo bench -p fullpipe-sim --bench instructions`.
//!
//! Unlike a time, the count is the same on a busy machine, so a change of a percent is a change of the code. This
//! program runs itself under valgrind, each case twice, the second time for longer. The difference of the two counts,
//! divided by the packets between them, is the cost of one packet without the start.

#[path = "../../congestion/benches/steady/mod.rs"]
mod steady;

use std::hint::black_box;
use std::path::PathBuf;
use std::process::Command;
use std::{env, fs};

use congestion::{Bytes, ControllerKind, Duration, Rate, Ratio, Time};
use path::{Buffer, Capacity, Effects, Link, LinkConfig, Loss, PathConfig};
use sim::{Config, FlowConfig, Simulation, dumbbell};
use steady::Flow;

/// Runs this many thousand packets; returns the exact number.
type Run = fn(u64) -> u64;

const CASES: [(&str, Run); 5] = [
    ("a packet over a link", link),
    ("an ACK into bbr1", |size| ack(ControllerKind::Bbr1, size)),
    ("an ACK into cubic", |size| ack(ControllerKind::Cubic, size)),
    ("a packet of a simulation, 1 flow", |size| {
        simulation(1, size)
    }),
    ("a packet of a simulation, 100 flows", |size| {
        simulation(100, size)
    }),
];

fn bottleneck() -> LinkConfig {
    LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(100_000_000)),
        delay: Duration::from_millis(20),
        buffer: Buffer::Bytes(Bytes::new(1_000_000)),
        effects: Effects {
            loss: Loss::Independent(Ratio::new(1, 100)),
            ..Effects::default()
        },
        ..LinkConfig::default()
    }
}

fn link(size: u64) -> u64 {
    let mut link = Link::new(bottleneck(), 1).expect("a link");
    let mut now = Time::ZERO;
    for number in 0..size * 1_000 {
        link.send(now, Bytes::new(1_500), number);
        now += Duration::from_micros(120);
        while let Some(arrival) = link.receive(now) {
            black_box(arrival.packet);
        }
    }
    size * 1_000
}

fn ack(kind: ControllerKind, size: u64) -> u64 {
    let mut flow = Flow::of(kind);
    for _ in 0..size * 1_000 {
        black_box(flow.step());
    }
    size * 1_000
}

fn simulation(flows: usize, size: u64) -> u64 {
    let path = PathConfig {
        forward: bottleneck(),
        reverse: LinkConfig {
            delay: Duration::from_millis(20),
            ..LinkConfig::default()
        },
    };
    let flows = (0..flows).map(|_| FlowConfig::new(ControllerKind::Bbr1));
    let config = Config {
        end: Some(Time::ZERO + Duration::from_millis(120) * size),
        ..dumbbell(path, flows.collect())
    };
    let mut simulation = Simulation::new(config, ()).expect("a simulation");
    simulation.run();
    let senders = simulation.connections();
    senders
        .map(|(_, sender, _)| sender.stats().packets_sent)
        .sum()
}

/// The packets and instructions of one run under valgrind.
fn counted(case: usize, size: u64) -> Option<(u64, u64)> {
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no"])
        .arg("--cachegrind-out-file=/dev/null")
        .arg(env::current_exe().ok()?)
        .args([CASE, &case.to_string(), &size.to_string()])
        .output()
        .ok()?;
    let packets = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    let told = String::from_utf8(output.stderr).ok()?;
    let refs = told.split("refs:").nth(1)?.split_whitespace().next()?;
    Some((packets, refs.replace(',', "").parse().ok()?))
}

/// The instructions per packet.
fn measured(case: usize) -> Option<f64> {
    let (few, short) = counted(case, 100)?;
    let (many, long) = counted(case, 300)?;
    Some((long.checked_sub(short)? as f64) / (many.checked_sub(few)? as f64))
}

/// The argument for a single run.
const CASE: &str = "--case";

fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [first, case, size] = &arguments[..]
        && first == CASE
    {
        let (_, run) = CASES[case.parse::<usize>().expect("a case")];
        return println!("{}", run(size.parse().expect("a size")));
    }
    let wanted: Vec<_> = arguments
        .iter()
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    if Command::new("valgrind").arg("--version").output().is_err() {
        return skipping::skip!("instructions are counted by valgrind, which is not installed");
    }
    println!("instructions, last time, change");
    for (case, (name, _)) in CASES.iter().enumerate() {
        if !wanted.is_empty() && !wanted.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let Some(count) = measured(case) else {
            skipping::skip!("{name}: valgrind does not run here");
            continue;
        };
        let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name.replace([' ', ','], "_"));
        let last = fs::read_to_string(&file)
            .ok()
            .and_then(|text| text.parse::<f64>().ok());
        match last {
            Some(last) => println!(
                "{name:<36} {count:>8.1} {last:>8.1} {:>+7.2} %",
                (count / last - 1.0) * 100.0
            ),
            None => println!("{name:<36} {count:>8.1}        –"),
        }
        if let Err(error) = fs::write(&file, count.to_string()) {
            println!("{name:<36} is not kept: {}: {error}", file.display());
        }
    }
}
