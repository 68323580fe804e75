//! What is seen of the flows.

use std::collections::VecDeque;

use ::sim::{Id, Observer};
use congestion::kind::Kind;
use congestion::{Ack, AnyController, Controller};
use transport::app::{self, App, Connections};
use transport::receiver::Receiver;
use transport::segment::HEADERS;
use transport::sender::Sender;
use units::{Bytes, Duration, Rate, Time};

use super::Progress;
use super::network;
use crate::record::{
    AppSummary, FlowRecord, FlowRecorder, FlowSample, FlowSpan, FlowSummary, FlowTotals,
    PlaybackSummary, Transfer, TransferRecorder,
};
use crate::scenario::{FlowSpec, Scenario};

/// The rate that progress tells is a mean over so many notes: a second.
const RECENT: usize = 10;

/// Watches all flows.
#[derive(Debug)]
pub(super) struct Watch {
    flows: Vec<Flow>,
    transfers: TransferRecorder,
    /// When payload last arrived.
    last_arrival: Duration,
}

/// What has been seen of a flow.
#[derive(Debug)]
struct Flow {
    id: usize,
    controller: Kind,
    start: Duration,
    mss: Bytes,
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
    /// What its connections that are over have done, and all of them.
    over: Counted,
    all: Counted,
    /// Payload that arrived marked.
    marked: Bytes,
    delivered_objects: u64,
    last_object: Duration,
    completed: Option<Duration>,
    rtt: Option<Duration>,
    state: &'static str,
    /// Times and payloads of the last notes.
    recent: VecDeque<(Duration, Bytes)>,
}

/// What connections have done.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counted {
    payload: Bytes,
    sent: Bytes,
    retransmitted: Bytes,
    packets_lost: u64,
    timeouts: u64,
    spurious_recoveries: u64,
    tail_loss_probes: u64,
}

impl Counted {
    /// What a connection has done.
    pub fn of(sender: &Sender<AnyController>, receiver: &Receiver) -> Counted {
        let stats = sender.stats();
        Counted {
            // Of what lies beyond a hole, the sender is the first to be told a sum.
            payload: stats.delivered.max(Bytes::new(receiver.received())),
            sent: stats.sent + HEADERS * stats.packets_sent,
            retransmitted: stats.retransmitted,
            packets_lost: stats.packets_lost,
            timeouts: stats.timeouts,
            spurious_recoveries: stats.spurious_recoveries,
            tail_loss_probes: stats.tail_loss_probes,
        }
    }

    fn and(self, other: &Counted) -> Counted {
        Counted {
            payload: self.payload + other.payload,
            sent: self.sent + other.sent,
            retransmitted: self.retransmitted + other.retransmitted,
            packets_lost: self.packets_lost.saturating_add(other.packets_lost),
            timeouts: self.timeouts.saturating_add(other.timeouts),
            spurious_recoveries: self
                .spurious_recoveries
                .saturating_add(other.spurious_recoveries),
            tail_loss_probes: self.tail_loss_probes.saturating_add(other.tail_loss_probes),
        }
    }
}

impl Watch {
    pub fn new(scenario: &Scenario) -> Watch {
        let count = scenario.each_flow().count();
        let flows = scenario.each_flow().enumerate();
        Watch {
            flows: flows
                .map(|(id, (spec, start))| Flow {
                    id,
                    controller: spec.controller,
                    start,
                    mss: network::mss(scenario, spec),
                    bytes: spec.bytes,
                    app_kind: spec.app_kind(),
                    app: app::Stats::default(),
                    objects: objects(spec),
                    opens_many: opens_many(spec),
                    recorder: FlowRecorder::new(scenario.warmup, count),
                    over: Counted::default(),
                    all: Counted::default(),
                    marked: Bytes::ZERO,
                    delivered_objects: 0,
                    last_object: Duration::ZERO,
                    completed: None,
                    rtt: None,
                    state: "",
                    recent: VecDeque::with_capacity(RECENT),
                })
                .collect(),
            transfers: TransferRecorder::new(scenario.warmup),
            last_arrival: Duration::ZERO,
        }
    }

    /// When payload last arrived.
    pub fn last_arrival(&self) -> Duration {
        self.last_arrival
    }

