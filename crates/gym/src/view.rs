//! What an agent sees of a connection at its sender, and what it sets there.

use congestion::pacing::NOMINAL_RTT;
use congestion::{Ack, Connection, Rate, Time};
use units::Duration;

/// The names of the values of an observation. All but the last five are of the time since the decision before.
pub const OBSERVATION: [&str; 12] = [
    "time_ms",
    "delivered_bps",
    "delivery_rate_bps",
    "rtt_ms",
    "loss_share",
    "mark_share",
    "timeouts",
    "min_rtt_ms",
    "inflight_bytes",
    "cwnd_bytes",
    "pacing_rate_bps",
    "is_app_limited",
];

/// An observation, in the order of [`OBSERVATION`].
pub type Observation = [f64; OBSERVATION.len()];

/// The smallest window, in packets: with a single one, each packet waits for a delayed ACK.
const MIN_PACKETS: u64 = 2;

/// The largest window: almost twice that of the largest BDP on which `fullpipe.evaluate` judges.
const MAX_CWND: u64 = 1 << 27;

/// The highest pacing rate.
const MAX_RATE_BPS: u64 = 100_000_000_000;

/// Observes a connection, and holds its window and pacing rate.
///
/// A decision is due at the first ACK or timeout after one smoothed RTT, or after the least interval if that is longer. What
/// is decided holds from the next ACK or timeout on.
#[derive(Debug, Clone)]
pub struct View {
    mss: u64,
    cwnd: u64,
    rate_bps: u64,
    /// The window and pacing rate that were decided and do not hold yet.
    decided: Option<(u64, u64)>,
    /// The least time between two decisions.
    interval_ns: u64,
    /// When the next decision is due.
    due_ns: u64,
    /// The latest decision.
    since_ns: u64,
    srtt_ns: Option<u64>,
    min_rtt_ns: Option<u64>,
    inflight: u64,
    is_app_limited: bool,
    lost: u64,
    /// The bytes lost by the latest decision.
    lost_before: u64,
    step: Step,
}

/// What an ACK tells.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    /// The time of processing, in ns.
    pub now_ns: u64,
    /// The bytes newly acknowledged.
    pub newly_acked: u64,
    /// The bytes in flight now.
    pub inflight: u64,
    /// The bytes lost on the connection so far.
    pub lost: u64,
    /// The bytes newly reported as marked (ECN).
    pub ce_marked: u64,
    /// The round-trip time, if the ACK gives one.
    pub rtt_ns: Option<u64>,
    /// The delivery rate, if the ACK gives a sample.
    pub delivery_rate_bps: Option<u64>,
    /// Whether the application had too little to send.
    pub is_app_limited: bool,
}

impl From<&Ack> for Seen {
    fn from(ack: &Ack) -> Seen {
        Seen {
            now_ns: nanos(ack.now),
            newly_acked: ack.newly_acked.get(),
            inflight: ack.inflight.get(),
            lost: ack.rate.total_lost.get(),
            ce_marked: ack.ce_marked.get(),
            rtt_ns: ack.rtt.map(|sample| sample.rtt.as_nanos()),
            delivery_rate_bps: ack.rate.delivery_rate.map(|rate| rate.bits_per_sec()),
            is_app_limited: ack.rate.is_app_limited,
        }
    }
}

/// A time in ns from the start.
pub(crate) fn nanos(time: Time) -> u64 {
    time.since(Time::ZERO).as_nanos()
}

/// What has happened since the latest decision.
#[derive(Debug, Clone, Copy, Default)]
struct Step {
    delivered: u64,
    marked: u64,
    rate_bps: u64,
    rtts: u64,
    rtts_sum_ns: u64,
    timeouts: u32,
}

impl View {
    /// The view of a new connection. Until the first RTT, two initial windows are paced in a millisecond, as in Linux.
    pub fn new(connection: &Connection, interval: Duration) -> View {
        let cwnd = connection.initial_cwnd.max(connection.mss);
        View {
            mss: connection.mss.get(),
            cwnd: cwnd.get(),
            rate_bps: Rate::from_transfer(cwnd * 2, NOMINAL_RTT).bits_per_sec(),
            decided: None,
            interval_ns: interval.as_nanos(),
            due_ns: 0,
            since_ns: nanos(connection.now),
            srtt_ns: None,
            min_rtt_ns: None,
            inflight: 0,
            is_app_limited: false,
            lost: 0,
            lost_before: 0,
            step: Step::default(),
        }
    }

