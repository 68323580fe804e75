//! One flow over time.

use std::ops::Add;

use congestion::{Phase, State};
use units::{Bytes, Duration, Rate};

use super::distribution::Distribution;
use super::host::HostSummary;
use super::series::{Point, Series};
use super::summary::{AppSummary, FlowSummary, LimitShares};
use super::throughput::{Throughput, goodput};
use scenario::Controller;

/// A flow at one moment, usually right after an ACK. Times are from the start of the run. By default, nothing is known
/// of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FlowSample {
    /// The time of the sample.
    pub at: Duration,
    /// The round-trip time measured by this ACK, if any.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time, if the engine sees it.
    pub srtt: Option<Duration>,
    /// The delivery-rate sample, if it was valid.
    pub delivery_rate: Option<Rate>,
    /// Bytes in flight.
    pub inflight: Bytes,
    /// The bytes in flight that wait below the transport in the sender's own host, in its packet scheduler and
    /// network card, if the engine sees it.
    pub below_tcp: Option<Bytes>,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The slow-start threshold, if the controller has one and has set it.
    pub ssthresh: Option<Bytes>,
    /// The pacing rate.
    pub pacing_rate: Rate,
    /// BBR's estimate of the bottleneck bandwidth.
    pub btl_bw: Option<Rate>,
    /// BBR's estimate of the propagation delay.
    pub rtprop: Option<Duration>,
    /// BBRv3's bound on the bandwidth from the losses since it last probed, if set.
    pub short_term_bw: Option<Rate>,
    /// BBRv3's bound on inflight from the same losses.
    pub short_term_inflight: Option<Bytes>,
    /// BBRv3's bound on inflight from the losses of its probes.
    pub long_term_inflight: Option<Bytes>,
    /// The controller's state; `None` if many connections have a controller each.
    pub state: Option<State>,
    /// Bytes delivered so far, as congestion control counts them.
    pub delivered: Bytes,
    /// Bytes declared lost so far.
    pub lost: Bytes,
    /// Whether the application had too little to send when the last acknowledged packet left, if the engine sees it.
    /// If so, the path's rate may be higher than the delivery rate.
    pub is_app_limited: Option<bool>,
    /// The time in each limit so far, if the engine sees it.
    pub limits: Option<Limits>,
}

/// The time in each limit, summed over a flow's open connections. [`application`](Limits::application),
/// [`receiver`](Limits::receiver), [`send_buffer`](Limits::send_buffer) and [`congestion`](Limits::congestion)
/// exclude each other and add up to the time that the connections were open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The time with data to send or unacknowledged (Linux `tcpi_busy_time`).
    pub busy: Duration,
    /// The time in which the application had nothing to send.
    pub application: Duration,
    /// The time in which the receive window was full.
    pub receiver: Duration,
    /// The time in which the send buffer was too small: full, with everything in it sent.
    pub send_buffer: Duration,
    /// The time in which the congestion window was full, or the pacing rate did not yet allow more.
    pub congestion: Duration,
    /// The part of [`congestion`](Limits::congestion) that is due to pacing, if the engine distinguishes it.
    pub pacing: Option<Duration>,
}

impl Limits {
    /// Combines every time of both by `with`. A time that is missing in one is missing in the result.
    fn zip(self, other: Limits, with: impl Fn(Duration, Duration) -> Duration) -> Limits {
        let pacing = self.pacing.zip(other.pacing);
        Limits {
            busy: with(self.busy, other.busy),
            application: with(self.application, other.application),
            receiver: with(self.receiver, other.receiver),
            send_buffer: with(self.send_buffer, other.send_buffer),
            congestion: with(self.congestion, other.congestion),
            pacing: pacing.map(|(one, other)| with(one, other)),
        }
    }

    /// The shares of the time since `before`, without `idle`, which is idle time of the application.
    pub fn shares_since(&self, before: Option<&Limits>, idle: Duration) -> Option<LimitShares> {
        let mut since = match before {
            Some(before) => self.zip(*before, Duration::saturating_sub),
            None => *self,
        };
        since.application = since.application.saturating_sub(idle);
        since.shares()
    }

    /// The share of each limit in the time; `None` if there was no time.
    fn shares(&self) -> Option<LimitShares> {
        let open = self.application + self.receiver + self.send_buffer + self.congestion;
        let share = |part: Duration| part.as_secs_f64() / open.as_secs_f64();
        (!open.is_zero()).then(|| LimitShares {
            application: share(self.application),
            receiver: share(self.receiver),
            send_buffer: share(self.send_buffer),
            congestion: share(self.congestion),
            pacing: self.pacing.map(share),
        })
    }
}

/// The results of opening connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opens {
    /// Connections that were opened.
    pub done: u64,
    /// The sum of the times of their handshakes.
    pub took: Duration,
    /// Connections that failed, because nobody answered in time.
    pub failed: u64,
}

impl FlowSample {
    /// The phase of the controller's state.
    pub fn phase(&self) -> Option<Phase> {
        Some(self.state?.phase)
    }

