//! Data packets per second of one core, and memory: `cargo bench -p fullpipe-sim [-- NAME]`.
//!
//! The harness is plain: a run takes seconds and is the same every time, so statistics over many runs show nothing
//! more than the best of a few. Compare only numbers of an otherwise idle machine.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

use congestion::{ControllerKind, Duration, Rate, Ratio, Time};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss, PathConfig};
use sim::{Config, FlowConfig, Route, Simulation, dumbbell, parking_lot};
use transport::app;
use transport::segment::MSS;

/// `bbr1` flows over one bottleneck with a buffer of four times its BDP.
struct Case {
    name: String,
    rate: Rate,
    rtt: Duration,
    loss: Loss,
    flows: u64,
    app: app::Config,
    /// The virtual time.
    span: Duration,
    /// The number of access lines before the bottleneck, which the flows share evenly; none if all flows begin there.
    access_lines: u64,
}

const MBIT: u64 = 1_000_000;
const GBIT: u64 = 1_000 * MBIT;

fn bulk(name: &str, rate: u64, rtt_ms: u64, flows: u64, span_s: u64) -> Case {
    Case {
        name: name.to_owned(),
        rate: Rate::from_bits_per_sec(rate),
        rtt: Duration::from_millis(rtt_ms),
        loss: Loss::NONE,
        flows,
        app: app::Config::Bulk,
        span: Duration::from_secs(span_s),
        access_lines: 0,
    }
}

/// The part of the round-trip time that is on the access lines.
const ACCESS_RTT: Duration = Duration::from_millis(2);

/// The same packets from more and more flows. Together they write 8 Gbit/s, each two packets at a time, so that
/// neither the size of bursts nor the frequency of controller events depends on their number.
fn scale(flows: u64) -> Case {
    let write = MSS * 2;
    Case {
        app: app::Config::RateLimited(app::RateLimited {
            rate: Rate::from_bits_per_sec(8 * GBIT / flows),
            write,
            backlog: write * 1_000_000,
            deadline: None,
        }),
        ..bulk(
            &format!("d: {flows} flows, 8 Gbit/s × 20 ms"),
            10 * GBIT,
            20,
            flows,
            3,
        )
    }
}

fn cases() -> Vec<Case> {
    let mut cases = vec![
        bulk("a: 1 flow, 100 Mbit/s × 100 ms", 100 * MBIT, 100, 1, 120),
        bulk("b: 10 flows, 1 Gbit/s × 20 ms", GBIT, 20, 10, 20),
        Case {
            loss: Loss::Independent(Ratio::new(1, 100)),
            ..bulk(
                "c: 1 flow, 10 Gbit/s × 100 ms, 1 % loss",
                10 * GBIT,
                100,
                1,
                60,
            )
        },
    ];
    cases.extend([1, 10, 100, 1_000, 10_000].map(scale));
    cases.push(bulk(
        "e: 10000 bulk flows, 10 Gbit/s × 100 ms",
        10 * GBIT,
        100,
        10_000,
        3,
    ));
    cases.push(Case {
        access_lines: 1_000,
        ..bulk(
            "f: 10000 bulk flows over 1000 access lines, 10 Gbit/s × 100 ms",
            10 * GBIT,
            100,
            10_000,
            3,
        )
    });
    cases
}

impl Case {
    fn config(&self) -> Config {
        let path = PathConfig {
            forward: LinkConfig {
                capacity: Capacity::Rate(self.rate),
                delay: self.rtt / 2,
                buffer: Buffer::Bytes(self.rate.bytes_in(self.rtt) * 4),
                effects: Effects {
                    loss: self.loss,
                    ..Effects::default()
                },
                ..LinkConfig::default()
            },
            reverse: LinkConfig {
                delay: self.rtt / 2,
                ..LinkConfig::default()
            },
        };
        // Starts are spread over a tenth of the time.
        let gap = self.span / (10 * self.flows);
        let flow = |index| FlowConfig {
            app: self.app.clone(),
            ..FlowConfig::new(ControllerKind::Bbr1).starting(Time::ZERO + gap * index)
        };
        Config {
            seed: 1,
            end: Some(Time::ZERO + self.span),
            ..self.network(path, (0..self.flows).map(flow).collect())
        }
    }

