//! One direction's data, as a capture sees it: what was sent, what arrived, how fast, and what was in the way.

mod deliver;
mod extra;
mod hear;
mod send;

pub(super) use send::Ip;

use congestion::sampling::Sampler;
use congestion::{Bytes, Duration, Rate, Time};

use super::ENOUGH;
use super::cues::Cues;
use super::echoes::{Echoes, Passed};
use super::full::Full;
use super::limits::{Limit, Limits, Patience, Shares};
use super::losses::Losses;
use super::model::Model;
use super::plateau::{Plateau, Slack};
use super::ranges::Ranges;
use super::recoveries::Recoveries;
use super::repeats::Repeats;
use super::rounds::Rounds;
use super::scoreboard::{self, Entry, Scoreboard};
use super::sequence::Positions;
use super::series::{Sample, Series};
use super::window::Window;
use extra::Extra;

/// More than any window (RFC 7323, section 2.3): what jumps farther is not of this connection.
const FARTHEST: u64 = 1 << 30;

/// A sender may be silent for so long although it could send: it has work to do too.
const PATIENCE: Duration = Duration::from_millis(2);

/// Nothing tells copies from what is sent again: if one of so many packets is either, it may be a capture of both ends.
const UNTOLD: u64 = 5;

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
    pub(super) full: Full,
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
    /// What tells its scale, if the handshake was not seen.
    window: Window,
    /// Where it ends, if it has no room at all.
    closed_at: Option<u64>,
    /// Where the byte ends that was sent to have an answer, and for no other reason.
    probed: Option<u64>,
    /// The round trip that no sender is ahead of, as long as none was measured: the handshake's.
    handshake: Option<Duration>,
    /// TSval of the newest acknowledgement.
    newest_ack: Option<u32>,
    /// The number of the latest IP packet with new data, and whether each has another.
    id: u16,
    has_ids: bool,
    limits: Limits,
    /// What timestamps tell of departures, if they are a clock's.
    pub(super) cues: Option<Cues>,
    /// What departures are judged by.
    patience: Patience,
    series: Series,
    last_sent: Time,
    last_heard: Time,
    /// When a repeat last filled a hole.
    last_fill: Time,
    extra: Extra,
    plateau: Plateau,
    present_limit: Limit,
    /// What is known of the path.
    pub model: Model,
    /// The flow round by round.
    pub rounds: Rounds,
    /// Its recoveries.
    pub recoveries: Recoveries,
    /// What was sent again.
    pub repeats: Repeats,
    /// What was lost.
    pub losses: Losses,
    /// Time from data to acknowledgement here, the least.
    pub far: Option<Duration>,
    /// Time from acknowledgement to the data that follows it here: the latest.
    near: Option<Duration>,
    /// The least of them.
    pub near_min: Option<Duration>,
    near_count: u64,
    /// The least time from acknowledgement to data, whether or not the data were waiting for it: the way is no longer.
    near_bound: Option<Duration>,
    near_bound_count: u64,
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
    /// Packets with payload that passed once more, as they were: at another interface, or at the other end.
    pub copies: u64,
    /// Acknowledgements.
    pub acks: u64,
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
    /// A flow of a connection that is open since `at`. As far as the handshake was seen, it has told the sequence number of the
    /// first byte (`start`), the payload of a full packet, and the round trip.
    pub fn new(
        at: Time,
        start: Option<u32>,
        full: Option<u64>,
        handshake: Option<Duration>,
    ) -> Flow {
        let mut positions = Positions::default();
        let base = start.map_or(0, |start| positions.of(start));
        Flow {
            positions,
            base,
            una: base,
            end: base,
            full: Full::new(full),
            scoreboard: Scoreboard::default(),
            sacked: Ranges::default(),
            sacked_bytes: 0,
            repeats_out: 0,
            sampler: Sampler::new(at),
            echoes: Echoes::default(),
            known: None,
            edge: None,
            window: Window::default(),
            closed_at: None,
            newest_ack: None,
            probed: None,
            handshake,
            id: 0,
            has_ids: false,
            limits: Limits::new(at),
            cues: None,
            patience: Patience::default(),
            series: Series::new(),
            last_sent: at,
            last_heard: at,
            last_fill: at,
            extra: Extra::new(at),
            plateau: Plateau::default(),
            present_limit: Limit::Application,
            model: Model::new(),
            rounds: Rounds::new(at),
            recoveries: Recoveries::default(),
            repeats: Repeats::default(),
            losses: Losses::default(),
            far: None,
            near: None,
            near_min: None,
            near_count: 0,
            near_bound: None,
            near_bound_count: 0,
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

    /// The least time to the sender and back, if it was measured often enough to tell where the capture is.
    pub fn nearest(&self) -> Option<Duration> {
        self.near_min.filter(|_| self.near_count >= ENOUGH)
    }

    /// The same, or a time that is longer by what the application took to write.
    pub fn nearest_bound(&self) -> Option<Duration> {
        self.near_bound.filter(|_| self.near_bound_count >= ENOUGH)
    }

    /// Whether a packet that passes once more can be told from one that is sent again: by its timestamp or its number; or there are none
    /// that could be either.
    pub fn tells_copies(&self, has_timestamps: bool) -> bool {
        let either = self.totals.copies + self.repeats.packets;
        let all = self.totals.packets + self.totals.copies;
        has_timestamps || self.has_ids || either * UNTOLD < all
    }

    /// Payload of a full packet.
    pub fn mss(&self) -> u64 {
        self.full.size()
    }

    /// How many bytes it holds, itself included.
    pub fn held(&self) -> usize {
        let outstanding = self.scoreboard.held() + self.sacked.held() + self.echoes.held();
        let lists =
            self.repeats.held() + self.losses.held() + self.recoveries.held() + self.model.held();
        size_of::<Flow>() + outstanding + lists + self.course()
    }

    /// How many of them are of its course over time.
    pub fn course(&self) -> usize {
        self.series.held() + self.rounds.held()
    }

    /// Keeps no more of its course than so many bytes, or the least that tells anything.
    pub fn thin(&mut self, most: usize) {
        while self.course() > most {
            let is_less = self.series.thin() | self.rounds.thin();
            if !is_less {
                break;
            }
        }
        self.shorten(scoreboard::FEW.max(most / size_of::<Entry>()));
        self.scoreboard.shrink();
        self.sacked.shrink();
        self.echoes.thin();
        self.repeats.thin();
        self.losses.thin();
        self.model.thin();
    }

    /// There will be no more packets: what was kept for them goes.
    pub fn rest(&mut self) {
        self.scoreboard = Scoreboard::default();
        self.sacked = Ranges::default();
        self.sacked_bytes = 0;
        self.echoes = Echoes::default();
    }

    /// Its samples, and nothing else.
    pub fn into_samples(self) -> Vec<Sample> {
        self.series.into_samples()
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

    /// By how much what is in flight may differ although it stays. Far from the sender, its timestamps tell it, by the millisecond.
    fn slack(&self, vantage: Vantage) -> Slack {
        let packets = match vantage {
            Vantage::Sender => 2,
            Vantage::Elsewhere => 4,
        };
        Slack {
            packets,
            full: self.mss(),
        }
    }

    /// More is known of the path.
    pub(super) fn refresh(&mut self, vantage: Vantage) {
        self.model.refresh();
        self.patience = self.patience(vantage);
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
        let packets = Bytes::new(self.mss() * 3 / 2);
        Patience {
            silence: PATIENCE.max(silence),
            train: self.model.btl_bw_max().time_for(packets),
            longest_train: least,
            pace: Rate::from_transfer(self.plateau.at(), least),
        }
    }
}