    /// The congestion window in bytes, and the pacing rate in bit/s.
    pub fn values(&self) -> (u64, u64) {
        (self.cwnd, self.rate_bps)
    }

    /// Notes an ACK, and returns whether a decision is due.
    pub fn on_ack(&mut self, ack: &Seen) -> bool {
        self.take_over();
        self.step.delivered += ack.newly_acked;
        self.step.marked += ack.ce_marked;
        let rate = ack.delivery_rate_bps.unwrap_or(0);
        self.step.rate_bps = self.step.rate_bps.max(rate);
        if let Some(rtt) = ack.rtt_ns {
            self.measure(rtt);
        }
        self.lost = ack.lost;
        self.inflight = ack.inflight;
        self.is_app_limited = ack.is_app_limited;
        ack.now_ns >= self.due_ns
    }

    /// Notes a retransmission timeout, and returns whether a decision is due.
    pub fn on_timeout(&mut self, now_ns: u64, inflight: u64) -> bool {
        self.take_over();
        self.step.timeouts += 1;
        self.inflight = inflight;
        now_ns >= self.due_ns
    }

    /// What has happened until now. The next decision is due an interval later.
    pub fn observe(&mut self, now_ns: u64) -> Observation {
        let ms = |ns: u64| ns as f64 / 1e6;
        let step = std::mem::take(&mut self.step);
        let time_ns = now_ns.saturating_sub(self.since_ns);
        let lost = self.lost.saturating_sub(self.lost_before);
        let rtt_ms = match step.rtts {
            0 => ms(self.srtt_ns.unwrap_or(0)),
            rtts => ms(step.rtts_sum_ns) / rtts as f64,
        };
        self.since_ns = now_ns;
        self.lost_before = self.lost;
        self.due_ns = now_ns.saturating_add(self.interval_ns.max(self.srtt_ns.unwrap_or(0)));
        [
            ms(time_ns),
            share(step.delivered, time_ns) * 8e9,
            step.rate_bps as f64,
            rtt_ms,
            share(lost, lost + step.delivered),
            share(step.marked, step.delivered),
            f64::from(step.timeouts),
            ms(self.min_rtt_ns.unwrap_or(0)),
            self.inflight as f64,
            self.cwnd as f64,
            self.rate_bps as f64,
            f64::from(u8::from(self.is_app_limited)),
        ]
    }

    /// Decides: both values are binary logarithms of factors, from -1 to 1.
    pub fn act(&mut self, [pacing, window]: [f64; 2]) {
        let times = |value: u64, log: f64| (value as f64 * log.clamp(-1.0, 1.0).exp2()) as u64;
        let cwnd = times(self.cwnd, window).clamp(self.mss * MIN_PACKETS, MAX_CWND);
        // At least a packet in a second.
        let rate = times(self.rate_bps, pacing).clamp(self.mss * 8, MAX_RATE_BPS);
        self.decided = Some((cwnd, rate));
    }

    fn take_over(&mut self) {
        if let Some((cwnd, rate)) = self.decided.take() {
            (self.cwnd, self.rate_bps) = (cwnd, rate);
        }
    }

    /// Notes an RTT. The first one makes the pacing rate that of the window (RFC 6298 smooths).
    fn measure(&mut self, rtt: u64) {
        self.step.rtts += 1;
        self.step.rtts_sum_ns += rtt;
        self.min_rtt_ns = Some(self.min_rtt_ns.map_or(rtt, |least| least.min(rtt)));
        self.srtt_ns = Some(match self.srtt_ns {
            Some(srtt) => srtt - srtt / 8 + rtt / 8,
            None => {
                let rate = share(self.cwnd, rtt.max(1)) * 8e9;
                self.rate_bps = (rate as u64).clamp(self.mss * 8, MAX_RATE_BPS);
                rtt
            }
        });
    }
}

/// The part of the whole; zero of nothing.
fn share(part: u64, whole: u64) -> f64 {
    match whole {
        0 => 0.0,
        whole => part as f64 / whole as f64,
    }
}
