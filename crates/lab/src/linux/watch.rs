//! The kernel's view of the flows.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use linux::Network;
use linux::diag::{Diag, Filter, SocketState, TcpInfo, TcpState};
use record::{FlowSample, FlowTotals, Limits};
use scenario::Scenario;
use simulate::flow::{self, Flow};
use simulate::{FlowId, Flows};
use transport::segment::HEADERS;
use units::{Bytes, Duration, Rate};

use super::ours::OwnControllers;
use super::shared::{Event, SharedConnection};
use super::side::Side;
use super::ticks::{Holder, Ticks};
use crate::error::EngineError;

/// Watches all flows.
pub(super) struct Watch {
    pub flows: Flows,
    /// Open connections, by the address from which they were connected.
    live: HashMap<SocketAddr, Live>,
    /// The sides that send data.
    sides: Vec<(Side, Diag)>,
}

/// A connection and its last sample.
struct Live {
    shared: Arc<SharedConnection>,
    totals: FlowTotals,
    /// Packets delivered and in flight, and the congestion window, at the last sample.
    seen: (u32, u32, u32),
    /// The time at which it was established, once that has been seen.
    opened: Option<Duration>,
    /// The time of the last sample.
    sampled: Option<Duration>,
    /// Divides the busy time that the kernel does not attribute.
    ticks: Ticks,
}

/// The counters of a flow that has sent nothing yet. The kernel counts spurious recoveries and tail loss probes only
/// for a whole host.
const NOTHING_SENT: FlowTotals = FlowTotals {
    limits: Some(flow::NO_LIMITS),
    ..flow::NOTHING_SENT
};

/// The counters of a connection, from its sending socket.
fn totals(socket: &SocketState, shared: &SharedConnection, limits: Limits) -> FlowTotals {
    let info = &socket.info;
    // The kernel counts the SYN as a byte.
    let syn = Bytes::new(u64::from(shared.sender_connected));
    let sacked = info.snd_mss * u64::from(info.sacked);
    let known = (info.bytes_acked - syn + sacked).min(Bytes::new(shared.written()));
    FlowTotals {
        payload: known,
        sent: Some(info.bytes_sent + HEADERS * u64::from(info.data_segs_out)),
        retransmitted: Some(info.bytes_retrans),
        packets_lost: Some(packets_lost(socket)),
        ecn_marks: Some(info.delivered_ce.into()),
        timeouts: Some(info.total_rto.map_or(0, |rto| rto.timeouts.into())),
        limits: Some(limits),
        ..NOTHING_SENT
    }
}

/// The packets declared lost. The kernel has no such counter, so they are the retransmissions and the lost packets
/// that still wait for theirs.
fn packets_lost(socket: &SocketState) -> u64 {
    let info = &socket.info;
    let waiting = info.lost.saturating_sub(info.retrans);
    u64::from(info.total_retrans) + u64::from(waiting)
}

impl Watch {
    /// # Errors
    ///
    /// The kernel reports nothing about its sockets.
    pub fn new(
        scenario: &Scenario,
        network: &Network,
        ours: &OwnControllers,
    ) -> Result<Watch, EngineError> {
        let mut sides = Vec::new();
        for (side, host) in [(Side::Near, &network.near), (Side::Far, &network.far)] {
            if scenario
                .flows
                .iter()
                .any(|flow| Side::that_sends(flow) == side)
            {
                sides.push((side, Diag::open(host)?.with_storage(ours.maps()?)));
            }
        }
        Ok(Watch {
            flows: Flows::new(scenario, NOTHING_SENT),
            live: HashMap::new(),
            sides,
        })
    }

    /// Records an event of the sockets' loop.
    pub fn on_event(&mut self, event: Event) {
        match event {
            Event::Opened(shared) => {
                let live = Live {
                    totals: NOTHING_SENT,
                    seen: (0, 0, 0),
                    opened: None,
                    sampled: None,
                    ticks: Ticks::default(),
                    shared,
                };
                self.live.insert(live.shared.origin, live);
            }
            Event::Transfer(flow, transfer) => self.flows.deliver(flow, &transfer),
            Event::Complete(flow, app) => {
                self.flows[flow].count(&app);
                self.end(flow, Flow::end);
            }
            Event::Broken(flow, app) => {
                self.flows.cut_off(flow, &app);
                self.end(flow, Flow::give_up);
            }
        }
    }

    /// Records the end of a connection, and of the flow if that was its only one.
    fn end(&mut self, flow: FlowId, how: fn(&mut Flow)) {
        if !self.flows[flow].opens_many() {
            how(&mut self.flows[flow]);
        }
    }

