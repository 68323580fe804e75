//! The data of one direction as a capture shows them: sent bytes, acknowledged bytes, rates and limits.

mod deliver;
mod extra;
mod hear;
mod send;

pub use send::Ip;

use congestion::sampling::Sampler;
use congestion::{Bytes, Duration, Rate, Time};

use crate::ENOUGH;
use crate::account::Shares;
use crate::cues::Cues;
use crate::echoes::{Echoes, Passed};
use crate::ecn::{Meaning, Reductions};
use crate::full::Full;
use crate::heard::Heard;
use crate::limit::Limit;
use crate::limits::{Limits, Patience};
use crate::losses::Losses;
use crate::model::Model;
use crate::numbers::Numbers;
use crate::plateau::{Plateau, Slack};
use crate::ranges::Ranges;
use crate::recoveries::Recoveries;
use crate::repeats::Repeats;
use crate::restart::Restart;
use crate::rounds::Rounds;
use crate::scoreboard::{self, Entry, Scoreboard};
use crate::sequence::Positions;
use crate::series::{Sample, Series};
use crate::unseen::Unseen;
use crate::window::Window;
use extra::Extra;

/// More than any window (RFC 7323, section 2.3): a sequence number that jumps further is not of this connection, or the capture
/// has a hole.
const FARTHEST: u64 = 1 << 30;

/// A sender may be silent for this long although it could send, because its host has other work.
const PATIENCE: Duration = Duration::from_millis(2);

/// Nothing tells copies from retransmissions. If one packet in this many is either, the capture may be of both ends.
const UNTOLD: u64 = 5;

/// Where the capture was taken, as far as that is known while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vantage {
    /// At the sender of this flow: packets have just been sent, and acknowledgements have just arrived.
    Sender,
    /// Elsewhere, or unknown.
    Elsewhere,
}

/// The data of one direction.
#[derive(Debug, Clone)]
pub struct Flow {
    positions: Positions,
    /// The position of the first byte.
    base: u64,
    /// Whether a SYN told it.
    has_start: bool,
    /// Everything before this position is acknowledged.
    una: u64,
    /// The end of the sent data.
    end: u64,
    /// The payload of a full packet.
    pub(crate) full: Full,
    scoreboard: Scoreboard,
    sacked: Ranges,
    sacked_bytes: u64,
    /// Whether any SACK blocks were captured, and whether any may have been cut off.
    has_sacks: bool,
    has_cut_acks: bool,
    /// Delivery rates are unknown until an acknowledgement of data that were sent after so much had been delivered.
    unrated: Bytes,
    /// Retransmitted bytes in flight below the highest acknowledged byte.
    repeats_out: u64,
    sampler: Sampler,
    echoes: Echoes,
    heard: Heard,
    /// The latest acknowledgement that the sender is known to have received.
    known: Option<Passed>,
    /// Away from the sender: the bytes delivered when the sender last began with nothing outstanding, and when that was.
    began: Option<(Bytes, Time)>,
    /// The end of the receive window, and whether the handshake told its scale.
    edge: Option<u64>,
    is_edge_sure: bool,
    /// An estimate of the window scale, for captures without the handshake.
    window: Window,
    /// The position of a window of zero, if the latest one was.
    closed_at: Option<u64>,
    /// The end of the byte that was sent only to get an answer.
    probed: Option<u64>,
    /// The sequence number that would follow a segment from far away.
    stray: Option<u32>,
    /// Data that were acknowledged and not captured.
    unseen: Unseen,
    /// What CWR and ECE mean, and the reductions of the window that they tell.
    pub(crate) ecn: Meaning,
    reductions: Reductions,
    /// The latest acknowledgement, if it is of data that were not captured, and how often it has come.
    claimed: Option<(u64, u8)>,
    /// Data before this position were sent before the clock was set.
    untimed: u64,
    /// The position of FIN, which is the end of all data.
    fin: Option<u64>,
    /// The round trip of the handshake, a lower bound until an RTT is measured.
    handshake: Option<Duration>,
    /// TSval of the newest acknowledgement.
    newest_ack: Option<u32>,
    /// The IP identification of the latest packet with new data, and whether packets differ in it.
    id: u16,
    has_ids: bool,
    pub(crate) numbers: Numbers,
    /// When data were last missing.
    last_missing: Option<Time>,
    /// Whether data were acknowledged and not captured since the latest packet with data.
    has_missed: bool,
    limits: Limits,
    /// What timestamps tell of departures, if they come from a clock.
    pub(crate) cues: Option<Cues>,
    /// The thresholds by which departures are judged.
    patience: Patience,
    series: Series,
    last_sent: Time,
    last_heard: Time,
    /// When new data were last acknowledged. Only that restarts the retransmission timer (RFC 6298, section 5.3).
    progressed: Time,
    /// When a retransmission last filled a hole.
    last_fill: Time,
    extra: Extra,
    plateau: Plateau,
    restart: Restart,
    present_limit: Limit,
    /// The model of the path.
    pub model: Model,
    /// The rounds.
    pub rounds: Rounds,
    /// The recoveries.
    pub recoveries: Recoveries,
    /// The retransmissions.
    pub repeats: Repeats,
    /// The losses.
    pub losses: Losses,
    /// The least round-trip time from the capture to the receiver.
    pub far: Option<Duration>,
    /// The latest round-trip time from the capture to the sender.
    near: Option<Duration>,
    /// The least round-trip time from the capture to the sender.
    pub near_min: Option<Duration>,
    near_count: u64,
    /// The least time from an acknowledgement to data that echo it, whether or not the data waited for it: an upper bound
    /// on the round-trip time to the sender.
    near_bound: Option<Duration>,
    near_bound_count: u64,
    /// For how long the receiver held the present acknowledgement back. TCP does not tell this.
    pub ack_delay: Duration,
    /// The counters.
    pub totals: Totals,
}

