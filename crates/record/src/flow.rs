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

/// A flow at one moment, usually right after an ACK. Times are from the start of the run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FlowSample {
    /// When.
    pub at: Duration,
    /// The round-trip time that was just measured, if one was.
    pub rtt: Option<Duration>,
    /// The smoothed round-trip time, if the engine sees it.
    pub srtt: Option<Duration>,
    /// The delivery-rate sample, if there was a valid one.
    pub delivery_rate: Option<Rate>,
    /// Bytes in flight.
    pub inflight: Bytes,
    /// Those of them that wait below the transport in the sender's own host, in its packet scheduler and network card, if
    /// the engine sees it.
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
    pub rt_prop: Option<Duration>,
    /// BBRv3's bound on the bandwidth from the losses since it last probed, if there is one.
    pub short_term_bw: Option<Rate>,
    /// Its bound on what is in flight from the same losses.
    pub short_term_inflight: Option<Bytes>,
    /// Its bound on what is in flight from the losses of its probes.
    pub long_term_inflight: Option<Bytes>,
    /// The controller's state; none if there are several controllers, of many connections.
    pub state: Option<State>,
    /// Bytes delivered so far, as congestion control counts them.
    pub delivered: Bytes,
    /// Bytes declared lost so far.
    pub lost: Bytes,
    /// Whether the application had too little to send when the last acknowledged packet left, if the engine sees it: the
    /// path may be able to do more than the delivery rate says.
    pub is_app_limited: Option<bool>,
    /// What has limited it so far, if the engine sees it.
    pub limits: Option<Limits>,
}

/// How long what has limited a flow's open connections, all of them together. [`application`](Limits::application),
/// [`receiver`](Limits::receiver), [`send_buffer`](Limits::send_buffer) and [`congestion`](Limits::congestion) exclude each
/// other and add up to the time that the connections were open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The time with something to send or unacknowledged (Linux `tcpi_busy_time`).
    pub busy: Duration,
    /// The application had nothing to send.
    pub application: Duration,
    /// The receive window was full.
    pub receiver: Duration,
    /// The send buffer was too small: full, with everything in it sent.
    pub send_buffer: Duration,
    /// The congestion window was full, or the pacing rate did not yet allow more.
    pub congestion: Duration,
    /// The part of [`congestion`](Limits::congestion) that was pacing's, if the engine tells it apart.
    pub pacing: Option<Duration>,
}

impl Limits {
    /// Every time of both by `with`; what one does not tell is not told.
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

    /// What share of the time since `before` was whose, but for so much of it in which the application was idle.
    pub fn shares_since(&self, before: Option<&Limits>, idle: Duration) -> Option<LimitShares> {
        let mut since = match before {
            Some(before) => self.zip(*before, Duration::saturating_sub),
            None => *self,
        };
        since.application = since.application.saturating_sub(idle);
        since.shares()
    }

    /// What share of the time was whose; nothing if there was no time.
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

/// How the opening of connections went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Opens {
    /// Connections that were opened.
    pub done: u64,
    /// How long their handshakes took, all together.
    pub took: Duration,
    /// Connections that were not, as nobody answered in time.
    pub failed: u64,
}

impl FlowSample {
    /// What the controller's state is for.
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

/// What a flow has done since its start; `None` is what the engine cannot see.
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
    /// What limited it.
    pub limits: Option<Limits>,
    /// How its connections were opened.
    pub opens: Option<Opens>,
}

/// What two connections have done together; what is not seen of one is not seen of both.
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

/// Which flow it was, and when it lived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowSpan {
    /// Its place among the scenario's flows.
    pub id: usize,
    /// Its controller.
    pub controller: Controller,
    /// When it started.
    pub start: Duration,
    /// When its transfer was complete, if it was.
    pub completed: Option<Duration>,
}

/// One flow over time.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowRecord {
    /// Its place among the scenario's flows.
    pub id: usize,
    /// Its controller.
    pub controller: Controller,
    /// When it started.
    pub start: Duration,
    /// When its transfer was complete, if it was.
    pub completed: Option<Duration>,
    /// What it delivered in each second.
    pub throughput: Throughput,
    /// The samples, in the order of their times; see [`Series`] for how close they are.
    pub samples: Vec<FlowSample>,
}

/// The most samples that all flows of a run keep together, unless each has only the fewest that a [`Series`] keeps.
const ALL_SAMPLES: usize = 1_000_000;

/// With more flows than this, their distributions are coarse.
const MANY: usize = 1_000;

/// Makes a flow's record and summary from what an engine sees of it.
#[derive(Debug, Clone)]
pub struct FlowRecorder {
    warmup: Duration,
    /// Nothing if no samples are kept.
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
    /// A recorder for a flow of a scenario with this warmup and so many flows: the more there are, the fewer samples
    /// each of them keeps; with more than a thousand, percentiles of RTTs are [coarse](Distribution::coarse).
    pub fn new(warmup: Duration, flows: usize) -> FlowRecorder {
        FlowRecorder {
            warmup,
            series: Some(Series::with_capacity(ALL_SAMPLES / flows.max(1))),
            rtts: if flows > MANY {
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

    /// Notes a sample; every one, since percentiles are of all.
    pub fn sample(&mut self, sample: FlowSample) {
        if let Some(rtt) = sample.rtt.filter(|_| sample.at >= self.warmup) {
            self.rtts.record(rtt);
        }
        self.startup.see(&sample);
        if let Some(series) = &mut self.series {
            series.push(sample);
        }
    }

    /// Notes the totals at a time: several times a second, since what is new counts for the second of `at`, and for the
    /// time after the warmup if `at` is later than that.
    pub fn totals(&mut self, at: Duration, totals: FlowTotals) {
        if at <= self.warmup {
            self.before = totals;
        }
        self.throughput.note(at, totals.payload);
        self.now = totals;
    }

    /// Notes what the application says of itself, once, at the end.
    pub fn app(&mut self, app: AppSummary) {
        self.app = Some(app);
    }

    /// Notes what the flow's host did with it, once, at the end.
    pub fn host(&mut self, host: HostSummary) {
        self.host = Some(host);
    }

    /// The flow's summary and samples, after a run that ended at `end`.
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

/// The mean time of the handshakes that ended between, in milliseconds.
fn connect(before: &FlowTotals, now: &FlowTotals) -> Option<f64> {
    let (before, now) = (before.opens.unwrap_or_default(), now.opens?);
    let took = now.took.saturating_sub(before.took).as_millis_f64();
    let done = now.done.saturating_sub(before.done);
    (done > 0).then(|| took / done as f64)
}

/// The first time that a flow searches for the bandwidth, and what it had found when that ended.
#[derive(Debug, Clone, Copy)]
enum Startup {
    NotYet,
    Searching { highest: Option<Rate> },
    Over { exit: Option<Rate> },
}

impl Startup {
    fn see(&mut self, sample: &FlowSample) {
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
