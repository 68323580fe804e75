//! What the kernel tells of the flows.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use linux::Network;
use linux::diag::{Diag, Filter, SocketState, TcpInfo, TcpState};
use transport::app::App;
use transport::segment::HEADERS;
use units::{Bytes, Duration, Rate};

use super::super::Progress;
use super::super::flow::Flow;
use super::carried::{Carried, News};
use super::{EngineError, Side, state};
use record::{Busy, FlowRecord, FlowSample, FlowSummary, FlowTotals, TransferRecorder};
use scenario::Scenario;

/// Watches all flows.
pub(super) struct Watch {
    flows: Vec<Seen>,
    transfers: TransferRecorder,
    /// Connections, by the address that they were connected from.
    live: HashMap<SocketAddr, Live>,
    /// The sides that send.
    sides: Vec<(Side, Diag)>,
}

/// What has been seen of a flow.
struct Seen {
    flow: Flow,
    /// What its connections that are over have done.
    over: Counted,
    is_over: bool,
}

/// A connection, and what has been seen of it.
struct Live {
    carried: Arc<Carried>,
    counted: Counted,
    /// Packets delivered and in flight, and the window, when it was last looked at.
    seen: (u32, u32, u32),
}

/// What connections have done.
#[derive(Debug, Clone, Copy, Default)]
struct Counted {
    payload: Bytes,
    sent: Bytes,
    retransmitted: Bytes,
    packets_lost: u64,
    marks: u64,
    timeouts: u64,
    busy: Busy,
}

impl Counted {
    /// What a connection has done, as its sending socket tells.
    fn of(socket: &SocketState, carried: &Carried) -> Counted {
        let info = &socket.info;
        // The SYN counts as a byte.
        let syn = Bytes::new(u64::from(carried.sender_connected));
        let sacked = info.snd_mss * u64::from(info.sacked);
        let known = (info.bytes_acked - syn + sacked).min(Bytes::new(carried.written()));
        Counted {
            // Of what lies beyond a hole, the sender is the first to be told a sum.
            payload: known.max(Bytes::new(carried.received())),
            sent: info.bytes_sent + HEADERS * u64::from(info.data_segs_out),
            retransmitted: info.bytes_retrans,
            packets_lost: packets_lost(socket),
            marks: info.delivered_ce.into(),
            timeouts: info.total_rto.map_or(0, |rto| rto.timeouts.into()),
            busy: busy(info),
        }
    }

