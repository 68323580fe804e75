//! The observed state of one flow.

use std::collections::VecDeque;

use congestion::{Snapshot, State};
use record::{
    AppSummary, FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowSummary, FlowTotals,
    HostSummary, Limits, PlaybackSummary, Transfer,
};
use scenario::{FlowSpec, Scenario};
use transport::app;
use units::{Bytes, Duration, Rate, Time};

use crate::progress::Progress;

/// The time over which the reported rate is a mean.
const RATE_WINDOW: Duration = Duration::from_secs(1);

/// The minimum time between two points from which the reported rate is computed.
const MIN_POINT_INTERVAL: Duration = Duration::from_millis(50);

/// No time in any limit, for engines that do not distinguish pacing.
pub const NO_LIMITS: Limits = Limits {
    busy: Duration::ZERO,
    application: Duration::ZERO,
    receiver: Duration::ZERO,
    send_buffer: Duration::ZERO,
    congestion: Duration::ZERO,
    pacing: None,
};

/// The counters of a flow that has sent nothing yet, for engines that count as TCP hosts do.
pub const NOTHING_SENT: FlowTotals = FlowTotals {
    payload: Bytes::ZERO,
    sent: Some(Bytes::ZERO),
    retransmitted: Some(Bytes::ZERO),
    packets_lost: Some(0),
    ecn_marks: Some(0),
    timeouts: Some(0),
    spurious_recoveries: None,
    tail_loss_probes: None,
    limits: None,
    opens: None,
};

/// The observed state of one flow.
#[derive(Debug, Clone)]
pub struct Flow {
    span: FlowSpan,
    /// The flow's `bytes` in the scenario.
    bytes: Option<Bytes>,
    /// The name of its application's kind; `None` for bulk data.
    app_kind: Option<&'static str>,
    /// The counters of its application. With a connection for each object, only the objects are counted.
    app: app::Stats,
    /// The number of objects that its application delivers in all, if it is known.
    objects: Option<u64>,
    opens_many: bool,
    recorder: FlowRecorder,
    delivered_objects: u64,
    last_object: Duration,
    /// Whether the flow has ended, complete or not.
    is_over: bool,
    /// The counters of its closed connections.
    pub over: FlowTotals,
    /// The counters of all its connections, as last recorded.
    pub totals: FlowTotals,
    noted: Option<Duration>,
    rtt: Option<Duration>,
    state: Option<State>,
    /// The times and payloads of recent calls of [`Flow::note`].
    recent: VecDeque<(Duration, Bytes)>,
}

impl Flow {
    /// Creates every flow of the scenario; `nothing` has the counters of a flow that has sent nothing yet.
    pub fn all(scenario: &Scenario, nothing: FlowTotals) -> Vec<Flow> {
        let count = scenario.each_flow().count();
        let flows = scenario.each_flow().enumerate();
        let flow = |(id, (spec, start)): (usize, (&FlowSpec, Duration))| Flow {
            span: FlowSpan {
                id,
                controller: spec.controller,
                start,
                completed: None,
            },
            bytes: spec.bytes,
            app_kind: spec.app_kind(),
            app: app::Stats::default(),
            objects: spec.objects(),
            opens_many: spec.opens_many(),
            recorder: FlowRecorder::new(scenario.warmup, count),
            delivered_objects: 0,
            last_object: Duration::ZERO,
            is_over: false,
            over: nothing,
            totals: nothing,
            noted: None,
            rtt: None,
            state: None,
            recent: VecDeque::new(),
        };
        flows.map(flow).collect()
    }

    /// Records no samples of this flow.
    pub fn without_samples(self) -> Flow {
        Flow {
            recorder: self.recorder.without_samples(),
            ..self
        }
    }

    /// The flow's identity and its time span.
    pub fn span(&self) -> FlowSpan {
        self.span
    }

    /// Whether each of its objects has a connection of its own.
    pub fn opens_many(&self) -> bool {
        self.opens_many
    }

    /// Whether the flow has ended, complete or not.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether anything has arrived from its receiver.
    pub fn has_heard(&self) -> bool {
        self.rtt.is_some()
    }

    /// Records the actual start, which may be later than the planned one.
    pub fn start(&mut self, at: Duration) {
        self.span.start = at;
    }

    /// Records the counters at `at`.
    pub fn note(&mut self, at: Duration, totals: FlowTotals) {
        // Data that have arrived when a second ends belong to that second.
        let within = at.saturating_sub(Duration::from_nanos(1));
        self.recorder.totals(within, totals);
        self.totals = totals;
        self.noted = Some(at);
        let is_old = |(noted, _): &(Duration, Bytes)| at.saturating_sub(*noted) > RATE_WINDOW;
        while self.recent.front().is_some_and(is_old) {
            self.recent.pop_front();
        }
        let last = self.recent.back();
        if last.is_none_or(|(noted, _)| at.saturating_sub(*noted) >= MIN_POINT_INTERVAL) {
            self.recent.push_back((at, totals.payload));
        }
    }

