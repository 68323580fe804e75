//! What is seen of one flow of an engine with applications.

use std::collections::VecDeque;

use congestion::State;
use transport::app::{self, App};
use units::{Bytes, Duration, Rate, Time};

use super::Progress;
use record::{
    AppSummary, FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowSummary, FlowTotals,
    HostSummary, PlaybackSummary, Transfer, TransferRecorder,
};
use scenario::{Controller, FlowSpec, Scenario};

/// The rate that progress tells is a mean over what was noted in so long.
const RECENT: Duration = Duration::from_secs(1);

/// A flow, watched.
#[derive(Debug)]
pub(super) struct Flow {
    id: usize,
    controller: Controller,
    start: Duration,
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
    completed: Option<Duration>,
    payload: Bytes,
    rtt: Option<Duration>,
    state: Option<State>,
    /// Times and payloads of the last notes.
    recent: VecDeque<(Duration, Bytes)>,
}

impl Flow {
    /// Every flow of the scenario.
    pub fn all(scenario: &Scenario) -> Vec<Flow> {
        let count = scenario.each_flow().count();
        let flows = scenario.each_flow().enumerate();
        let flow = |(id, (spec, start)): (usize, (&FlowSpec, Duration))| Flow {
            id,
            controller: spec.controller,
            start,
            bytes: spec.bytes,
            app_kind: spec.app_kind(),
            app: app::Stats::default(),
            objects: spec.objects(),
            opens_many: spec.opens_many(),
            recorder: FlowRecorder::new(scenario.warmup, count),
            delivered_objects: 0,
            last_object: Duration::ZERO,
            completed: None,
            payload: Bytes::ZERO,
            rtt: None,
            state: None,
            recent: VecDeque::new(),
        };
        flows.map(flow).collect()
    }

    /// Whether each of its objects has a connection of its own.
    pub fn opens_many(&self) -> bool {
        self.opens_many
    }

    /// When it was complete, if it is.
    pub fn completed(&self) -> Option<Duration> {
        self.completed
    }

    /// Notes what it has done by `at`.
    pub fn note(&mut self, at: Duration, totals: FlowTotals) {
        // What had arrived when a second ends, arrived within it.
        let within = at.saturating_sub(Duration::from_nanos(1));
        self.recorder.totals(within, totals);
        self.payload = totals.payload;
        let is_old = |(noted, _): &(Duration, Bytes)| at.saturating_sub(*noted) > RECENT;
        while self.recent.front().is_some_and(is_old) {
            self.recent.pop_front();
        }
        self.recent.push_back((at, totals.payload));
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
    pub fn transfer(&mut self, transfer: &app::Transfer, transfers: &mut TransferRecorder) {
        let end = transfer.end.since(Time::ZERO);
        self.delivered_objects = self.delivered_objects.saturating_add(1);
        self.last_object = end;
        if self.opens_many {
            self.app.started += 1;
            self.app.completed += 1;
        }
        if Some(self.delivered_objects) == self.objects {
            self.completed = Some(end);
        }
        transfers.note(Transfer {
            flow: self.id,
            controller: self.controller,
            start: transfer.start.since(Time::ZERO),
            bytes: transfer.size,
            completed: Some(end),
        });
    }

    /// Notes what its application has counted. Those of many connections are counted object by object.
    pub fn count(&mut self, app: &App) {
        if !self.opens_many {
            self.app = app.stats();
        }
    }

    /// Notes the application of a connection that is not over, once, at the end of the run: what it has begun and not
    /// delivered is a transfer that is not complete.
    pub fn cut_off(&mut self, app: &App, transfers: &mut TransferRecorder) {
        self.count(app);
        for (bytes, start) in app.under_way() {
            self.app.started += u64::from(self.opens_many);
            transfers.note(Transfer {
                flow: self.id,
                controller: self.controller,
                start: start.since(Time::ZERO),
                bytes,
                completed: None,
            });
        }
    }

    /// Notes what its host did with it, once, at the end.
    pub fn host(&mut self, host: HostSummary) {
        self.recorder.host(host);
    }

    /// Its only connection is over: everything that was accepted has been delivered. An object that was refused never
    /// is.
    pub fn end(&mut self) {
        self.completed = self.completed.or(Some(self.last_object));
    }

    /// How far it has come by `at`.
    pub fn progress(&self, at: Duration) -> Progress {
        let (since, before) = match (self.completed, self.recent.front()) {
            (None, Some(recent)) => *recent,
            _ => (self.start, Bytes::ZERO),
        };
        let noted = self.recent.back().map_or(at, |(noted, _)| *noted);
        let until = self.completed.unwrap_or(noted);
        Progress {
            flow: self.id,
            controller: self.controller,
            at: self.completed.unwrap_or(at),
            delivered: self.payload,
            total: self.bytes,
            rate: Rate::from_transfer(self.payload - before, until.saturating_sub(since)),
            rtt: self.rtt,
            state: self.state,
            is_done: self.completed.is_some(),
        }
    }

    /// Its summary and samples after a run that ended at `end`.
    pub fn finish(mut self, end: Duration) -> (FlowSummary, FlowRecord) {
        if let Some(app) = self.summary() {
            self.recorder.app(app);
        }
        let span = FlowSpan {
            id: self.id,
            controller: self.controller,
            start: self.start,
            completed: self.completed,
        };
        self.recorder.finish(span, end)
    }

    fn summary(&self) -> Option<AppSummary> {
        let kind = self.app_kind?;
        let app = &self.app;
        Some(AppSummary {
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
        })
    }
}