    /// Samples all sockets, and records the counters of the flows at `at`.
    ///
    /// # Errors
    ///
    /// The kernel reports nothing about its sockets.
    pub fn sample(&mut self, at: Duration) -> Result<(), EngineError> {
        // For connections that were over before this sample, it is the last one.
        let is_over = |live: &&Live| live.shared.is_over();
        let over: Vec<SocketAddr> = self
            .live
            .values()
            .filter(is_over)
            .map(|live| live.shared.origin)
            .collect();
        let (flows, live) = (&mut self.flows, &mut self.live);
        for (side, diag) in &mut self.sides {
            diag.sockets(&Filter::default(), |socket| {
                let origin = [socket.local, socket.remote]
                    .into_iter()
                    .find(|address| live.contains_key(address));
                let live = origin.and_then(|origin| live.get_mut(&origin));
                let Some(live) = live.filter(|live| live.shared.sender == *side) else {
                    return;
                };
                let is_open = socket.state != TcpState::SynSent;
                let limits = live.limits(at, is_open, &socket.info);
                live.totals = totals(socket, &live.shared, limits);
                // The window changes also while nothing arrives: it fills, and a timeout shrinks it.
                let info = &socket.info;
                let seen = (info.delivered, info.inflight(), info.snd_cwnd);
                if live.seen != seen && is_open {
                    live.seen = seen;
                    flows[live.shared.flow].sample(sample(at, socket, limits));
                }
            })?;
        }
        for live in over.iter().filter_map(|origin| self.live.remove(origin)) {
            live.shared.note_end();
            let flow = &mut self.flows[live.shared.flow];
            flow.over = flow.over + live.now();
        }
        let live = self.live.values();
        let live = live.map(|live| (live.shared.flow, live.now()));
        self.flows.note(at, live);
        Ok(())
    }
}

impl Live {
    /// The time in each limit until now, as far as samples can tell. The kernel counts the busy time, and the shares
    /// of the receive window and the send buffer (`tcp_chrono_start`). [`Ticks`] divides the rest by samples. If
    /// nothing is left to send, the time since the last sample is the application's. If the application waits for the
    /// send buffer and the window has room, the time is the buffer's; the kernel counts that only if the buffer was
    /// found full before its last data were sent (`tcp_cwnd_validate`). Otherwise the time is congestion control's.
    /// The kernel's clock is coarse, so idle time is computed over the whole life and not by sample.
    fn limits(&mut self, at: Duration, is_open: bool, info: &TcpInfo) -> Limits {
        let before = self.totals.limits.unwrap_or_default();
        if !is_open {
            return before;
        }
        let opened = *self.opened.get_or_insert(at.saturating_sub(info.busy_time));
        let span = at.saturating_sub(self.sampled.replace(at).unwrap_or(opened));
        let has_more = !info.notsent_bytes.is_zero() || info.lost > info.retrans;
        let has_ticked = info.busy_time > before.busy;
        if has_ticked || has_more || info.unacked > 0 {
            let has_room = info.inflight() < info.snd_cwnd;
            let holder = match (has_more, self.shared.is_waiting()) {
                (false, false) => Holder::Application,
                (false, true) if has_room => Holder::SendBuffer,
                _ => Holder::Congestion,
            };
            self.ticks.add_sample(holder, span);
        }
        if has_ticked {
            self.ticks.tick(info.controller_limited());
        }
        let idle = at.saturating_sub(opened).saturating_sub(info.busy_time);
        let held = self.ticks.counted;
        Limits {
            busy: info.busy_time,
            application: idle + held.application,
            receiver: info.rwnd_limited,
            send_buffer: info.sndbuf_limited + held.send_buffer,
            congestion: held.congestion,
            pacing: None,
        }
    }

    /// The counters now, with the payload that the receiver has read. Of data beyond a hole, the sender hears first.
    fn now(&self) -> FlowTotals {
        let received = Bytes::new(self.shared.received());
        FlowTotals {
            payload: self.totals.payload.max(received),
            ..self.totals
        }
    }
}

/// A sample of a flow, from its sending socket. All packets count as full ones.
fn sample(at: Duration, socket: &SocketState, limits: Limits) -> FlowSample {
    let info = &socket.info;
    let packets = |count: u32| info.snd_mss * u64::from(count);
    let model = kernel::Model::of(socket);
    FlowSample {
        at,
        rtt: Some(info.rtt),
        srtt: Some(info.rtt),
        delivery_rate: info.known_delivery_rate(),
        inflight: packets(info.inflight()),
        below_tcp: Some(socket.memory.below_tcp),
        cwnd: packets(info.snd_cwnd),
        ssthresh: match model {
            Some(_) => None,
            None => info.snd_ssthresh.map(packets),
        },
        pacing_rate: info.pacing_rate.unwrap_or(Rate::MAX),
        btl_bw: model.and_then(|model| model.bw),
        rtprop: model.and_then(|model| model.min_rtt),
        short_term_bw: model.and_then(|model| model.short_term_bw),
        short_term_inflight: model.and_then(|model| model.short_term_inflight),
        long_term_inflight: model.and_then(|model| model.long_term_inflight),
        state: Some(model.map_or_else(|| kernel::state_of_window(info), |model| model.state)),
        // The kernel counts the SYN as a packet.
        delivered: packets(info.delivered.saturating_sub(1)),
        lost: info.snd_mss * packets_lost(socket),
        is_app_limited: Some(info.delivery_rate_app_limited),
        limits: Some(limits),
    }
}