    /// Whether the controller searches for the bandwidth.
    pub fn is_searching(&self) -> bool {
        self.phase().is_some_and(Phase::is_searching)
    }
}

impl Point for FlowSample {
    fn at(&self) -> Duration {
        self.at
    }

    fn is_news(&self, previous: &FlowSample) -> bool {
        self.state != previous.state
    }

    fn level(&self) -> Option<Duration> {
        self.rtt
    }
}

/// The counters of a flow since its start; `None` where the engine does not see one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FlowTotals {
    /// Payload bytes that arrived, each counted once.
    pub payload: Bytes,
    /// Bytes sent, headers and repeats included.
    pub sent: Option<Bytes>,
    /// Bytes sent again because they were declared lost.
    pub retransmitted: Option<Bytes>,
    /// Packets declared lost.
    pub packets_lost: Option<u64>,
    /// Packets that the sender learned were marked "congestion experienced".
    pub ecn_marks: Option<u64>,
    /// Timeouts, or times of persistent congestion.
    pub timeouts: Option<u64>,
    /// Recoveries that turned out to have been unnecessary.
    pub spurious_recoveries: Option<u64>,
    /// Tail loss probes sent.
    pub tail_loss_probes: Option<u64>,
    /// The time in each limit.
    pub limits: Option<Limits>,
    /// The results of opening its connections.
    pub opens: Option<Opens>,
}

/// The counters of two connections together. A counter that is missing in one is missing in the sum.
impl Add for FlowTotals {
    type Output = FlowTotals;

    fn add(self, other: FlowTotals) -> FlowTotals {
        let count = |count: fn(&FlowTotals) -> Option<u64>| {
            Some(count(&self)?.saturating_add(count(&other)?))
        };
        let bytes = |bytes: fn(&FlowTotals) -> Option<Bytes>| Some(bytes(&self)? + bytes(&other)?);
        let limits = |(one, other): (Limits, Limits)| one.zip(other, |one, other| one + other);
        let opens = |(one, other): (Opens, Opens)| Opens {
            done: one.done.saturating_add(other.done),
            took: one.took + other.took,
            failed: one.failed.saturating_add(other.failed),
        };
        FlowTotals {
            payload: self.payload + other.payload,
            sent: bytes(|totals| totals.sent),
            retransmitted: bytes(|totals| totals.retransmitted),
            packets_lost: count(|totals| totals.packets_lost),
            ecn_marks: count(|totals| totals.ecn_marks),
            timeouts: count(|totals| totals.timeouts),
            spurious_recoveries: count(|totals| totals.spurious_recoveries),
            tail_loss_probes: count(|totals| totals.tail_loss_probes),
            limits: self.limits.zip(other.limits).map(limits),
            opens: self.opens.zip(other.opens).map(opens),
        }
    }
}

/// The identity of a flow and its time span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSpan {
    /// The index of the flow among the scenario's flows.
    pub id: usize,
    /// Its controller.
    pub controller: Controller,
    /// The time of its start.
    pub start: Duration,
    /// The time at which its transfer was complete, if it was.
    pub completed: Option<Duration>,
}

/// One flow over time.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowRecord {
    /// The index of the flow among the scenario's flows.
    pub id: usize,
    /// Its controller.
    pub controller: Controller,
    /// The time of its start.
    pub start: Duration,
    /// The time at which its transfer was complete, if it was.
    pub completed: Option<Duration>,
    /// The payload delivered in each second.
    pub throughput: Throughput,
    /// The samples, in the order of time; see [`Series`] for their density.
    pub samples: Vec<FlowSample>,
}

/// The most samples that all flows of a run keep together, unless that is less than the minimum of a [`Series`] for
/// each.
const MAX_SAMPLES_OF_ALL_FLOWS: usize = 1_000_000;

/// The most flows whose distributions are fine; with more, they are coarse.
const MAX_FINE_FLOWS: usize = 1_000;

/// Builds a flow's record and summary from an engine's observations.
#[derive(Debug, Clone)]
pub struct FlowRecorder {
    warmup: Duration,
    /// `None` if no samples are kept.
    series: Option<Series<FlowSample>>,
    rtts: Distribution,
    throughput: Throughput,
    startup: Startup,
    before: FlowTotals,
    now: FlowTotals,
    app: Option<AppSummary>,
    host: Option<HostSummary>,
}

impl FlowRecorder {
    /// Creates a recorder for a flow of a scenario with this warmup and this number of flows. The more flows, the fewer
    /// samples each of them keeps; with more than a thousand, percentiles of RTTs are [coarse](Distribution::coarse).
    pub fn new(warmup: Duration, flows: usize) -> FlowRecorder {
        FlowRecorder {
            warmup,
            series: Some(Series::with_capacity(
                MAX_SAMPLES_OF_ALL_FLOWS / flows.max(1),
            )),
            rtts: if flows > MAX_FINE_FLOWS {
                Distribution::coarse()
            } else {
                Distribution::default()
            },
            throughput: Throughput::default(),
            startup: Startup::NotYet,
            before: FlowTotals::default(),
            now: FlowTotals::default(),
            app: None,
            host: None,
        }
    }

