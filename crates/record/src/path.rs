//! The bottleneck over time.

use units::{Bytes, Duration};

use super::distribution::Distribution;
use super::series::{Point, Series};
use super::summary::PathSummary;
use scenario::PathSpec;

/// The bottleneck at one moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PathSample {
    /// The time since the start of the run.
    pub at: Duration,
    /// The bytes in its buffer.
    pub queue: Bytes,
    /// The time that a packet arriving now would wait.
    pub delay: Duration,
}

impl Point for PathSample {
    fn at(&self) -> Duration {
        self.at
    }

    fn is_news(&self, _previous: &PathSample) -> bool {
        false
    }

    fn level(&self) -> Option<Duration> {
        Some(self.delay)
    }
}

/// The counters of the bottleneck since the start of the run; `None` where the engine does not see one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathTotals {
    /// Packets transmitted, as `transmitted`.
    pub packets: Option<u64>,
    /// Bytes transmitted, including packets that were lost behind the bottleneck.
    pub transmitted: Bytes,
    /// Packets dropped by buffer, queue discipline and policer.
    pub drops: Option<u64>,
    /// Packets marked "congestion experienced" by the queue discipline.
    pub marks: Option<u64>,
    /// Data packets lost at random.
    pub random_losses: Option<u64>,
    /// Data packets damaged, which their receivers discarded.
    pub corrupted: Option<u64>,
    /// Data packets dropped since they were larger than the MTU.
    pub too_big: Option<u64>,
    /// Packets that the machine delivered noticeably late, in real time.
    pub late_packets: Option<u64>,
    /// All packets that the machine delivered in both directions.
    pub released_packets: Option<u64>,
    /// The summed lateness of the `released_packets`.
    pub lateness: Option<Duration>,
    /// Packets that were lost before or after the path because the machine was too slow to take them.
    pub overflows: Option<u64>,
}

/// Samples of the bottleneck.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PathRecord {
    /// The samples, in the order of time; none if the engine saw no path.
    pub samples: Vec<PathSample>,
}

/// The most samples that all links of a run keep together, unless that is less than the minimum of a [`Series`] for each:
/// the capacity of 64 series, as many as a chain has hops.
const MAX_SAMPLES_OF_ALL_LINKS: usize = 64 * Series::<PathSample>::CAPACITY;

/// The most links whose distributions are fine; with more, they are coarse.
const MAX_FINE_LINKS: usize = 1_000;

/// Builds the path's record and summary from an engine's observations.
#[derive(Debug, Clone)]
pub struct PathRecorder {
    spec: PathSpec,
    /// The link's name, if it has one.
    name: Option<String>,
    warmup: Duration,
    /// `None` if no samples are kept.
    series: Option<Series<PathSample>>,
    queue: Distribution,
    /// The totals at the end of the warmup and the latest ones, each with its time.
    before: (Duration, PathTotals),
    now: Option<(Duration, PathTotals)>,
}

impl PathRecorder {
    /// Creates a recorder for a path of a scenario with this warmup.
    pub fn new(spec: PathSpec, warmup: Duration) -> PathRecorder {
        PathRecorder {
            spec,
            name: None,
            warmup,
            series: Some(Series::new()),
            queue: Distribution::default(),
            before: (Duration::ZERO, PathTotals::default()),
            now: None,
        }
    }

    /// Shares the memory of a run with this number of links in all. The more links, the fewer samples each of them keeps;
    /// with more than a thousand, percentiles of queues are [coarse](Distribution::coarse).
    #[must_use]
    pub fn among(self, links: usize) -> PathRecorder {
        PathRecorder {
            series: Some(Series::with_capacity(
                MAX_SAMPLES_OF_ALL_LINKS / links.max(1),
            )),
            queue: if links > MAX_FINE_LINKS {
                Distribution::coarse()
            } else {
                Distribution::default()
            },
            ..self
        }
    }

    /// Gives the link its name.
    #[must_use]
    pub fn named(self, name: Option<String>) -> PathRecorder {
        PathRecorder { name, ..self }
    }

    /// Keeps no samples: the record will have none.
    pub fn without_samples(self) -> PathRecorder {
        PathRecorder {
            series: None,
            ..self
        }
    }

    /// Records a sample. Percentiles are over time, so record at regular intervals.
    pub fn sample(&mut self, sample: PathSample) {
        if let Some(series) = &mut self.series {
            series.push(sample);
        }
        if sample.at >= self.warmup {
            self.queue.record(sample.delay);
        }
    }

    /// Records the totals at a time: at least at the end of the warmup and of the run.
    pub fn totals(&mut self, at: Duration, totals: PathTotals) {
        if at <= self.warmup {
            self.before = (at, totals);
        }
        self.now = Some((at, totals));
    }

    /// Records the overflows if they are known only once the path was taken down.
    pub fn overflows(&mut self, packets: u64) {
        if let Some((_, now)) = &mut self.now {
            now.overflows = Some(packets);
        }
    }

    /// Returns the path's summary and samples, after a run that ended at `end` and whose packets carried
    /// `payload_share` payload.
    pub fn finish(self, end: Duration, payload_share: f64) -> (PathSummary, PathRecord) {
        let span = end.saturating_sub(self.warmup).as_secs_f64();
        let seen = |count: fn(&PathTotals) -> Option<u64>| {
            let (_, now) = self.now.as_ref()?;
            Some(count(now)?.saturating_sub(count(&self.before.1).unwrap_or(0)))
        };
        let released = seen(|totals| totals.released_packets);
        let lateness = seen(|totals| totals.lateness.map(Duration::as_nanos));
        let mean_ns = lateness.zip(released.filter(|all| *all > 0));
        let transmitted = seen(|totals| Some(totals.transmitted.get()));
        let admitted = self.spec.data.admitted(self.warmup, end);
        let limit = admitted.filter(|_| span > 0.0).map(|admitted| {
            let passed = self.spec.data.passed_behind() * self.spec.data.undamaged();
            admitted.get() as f64 * 8.0 / span * passed * payload_share
        });
        let link = &self.spec.data;
        // Between the times of the totals, which may differ slightly from those of the summary.
        let capacity = self
            .now
            .and_then(|(until, _)| self.spec.data.capacity(self.before.0, until));
        let summary = PathSummary {
            name: self.name.clone(),
            rate_bps: self.spec.data.rate.map(|rate| rate.bits_per_sec()),
            rtprop_ms: self.spec.rtt.as_millis_f64(),
            buffer_bytes: self.spec.buffer_bytes().map(Bytes::get),
            limit_bps: limit.map(|limit| limit as u64),
            utilization: match (transmitted, capacity) {
                (Some(used), Some(capacity)) if !capacity.is_zero() => {
                    Some(used as f64 / capacity.get() as f64)
                }
                _ => None,
            },
            queue_ms: (&self.queue).into(),
            packets: seen(|totals| totals.packets).filter(|_| self.name.is_some()),
            drops: seen(|totals| totals.drops),
            marks: seen(|totals| totals.marks),
            random_losses: seen(|totals| totals.random_losses),
            corrupted: seen(|totals| totals.corrupted).filter(|_| link.may_corrupt()),
            too_big: seen(|totals| totals.too_big).filter(|_| link.has_mtu()),
            late_packets: seen(|totals| totals.late_packets),
            lateness_mean_ms: mean_ns.map(|(late, all)| late as f64 / all as f64 / 1e6),
            released_packets: released,
            overflows: seen(|totals| totals.overflows),
        };
        let record = PathRecord {
            samples: self.series.map(Series::finish).unwrap_or_default(),
        };
        (summary, record)
    }
}