    /// When the last flow was complete, if all are.
    pub fn all_completed(&self) -> Option<Duration> {
        let completed = self.flows.iter().map(|flow| flow.completed);
        completed.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Notes what all flows have done by `at`; `live` is what the connections that are not over have done.
    pub fn note(&mut self, at: Duration, live: &[(usize, Counted)]) {
        for flow in &mut self.flows {
            flow.all = flow.over;
        }
        for (flow, counted) in live {
            if let Some(flow) = self.flows.get_mut(*flow) {
                flow.all = flow.all.and(counted);
            }
        }
        for flow in &mut self.flows {
            flow.note(at);
        }
    }

    /// Tells how far the flows have come by `at`.
    pub fn tell(&self, at: Duration, watch: &(dyn Fn(Progress) + Sync)) {
        self.flows.iter().for_each(|flow| watch(flow.progress(at)));
    }

    /// Notes what the applications of connections that are not over have counted, once, at the end of the run. What they
    /// have begun and not delivered is a transfer that is not complete.
    pub fn note_app(&mut self, id: Id, app: &App) {
        let Some(flow) = self.flows.get_mut(id.flow) else {
            return;
        };
        flow.count(app);
        for (bytes, start) in app.under_way() {
            flow.app.started += u64::from(flow.opens_many);
            self.transfers.note(Transfer {
                flow: flow.id,
                controller: flow.controller,
                start: start.since(Time::ZERO),
                bytes,
                completed: None,
            });
        }
    }

    /// Summaries and samples of the flows, and the transfers, after a run that ended at `end`.
    pub fn finish(self, end: Duration) -> (Vec<(FlowSummary, FlowRecord)>, TransferRecorder) {
        let flows = self.flows.into_iter().map(|flow| flow.finish(end));
        (flows.collect(), self.transfers)
    }
}

impl Flow {
    fn note(&mut self, at: Duration) {
        let totals = FlowTotals {
            payload: self.all.payload,
            sent: Some(self.all.sent),
            retransmitted: Some(self.all.retransmitted),
            packets_lost: Some(self.all.packets_lost),
            ecn_marks: self.marked.get().checked_div(self.mss.get()),
            timeouts: Some(self.all.timeouts),
            spurious_recoveries: Some(self.all.spurious_recoveries),
            tail_loss_probes: Some(self.all.tail_loss_probes),
        };
        // What had arrived when a second ends, arrived within it.
        let within = at.saturating_sub(Duration::from_nanos(1));
        self.recorder.totals(within, totals);
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((at, self.all.payload));
    }

    fn progress(&self, at: Duration) -> Progress {
        let payload = self.all.payload;
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
            delivered: payload,
            total: self.bytes,
            rate: Rate::from_transfer(payload - before, until.saturating_sub(since)),
            rtt: self.rtt,
            state: self.state,
            is_done: self.completed.is_some(),
        }
    }

    /// Counts what an application has counted. Those of many connections are counted object by object.
    fn count(&mut self, app: &App) {
        if !self.opens_many {
            self.app = app.stats();
        }
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

    fn finish(mut self, end: Duration) -> (FlowSummary, FlowRecord) {
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
}

/// How many objects the application of one such flow delivers, if there is an end to them.
fn objects(spec: &FlowSpec) -> Option<u64> {
    match &spec.app {
        app::Config::Bulk => spec.bytes.map(|_| 1),
        app::Config::Transfer { .. } => Some(1),
        app::Config::Requests(requests) => requests.count,
        app::Config::Poisson(poisson) => poisson.count,
        app::Config::RateLimited(_) => None,
        app::Config::Video(video) => {
            let chunk = video.chunk.as_nanos().max(1);
            Some(video.length?.as_nanos().div_ceil(chunk))
        }
    }
}

fn opens_many(spec: &FlowSpec) -> bool {
    matches!(&spec.app, app::Config::Poisson(poisson) if poisson.connections == Connections::New)
}

impl Observer for Watch {
    const WATCHES_RECOVERY: bool = false;

    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, sender: &Sender<AnyController>) {
        let at = now.since(Time::ZERO);
        self.last_arrival = at;
        let Some(flow) = self.flows.get_mut(id.flow) else {
            return;
        };
        let snapshot = sender.controller().snapshot();
        let rtt = ack.rtt.map(|sample| sample.rtt);
        flow.rtt = rtt.or(flow.rtt);
        flow.state = snapshot.state;
        flow.marked += ack.ce_marked;
        flow.recorder.sample(FlowSample {
            at,
            rtt,
            srtt: sender.srtt(),
            delivery_rate: ack.rate.delivery_rate,
            inflight: ack.inflight,
            cwnd: snapshot.cwnd,
            ssthresh: snapshot.ssthresh,
            pacing_rate: snapshot.pacing_rate,
            btl_bw: snapshot.btl_bw,
            rt_prop: snapshot.rt_prop,
            // Many connections have no state in common.
            state: if flow.opens_many { "" } else { snapshot.state },
            delivered: ack.rate.total_delivered,
            lost: ack.rate.total_lost,
        });
    }

    fn on_transfer(&mut self, id: Id, transfer: &app::Transfer) {
        let Some(flow) = self.flows.get_mut(id.flow) else {
            return;
        };
        let end = transfer.end.since(Time::ZERO);
        flow.delivered_objects = flow.delivered_objects.saturating_add(1);
        flow.last_object = end;
        if flow.opens_many {
            flow.app.started += 1;
            flow.app.completed += 1;
        }
        if Some(flow.delivered_objects) == flow.objects {
            flow.completed = Some(end);
        }
        self.transfers.note(Transfer {
            flow: flow.id,
            controller: flow.controller,
            start: transfer.start.since(Time::ZERO),
            bytes: transfer.size,
            completed: Some(end),
        });
    }

    fn on_app_end(&mut self, id: Id, app: &App) {
        if let Some(flow) = self.flows.get_mut(id.flow) {
            flow.count(app);
        }
    }

    fn on_end(&mut self, now: Time, id: Id, sender: &Sender<AnyController>, receiver: &Receiver) {
        let Some(flow) = self.flows.get_mut(id.flow) else {
            return;
        };
        flow.over = flow.over.and(&Counted::of(sender, receiver));
        if !flow.opens_many {
            flow.all = flow.over;
            flow.note(now.since(Time::ZERO));
            // An object that was refused is never delivered.
            flow.completed = flow.completed.or(Some(flow.last_object));
        }
    }
}
