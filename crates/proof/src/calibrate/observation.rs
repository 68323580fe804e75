//! The observation of a run: the numbers to compare and the curves to draw.

use serde::{Deserialize, Serialize};
use units::Duration;

use record::{FlowRecord, FlowSample, PathSample, Point, Record, Summary};
use scenario::Scenario;
use tables::statistics::{Sorted, mean};

/// The sampling interval of the smoothed RTT, equal to that of the kernel's sockets.
const SAMPLING_INTERVAL: Duration = Duration::from_millis(10);

/// The most points of a curve.
const MAX_CURVE_POINTS: u64 = 300;

/// The shortest interval for throughput. A shorter one would show single packets.
const MIN_STEP: Duration = Duration::from_millis(50);

/// The observation of a run. The records of every engine contain all of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The record's summary.
    pub summary: Summary,
    /// The median of the smoothed RTT in milliseconds, over all flows, sampled every 10 ms after the warmup.
    pub srtt_p50_ms: Option<f64>,
    /// Its 95th percentile.
    pub srtt_p95_ms: Option<f64>,
    /// The time from the first flow's start until it first left Startup or slow start, in seconds.
    pub startup_exit_s: Option<f64>,
    /// The durations of transfers.
    pub transfers: Option<TransferTimes>,
    /// The curves to draw.
    pub curves: Curves,
}

/// The durations of transfers that began after the warmup and completed, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TransferTimes {
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
}

/// A run over time, as values at the ends of equal steps.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Curves {
    /// The step in seconds.
    pub step_s: f64,
    /// The throughput of all flows together in the step, in Mbit/s.
    pub throughput: Vec<Option<f64>>,
    /// The mean of the flows' latest smoothed RTTs, in milliseconds.
    pub rtt: Vec<Option<f64>>,
    /// The mean queueing delay at the bottleneck over the step, in milliseconds.
    pub queue: Vec<Option<f64>>,
}

impl Observation {
    /// Extracts the observation from a record.
    pub fn of(record: &Record) -> Observation {
        let end = Duration::from_nanos((record.summary.duration_s * 1e9).round() as u64);
        let srtts = Sorted::from_iter(smoothed_rtts(record, end));
        Observation {
            summary: record.summary.clone(),
            srtt_p50_ms: srtts.median(),
            srtt_p95_ms: srtts.quantile(0.95),
            startup_exit_s: record.flows.first().and_then(startup_exit),
            transfers: transfers(record),
            curves: Curves::of(record, end),
        }
    }
}

/// The smoothed RTTs of all flows at every sampling time after the warmup, in milliseconds.
fn smoothed_rtts(record: &Record, end: Duration) -> Vec<f64> {
    let warmup = record.scenario.warmup;
    let of_flow = |flow: &FlowRecord| {
        let begin = warmup.max(flow.start);
        let end = flow.completed.unwrap_or(end);
        let mut latest = Latest::new(&flow.samples);
        let mut seen = Vec::new();
        let mut at = begin + SAMPLING_INTERVAL;
        while at <= end {
            let srtt = latest.until(at).and_then(smoothed);
            seen.extend(srtt);
            at = at + SAMPLING_INTERVAL;
        }
        seen
    };
    record.flows.iter().flat_map(of_flow).collect()
}

fn smoothed(sample: &FlowSample) -> Option<f64> {
    sample.srtt.or(sample.rtt).map(Duration::as_millis_f64)
}

/// The latest sample at each of a series of times that never decrease.
struct Latest<'s, P> {
    samples: &'s [P],
    next: usize,
}

impl<'s, P: Point> Latest<'s, P> {
    fn new(samples: &'s [P]) -> Latest<'s, P> {
        Latest { samples, next: 0 }
    }

    fn until(&mut self, at: Duration) -> Option<&'s P> {
        while self
            .samples
            .get(self.next)
            .is_some_and(|next| next.at() <= at)
        {
            self.next += 1;
        }
        self.samples.get(self.next.checked_sub(1)?)
    }
}

impl Latest<'_, FlowSample> {
    /// The bytes delivered at a time, interpolated between two samples. A sample in real time may be late, and covers
    /// all the time since the one before.
    fn delivered(&mut self, at: Duration) -> f64 {
        let Some(before) = self.until(at) else {
            return 0.0;
        };
        let delivered = before.delivered.get() as f64;
        let Some(after) = self.samples.get(self.next) else {
            return delivered;
        };
        let more = (after.delivered - before.delivered).get() as f64;
        let apart = after.at.saturating_sub(before.at).as_secs_f64();
        delivered + more * at.saturating_sub(before.at).as_secs_f64() / apart
    }
}

/// The time from the flow's start until it left the state that searches for the bandwidth, in seconds.
fn startup_exit(flow: &FlowRecord) -> Option<f64> {
    let samples = flow.samples.iter();
    let mut since = samples.skip_while(|sample| !sample.is_searching());
    let first_after = since.find(|sample| !sample.is_searching())?;
    Some(first_after.at.saturating_sub(flow.start).as_secs_f64())
}