/// Counters.
#[derive(Debug, Clone, Copy, Default)]
pub struct Totals {
    /// Packets with payload.
    pub packets: u64,
    /// Packets with payload that were captured a second time, unchanged: at another interface, or at the other end.
    pub copies: u64,
    /// Acknowledgements, without their copies.
    pub acks: u64,
    /// Payload sent, retransmissions included.
    pub bytes: u64,
    /// The IP packets with payload, in bytes, headers included.
    pub ip_bytes: u64,
    /// Payload acknowledged.
    pub delivered: u64,
    /// Reordered packets.
    pub reordered: u64,
    /// Holes that retransmissions filled, and the retransmissions for them that were seen to be lost, in packets.
    pub lost_before: u64,
    /// Payload that was acknowledged but not captured.
    pub missed: u64,
    /// Packets with a congestion mark.
    pub marked: u64,
    /// Packets that are no longer followed, because too many were outstanding.
    pub unfollowed: u64,
}

impl Flow {
    /// A flow of a connection that was established at `at`. The handshake, if it was captured, gives the sequence number of
    /// the first byte (`start`), and the payload of a full packet.
    pub fn new(at: Time, start: Option<u32>, full: Option<u64>) -> Flow {
        let mut positions = Positions::default();
        let base = start.map_or(0, |start| positions.of(start));
        Flow {
            positions,
            base,
            has_start: start.is_some(),
            una: base,
            end: base,
            full: Full::new(full),
            scoreboard: Scoreboard::default(),
            sacked: Ranges::default(),
            sacked_bytes: 0,
            has_sacks: false,
            has_cut_acks: false,
            unrated: Bytes::ZERO,
            repeats_out: 0,
            sampler: Sampler::new(at),
            echoes: Echoes::default(),
            heard: Heard::default(),
            known: None,
            began: None,
            edge: None,
            is_edge_sure: false,
            window: Window::default(),
            closed_at: None,
            newest_ack: None,
            probed: None,
            stray: None,
            claimed: None,
            unseen: Unseen::default(),
            ecn: Meaning::default(),
            reductions: Reductions::default(),
            untimed: 0,
            fin: None,
            handshake: None,
            id: 0,
            has_ids: false,
            numbers: Numbers::default(),
            last_missing: None,
            has_missed: false,
            limits: Limits::new(at),
            cues: None,
            patience: Patience::default(),
            series: Series::new(),
            last_sent: at,
            last_heard: at,
            progressed: at,
            last_fill: at,
            extra: Extra::new(at),
            plateau: Plateau::default(),
            restart: Restart::default(),
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

    /// The handshake took this round trip. It counts as an RTT if RTTs are measured, at this place.
    pub(crate) fn on_handshake(&mut self, done: Time, rtt: Duration, vantage: Option<Vantage>) {
        self.handshake = Some(rtt);
        if let Some(vantage) = vantage {
            self.model.on_rtt(done, rtt, Duration::ZERO);
            self.refresh(vantage);
        }
    }

    /// The capture's clock was set: the RTT of what is outstanding is unknown.
    pub fn on_clock_step(&mut self) {
        self.untimed = self.end;
        self.echoes = Echoes::default();
    }

    /// The samples over time.
    pub fn samples(&self) -> &[Sample] {
        self.series.samples()
    }

    /// How long each limit held until `end`, and until the sender could have answered the last acknowledgement. `near` is
    /// the round-trip time from the capture to the sender.
    pub fn shares(&self, end: Time, near: Duration, vantage: Vantage) -> Shares {
        let answered = match vantage {
            Vantage::Sender => self.last_heard,
            Vantage::Elsewhere => self.last_heard + near,
        };
        self.limits
            .until(end.max(answered), &self.patience(vantage))
    }

    /// The mean over rounds of the most bytes acknowledged beyond BtlBw.
    pub fn aggregation(&self) -> Option<u64> {
        self.extra.mean()
    }

    /// Retransmitted packets.
    pub fn retransmitted(&self) -> u64 {
        self.repeats.packets + self.lost_before()
    }

    /// Packets that were lost before the capture and were retransmitted: by their numbers, or else by the holes that
    /// retransmissions filled.
    pub fn lost_before(&self) -> u64 {
        let Some(missing) = self.numbers.missing() else {
            return self.totals.lost_before;
        };
        let full = self.mss().max(1);
        let packets = |bytes: u64| bytes.div_ceil(full);
        missing.saturating_sub(packets(self.totals.missed) + packets(self.scoreboard.missing()))
    }

    /// The least round-trip time to the sender, if it was measured often enough to tell where the capture was taken.
    pub fn nearest(&self) -> Option<Duration> {
        self.near_min.filter(|_| self.near_count >= ENOUGH)
    }

    /// The same, or an upper bound that includes the application's time to write.
    pub fn nearest_bound(&self) -> Option<Duration> {
        self.near_bound.filter(|_| self.near_bound_count >= ENOUGH)
    }

    /// Whether copies can be told from retransmissions: by their timestamp or IP identification, or because there are too
    /// few of either.
    pub fn tells_copies(&self, has_timestamps: bool) -> bool {
        let either = self.totals.copies + self.repeats.packets;
        let all = self.totals.packets + self.totals.copies;
        has_timestamps || self.has_ids || either * UNTOLD < all
    }

    /// The payload of a full packet.
    pub fn mss(&self) -> u64 {
        self.full.size()
    }

    /// The number of bytes that it holds, itself included.
    pub fn held(&self) -> usize {
        let outstanding = self.scoreboard.held() + self.sacked.held();
        let acks = self.echoes.held() + self.heard.held() + self.unseen.held();
        let lists =
            self.repeats.held() + self.losses.held() + self.recoveries.held() + self.model.held();
        size_of::<Flow>() + outstanding + acks + lists + self.course()
    }

    /// The part of these bytes that holds samples over time.
    pub fn course(&self) -> usize {
        self.series.held() + self.rounds.held()
    }

    /// Reduces the samples to this many bytes, or to the fewest that are still of use.
    pub fn thin(&mut self, most: usize) {
        while self.course() > most {
            let is_less = self.series.thin() | self.rounds.thin();
            if !is_less {
                break;
            }
        }
        self.shorten(scoreboard::FEW.max(most / size_of::<Entry>()));
        self.scoreboard.shrink();
        self.sacked_bytes += self.sacked.thin();
        self.echoes.thin();
        self.heard.thin();
        self.unseen = Unseen::default();
        self.repeats.thin();
        self.losses.thin();
        self.model.thin();
    }

    /// Drops the state that only further packets would need.
    pub fn rest(&mut self) {
        self.scoreboard = Scoreboard::default();
        self.sacked = Ranges::default();
        self.sacked_bytes = 0;
        self.echoes = Echoes::default();
        self.heard = Heard::default();
        self.unseen = Unseen::default();
    }

    /// The samples alone.
    pub fn into_samples(self) -> Vec<Sample> {
        self.series.into_samples()
    }

    /// The bytes in flight: those sent beyond the highest acknowledged byte, and the retransmissions below it (Mathis and
    /// Mahdavi, "Forward Acknowledgement", SIGCOMM 1996). Away from the sender: those that the sender did not know to be
    /// acknowledged when it sent.
    fn flight(&self, vantage: Vantage) -> Bytes {
        let bytes = match (vantage, &self.known) {
            (Vantage::Elsewhere, Some(known)) => {
                (self.end - self.base).saturating_sub(known.delivered.get())
            }
            _ => self.end.saturating_sub(self.highest()) + self.repeats_out,
        };
        Bytes::new(bytes)
    }

    /// The end of the highest acknowledged byte.
    fn highest(&self) -> u64 {
        self.sacked.end().unwrap_or(0).max(self.una)
    }

    /// How much the data in flight may vary on a plateau. Away from the sender, timestamps give the data in flight only by
    /// the millisecond.
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

    /// Updates what follows from the model of the path.
    pub(crate) fn refresh(&mut self, vantage: Vantage) {
        self.model.refresh();
        self.patience = self.patience(vantage);
    }

    /// The thresholds by which departures are judged.
    fn patience(&self, vantage: Vantage) -> Patience {
        let least = self.model.rtt_min.unwrap_or_default();
        let most = self.model.rtt_max.unwrap_or_default();
        let silence = match vantage {
            Vantage::Sender => least / 4,
            // An acknowledgement that passes the capture reaches the sender later, and the sender's answer passes later
            // still.
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
