//! The observed state of the flows.

use ::sim::{Id, Observer, Passing};
use congestion::{Ack, Controller};
use record::{FlowSample, FlowTotals, HandedDown, HostRecorder, Limits, Opens};
use scenario::Network;
use transport::app::{self, App};
use transport::burst::Burst;
use transport::receiver::Receiver;
use transport::segment::HEADERS;
use transport::sender::Sender;
use units::{Bytes, Duration, Rate, Time};

use crate::flow;
use crate::flows::{FlowId, Flows};

/// Observes all flows, and packets if the tap `T` wants them.
#[derive(Debug, Clone)]
pub struct Watch<T> {
    /// The flows.
    pub flows: Flows,
    /// The additional state of each flow.
    states: Vec<FlowState>,
    /// The time at which payload last arrived.
    pub last_arrival: Duration,
    /// Receives the packets.
    pub tap: T,
}

/// Receives packets.
pub trait Tap {
    /// Whether the tap wants packets.
    const WANTS_SEGMENTS: bool;

    /// Handles a segment that leaves an end of a connection, or reaches it.
    fn on_segment(&mut self, now: Time, passing: &Passing<'_>);

    /// Handles a segment that passes the end of a link, given the index of that capture.
    fn on_crossing(&mut self, now: Time, place: usize, passing: &Passing<'_>);
}

/// The tap that wants no packets.
impl Tap for () {
    const WANTS_SEGMENTS: bool = false;

    fn on_segment(&mut self, _: Time, _: &Passing<'_>) {}

    fn on_crossing(&mut self, _: Time, _: usize, _: &Passing<'_>) {}
}

/// The state of a flow that only a simulation can see.
#[derive(Debug, Clone)]
struct FlowState {
    /// The host's view of the flow; `None` with many connections, each of which is paced by itself.
    host: Option<HostRecorder>,
    mss: Bytes,
    /// The payload that arrived with ECN marks.
    marked: Bytes,
    /// The bytes delivered and lost at the last ACK, as congestion control counts them.
    delivered_and_lost: (Bytes, Bytes),
}

/// The counters of a flow that has sent nothing yet.
pub const NOTHING_SENT: FlowTotals = FlowTotals {
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
    ..flow::NOTHING_SENT
};

/// The time in each limit of a connection.
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

/// The counters of a connection at `now`, except for ECN marks, which are counted by flow.
pub fn totals<C: Controller>(now: Time, sender: &Sender<C>, receiver: &Receiver) -> FlowTotals {
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
        ..NOTHING_SENT
    }
}

impl<T> Watch<T> {
    /// Wraps the scenario's flows.
    pub fn new(network: &Network<'_>, flows: Flows, tap: T) -> Watch<T> {
        let scenario = network.scenario();
        let each = scenario.each_flow().zip(segment_sizes(network));
        let states = each.map(|((spec, _), mss)| FlowState {
            host: (!spec.opens_many()).then(|| HostRecorder::new(scenario.warmup)),
            mss,
            marked: Bytes::ZERO,
            delivered_and_lost: (Bytes::ZERO, Bytes::ZERO),
        });
        Watch {
            states: states.collect(),
            flows,
            last_arrival: Duration::ZERO,
            tap,
        }
    }

    /// Returns the flows at the end of the run.
    pub fn finish(mut self) -> (Flows, T) {
        for (flow, state) in self.flows.flows.iter_mut().zip(self.states) {
            if let Some(host) = state.host.and_then(HostRecorder::finish) {
                flow.host(host);
            }
        }
        (self.flows, self.tap)
    }

    /// A sample of the connection now, without the values that only an ACK has.
    fn sample<C: Controller>(&self, now: Time, id: Id, sender: &Sender<C>) -> FlowSample {
        let (delivered, lost) = self.states[id.flow].delivered_and_lost;
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

/// The payload of each flow's full packets.
pub fn segment_sizes(network: &Network<'_>) -> Vec<Bytes> {
    let groups = network.scenario().flows.iter().enumerate();
    let sizes = groups.flat_map(|(group, spec)| {
        let mss = network.mss(group);
        spec.starts().map(move |_| mss)
    });
    sizes.collect()
}

/// The time that a flow takes for this burst at its pacing rate.
fn span(burst: &Burst, rate: Rate) -> Duration {
    match rate {
        Rate::MAX | Rate::ZERO => Duration::ZERO,
        rate => rate.time_for(Bytes::new(burst.bytes.into())),
    }
}

impl<T: Tap, C: Controller> Observer<C> for Watch<T> {
    const WATCHES_SEGMENTS: bool = T::WANTS_SEGMENTS;

    fn on_segment(&mut self, now: Time, passing: &Passing<'_>) {
        self.tap.on_segment(now, passing);
    }

    fn on_crossing(&mut self, now: Time, tap: usize, passing: &Passing<'_>) {
        self.tap.on_crossing(now, tap, passing);
    }

    fn on_sent(&mut self, now: Time, id: Id, burst: &Burst, sender: &Sender<C>) {
        if let Some(host) = &mut self.states[id.flow].host
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
        if let Some(host) = &mut self.states[id.flow].host
            && burst.bytes > 0
        {
            host.departed(now.since(Time::ZERO), burst.seq);
        }
    }

    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, sender: &Sender<C>) {
        self.last_arrival = now.since(Time::ZERO);
        let state = &mut self.states[id.flow];
        state.delivered_and_lost = (ack.rate.total_delivered, ack.rate.total_lost);
        if !ack.ce_marked.is_zero() {
            state.marked += ack.ce_marked;
            let marks = state.marked.get().checked_div(state.mss.get());
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

    // A timeout acknowledges nothing, but it shrinks the window, and the next ACK opens it again: without a sample
    // here, that window would never be seen.
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