fn transfers(record: &Record) -> Option<TransferTimes> {
    let warmup = record.scenario.warmup;
    let rows = record.transfers.rows.iter();
    let times = rows
        .filter(|transfer| transfer.start >= warmup)
        .filter_map(|transfer| {
            let took = transfer.completed?.saturating_sub(transfer.start);
            Some(took.as_millis_f64())
        });
    let times = Sorted::from_iter(times);
    Some(TransferTimes {
        p50_ms: times.median()?,
        p95_ms: times.quantile(0.95)?,
    })
}

impl Curves {
    fn of(record: &Record, end: Duration) -> Curves {
        let step = (end / MAX_CURVE_POINTS).max(MIN_STEP);
        let count = end.as_nanos() / step.as_nanos();
        let ends: Vec<Duration> = (1..=count).map(|index| step * index).collect();
        let is_path = record.summary.path.name.is_none();
        let path = record.paths.first().filter(|_| is_path);
        Curves {
            step_s: step.as_secs_f64(),
            throughput: throughput(record, &ends, step),
            rtt: rtt(record, &ends),
            queue: path.map_or(Vec::new(), |path| queue(&path.samples, &ends)),
        }
    }
}

/// The throughput of all flows in each step: from the senders' samples, or from each second's bytes for flows of many
/// consecutive connections.
fn throughput(record: &Record, ends: &[Duration], step: Duration) -> Vec<Option<f64>> {
    let mut bytes = vec![0.0; ends.len()];
    for (flow, is_many) in record.flows.iter().zip(are_many(&record.scenario)) {
        let mut latest = Latest::new(&flow.samples);
        let mut before = 0.0;
        for (sum, at) in bytes.iter_mut().zip(ends) {
            let delivered = if is_many {
                by_seconds(flow, *at)
            } else {
                latest.delivered(*at)
            };
            *sum += (delivered - before).max(0.0);
            before = delivered;
        }
    }
    let megabits = |bytes: f64| round(bytes * 8.0 / step.as_secs_f64() / 1e6);
    bytes
        .into_iter()
        .map(|bytes| Some(megabits(bytes)))
        .collect()
}

/// For each flow, true if it opens a connection for each of its objects.
fn are_many(scenario: &Scenario) -> impl Iterator<Item = bool> + '_ {
    let flows = scenario.each_flow();
    flows.map(|(flow, _)| flow.app_kind() == Some("poisson"))
}

/// The bytes delivered at a time, if each interval of the flow's throughput is even.
fn by_seconds(flow: &FlowRecord, at: Duration) -> f64 {
    let interval = flow.throughput.interval();
    let whole = at.as_nanos() / interval.as_nanos();
    let part = (at.as_nanos() % interval.as_nanos()) as f64 / interval.as_nanos() as f64;
    let whole = usize::try_from(whole).unwrap_or(usize::MAX);
    let bytes = flow.throughput.bytes().iter().take(whole).sum::<u64>() as f64;
    bytes + part * flow.throughput.at(whole) as f64
}

fn rtt(record: &Record, ends: &[Duration]) -> Vec<Option<f64>> {
    let mut latest: Vec<_> = record
        .flows
        .iter()
        .map(|flow| (flow, Latest::new(&flow.samples)))
        .collect();
    let at_end = |at: &Duration| {
        let srtts = latest.iter_mut().filter_map(|(flow, latest)| {
            let lives = flow.completed.is_none_or(|completed| *at <= completed);
            latest.until(*at).filter(|_| lives).and_then(smoothed)
        });
        mean(&srtts.collect::<Vec<_>>()).map(round)
    };
    ends.iter().map(at_end).collect()
}

fn queue(samples: &[PathSample], ends: &[Duration]) -> Vec<Option<f64>> {
    let mut samples = samples.iter().peekable();
    let of_step = |end: &Duration| {
        let mut delays = Vec::new();
        while let Some(sample) = samples.next_if(|sample| sample.at <= *end) {
            delays.push(sample.delay.as_millis_f64());
        }
        mean(&delays).map(round)
    };
    ends.iter().map(of_step).collect()
}

/// Rounds to three decimals.
fn round(value: f64) -> f64 {
    (value * 1e3).round() / 1e3
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    fn sample(millis: u64, delivered: u64) -> FlowSample {
        FlowSample {
            at: Duration::from_millis(millis),
            delivered: Bytes::new(delivered),
            ..FlowSample::default()
        }
    }

    #[test]
    fn what_a_late_look_finds_is_of_the_time_since_the_one_before() {
        // 20 Mbit/s, with half a second without samples.
        let looks = (0..=50).chain(100..=150).map(|look| look * 10);
        let samples: Vec<FlowSample> = looks.map(|at| sample(at, at * 2_500)).collect();
        let mut latest = Latest::new(&samples);
        let by: Vec<f64> = (1..=22)
            .map(|step| latest.delivered(Duration::from_millis(step * 66)))
            .collect();
        for pair in by.windows(2) {
            let rate = (pair[1] - pair[0]) * 8.0 / 0.066 / 1e6;
            assert!((rate - 20.0).abs() < 1e-6, "{rate}");
        }
        assert_eq!(latest.delivered(Duration::from_secs(9)), 1_500.0 * 2_500.0);
        assert_eq!(Latest::new(&samples[1..]).delivered(Duration::ZERO), 0.0);
    }
}