    /// Records a sample. If the flow opens many connections, the sample is of one of them and has no state: the
    /// connections share none.
    #[inline]
    pub fn sample(&mut self, mut sample: FlowSample) {
        self.rtt = sample.rtt.or(self.rtt);
        self.state = sample.state;
        if self.opens_many {
            sample.state = None;
        }
        self.recorder.sample(sample);
    }

    /// Records a delivered object.
    pub fn deliver(&mut self, object: &app::Transfer) -> Transfer {
        let end = object.end.since(Time::ZERO);
        self.delivered_objects = self.delivered_objects.saturating_add(1);
        self.last_object = end;
        if self.opens_many {
            self.app.started += 1;
            self.app.completed += 1;
        }
        if Some(self.delivered_objects) == self.objects {
            self.span.completed = Some(end);
        }
        self.transfer(object.start, object.size, Some(end))
    }

    /// Records the counters of its application. With many connections, objects are counted one by one instead.
    pub fn count(&mut self, app: &app::App) {
        if !self.opens_many {
            self.app = app.stats();
        }
    }

    /// Records, at the end of the run, the application of a connection that is still open. The objects that it has
    /// begun become incomplete transfers.
    pub fn cut_off(&mut self, app: &app::App) -> Vec<Transfer> {
        self.count(app);
        let begun: Vec<(Bytes, Time)> = app.under_way().collect();
        if self.opens_many {
            self.app.started += begun.len() as u64;
        }
        let transfer = |(bytes, start)| self.transfer(start, bytes, None);
        begun.into_iter().map(transfer).collect()
    }

    /// The whole flow as one transfer, if it has an end.
    pub fn as_transfer(&self) -> Option<Transfer> {
        let start = Time::ZERO + self.span.start;
        Some(self.transfer(start, self.bytes?, self.span.completed))
    }

    fn transfer(&self, start: Time, bytes: Bytes, completed: Option<Duration>) -> Transfer {
        Transfer {
            flow: self.span.id,
            controller: self.span.controller,
            start: start.since(Time::ZERO),
            bytes,
            completed,
        }
    }

    /// Records its host's summary, at the end of the run.
    pub fn host(&mut self, host: HostSummary) {
        self.recorder.host(host);
    }

    /// Records the end of its only connection: everything accepted has been delivered. A refused object never is.
    pub fn end(&mut self) {
        self.complete(self.last_object);
    }

    /// Records that everything has been delivered by `at`.
    pub fn complete(&mut self, at: Duration) {
        self.span.completed = self.span.completed.or(Some(at));
        self.is_over = true;
    }

    /// Records that the flow has ended without completing.
    pub fn give_up(&mut self) {
        self.is_over = true;
    }

    /// The progress at `at`.
    pub fn progress(&self, at: Duration) -> Progress {
        let FlowSpan {
            id: flow,
            controller,
            start,
            completed,
        } = self.span;
        let is_done = self.is_over || completed.is_some();
        let recent = self.recent.front().filter(|_| !is_done);
        let (since, before) = recent.copied().unwrap_or((start, Bytes::ZERO));
        let until = completed.or(self.noted).unwrap_or(at);
        let delivered = self.totals.payload;
        Progress {
            flow,
            controller,
            at: completed.unwrap_or(at),
            delivered,
            total: self.bytes,
            rate: Rate::from_transfer(delivered - before, until.saturating_sub(since)),
            rtt: self.rtt,
            state: self.state,
            is_done,
        }
    }

    /// Returns the flow's summary and samples after a run that ended at `end`.
    pub fn finish(mut self, end: Duration) -> (FlowSummary, FlowRecord) {
        if let Some(kind) = self.app_kind {
            self.recorder.app(summary(kind, &self.app));
        }
        self.recorder.finish(self.span, end)
    }
}

/// A sample from one of our controllers, without the values that only its transport knows.
#[inline]
pub fn sample(at: Duration, snapshot: &Snapshot) -> FlowSample {
    FlowSample {
        at,
        cwnd: snapshot.cwnd,
        ssthresh: snapshot.ssthresh,
        pacing_rate: snapshot.pacing_rate,
        btl_bw: snapshot.btl_bw,
        rtprop: snapshot.rtprop,
        short_term_bw: snapshot.short_term_bw,
        short_term_inflight: snapshot.short_term_inflight,
        long_term_inflight: snapshot.long_term_inflight,
        state: Some(snapshot.state),
        ..FlowSample::default()
    }
}

/// The summary of an application of this kind.
fn summary(kind: &str, app: &app::Stats) -> AppSummary {
    AppSummary {
        kind: kind.to_string(),
        started: app.started,
        completed: app.completed,
        refused: app.refused,
        skipped: (kind == "rate").then_some(app.skipped),
        late: (kind == "rate").then_some(app.late),
        playback: (kind == "video").then(|| PlaybackSummary {
            startup_s: app.playback.startup.map(Duration::as_secs_f64),
            stalls: app.playback.stalls,
            stalled_s: app.playback.stalled.as_secs_f64(),
            played_s: app.playback.played.as_secs_f64(),
        }),
    }
}
