//! The model of the path from BBR's paper, RTprop and BtlBw, measured from a capture instead of at the sender.

use congestion::filter::{WindowedMax, WindowedMin};
use congestion::{Bytes, Duration, Rate, RateSample, Time};

use crate::busy::{Busy, Mark, Rates};
use crate::peaks::Peaks;

/// RTprop is the least RTT in this window (paper, "Estimating RTprop").
const RTPROP_WINDOW: Duration = Duration::from_secs(10);

/// BtlBw is the greatest delivery rate in this many rounds (paper, "Estimating bottleneck bandwidth").
const BTL_BW_WINDOW: u64 = 10;

/// The pipe is full after three rounds without growth, in which the delivery rate exceeds the best before by less than a
/// quarter (paper, appendix, "Startup Behavior").
const FULL_PIPE_ROUNDS: u8 = 3;

/// There is a queue if the RTT exceeds the least RTT by more than one part in this many of it, and also by the time that
/// this many packets take.
const MIN_QUEUE_DIVISOR: u64 = 16;
const PACKETS_OF_QUEUE: u64 = 2;

/// A busy bottleneck delivers at least this part of its rate in every round. Some of the rest may be lost behind it.
const MIN_BUSY_SHARE: (u64, u64) = (9, 10);

/// The peak of single rounds may exceed the bottleneck's rate by this much, because of a few packets and a late
/// acknowledgement.
const MIN_BOTTLENECK_SHARE: (u64, u64) = (7, 8);

/// The model of the path.
#[derive(Debug, Clone)]
pub struct Model {
    rtprop: WindowedMin<Duration, Time>,
    btl_bw: WindowedMax<Rate, u64>,
    /// The number of rounds so far. A round is one packet's way to the receiver and back.
    pub round: u64,
    round_end: Bytes,
    full: Full,
    /// The peaks of the delivery rate.
    peaks: Peaks,
    busy: Busy,
    /// True if every RTT of the present round had a queue, if there was any RTT.
    has_stood: Option<bool>,
    /// The delivery rates while the bottleneck was busy.
    bottleneck: Rates,
    /// The best estimate of BtlBw, and of the BDP. They are kept because every packet asks for them.
    best: Rate,
    bdp: Option<Bytes>,
    is_filled: bool,
    /// The least and the greatest RTT of the whole connection.
    pub rtt_min: Option<Duration>,
    pub rtt_max: Option<Duration>,
    /// True if a packet was lost. That ends the initial growth, too.
    has_lost: bool,
    /// The means of the RTTs, and of the differences between consecutive RTTs.
    rtts: Mean,
    jitter: Mean,
    last_rtt: Option<Duration>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Full {
    baseline: Rate,
    rounds: u8,
}

/// A mean duration.
#[derive(Debug, Clone, Copy, Default)]
struct Mean {
    nanos: u64,
    count: u64,
}

impl Mean {
    fn add(&mut self, span: Duration) {
        self.nanos = self.nanos.saturating_add(span.as_nanos());
        self.count += 1;
    }

    fn get(&self) -> Option<Duration> {
        let mean = self.nanos.checked_div(self.count)?;
        Some(Duration::from_nanos(mean))
    }
}

impl Model {
    pub fn new() -> Model {
        Model {
            rtprop: WindowedMin::new(RTPROP_WINDOW),
            btl_bw: WindowedMax::new(BTL_BW_WINDOW),
            round: 0,
            round_end: Bytes::ZERO,
            full: Full::default(),
            peaks: Peaks::default(),
            busy: Busy::default(),
            has_stood: None,
            bottleneck: Rates::default(),
            best: Rate::ZERO,
            bdp: None,
            is_filled: false,
            rtt_min: None,
            rtt_max: None,
            has_lost: false,
            rtts: Mean::default(),
            jitter: Mean::default(),
            last_rtt: None,
        }
    }

    /// The number of bytes that its lists hold.
    #[inline]
    pub fn held(&self) -> usize {
        self.peaks.held() + self.busy.held() + self.bottleneck.held()
    }

    /// Thins out its lists.
    pub fn thin(&mut self) {
        self.busy.shrink();
        self.bottleneck.thin();
    }

    /// The propagation delay as BBR estimates it at this time, if any RTT was measured. It includes a queue that lasts
    /// longer than the window. For the whole connection, use `rtt_min`.
    pub fn rtprop(&self) -> Option<Duration> {
        self.rtprop.get()
    }

    /// The present estimate of BtlBw, from the last rounds.
    pub fn btl_bw(&self) -> Rate {
        self.btl_bw.get().unwrap_or(Rate::ZERO)
    }

    /// The estimate of BtlBw over the whole connection: from the times in which the bottleneck was busy, if there were any.
    #[inline]
    pub fn btl_bw_max(&self) -> Rate {
        self.best
    }

    /// Updates the estimates that [`Model::btl_bw_max`] and [`Model::bdp`] return.
    pub fn refresh(&mut self) {
        let bottleneck = self.bottleneck();
        self.is_filled = bottleneck.is_some();
        self.best = bottleneck.unwrap_or_else(|| self.peaks.get());
        let bdp = self.rtt_min.map(|least| self.best.bytes_in(least));
        self.bdp = bdp.filter(|bdp| !bdp.is_zero());
    }

    /// True if the bottleneck was busy for a while at any time.
    pub fn is_filled(&self) -> bool {
        self.is_filled
    }

    /// True if the flow has met a limit of the path: a loss, or a busy bottleneck.
    #[inline]
    pub fn has_shown_path(&self) -> bool {
        self.has_lost || self.is_filled
    }

