//! One direction's data, as a capture sees it: what was sent, what arrived, how fast, and what was in the way.

mod deliver;
mod extra;
mod hear;
mod send;

use congestion::bbr1::policer::Policer;
use congestion::sampling::Sampler;
use congestion::{Bytes, Duration, Rate, Time};

use super::echoes::{Echoes, Passed};
use super::limits::{Limit, Limits, Patience, Shares};
use super::model::Model;
use super::ranges::Ranges;
use super::recoveries::Recoveries;
use super::repeats::Repeats;
use super::rounds::Rounds;
use super::scoreboard::Scoreboard;
use super::sequence::Positions;
use super::series::{Sample, Series};
use extra::Extra;

/// More than any window (RFC 7323, section 2.3): what jumps farther is not of this connection.
const FARTHEST: u64 = 1 << 30;

/// A segment's payload as long as nobody has said (RFC 9293, section 3.7.1).
const DEFAULT_MSS: u64 = 536;

/// A sender may be silent for so long although it could send: it has work to do too.
const PATIENCE: Duration = Duration::from_millis(2);

/// Where in the packet's way the capture is, as far as that is known while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vantage {
    /// At the sender of this flow: what passes was just sent, and an acknowledgement has just arrived.
    Sender,
    /// Elsewhere, or nobody knows.
    Elsewhere,
}

/// One direction's data.
#[derive(Debug, Clone)]
pub struct Flow {
    positions: Positions,
    /// Where the data begin.
    base: u64,
    /// Everything before is acknowledged.
    una: u64,
    /// Where what was sent ends.
    end: u64,
    /// Payload of a full packet.
    pub mss: u64,
    scoreboard: Scoreboard,
    sacked: Ranges,
    sacked_bytes: u64,
    /// Repeats below what has arrived that are in flight.
    repeats_out: u64,
    sampler: Sampler,
    echoes: Echoes,
    /// The acknowledgement that the sender knew of when it last sent.
    known: Option<Passed>,
    /// How far the receive window reaches.
    edge: Option<u64>,
    limits: Limits,
    series: Series,
    policer: Policer,
    last_sent: Time,
    last_heard: Time,
    /// When a repeat last filled a hole.
    last_fill: Time,
    extra: Extra,
    present_limit: Limit,
    /// The rate of a policer that BBR's long-term model believes in, or believed in.
    pub policed: Option<Rate>,
    /// What is known of the path.
    pub model: Model,
    /// The flow round by round.
    pub rounds: Rounds,
    /// Its recoveries.
    pub recoveries: Recoveries,
    /// What was sent again.
    pub repeats: Repeats,
    /// Time from data to acknowledgement here, the least.
    pub far: Option<Duration>,
    /// Time from acknowledgement to the data that follows it here: the latest.
    near: Option<Duration>,
    /// The least of them.
    pub near_min: Option<Duration>,
    near_count: u64,
    /// For how long the receiver says that it held the present acknowledgement back. TCP's do not say.
    pub ack_delay: Duration,
    /// What was counted.
    pub totals: Totals,
}

/// What was counted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// Packets with payload.
    pub packets: u64,
    /// Payload sent, repeats included.
    pub bytes: u64,
    /// IP packets of them, headers included.
    pub ip_bytes: u64,
    /// Payload acknowledged.
    pub delivered: u64,
    /// Packets that others overtook.
    pub reordered: u64,
    /// Packets that were lost before they passed the capture, and were sent again.
    pub lost_before: u64,
    /// Payload that was acknowledged and never seen.
    pub missed: u64,
    /// Packets that were marked.
    pub marked: u64,
    /// Packets that were no longer followed, because too many were outstanding.
    pub unfollowed: u64,
}

impl Flow {
    /// A flow of a connection that is open since `at`; `start` is the sequence number of its first byte, if the handshake was
    /// seen.
    pub fn new(at: Time, start: Option<u32>, mss: Option<u64>) -> Flow {
        let mut positions = Positions::default();
        let base = start.map_or(0, |start| positions.of(start));
        Flow {
            positions,
            base,
            una: base,
            end: base,
            mss: mss.unwrap_or(DEFAULT_MSS),
            scoreboard: Scoreboard::default(),
            sacked: Ranges::default(),
            sacked_bytes: 0,
            repeats_out: 0,
            sampler: Sampler::new(at),
            echoes: Echoes::default(),
            known: None,
            edge: None,
            limits: Limits::new(at),
            series: Series::new(),
            policer: Policer::new(),
            last_sent: at,
            last_heard: at,
            last_fill: at,
            extra: Extra::new(at),
            present_limit: Limit::Application,
            policed: None,
            model: Model::new(),
            rounds: Rounds::new(at),
            recoveries: Recoveries::default(),
            repeats: Repeats::default(),
            far: None,
            near: None,
            near_min: None,
            near_count: 0,
            ack_delay: Duration::ZERO,
            totals: Totals::default(),
        }
    }

    /// The samples over time.
    pub fn samples(&self) -> &[Sample] {
        self.series.samples()
    }

    /// How long which limit held until `end`.
    pub fn shares(&self, end: Time, vantage: Vantage) -> Shares {
        self.limits.until(end, &self.patience(vantage))
    }

    /// The mean of what was acknowledged beyond BtlBw, at most in each round.
    pub fn aggregation(&self) -> Option<u64> {
        self.extra.mean()
    }

    /// Packets that were sent again.
    pub fn retransmitted(&self) -> u64 {
        self.repeats.packets + self.totals.lost_before
    }

    /// How often the way to the sender and back was measured.
    pub fn near_samples(&self) -> u64 {
        self.near_count
    }

    /// How many bytes there are of packets, samples and rounds that it holds.
    pub fn held(&self) -> usize {
        self.scoreboard.held() + self.series.held() + self.rounds.held()
    }

    /// What is in flight: what was sent beyond the highest byte that has arrived, and repeats of what is below it (Mathis and
    /// Mahdavi, "Forward Acknowledgement", SIGCOMM 1996). Far from the sender: what the sender had not heard of when it sent.
    fn flight(&self, vantage: Vantage) -> Bytes {
        let bytes = match (vantage, &self.known) {
            (Vantage::Elsewhere, Some(known)) => {
                (self.end - self.base).saturating_sub(known.delivered.get())
            }
            _ => self.end.saturating_sub(self.highest()) + self.repeats_out,
        };
        Bytes::new(bytes)
    }

    /// The end of the highest byte that is known to have arrived.
    fn highest(&self) -> u64 {
        self.sacked.end().unwrap_or(0).max(self.una)
    }

    /// What departures are judged by.
    fn patience(&self, vantage: Vantage) -> Patience {
        let least = self.model.rtt_min.unwrap_or_default();
        let most = self.model.rtt_max.unwrap_or_default();
        let silence = match vantage {
            Vantage::Sender => least / 4,
            // What is acknowledged here is news to the sender only later, and what it then sends comes later still.
            Vantage::Elsewhere => most + most / 2,
        };
        let packets = Bytes::new(self.mss * 3 / 2);
        Patience {
            silence: PATIENCE.max(silence),
            train: self.model.btl_bw_max().time_for(packets),
            longest_train: least,
        }
    }
}