    /// Keeps no samples: the record will have none.
    pub fn without_samples(self) -> FlowRecorder {
        FlowRecorder {
            series: None,
            ..self
        }
    }

    /// Records a sample. Percentiles are over all samples, so record every one.
    pub fn sample(&mut self, sample: FlowSample) {
        if let Some(rtt) = sample.rtt.filter(|_| sample.at >= self.warmup) {
            self.rtts.record(rtt);
        }
        self.startup.observe(&sample);
        if let Some(series) = &mut self.series {
            series.push(sample);
        }
    }

    /// Records the totals at a time. Call it several times a second: new bytes count for the second of `at`, and for
    /// the time after the warmup if `at` is later than that.
    pub fn totals(&mut self, at: Duration, totals: FlowTotals) {
        if at <= self.warmup {
            self.before = totals;
        }
        self.throughput.note(at, totals.payload);
        self.now = totals;
    }

    /// Records the application's summary, at the end of the run.
    pub fn app(&mut self, app: AppSummary) {
        self.app = Some(app);
    }

    /// Records the host's summary, at the end of the run.
    pub fn host(&mut self, host: HostSummary) {
        self.host = Some(host);
    }

    /// Returns the flow's summary and samples, after a run that ended at `end`.
    pub fn finish(self, span: FlowSpan, end: Duration) -> (FlowSummary, FlowRecord) {
        let (before, now) = (self.before, self.now);
        let life = span
            .completed
            .unwrap_or(end)
            .saturating_sub(span.start.max(self.warmup));
        let payload = now.payload - before.payload;
        let since_warmup = |count: fn(&FlowTotals) -> Option<u64>| {
            Some(count(&now)?.saturating_sub(count(&before).unwrap_or(0)))
        };
        let limits = match before.limits {
            Some(before) => now
                .limits
                .map(|now| now.zip(before, Duration::saturating_sub)),
            None => now.limits,
        };
        let seconds = |part: fn(&Limits) -> Duration| Some(part(&limits?).as_secs_f64());
        let summary = FlowSummary {
            id: span.id,
            group: None,
            controller: span.controller.to_string(),
            start_s: span.start.as_secs_f64(),
            completed_s: span.completed.map(Duration::as_secs_f64),
            goodput_bps: goodput(payload, life).bits_per_sec(),
            limit_share: None,
            startup_exit_bps: self.startup.exit().map(Rate::bits_per_sec),
            rtprop_ms: None,
            rtt_ms: (&self.rtts).into(),
            sent_bytes: since_warmup(|totals| totals.sent.map(Bytes::get)),
            delivered_bytes: payload.get(),
            retransmitted_bytes: since_warmup(|totals| totals.retransmitted.map(Bytes::get)),
            packets_lost: since_warmup(|totals| totals.packets_lost),
            ecn_marks: since_warmup(|totals| totals.ecn_marks),
            timeouts: since_warmup(|totals| totals.timeouts),
            spurious_recoveries: since_warmup(|totals| totals.spurious_recoveries),
            tail_loss_probes: since_warmup(|totals| totals.tail_loss_probes),
            failed_opens: since_warmup(|totals| Some(totals.opens?.failed)),
            connect_ms: connect(&before, &now),
            busy_s: seconds(|limits| limits.busy),
            rwnd_limited_s: seconds(|limits| limits.receiver),
            sndbuf_limited_s: seconds(|limits| limits.send_buffer),
            limited_by: limits.and_then(|limits| limits.shares()),
            host: self.host,
            app: self.app,
        };
        let record = FlowRecord {
            id: span.id,
            controller: span.controller,
            start: span.start,
            completed: span.completed,
            throughput: self.throughput,
            samples: self.series.map(Series::finish).unwrap_or_default(),
        };
        (summary, record)
    }
}

/// The mean time of the handshakes that ended between the two, in milliseconds.
fn connect(before: &FlowTotals, now: &FlowTotals) -> Option<f64> {
    let (before, now) = (before.opens.unwrap_or_default(), now.opens?);
    let took = now.took.saturating_sub(before.took).as_millis_f64();
    let done = now.done.saturating_sub(before.done);
    (done > 0).then(|| took / done as f64)
}

/// The first search of a flow for the bandwidth, and the bandwidth found when it ended.
#[derive(Debug, Clone, Copy)]
enum Startup {
    NotYet,
    Searching { highest: Option<Rate> },
    Over { exit: Option<Rate> },
}

impl Startup {
    fn observe(&mut self, sample: &FlowSample) {
        let is_start = sample.is_searching();
        let highest = match *self {
            Startup::Over { .. } => return,
            Startup::NotYet if !is_start => return,
            Startup::NotYet => sample.delivery_rate,
            Startup::Searching { highest } => highest.max(sample.delivery_rate),
        };
        *self = if is_start {
            Startup::Searching { highest }
        } else {
            Startup::Over {
                exit: sample.btl_bw.or(highest),
            }
        };
    }

    fn exit(self) -> Option<Rate> {
        match self {
            Startup::Over { exit } => exit,
            Startup::NotYet | Startup::Searching { .. } => None,
        }
    }
}
