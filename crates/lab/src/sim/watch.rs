//! What is seen of the flows.

use ::sim::{Id, Observer};
use congestion::{Ack, AnyController, Controller};
use transport::app::{self, App};
use transport::burst::Burst;
use transport::receiver::Receiver;
use transport::segment::HEADERS;
use transport::sender::Sender;
use units::{Bytes, Duration, Rate, Time};

use super::super::flow::Flow;
use super::super::{Progress, ways};
use record::{
    FlowRecord, FlowSample, FlowSummary, FlowTotals, HandedDown, HostRecorder, TransferRecorder,
};
use scenario::{FlowSpec, Scenario};

/// Watches all flows.
#[derive(Debug)]
pub(super) struct Watch {
    flows: Vec<Seen>,
    transfers: TransferRecorder,
    /// When payload last arrived.
    last_arrival: Duration,
}

/// What has been seen of a flow.
#[derive(Debug)]
struct Seen {
    flow: Flow,
    /// What its host does with it; nothing of many connections, each of which is paced by itself.
    host: Option<HostRecorder>,
    mss: Bytes,
    /// What its connections that are over have done, and all of them.
    over: Counted,
    all: Counted,
    /// Payload that arrived marked.
    marked: Bytes,
    /// What had been delivered and lost by the last ACK, as congestion control counts it.
    settled: (Bytes, Bytes),
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
            payload: Bytes::new(receiver.arrived()),
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
        let flows = Flow::all(scenario).into_iter().zip(scenario.each_flow());
        let seen = |(flow, (spec, _)): (Flow, (&FlowSpec, Duration))| Seen {
            host: (!flow.opens_many()).then(|| HostRecorder::new(scenario.warmup)),
            flow,
            mss: ways::mss(scenario, spec),
            over: Counted::default(),
            all: Counted::default(),
            marked: Bytes::ZERO,
            settled: (Bytes::ZERO, Bytes::ZERO),
        };
        Watch {
            flows: flows.map(seen).collect(),
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
        let completed = self.flows.iter().map(|seen| seen.flow.completed());
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
        for seen in &self.flows {
            watch(seen.flow.progress(at));
        }
    }

    /// Notes the application of a connection that is not over, once, at the end of the run.
    pub fn note_app(&mut self, id: Id, app: &App) {
        if let Some(seen) = self.flows.get_mut(id.flow) {
            seen.flow.cut_off(app, &mut self.transfers);
        }
    }

    /// Summaries and samples of the flows, and the transfers, after a run that ended at `end`.
    pub fn finish(self, end: Duration) -> (Vec<(FlowSummary, FlowRecord)>, TransferRecorder) {
        let flows = self.flows.into_iter().map(|mut seen| {
            if let Some(host) = seen.host.and_then(HostRecorder::finish) {
                seen.flow.host(host);
            }
            seen.flow.finish(end)
        });
        (flows.collect(), self.transfers)
    }
}

impl Seen {
    /// The connection as it is now, without what only an ACK can tell.
    fn sample(&self, at: Duration, sender: &Sender<AnyController>) -> FlowSample {
        let snapshot = sender.controller().snapshot();
        let (delivered, lost) = self.settled;
        FlowSample {
            at,
            rtt: None,
            srtt: sender.srtt(),
            delivery_rate: None,
            inflight: sender.inflight(),
            below_tcp: Some(sender.below_tcp()),
            cwnd: snapshot.cwnd,
            ssthresh: snapshot.ssthresh,
            pacing_rate: snapshot.pacing_rate,
            btl_bw: snapshot.btl_bw,
            rt_prop: snapshot.rt_prop,
            state: Some(snapshot.state),
            delivered,
            lost,
            is_app_limited: None,
            busy: None,
        }
    }

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
            busy: None,
        };
        self.flow.note(at, totals);
    }
}

/// How long a flow takes for this burst at its pacing rate.
fn span(burst: &Burst, rate: Rate) -> Duration {
    match rate {
        Rate::MAX | Rate::ZERO => Duration::ZERO,
        rate => rate.time_for(Bytes::new(burst.bytes.into())),
    }
}

impl Observer for Watch {
    fn on_sent(&mut self, now: Time, id: Id, burst: &Burst, sender: &Sender<AnyController>) {
        let seen = self.flows.get_mut(id.flow);
        let Some(host) = seen.and_then(|seen| seen.host.as_mut()) else {
            return;
        };
        if burst.bytes > 0 {
            host.handed_down(HandedDown {
                at: now.since(Time::ZERO),
                seq: burst.seq,
                bytes: Bytes::new(burst.bytes.into()),
                span: span(burst, sender.controller().pacing_rate()),
                below_tcp: sender.below_tcp(),
                limit: sender.small_queue_limit(burst.is_retransmission),
            });
        }
    }

    fn on_departed(&mut self, now: Time, id: Id, burst: &Burst) {
        let seen = self.flows.get_mut(id.flow);
        if let Some(host) = seen.and_then(|seen| seen.host.as_mut())
            && burst.bytes > 0
        {
            host.departed(now.since(Time::ZERO), burst.seq);
        }
    }

    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, sender: &Sender<AnyController>) {
        let at = now.since(Time::ZERO);
        self.last_arrival = at;
        let Some(seen) = self.flows.get_mut(id.flow) else {
            return;
        };
        seen.marked += ack.ce_marked;
        seen.settled = (ack.rate.total_delivered, ack.rate.total_lost);
        let sample = FlowSample {
            rtt: ack.rtt.map(|sample| sample.rtt),
            delivery_rate: ack.rate.delivery_rate,
            inflight: ack.inflight,
            is_app_limited: Some(ack.rate.is_app_limited),
            ..seen.sample(at, sender)
        };
        seen.flow.sample(sample);
    }

    // Nothing is acknowledged then, but the window of that moment would never be seen: the next ACK opens it again.
    fn on_timeout(&mut self, now: Time, id: Id, sender: &Sender<AnyController>) {
        if let Some(seen) = self.flows.get_mut(id.flow) {
            let sample = seen.sample(now.since(Time::ZERO), sender);
            seen.flow.sample(sample);
        }
    }

    fn on_transfer(&mut self, id: Id, transfer: &app::Transfer) {
        if let Some(seen) = self.flows.get_mut(id.flow) {
            seen.flow.transfer(transfer, &mut self.transfers);
        }
    }

    fn on_app_end(&mut self, id: Id, app: &App) {
        if let Some(seen) = self.flows.get_mut(id.flow) {
            seen.flow.count(app);
        }
    }

    fn on_end(&mut self, now: Time, id: Id, sender: &Sender<AnyController>, receiver: &Receiver) {
        let Some(seen) = self.flows.get_mut(id.flow) else {
            return;
        };
        seen.over = seen.over.and(&Counted::of(sender, receiver));
        if !seen.flow.opens_many() {
            seen.all = seen.over;
            seen.note(now.since(Time::ZERO));
            seen.flow.end();
        }
    }
}
