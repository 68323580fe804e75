//! What is seen of the flows.

use ::sim::{Id, Observer, Passing};
use congestion::{Ack, Controller};
use record::{FlowSample, FlowTotals, HandedDown, HostRecorder, Limits, Opens};
use scenario::Scenario;
use transport::app::{self, App};
use transport::burst::Burst;
use transport::receiver::Receiver;
use transport::segment::HEADERS;
use transport::sender::Sender;
use units::{Bytes, Duration, Rate, Time};

use crate::flow;
use crate::flows::{FlowId, Flows};

/// Watches all flows, and packets if there is a `T` that wants them.
#[derive(Debug)]
pub(super) struct Watch<T> {
    pub flows: Flows,
    /// What else is seen of each.
    more: Vec<More>,
    /// When payload last arrived.
    pub last_arrival: Duration,
    /// What is told of packets.
    pub tap: T,
}

/// Is told of packets.
pub(super) trait Tap {
    /// Whether it wants to be.
    const IS_THERE: bool;

    /// A segment leaves an end of a connection, or reaches it.
    fn on_segment(&mut self, now: Time, passing: &Passing<'_>);
}

/// Nobody wants them.
impl Tap for () {
    const IS_THERE: bool = false;

    fn on_segment(&mut self, _: Time, _: &Passing<'_>) {}
}

/// What a simulation sees of a flow.
#[derive(Debug)]
struct More {
    /// What its host does with it; nothing of many connections, each of which is paced by itself.
    host: Option<HostRecorder>,
    mss: Bytes,
    /// Payload that arrived marked.
    marked: Bytes,
    /// What had been delivered and lost by the last ACK, as congestion control counts it.
    settled: (Bytes, Bytes),
}

/// What a flow has done that has done nothing.
pub(super) const NOTHING: FlowTotals = FlowTotals {
    spurious_recoveries: Some(0),
    tail_loss_probes: Some(0),
    opens: Some(Opens {
        done: 0,
        took: Duration::ZERO,
        failed: 0,
    }),
    limits: Some(Limits {
        pacing: Some(Duration::ZERO),
        ..flow::NO_LIMITS
    }),
    ..flow::NOTHING
};

/// What has limited a connection.
fn limits<C: Controller>(now: Time, sender: &Sender<C>) -> Limits {
    let limits = sender.limits(now);
    let (receiver, send_buffer) = (limits.receive_window, limits.send_buffer);
    let congestion = limits.congestion_window + limits.pacing;
    Limits {
        busy: limits.application + receiver + send_buffer + congestion,
        application: limits.idle + limits.application,
        receiver,
        send_buffer,
        congestion,
        pacing: Some(limits.pacing),
    }
}

/// What a connection has done by `now`. Marks are counted by the flow.
pub(super) fn totals<C: Controller>(
    now: Time,
    sender: &Sender<C>,
    receiver: &Receiver,
) -> FlowTotals {
    let stats = sender.stats();
    FlowTotals {
        payload: Bytes::new(receiver.arrived()),
        sent: Some(stats.sent + HEADERS * stats.packets_sent),
        retransmitted: Some(stats.retransmitted),
        packets_lost: Some(stats.packets_lost),
        timeouts: Some(stats.timeouts),
        spurious_recoveries: Some(stats.spurious_recoveries),
        tail_loss_probes: Some(stats.tail_loss_probes),
        opens: Some(Opens {
            done: u64::from(sender.is_established()),
            took: sender.connect_time().unwrap_or_default(),
            failed: u64::from(sender.has_failed()),
        }),
        limits: Some(limits(now, sender)),
        ..NOTHING
    }
}

impl<T> Watch<T> {
    /// Of these flows, which are the scenario's.
    pub fn new(scenario: &Scenario, flows: Flows, tap: T) -> Watch<T> {
        let more = scenario.each_flow().map(|(spec, _)| More {
            host: (!spec.opens_many()).then(|| HostRecorder::new(scenario.warmup)),
            mss: scenario.mss(spec),
            marked: Bytes::ZERO,
            settled: (Bytes::ZERO, Bytes::ZERO),
        });
        Watch {
            more: more.collect(),
            flows,
            last_arrival: Duration::ZERO,
            tap,
        }
    }

