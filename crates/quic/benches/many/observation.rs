//! Measurements of the connections, and their summary.

use std::fmt;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use quic::bulk::Punctuality;
use quic::observer::{Observer, Sample};

/// The time of the measurement.
#[derive(Clone, Copy)]
pub struct Span {
    pub begin: Instant,
    pub end: Instant,
}

impl Span {
    /// Waits for the end of the measurement. Returns the processor time of this process, and the lateness of the
    /// datagrams.
    pub async fn watch(self, flows: &Flows) -> (Duration, Late) {
        tokio::time::sleep_until(self.begin.into()).await;
        let before = (processor_time(), Late::of(flows));
        tokio::time::sleep_until(self.end.into()).await;
        let after = (processor_time(), Late::of(flows));
        (after.0.saturating_sub(before.0), after.1.since(&before.1))
    }
}

/// The processor time of this process so far, including its time in the kernel (`proc_pid_stat(5)`: `utime` and
/// `stime`, in hundredths of a second).
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let times = after_name.split_whitespace().skip(11).take(2);
    let hundredths: u64 = times.flat_map(str::parse::<u64>).sum();
    Duration::from_millis(10 * hundredths)
}

/// The bytes that a connection has sent in a span.
#[derive(Default)]
struct Sent {
    bytes: u64,
    packets: u64,
    time: Duration,
}

impl Sent {
    /// The rate in bits per second.
    fn rate(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.time.as_secs_f64().max(1e-9)
    }
}

/// A connection at the first and at the last ACK of a span.
pub struct Observation {
    span: Span,
    samples: Mutex<Option<(Sample, Sample)>>,
}

impl Observation {
    pub fn new(span: Span) -> Observation {
        Observation {
            span,
            samples: Mutex::new(None),
        }
    }

    fn sent(&self) -> Sent {
        let Some((first, last)) = *self.samples.lock().unwrap() else {
            return Sent::default();
        };
        Sent {
            bytes: last.sent.get() - first.sent.get(),
            packets: last.packets_sent - first.packets_sent,
            time: last.time.since(first.time).into(),
        }
    }
}

impl Observer for Observation {
    fn on_sample(&self, sample: &Sample) {
        let now = Instant::now();
        if now >= self.span.begin && now < self.span.end {
            let mut samples = self.samples.lock().unwrap();
            samples.get_or_insert((*sample, *sample)).1 = *sample;
        }
    }
}

/// Flows that report the lateness of their datagrams; empty if it is not known.
pub type Flows = Mutex<Vec<Punctuality>>;

/// The lateness of datagrams.
#[derive(Default)]
pub struct Late {
    datagrams: u64,
    /// Datagrams more than a millisecond late.
    late: u64,
    total: Duration,
}

impl Late {
    fn of(flows: &Flows) -> Late {
        let mut sum = Late::default();
        for flow in flows.lock().unwrap().iter() {
            let lateness = flow.lateness();
            sum.datagrams += lateness.datagrams;
            sum.late += lateness.late;
            sum.total += lateness.total;
        }
        sum
    }

    fn since(&self, before: &Late) -> Late {
        Late {
            datagrams: self.datagrams - before.datagrams,
            late: self.late - before.late,
            total: self.total - before.total,
        }
    }
}

/// The summary of all connections.
pub struct Summary {
    /// The rate of each connection as a share of its target, lowest first.
    shares: Vec<f64>,
    bytes: u64,
    packets: u64,
    late: Late,
    processor_time: Duration,
    span: Duration,
}

impl Summary {
    pub const HEAD: &str = "               within 2 %     least   median     most   late > 1 ms    mean  processor  a packet  of size";

    pub fn new(
        seen: &[Arc<Observation>],
        rate: f64,
        (processor_time, late): (Duration, Late),
        span: Span,
    ) -> Summary {
        let sent: Vec<_> = seen.iter().map(|seen| seen.sent()).collect();
        let mut shares: Vec<f64> = sent.iter().map(|sent| sent.rate() / rate).collect();
        shares.sort_by(f64::total_cmp);
        Summary {
            shares,
            bytes: sent.iter().map(|sent| sent.bytes).sum(),
            packets: sent.iter().map(|sent| sent.packets).sum(),
            late,
            processor_time,
            span: span.end - span.begin,
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares = &self.shares;
        let count = shares.len();
        let good = shares.iter().filter(|share| (*share - 1.0).abs() <= 0.02);
        let (least, most) = (shares[0], shares[count - 1]);
        let within = format!("{} of {count}", good.count());
        write!(
            f,
            "{within:>12}  {least:8.4} {:8.4} {most:8.4}",
            shares[count / 2]
        )?;
        match self.late.datagrams {
            0 => write!(f, "  {:>12} {:>7}", "-", "-")?,
            all => {
                let share = self.late.late as f64 / all as f64 * 100.0;
                let mean = self.late.total.as_secs_f64() / all as f64 * 1e6;
                write!(f, "  {share:10.3} % {mean:4.0} µs")?;
            }
        }
        let share = self.processor_time.as_secs_f64() / self.span.as_secs_f64() * 100.0;
        let packets = self.packets.max(1);
        let each = self.processor_time.as_secs_f64() * 1e6 / packets as f64;
        write!(
            f,
            "  {share:7.1} %  {each:5.2} µs  {:5} B",
            self.bytes / packets
        )
    }
}