    fn and(self, other: &Counted) -> Counted {
        Counted {
            payload: self.payload + other.payload,
            sent: self.sent + other.sent,
            retransmitted: self.retransmitted + other.retransmitted,
            packets_lost: self.packets_lost.saturating_add(other.packets_lost),
            marks: self.marks.saturating_add(other.marks),
            timeouts: self.timeouts.saturating_add(other.timeouts),
            busy: Busy {
                total: self.busy.total + other.busy.total,
                rwnd_limited: self.busy.rwnd_limited + other.busy.rwnd_limited,
                sndbuf_limited: self.busy.sndbuf_limited + other.busy.sndbuf_limited,
            },
        }
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
    pub fn new(scenario: &Scenario, network: &Network) -> Result<Watch, EngineError> {
        let mut sides = Vec::new();
        for (side, host) in [(Side::Near, &network.near), (Side::Far, &network.far)] {
            if scenario
                .flows
                .iter()
                .any(|flow| Side::that_sends(flow) == side)
            {
                sides.push((side, Diag::open(host)?));
            }
        }
        let flows = Flow::all(scenario).into_iter().map(|flow| Seen {
            flow,
            over: Counted::default(),
            is_over: false,
        });
        Ok(Watch {
            flows: flows.collect(),
            transfers: TransferRecorder::new(scenario.warmup),
            live: HashMap::new(),
            sides,
        })
    }

    /// Notes what has happened.
    pub fn hear(&mut self, news: News) {
        match news {
            News::Opened(carried) => {
                let live = Live {
                    counted: Counted::default(),
                    seen: (0, 0, 0),
                    carried,
                };
                self.live.insert(live.carried.origin, live);
            }
            News::Transfer(flow, transfer) => {
                if let Some(seen) = self.flows.get_mut(flow) {
                    seen.flow.transfer(&transfer, &mut self.transfers);
                }
            }
            News::Complete(flow, app) => {
                if let Some(seen) = self.flows.get_mut(flow) {
                    seen.flow.count(&app);
                    if !seen.flow.opens_many() {
                        seen.flow.end();
                        seen.is_over = true;
                    }
                }
            }
            News::Broken(flow, app) => {
                self.cut_off(flow, &app);
                if let Some(seen) = self.flows.get_mut(flow) {
                    seen.is_over |= !seen.flow.opens_many();
                }
            }
        }
    }

    /// Notes the application of a connection that has not delivered everything, once it will not any more.
    pub fn cut_off(&mut self, flow: usize, app: &App) {
        if let Some(seen) = self.flows.get_mut(flow) {
            seen.flow.cut_off(app, &mut self.transfers);
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
                live.counted = Counted::of(socket, &live.carried);
                // Windows are filled, and a timeout takes them away, while nothing arrives.
                let info = &socket.info;
                let seen = (info.delivered, info.inflight(), info.snd_cwnd);
                if live.seen != seen && socket.state != TcpState::SynSent {
                    live.seen = seen;
                    if let Some(seen) = flows.get_mut(live.carried.flow) {
                        seen.flow.sample(sample(at, socket));
                    }
                }
            })?;
        }
        for origin in over {
            let Some(live) = self.live.remove(&origin) else {
                continue;
            };
            live.carried.note_end();
            if let Some(seen) = self.flows.get_mut(live.carried.flow) {
                seen.over = seen.over.and(&live.now());
            }
        }
        self.note(at);
        Ok(())
    }

    /// Notes what flows have done by `at`.
    fn note(&mut self, at: Duration) {
        let mut all: Vec<Counted> = self.flows.iter().map(|seen| seen.over).collect();
        for live in self.live.values() {
            if let Some(all) = all.get_mut(live.carried.flow) {
                *all = all.and(&live.now());
            }
        }
        for (seen, all) in self.flows.iter_mut().zip(all) {
            let totals = FlowTotals {
                payload: all.payload,
                sent: Some(all.sent),
                retransmitted: Some(all.retransmitted),
                packets_lost: Some(all.packets_lost),
                ecn_marks: Some(all.marks),
                timeouts: Some(all.timeouts),
                // The kernel counts them for a whole host only.
                spurious_recoveries: None,
                tail_loss_probes: None,
                busy: Some(all.busy),
            };
            seen.flow.note(at, totals);
        }
    }

    /// When the last flow was complete, if all are.
    pub fn all_completed(&self) -> Option<Duration> {
        let completed = self.flows.iter().map(|seen| seen.flow.completed());
        completed.collect::<Option<Vec<_>>>()?.into_iter().max()
    }

    /// Tells how far the flows have come by `at`.
    pub fn tell(&self, at: Duration, watch: &(dyn Fn(Progress) + Sync)) {
        for seen in &self.flows {
            let progress = seen.flow.progress(at);
            watch(Progress {
                is_done: progress.is_done || seen.is_over,
                ..progress
            });
        }
    }

    /// Summaries and samples of the flows, and the transfers, after a run that ended at `end`.
    pub fn finish(self, end: Duration) -> (Vec<(FlowSummary, FlowRecord)>, TransferRecorder) {
        let flows = self.flows.into_iter().map(|seen| seen.flow.finish(end));
        (flows.collect(), self.transfers)
    }
}

impl Live {
    /// What has been seen of it, and what its receiver has got since.
    fn now(&self) -> Counted {
        Counted {
            payload: self
                .counted
                .payload
                .max(Bytes::new(self.carried.received())),
            ..self.counted
        }
    }
}

fn busy(info: &TcpInfo) -> Busy {
    Busy {
        total: info.busy_time,
        rwnd_limited: info.rwnd_limited,
        sndbuf_limited: info.sndbuf_limited,
    }
}

/// A sample of a flow, from its sending socket. Packets count as full ones.
fn sample(at: Duration, socket: &SocketState) -> FlowSample {
    let info = &socket.info;
    let packets = |count: u32| info.snd_mss * u64::from(count);
    FlowSample {
        at,
        rtt: Some(info.rtt),
        srtt: Some(info.rtt),
        delivery_rate: Some(info.delivery_rate).filter(|rate| !rate.is_zero()),
        inflight: packets(info.inflight()),
        below_tcp: Some(socket.memory.below_tcp),
        cwnd: packets(info.snd_cwnd),
        ssthresh: match socket.bbr {
            Some(_) => None,
            None => info.snd_ssthresh.map(packets),
        },
        pacing_rate: info.pacing_rate.unwrap_or(Rate::MAX),
        btl_bw: socket.bbr.map(|bbr| bbr.bw).filter(|bw| !bw.is_zero()),
        rt_prop: socket.bbr.and_then(|bbr| bbr.min_rtt),
        state: Some(match &socket.bbr {
            Some(bbr) => state::of_bbr(bbr),
            None => state::of_window(info),
        }),
        // The SYN was the first one.
        delivered: packets(info.delivered.saturating_sub(1)),
        lost: info.snd_mss * packets_lost(socket),
        is_app_limited: Some(info.delivery_rate_app_limited),
        busy: Some(busy(info)),
    }
}