    /// The flows, at the end of the run.
    pub fn finish(mut self) -> (Flows, T) {
        for (flow, more) in self.flows.flows.iter_mut().zip(self.more) {
            if let Some(host) = more.host.and_then(HostRecorder::finish) {
                flow.host(host);
            }
        }
        (self.flows, self.tap)
    }

    /// The connection as it is now, without what only an ACK can tell.
    fn sample<C: Controller>(&self, now: Time, id: Id, sender: &Sender<C>) -> FlowSample {
        let (delivered, lost) = self.more[id.flow].settled;
        FlowSample {
            srtt: sender.srtt(),
            inflight: sender.inflight(),
            below_tcp: Some(sender.below_tcp()),
            limits: Some(limits(now, sender)),
            delivered,
            lost,
            ..flow::sample(now.since(Time::ZERO), &sender.controller().snapshot())
        }
    }
}

/// How long a flow takes for this burst at its pacing rate.
fn span(burst: &Burst, rate: Rate) -> Duration {
    match rate {
        Rate::MAX | Rate::ZERO => Duration::ZERO,
        rate => rate.time_for(Bytes::new(burst.bytes.into())),
    }
}

impl<T: Tap, C: Controller> Observer<C> for Watch<T> {
    const WATCHES_SEGMENTS: bool = T::IS_THERE;

    fn on_segment(&mut self, now: Time, passing: &Passing<'_>) {
        self.tap.on_segment(now, passing);
    }

    fn on_sent(&mut self, now: Time, id: Id, burst: &Burst, sender: &Sender<C>) {
        if let Some(host) = &mut self.more[id.flow].host
            && burst.bytes > 0
        {
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
        if let Some(host) = &mut self.more[id.flow].host
            && burst.bytes > 0
        {
            host.departed(now.since(Time::ZERO), burst.seq);
        }
    }

    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, sender: &Sender<C>) {
        self.last_arrival = now.since(Time::ZERO);
        let more = &mut self.more[id.flow];
        more.settled = (ack.rate.total_delivered, ack.rate.total_lost);
        if !ack.ce_marked.is_zero() {
            more.marked += ack.ce_marked;
            let marks = more.marked.get().checked_div(more.mss.get());
            self.flows[FlowId(id.flow)].over.ecn_marks = marks;
        }
        let sample = FlowSample {
            rtt: ack.rtt.map(|sample| sample.rtt),
            delivery_rate: ack.rate.delivery_rate,
            inflight: ack.inflight,
            is_app_limited: Some(ack.rate.is_app_limited),
            ..self.sample(now, id, sender)
        };
        self.flows[FlowId(id.flow)].sample(sample);
    }

    // Nothing is acknowledged then, but the window of that moment would never be seen: the next ACK opens it again.
    fn on_timeout(&mut self, now: Time, id: Id, sender: &Sender<C>) {
        let sample = self.sample(now, id, sender);
        self.flows[FlowId(id.flow)].sample(sample);
    }

    fn on_transfer(&mut self, id: Id, transfer: &app::Transfer) {
        self.flows.deliver(FlowId(id.flow), transfer);
    }

    fn on_app_end(&mut self, id: Id, app: &App) {
        self.flows.cut_off(FlowId(id.flow), app);
    }

    fn on_end(&mut self, now: Time, id: Id, sender: &Sender<C>, receiver: &Receiver) {
        let flow = &mut self.flows[FlowId(id.flow)];
        flow.over = flow.over + totals(now, sender, receiver);
        if !flow.opens_many() {
            flow.note(now.since(Time::ZERO), flow.over);
            if sender.has_failed() {
                flow.give_up();
            } else {
                flow.end();
            }
        }
    }
}