    /// The bottleneck's rate. Rounds cannot be much faster. If they were, pauses of the sender were taken for a queue.
    fn bottleneck(&self) -> Option<Rate> {
        let single = self.peaks.get().bytes_per_sec();
        let is_slowest = |rate: &Rate| {
            rate.bytes_per_sec() >= single / MIN_BOTTLENECK_SHARE.1 * MIN_BOTTLENECK_SHARE.0
        };
        self.bottleneck.get().filter(is_slowest)
    }

    /// The BDP, as far as it is known.
    #[inline]
    pub fn bdp(&self) -> Option<Bytes> {
        self.bdp
    }

    /// True if the delivery rate has stopped growing.
    pub fn is_full(&self) -> bool {
        self.full.rounds >= FULL_PIPE_ROUNDS
    }

    /// True if the initial growth is over: the delivery rate has stopped growing, or a packet was lost.
    pub fn is_grown(&self) -> bool {
        self.is_full() || self.has_lost
    }

    /// A packet was lost.
    pub fn set_grown(&mut self) {
        self.has_lost = true;
    }

    /// True if the present queue is at least three quarters of the longest.
    pub fn is_queue_long(&self) -> bool {
        let (Some(least), Some(most), Some(last)) = (self.rtt_min, self.rtt_max, self.last_rtt)
        else {
            return false;
        };
        last.saturating_sub(least) >= most.saturating_sub(least) / 4 * 3
    }

    /// The latest RTT.
    pub fn last_rtt(&self) -> Option<Duration> {
        self.last_rtt
    }

    /// The mean RTT.
    pub fn rtt_mean(&self) -> Option<Duration> {
        self.rtts.get()
    }

    /// The mean difference between consecutive RTTs.
    pub fn jitter(&self) -> Option<Duration> {
        self.jitter.get()
    }

    /// Records an RTT from an acknowledgement that the receiver delayed by `delay`. The minimum RTT includes the delay.
    /// Other RTTs exclude it, unless they would then be below the minimum (RFC 9002, sections 5.2 and 5.3). Returns the
    /// RTT after this correction.
    pub fn on_rtt(&mut self, at: Time, rtt: Duration, delay: Duration) -> Duration {
        self.rtprop.update(at, rtt);
        let least = self.rtt_min.map_or(rtt, |least| least.min(rtt));
        self.rtt_min = Some(least);
        let rtt = if rtt >= least + delay {
            rtt.saturating_sub(delay)
        } else {
            rtt
        };
        self.rtt_max = Some(self.rtt_max.map_or(rtt, |most| most.max(rtt)));
        self.rtts.add(rtt);
        if let Some(last) = self.last_rtt {
            self.jitter
                .add(rtt.saturating_sub(last).max(last.saturating_sub(rtt)));
        }
        self.last_rtt = Some(rtt);
        rtt
    }

    /// Looks for a queue when an acknowledgement delivers `mark`. `mss` is the payload of a full packet. The RTT may
    /// exceed the path's RTT by `blur` without a queue.
    pub fn on_queue(&mut self, rtt: Duration, blur: Duration, mark: Mark, mss: u64) {
        let Some(least) = self.rtt_min else {
            return;
        };
        // The least RTT may be the handshake's, whose packets have no serialization time. Two packets back to back are not
        // a queue.
        let clear = least + (least / MIN_QUEUE_DIVISOR).max(blur);
        let pair = || {
            self.peaks
                .get()
                .time_for(Bytes::new(mss * PACKETS_OF_QUEUE))
        };
        let is_queue = rtt > clear && rtt > clear + pair();
        self.has_stood = Some(is_queue && self.has_stood != Some(false));
        if !is_queue {
            self.busy.cut();
        } else if let Some(rate) = self.busy.on_mark(mark) {
            self.bottleneck.add(rate);
        }
    }

    /// It is unknown when data arrived.
    pub fn on_gap(&mut self) {
        self.busy.cut();
    }

    /// True if the bottleneck was busy in the round trip before an acknowledgement: it delivered at its rate, or a queue never
    /// went away. `span` is the time that the delivery took. Without more than the BDP in flight, only the receiver delays
    /// acknowledgements so long.
    pub fn is_busy(&self, sample: &RateSample, span: Duration) -> bool {
        let Some(least_rtt) = self.rtt_min.filter(|_| self.best > Rate::ZERO) else {
            return false;
        };
        // With its present share of the rate.
        let present = self.btl_bw().bytes_in(least_rtt);
        let least = self.best.bytes_in(span).get() / MIN_BUSY_SHARE.1 * MIN_BUSY_SHARE.0;
        let has_queue = self.has_stood == Some(true) && sample.inflight_at_send > present;
        sample.delivered.get() >= least || has_queue
    }

    /// A round of departures ends.
    pub fn end_round(&mut self) {
        self.has_stood = None;
    }

    /// Takes in a sample of the delivery rate. Returns whether it begins a round.
    pub fn on_sample(&mut self, sample: &RateSample) -> bool {
        let Some(rate) = sample.delivery_rate else {
            return false;
        };
        let begins = sample.prior_delivered >= self.round_end;
        if begins {
            self.round += 1;
            self.round_end = sample.total_delivered;
        }
        let before = self.btl_bw();
        if !sample.is_app_limited || rate > before {
            self.btl_bw.update(self.round, rate);
            self.peaks.on_rate(self.round, rate);
        }
        if begins && !sample.is_app_limited && !self.is_full() {
            self.look_for_plateau();
        }
        begins
    }

    fn look_for_plateau(&mut self) {
        let rate = self.btl_bw();
        if rate.bytes_per_sec() / 5 >= self.full.baseline.bytes_per_sec() / 4 {
            self.full = Full {
                baseline: rate,
                rounds: 0,
            };
            return;
        }
        self.full.rounds += 1;
    }
}