    /// The flows over the path, with access lines in front of it that have twice the rate that their flows need. The
    /// round-trip time stays the same.
    fn network(&self, mut path: PathConfig, mut flows: Vec<FlowConfig>) -> Config {
        if self.access_lines == 0 {
            return dumbbell(path, flows);
        }
        let rate = Rate::from_bits_per_sec(self.rate.bits_per_sec() / self.access_lines * 2);
        let delay = ACCESS_RTT / 2;
        for link in [&mut path.forward, &mut path.reverse] {
            link.delay = link.delay.saturating_sub(delay);
        }
        let line = PathConfig {
            forward: LinkConfig {
                capacity: Capacity::Rate(rate),
                delay,
                buffer: Buffer::Bytes(rate.bytes_in(self.rtt)),
                ..LinkConfig::default()
            },
            reverse: LinkConfig {
                delay,
                ..LinkConfig::default()
            },
        };
        for (place, flow) in flows.iter_mut().enumerate() {
            let line = place % self.access_lines as usize + 1;
            flow.forward = Route::over([2 * line, 0]);
            flow.backward = Route::over([1, 2 * line + 1]);
        }
        let lines = (0..self.access_lines).map(|_| line.clone());
        parking_lot(std::iter::once(path).chain(lines), flows)
    }

    fn run(&self) {
        let mut simulation = match Simulation::new(self.config(), ()) {
            Ok(simulation) => simulation,
            Err(error) => {
                println!("{}: {error}", self.name);
                return;
            }
        };
        let clock = Clock::start();
        simulation.run();
        let elapsed = clock.seconds();
        let packets: u64 = simulation
            .connections()
            .map(|(_, sender, _)| sender.stats().packets_sent)
            .sum();
        let carried = simulation
            .link(0)
            .map_or(0, |link| link.counters().transmitted.bytes.get());
        let capacity = self.rate.bytes_in(self.span).get();
        println!(
            "{:<40} {:>9} packets {:>7.2} s {:>6.2} million/s {:>5.0} ns/packet, utilization {:.3}, {}",
            self.name,
            packets,
            elapsed,
            packets as f64 / elapsed / 1e6,
            elapsed * 1e9 / packets as f64,
            carried as f64 / capacity as f64,
            memory(),
        );
        black_box(&simulation);
    }
}

/// The time that this thread has run on its core, where the system reports it (Linux), so that other load matters as
/// little as possible; else the elapsed time.
enum Clock {
    Core(f64),
    Wall(Instant),
}

impl Clock {
    fn start() -> Clock {
        match core_seconds() {
            Some(seconds) => Clock::Core(seconds),
            None => Clock::Wall(Instant::now()),
        }
    }

    fn seconds(&self) -> f64 {
        match self {
            Clock::Core(start) => core_seconds().unwrap_or(f64::NAN) - start,
            Clock::Wall(start) => start.elapsed().as_secs_f64(),
        }
    }
}

fn core_seconds() -> Option<f64> {
    let status = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanos = status.split_whitespace().next()?.parse::<f64>().ok()?;
    (nanos > 0.0).then_some(nanos / 1e9)
}

/// The memory of the process, now and at its peak, where the system reports it (Linux).
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let told = status
        .lines()
        .filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    let words: Vec<&str> = told.flat_map(str::split_whitespace).collect();
    words.join(" ")
}

fn main() {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("load average {}", load.trim());
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with("--"))
        .collect();
    for case in cases() {
        if wanted.is_empty() || wanted.iter().any(|part| case.name.contains(part.as_str())) {
            case.run();
        }
    }
}
