//! What the kernel tells of the flows.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use linux::Network;
use linux::diag::{Diag, Filter, SocketState, TcpInfo, TcpState};
use record::{FlowSample, FlowTotals, Limits};
use scenario::Scenario;
use transport::segment::HEADERS;
use units::{Bytes, Duration, Rate};

use super::carried::{Carried, News};
use super::ours::Ours;
use super::side::Side;
use super::ticks::{Holder, Ticks};
use crate::error::EngineError;
use crate::flow::{self, Flow};
use crate::flows::{FlowId, Flows};

/// Watches all flows.
pub(super) struct Watch {
    pub flows: Flows,
    /// Connections, by the address that they were connected from.
    live: HashMap<SocketAddr, Live>,
    /// The sides that send.
    sides: Vec<(Side, Diag)>,
}

/// A connection, and what has been seen of it.
struct Live {
    carried: Arc<Carried>,
    totals: FlowTotals,
    /// Packets delivered and in flight, and the window, when it was last looked at.
    seen: (u32, u32, u32),
    /// When it was opened, once it was seen open.
    opened: Option<Duration>,
    /// When it was last looked at.
    looked: Option<Duration>,
    /// Who had the time in which it was busy, beyond what the kernel tells.
    ticks: Ticks,
}

/// What a flow has done that has done nothing. The kernel counts spurious recoveries and tail loss probes for a whole host
/// only.
const NOTHING: FlowTotals = FlowTotals {
    limits: Some(flow::NO_LIMITS),
    ..flow::NOTHING
};

/// What a connection has done, as its sending socket tells.
fn totals(socket: &SocketState, carried: &Carried, limits: Limits) -> FlowTotals {
    let info = &socket.info;
    // The SYN counts as a byte.
    let syn = Bytes::new(u64::from(carried.sender_connected));
    let sacked = info.snd_mss * u64::from(info.sacked);
    let known = (info.bytes_acked - syn + sacked).min(Bytes::new(carried.written()));
    FlowTotals {
        payload: known,
        sent: Some(info.bytes_sent + HEADERS * u64::from(info.data_segs_out)),
        retransmitted: Some(info.bytes_retrans),
        packets_lost: Some(packets_lost(socket)),
        ecn_marks: Some(info.delivered_ce.into()),
        timeouts: Some(info.total_rto.map_or(0, |rto| rto.timeouts.into())),
        limits: Some(limits),
        ..NOTHING
    }
}

/// The kernel does not count what it has declared lost: what it has sent again, and what is still to be.
fn packets_lost(socket: &SocketState) -> u64 {
    let info = &socket.info;
    let waiting = info.lost.saturating_sub(info.retrans);
    u64::from(info.total_retrans) + u64::from(waiting)
}

impl Watch {
    /// # Errors
    ///
    /// The kernel tells nothing of its sockets.
    pub fn new(scenario: &Scenario, network: &Network, ours: &Ours) -> Result<Watch, EngineError> {
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
            flows: Flows::new(scenario, NOTHING),
            live: HashMap::new(),
            sides,
        })
    }

    /// Notes what has happened.
    pub fn hear(&mut self, news: News) {
        match news {
            News::Opened(carried) => {
                let live = Live {
                    totals: NOTHING,
                    seen: (0, 0, 0),
                    opened: None,
                    looked: None,
                    ticks: Ticks::default(),
                    carried,
                };
                self.live.insert(live.carried.origin, live);
            }
            News::Transfer(flow, transfer) => self.flows.deliver(flow, &transfer),
            News::Complete(flow, app) => {
                self.flows[flow].count(&app);
                self.end(flow, Flow::end);
            }
            News::Broken(flow, app) => {
                self.flows.cut_off(flow, &app);
                self.end(flow, Flow::give_up);
            }
        }
    }

    /// A connection of the flow is over, and the flow with it if it was the only one.
    fn end(&mut self, flow: FlowId, how: fn(&mut Flow)) {
        if !self.flows[flow].opens_many() {
            how(&mut self.flows[flow]);
        }
    }

    /// Looks at all sockets, and notes what flows have done by `at`.
    ///
    /// # Errors
    ///
    /// The kernel tells nothing of its sockets.
    pub fn look(&mut self, at: Duration) -> Result<(), EngineError> {
        // What is over before the look is what the look is the last one at.
        let is_over = |live: &&Live| live.carried.is_over();
        let over: Vec<SocketAddr> = self
            .live
            .values()
            .filter(is_over)
            .map(|live| live.carried.origin)
            .collect();
        let (flows, live) = (&mut self.flows, &mut self.live);
        for (side, diag) in &mut self.sides {
            diag.sockets(&Filter::default(), |socket| {
                let origin = [socket.local, socket.remote]
                    .into_iter()
                    .find(|address| live.contains_key(address));
                let live = origin.and_then(|origin| live.get_mut(&origin));
                let Some(live) = live.filter(|live| live.carried.sender == *side) else {
                    return;
                };
                let is_open = socket.state != TcpState::SynSent;
                let limits = live.limits(at, is_open, &socket.info);
                live.totals = totals(socket, &live.carried, limits);
                // Windows are filled, and a timeout takes them away, while nothing arrives.
                let info = &socket.info;
                let seen = (info.delivered, info.inflight(), info.snd_cwnd);
                if live.seen != seen && is_open {
                    live.seen = seen;
                    flows[live.carried.flow].sample(sample(at, socket, limits));
                }
            })?;
        }
        for live in over.iter().filter_map(|origin| self.live.remove(origin)) {
            live.carried.note_end();
            let flow = &mut self.flows[live.carried.flow];
            flow.over = flow.over + live.now();
        }
        let live = self.live.values();
        let live = live.map(|live| (live.carried.flow, live.now()));
        self.flows.note(at, live);
        Ok(())
    }
}

