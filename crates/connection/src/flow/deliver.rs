//! Acknowledgements show the path.

use congestion::sampling::Sampler;
use congestion::{Bytes, Duration, RateSample, Time};

use super::sender::begins_again;
use super::{Flow, Passage, Totals, Vantage};
use crate::busy::Mark;
use crate::full::Full;
use crate::limits::BURSTS_BELOW_TCP;
use crate::memory::Room;
use crate::scoreboard::{Entry, Status};
use crate::series::Sample;

/// A paced burst has the data that the pacing rate carries in this time (Linux `sk_pacing_shift`), but at least this
/// many packets.
const BURST: Duration = Duration::from_millis(1);
const MIN_BURST_PACKETS: u64 = 2;

impl Flow {
    /// The receiver has acknowledged new data.
    pub(super) fn deliver(&mut self, news: &News, passage: Passage) {
        let Passage { at, vantage, room } = passage;
        let far = news.rtt;
        if let Some(far) = far {
            self.round_trips.on_far(far);
        }
        let rtt = match vantage {
            Vantage::Sender => far,
            Vantage::Elsewhere => far.zip(self.round_trips.near).map(|(far, near)| far + near),
        };
        let rtt = rtt.map(|rtt| self.model.on_rtt(at, rtt, self.acks.delay));
        if let Some(rtt) = rtt {
            self.rtts.add(rtt, room);
        }
        let least = match vantage {
            Vantage::Sender => self.model.rtprop(),
            // Without timestamps, nothing tells what the sender knew.
            Vantage::Elsewhere => self.model.rtprop().or(Some(Duration::MAX)),
        };
        let least = least.unwrap_or_default();
        let (sample, is_known) = self.deliveries.sample(at, least, news.is_late);
        if !is_known {
            self.model.on_gap();
        } else if let Some(rtt) = rtt {
            let mark = Mark {
                at,
                sent: news.sent,
                delivered: sample.total_delivered,
            };
            let blur = self.blur(vantage);
            self.model.on_queue(rtt, blur, mark, self.mss());
        }
        let begins_round = self.model.on_sample(&sample);
        self.deliveries.on_ack(at, news.bytes, self.model.btl_bw());
        if begins_round {
            self.begin_round(passage);
        }
        self.refresh(vantage);
        self.judge(news, &sample, begins_round);
        if self.series.is_due(at) && room == Room::Plenty {
            self.series.push(Sample {
                at,
                rtt,
                delivery_rate: sample.delivery_rate,
                inflight: self.flight(vantage),
                btl_bw: self.model.btl_bw(),
                rtprop: self.model.rtprop(),
                delivered: sample.total_delivered,
                retransmitted: self.retransmitted(),
                limit: self.judge.present,
            });
        }
    }

    /// The next round begins.
    fn begin_round(&mut self, passage: Passage) {
        let slack = self.slack(passage.vantage);
        self.judge.on_round(self.rounds.most(), slack);
        self.rounds.begin(passage.at, passage.room);
        if self.model.is_full() {
            self.deliveries.end_round();
        }
    }

    /// Judges the bottleneck by this acknowledgement, and decides by that what limited the departures that it acknowledges. A
    /// round of departures ends where the next begins, or when everything has arrived.
    fn judge(&mut self, news: &News, sample: &RateSample, begins_round: bool) {
        let Some(since) = news.since.filter(|_| sample.delivery_rate.is_some()) else {
            return;
        };
        // A few packets at once say nothing of a round.
        let span = news.at.since(since).max(news.least / 2);
        let is_busy = self.model.is_busy(sample, span);
        self.decide(is_busy);
        if begins_round || self.highest() == self.stream.end {
            self.judge.limits.end_round(news.at, self.stream.end);
            self.model.end_round();
            self.decide(is_busy);
        }
    }

    fn decide(&mut self, is_busy: bool) {
        if let Some(decided) = self.judge.limits.decide(self.highest(), is_busy) {
            self.series.decide(decided);
        }
    }

    /// How much a measured RTT may exceed the path's RTT without a queue. Away from the sender, RTTs are measured by
    /// timestamps. The sender sets a timestamp before the paced packet waits below TCP, if it waits there.
    fn blur(&self, vantage: Vantage) -> Duration {
        match vantage {
            Vantage::Sender => Duration::ZERO,
            Vantage::Elsewhere if self.judge.limits.is_paced_within_tcp() => Duration::ZERO,
            Vantage::Elsewhere => {
                let fewest = Bytes::new(self.mss() * MIN_BURST_PACKETS);
                BURST.max(self.model.btl_bw().time_for(fewest)) * BURSTS_BELOW_TCP as u64
            }
        }
    }
}

/// The contents of one acknowledgement.
pub(super) struct News {
    pub at: Time,
    pub highest_before: u64,
    /// Data before this position have no RTT.
    pub untimed: u64,
    /// When the newest acknowledged packet was sent.
    pub sent: Time,
    /// Since when data have been delivered: the last time before that, or a round trip after sending began again.
    pub since: Option<Time>,
    /// When the sender last began with nothing outstanding, and the bytes delivered by then, if the flow knows it.
    pub began: Option<(Bytes, Time)>,
    /// The least RTT.
    pub least: Duration,
    /// The RTT of the newest acknowledged packet that was sent only once.
    pub rtt: Option<Duration>,
    pub bytes: u64,
    /// True if some of them arrived earlier than this acknowledgement tells.
    pub is_late: bool,
    /// TSecr.
    pub echo: Option<u32>,
}

impl News {
    /// This piece is acknowledged for the first time.
    #[inline]
    pub fn arrived(
        &mut self,
        entry: &Entry,
        full: &Full,
        sampler: &mut Sampler,
        totals: &mut Totals,
        repeats_out: &mut u64,
    ) {
        self.bytes += entry.len();
        if entry.is_repeat_out {
            *repeats_out = repeats_out.saturating_sub(entry.len());
        }
        if entry.status == Status::Missing {
            totals.missed += entry.len();
            return;
        }
        sampler.on_packet_acked(self.at, &entry.state);
        if entry.state.sent_time >= self.sent {
            self.sent = entry.state.sent_time;
            let state = &entry.state;
            let began = self.began.filter(|began| began.0 == state.delivered);
            self.since = Some(match began {
                Some((_, began)) => began + self.least,
                None if begins_again(state) => state.delivered_time + self.least,
                None => state.delivered_time,
            });
        }
        if entry.repeats == 0 {
            if entry.seq >= self.untimed {
                let rtt = self.at.since(entry.state.sent_time);
                self.rtt = Some(self.rtt.map_or(rtt, |least| least.min(rtt)));
            }
            if entry.end <= self.highest_before {
                totals.reordered += full.packets(entry.len());
            }
        }
    }
}
