//! What is seen of one flow.

use std::collections::VecDeque;

use congestion::{Snapshot, State};
use record::{
    AppSummary, FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowSummary, FlowTotals,
    HostSummary, Limits, PlaybackSummary, Transfer,
};
use scenario::{FlowSpec, Scenario};
use transport::app;
use units::{Bytes, Duration, Rate, Time};

use crate::engine::Progress;

/// The rate that progress tells is a mean over what was noted in so long.
const RECENT: Duration = Duration::from_secs(1);

/// The least time between two notes that it is made from.
const APART: Duration = Duration::from_millis(50);

/// No time in any limit, where pacing's is not told apart.
pub(crate) const NO_LIMITS: Limits = Limits {
    busy: Duration::ZERO,
    application: Duration::ZERO,
    receiver: Duration::ZERO,
    send_buffer: Duration::ZERO,
    congestion: Duration::ZERO,
    pacing: None,
};

/// What a flow has done that has done nothing, of what TCP's hosts count.
pub(crate) const NOTHING: FlowTotals = FlowTotals {
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

/// A flow, watched.
#[derive(Debug, Clone)]
pub(crate) struct Flow {
    span: FlowSpan,
    /// What its `bytes` are.
    bytes: Option<Bytes>,
    /// What its application is called, unless it is bulk data.
    app_kind: Option<&'static str>,
    /// What its application has counted; of many, nothing but their objects.
    app: app::Stats,
    /// How many objects its application delivers in all, if that can be told.
    objects: Option<u64>,
    opens_many: bool,
    recorder: FlowRecorder,
    delivered_objects: u64,
    last_object: Duration,
    /// Whether nothing more comes of it, complete or not.
    is_over: bool,
    /// What its connections that are over have done, and what all of them had when it was last noted.
    pub over: FlowTotals,
    pub totals: FlowTotals,
    noted: Option<Duration>,
    rtt: Option<Duration>,
    state: Option<State>,
    /// Times and payloads of the last notes.
    recent: VecDeque<(Duration, Bytes)>,
}

impl Flow {
    /// Every flow of the scenario; `nothing` is what an engine counts of one that has done nothing.
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

    /// Keeps no samples of it.
    pub fn without_samples(self) -> Flow {
        Flow {
            recorder: self.recorder.without_samples(),
            ..self
        }
    }

    /// Which it is, and when it lives.
    pub fn span(&self) -> FlowSpan {
        self.span
    }

    /// Whether each of its objects has a connection of its own.
    pub fn opens_many(&self) -> bool {
        self.opens_many
    }

    /// Whether nothing more comes of it.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether anything has come back from its receiver.
    pub fn has_heard(&self) -> bool {
        self.rtt.is_some()
    }

    /// It starts, maybe not quite when it should.
    pub fn start(&mut self, at: Duration) {
        self.span.start = at;
    }

    /// Notes what it has done by `at`.
    pub fn note(&mut self, at: Duration, totals: FlowTotals) {
        // What had arrived when a second ends, arrived within it.
        let within = at.saturating_sub(Duration::from_nanos(1));
        self.recorder.totals(within, totals);
        self.totals = totals;
        self.noted = Some(at);
        let is_old = |(noted, _): &(Duration, Bytes)| at.saturating_sub(*noted) > RECENT;
        while self.recent.front().is_some_and(is_old) {
            self.recent.pop_front();
        }
        let last = self.recent.back();
        if last.is_none_or(|(noted, _)| at.saturating_sub(*noted) >= APART) {
            self.recent.push_back((at, totals.payload));
        }
    }

    /// Notes a sample, which is of one of its connections if it opens many: they have no state in common.
    pub fn sample(&mut self, mut sample: FlowSample) {
        self.rtt = sample.rtt.or(self.rtt);
        self.state = sample.state;
        if self.opens_many {
            sample.state = None;
        }
        self.recorder.sample(sample);
    }

    /// Notes an object that was delivered.
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

    /// Notes what its application has counted. Those of many connections are counted object by object.
    pub fn count(&mut self, app: &app::App) {
        if !self.opens_many {
            self.app = app.stats();
        }
    }

    /// Notes the application of a connection that is not over, once, at the end of the run: what it has begun and not
    /// delivered is a transfer that is not complete.
    pub fn cut_off(&mut self, app: &app::App) -> Vec<Transfer> {
        self.count(app);
        let begun: Vec<(Bytes, Time)> = app.under_way().collect();
        if self.opens_many {
            self.app.started += begun.len() as u64;
        }
        let transfer = |(bytes, start)| self.transfer(start, bytes, None);
        begun.into_iter().map(transfer).collect()
    }

    /// All that it has to deliver, as one transfer, if it has an end.
    pub fn whole(&self) -> Option<Transfer> {
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

    /// Notes what its host did with it, once, at the end.
    pub fn host(&mut self, host: HostSummary) {
        self.recorder.host(host);
    }

    /// Its only connection is over: everything that was accepted has been delivered. An object that was refused never
    /// is.
    pub fn end(&mut self) {
        self.complete(self.last_object);
    }

    /// Everything has been delivered by `at`.
    pub fn complete(&mut self, at: Duration) {
        self.span.completed = self.span.completed.or(Some(at));
        self.is_over = true;
    }

    /// Nothing more comes of it.
    pub fn give_up(&mut self) {
        self.is_over = true;
    }

    /// How far it has come by `at`.
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

    /// Its summary and samples after a run that ended at `end`.
    pub fn finish(mut self, end: Duration) -> (FlowSummary, FlowRecord) {
        if let Some(kind) = self.app_kind {
            self.recorder.app(summary(kind, &self.app));
        }
        self.recorder.finish(self.span, end)
    }
}

/// What one of our controllers shows of itself, without what only its transport knows.
pub(crate) fn sample(at: Duration, snapshot: &Snapshot) -> FlowSample {
    FlowSample {
        at,
        rtt: None,
        srtt: None,
        delivery_rate: None,
        inflight: Bytes::ZERO,
        below_tcp: None,
        cwnd: snapshot.cwnd,
        ssthresh: snapshot.ssthresh,
        pacing_rate: snapshot.pacing_rate,
        btl_bw: snapshot.btl_bw,
        rt_prop: snapshot.rt_prop,
        short_term_bw: snapshot.short_term_bw,
        short_term_inflight: snapshot.short_term_inflight,
        long_term_inflight: snapshot.long_term_inflight,
        state: Some(snapshot.state),
        delivered: Bytes::ZERO,
        lost: Bytes::ZERO,
        is_app_limited: None,
        limits: None,
    }
}

/// What the application of this kind has counted.
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