impl Live {
    /// What has limited it until now, as far as looks from time to time can tell. The kernel counts when it was busy, and
    /// what the receive window and the send buffer had of that (`tcp_chrono_start`). [Looks](Ticks) divide the rest. If
    /// nothing is left to send, the time since the last look was the application's. If the application waits for the send
    /// buffer, it was the buffer's while the window has room: the kernel counts that only if the buffer was found full before
    /// the last of it was sent (`tcp_cwnd_validate`). Else it was congestion control's. The kernel's clock for this is coarse,
    /// so idle time is told of the whole and not look by look.
    fn limits(&mut self, at: Duration, is_open: bool, info: &TcpInfo) -> Limits {
        let before = self.totals.limits.unwrap_or_default();
        if !is_open {
            return before;
        }
        let opened = *self.opened.get_or_insert(at.saturating_sub(info.busy_time));
        let span = at.saturating_sub(self.looked.replace(at).unwrap_or(opened));
        let has_more = !info.notsent_bytes.is_zero() || info.lost > info.retrans;
        let has_ticked = info.busy_time > before.busy;
        if has_ticked || has_more || info.unacked > 0 {
            let has_room = info.inflight() < info.snd_cwnd;
            let holder = match (has_more, self.carried.is_waiting()) {
                (false, false) => Holder::Application,
                (false, true) if has_room => Holder::SendBuffer,
                _ => Holder::Congestion,
            };
            self.ticks.see(holder, span);
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

    /// What has been seen of it, and what its receiver has got: of what lies beyond a hole, the sender is the first to be
    /// told a sum.
    fn now(&self) -> FlowTotals {
        let received = Bytes::new(self.carried.received());
        FlowTotals {
            payload: self.totals.payload.max(received),
            ..self.totals
        }
    }
}

/// A sample of a flow, from its sending socket. Packets count as full ones.
fn sample(at: Duration, socket: &SocketState, limits: Limits) -> FlowSample {
    let info = &socket.info;
    let packets = |count: u32| info.snd_mss * u64::from(count);
    let model = kernel::Model::of(socket);
    FlowSample {
        at,
        rtt: Some(info.rtt),
        srtt: Some(info.rtt),
        delivery_rate: Some(info.delivery_rate).filter(|rate| !rate.is_zero()),
        inflight: packets(info.inflight()),
        below_tcp: Some(socket.memory.below_tcp),
        cwnd: packets(info.snd_cwnd),
        ssthresh: match model {
            Some(_) => None,
            None => info.snd_ssthresh.map(packets),
        },
        pacing_rate: info.pacing_rate.unwrap_or(Rate::MAX),
        btl_bw: model.and_then(|model| model.bw),
        rt_prop: model.and_then(|model| model.min_rtt),
        short_term_bw: model.and_then(|model| model.short_term_bw),
        short_term_inflight: model.and_then(|model| model.short_term_inflight),
        long_term_inflight: model.and_then(|model| model.long_term_inflight),
        state: Some(model.map_or_else(|| kernel::state_of_window(info), |model| model.state)),
        // The SYN was the first one.
        delivered: packets(info.delivered.saturating_sub(1)),
        lost: info.snd_mss * packets_lost(socket),
        is_app_limited: Some(info.delivery_rate_app_limited),
        limits: Some(limits),
    }
}
