//! One flow over time.

use congestion::kind::Kind;
use units::{Bytes, Duration, Rate};

use super::distribution::Distribution;
use super::series::{Point, Series};
use super::summary::{FlowSummary, RttMillis};

/// A flow at one moment, usually right after an ACK. Times are from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowSample {
    /// When.
    pub at: Duration,
    /// The round-trip time that was just measured, if one was.
    pub rtt: Option<Duration>,
    /// The delivery-rate sample, if there was a valid one.
    pub delivery_rate: Option<Rate>,
    /// Bytes in flight.
    pub inflight: Bytes,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The pacing rate.
    pub pacing_rate: Rate,
    /// BBR's estimate of the bottleneck bandwidth.
    pub btl_bw: Option<Rate>,
    /// BBR's estimate of the propagation delay.
    pub rt_prop: Option<Duration>,
    /// The name of the controller's state.
    pub state: &'static str,
    /// Bytes delivered so far, as congestion control counts them.
    pub delivered: Bytes,
    /// Bytes declared lost so far.
    pub lost: Bytes,
}

impl Point for FlowSample {
    fn at(&self) -> Duration {
        self.at
    }

    fn is_news(&self, previous: &FlowSample) -> bool {
        self.state != previous.state
    }

    fn level(&self) -> Duration {
        self.rtt.unwrap_or_default()
    }
}

/// What a flow has done since its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowTotals {
    /// Bytes sent, headers and repeats included.
    pub sent: Bytes,
    /// Payload bytes that arrived, each counted once.
    pub payload: Bytes,
    /// Bytes sent again because they were declared lost.
    pub retransmitted: Bytes,
    /// Packets declared lost.
    pub packets_lost: u64,
    /// Timeouts, or times of persistent congestion.
    pub timeouts: u64,
}

/// Which flow it was, and when it lived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSpan {
    /// Its place among the scenario's flows.
    pub id: usize,
    /// Its controller.
    pub controller: Kind,
    /// When it started.
    pub start: Duration,
    /// When its transfer was complete, if it was.
    pub completed: Option<Duration>,
}

/// Samples of one flow.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowRecord {
    /// Its place among the scenario's flows.
    pub id: usize,
    /// Its controller.
    pub controller: Kind,
    /// The samples, in the order of their times; see [`Series`] for how close they are.
    pub samples: Vec<FlowSample>,
}

/// Makes a flow's record and summary from what an engine sees of it.
#[derive(Debug, Clone)]
pub struct FlowRecorder {
    warmup: Duration,
    series: Series<FlowSample>,
    rtts: Distribution,
    before: FlowTotals,
    now: FlowTotals,
}

impl FlowRecorder {
    /// A recorder for a flow of a scenario with this warmup.
    pub fn new(warmup: Duration) -> FlowRecorder {
        FlowRecorder {
            warmup,
            series: Series::new(),
            rtts: Distribution::default(),
            before: FlowTotals::default(),
            now: FlowTotals::default(),
        }
    }

    /// Notes a sample; every one, since percentiles are of all.
    pub fn sample(&mut self, sample: FlowSample) {
        if let Some(rtt) = sample.rtt.filter(|_| sample.at >= self.warmup) {
            self.rtts.record(rtt);
        }
        self.series.push(sample);
    }

    /// Notes the totals at a time; often enough that those at the end of the warmup are about right.
    pub fn totals(&mut self, at: Duration, totals: FlowTotals) {
        if at <= self.warmup {
            self.before = totals;
        }
        self.now = totals;
    }

    /// The flow's summary and samples, after a run that ended at `end`.
    pub fn finish(self, span: FlowSpan, end: Duration) -> (FlowSummary, FlowRecord) {
        let (before, now) = (self.before, self.now);
        let life = span
            .completed
            .unwrap_or(end)
            .saturating_sub(span.start.max(self.warmup));
        let payload = now.payload - before.payload;
        let goodput = match life.is_zero() {
            true => Rate::ZERO,
            false => Rate::from_transfer(payload, life),
        };
        let summary = FlowSummary {
            id: span.id,
            controller: span.controller.to_string(),
            start_s: span.start.as_secs_f64(),
            completed_s: span.completed.map(Duration::as_secs_f64),
            goodput_bps: goodput.bits_per_sec(),
            rtt_ms: RttMillis {
                min: self.rtts.min_ms(),
                p50: self.rtts.quantile_ms(0.5),
                mean: self.rtts.mean_ms(),
                p95: self.rtts.quantile_ms(0.95),
                max: self.rtts.max_ms(),
            },
            sent_bytes: (now.sent - before.sent).get(),
            delivered_bytes: payload.get(),
            retransmitted_bytes: (now.retransmitted - before.retransmitted).get(),
            packets_lost: now.packets_lost.saturating_sub(before.packets_lost),
            timeouts: now.timeouts.saturating_sub(before.timeouts),
        };
        let record = FlowRecord {
            id: span.id,
            controller: span.controller,
            samples: self.series.finish(),
        };
        (summary, record)
    }
}
