//! The data of one direction as a capture shows them: sent bytes, acknowledged bytes, rates and limits.

mod acks;
mod deliver;
mod deliveries;
mod hear;
mod identifications;
mod judge;
mod outstanding;
mod receive_window;
mod recovery;
mod resend;
mod round_trips;
mod send;
mod sender;
mod stream;

use congestion::{Bytes, Duration, Time};

use crate::account::Shares;
use crate::cues::Cues;
use crate::echoes::Echoes;
use crate::full::Full;
use crate::memory::Room;
use crate::model::Model;
use crate::plateau::Slack;
use crate::rounds::Rounds;
use crate::rtts::Rtts;
use crate::scoreboard::{self, Entry};
use crate::series::{Sample, Series};
use acks::Acks;
use deliveries::Deliveries;
use identifications::Identifications;
use judge::Judge;
use outstanding::Outstanding;
use receive_window::ReceiveWindow;
use round_trips::RoundTrips;
use sender::Sender;
use stream::Stream;

pub use recovery::Recovery;

/// Nothing tells copies from retransmissions. If one packet in this many is either, the capture may be of both ends.
const MIN_PACKETS_PER_UNTOLD: u64 = 5;

/// Where the capture was taken, as far as that is known while it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vantage {
    /// At the sender of this flow: packets have just been sent, and acknowledgements have just arrived.
    Sender,
    /// Elsewhere, or unknown.
    Elsewhere,
}

/// A packet passes the capture.
#[derive(Debug, Clone, Copy)]
pub struct Passage {
    /// When.
    pub at: Time,
    /// Where the capture was taken, for the flow.
    pub vantage: Vantage,
    /// The memory that is left.
    pub room: Room,
}

/// The IP packet of a segment.
#[derive(Debug, Clone, Copy)]
pub struct IpPacket {
    /// The length of the IP and TCP headers.
    pub headers: u64,
    /// The IP identification.
    pub id: u16,
    /// True if the network has marked it "congestion experienced".
    pub is_marked: bool,
}

/// The data of one direction.
#[derive(Debug, Clone)]
pub struct Flow {
    stream: Stream,
    /// The payload of a full packet.
    full: Full,
    outstanding: Outstanding,
    ids: Identifications,
    /// When the latest data were sent.
    last_sent: Time,
    acks: Acks,
    window: ReceiveWindow,
    sender: Sender,
    round_trips: RoundTrips,
    deliveries: Deliveries,
    /// The model of the path.
    pub model: Model,
    /// The rounds.
    pub rounds: Rounds,
    /// The retransmissions and losses.
    pub recovery: Recovery,
    judge: Judge,
    series: Series,
    /// The RTTs.
    pub rtts: Rtts,
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
    /// the first byte (`start`), and the payload of a full packet. `has_clock`: its timestamps come from a clock.
    pub fn new(at: Time, start: Option<u32>, full: Option<u64>, has_clock: bool) -> Flow {
        Flow {
            stream: Stream::new(start),
            full: Full::new(full),
            outstanding: Outstanding::default(),
            ids: Identifications::default(),
            last_sent: at,
            acks: Acks::new(at),
            window: ReceiveWindow::default(),
            sender: Sender::default(),
            round_trips: RoundTrips::default(),
            deliveries: Deliveries::new(at),
            model: Model::new(),
            rounds: Rounds::new(at),
            recovery: Recovery::new(at),
            judge: Judge::new(at, has_clock.then(Cues::new)),
            series: Series::new(),
            rtts: Rtts::default(),
            totals: Totals::default(),
        }
    }

    /// The handshake took this round trip. It counts as an RTT if RTTs are measured, at this place.
    pub(crate) fn on_handshake(&mut self, done: Time, rtt: Duration, vantage: Option<Vantage>) {
        self.round_trips.handshake = Some(rtt);
        if let Some(vantage) = vantage {
            self.model.on_rtt(done, rtt, Duration::ZERO);
            self.refresh(vantage);
        }
    }

    /// The capture's clock was set: the RTT of what is outstanding is unknown.
    pub fn on_clock_step(&mut self) {
        self.stream.untimed = self.stream.end;
        self.sender.echoes = Echoes::default();
    }

    /// A packet of another connection between the same hosts has the number before this packet's.
    #[cold]
    pub(crate) fn on_number_of_other(&mut self, id: u16) {
        self.ids.numbers.on_other(id);
    }

    /// The receiver holds the next acknowledgement back for this long. TCP does not tell this.
    pub fn set_ack_delay(&mut self, delay: Duration) {
        self.acks.delay = delay;
    }

    /// The samples over time.
    pub fn samples(&self) -> &[Sample] {
        self.series.samples()
    }

    /// How long each limit held until `end`, and until the sender could have answered the last acknowledgement. `near` is
    /// the round-trip time from the capture to the sender.
    pub(crate) fn shares(&self, end: Time, near: Duration, vantage: Vantage) -> Shares {
        let answered = match vantage {
            Vantage::Sender => self.acks.latest,
            Vantage::Elsewhere => self.acks.latest + near,
        };
        let thresholds = self.judge.thresholds(&self.model, self.mss(), vantage);
        self.judge.limits.until(end.max(answered), &thresholds)
    }

    /// The mean over rounds of the most bytes acknowledged beyond BtlBw.
    pub fn aggregation(&self) -> Option<u64> {
        self.deliveries.aggregation()
    }

    /// Retransmitted packets.
    pub fn retransmitted(&self) -> u64 {
        self.recovery.repeats.packets + self.lost_before()
    }

    /// Packets that were lost before the capture and were retransmitted: by their numbers, or else by the holes that
    /// retransmissions filled.
    pub fn lost_before(&self) -> u64 {
        let Some(missing) = self.ids.numbers.missing() else {
            return self.totals.lost_before;
        };
        let full = self.mss().max(1);
        let packets = |bytes: u64| bytes.div_ceil(full);
        let not_captured = self.outstanding.scoreboard.missing();
        missing.saturating_sub(packets(self.totals.missed) + packets(not_captured))
    }

    /// The least round-trip time from the capture to the receiver.
    pub fn far(&self) -> Option<Duration> {
        self.round_trips.far
    }

    /// The least round-trip time to the sender, if it was measured often enough to tell where the capture was taken.
    pub fn nearest(&self) -> Option<Duration> {
        self.round_trips.nearest()
    }

    /// The same, or an upper bound that includes the application's time to write.
    pub fn nearest_bound(&self) -> Option<Duration> {
        self.round_trips.nearest_bound()
    }

    /// True if copies can be told from retransmissions: by their timestamp or IP identification, or because there are too
    /// few of either.
    pub fn tells_copies(&self, has_timestamps: bool) -> bool {
        let either = self.totals.copies + self.recovery.repeats.packets;
        let all = self.totals.packets + self.totals.copies;
        has_timestamps || self.ids.are_used || either * MIN_PACKETS_PER_UNTOLD < all
    }

    /// The payload of a full packet.
    pub fn mss(&self) -> u64 {
        self.full.size()
    }

    /// The number of packets that a segment with this payload is made of.
    pub(crate) fn packets_in(&self, len: u64) -> u64 {
        self.full.packets(len).max(1)
    }

    /// True if a sequence number is within so many bytes of what is outstanding.
    pub(crate) fn is_near(&self, number: u32, bytes: u64) -> bool {
        self.stream.is_near(number, bytes)
    }

    /// The number of bytes that it holds, itself included.
    pub fn held(&self) -> usize {
        let outstanding = self.outstanding.held();
        let acks = self.sender.echoes.held() + self.acks.copies.held();
        let lists = self.recovery.held() + self.model.held();
        size_of::<Flow>() + outstanding + acks + lists + self.course()
    }

    /// The part of these bytes that holds samples over time.
    pub fn course(&self) -> usize {
        self.series.held() + self.rounds.held() + self.rtts.held()
    }

    /// Reduces the samples to this many bytes, or to the fewest that are still of use.
    pub fn thin(&mut self, most: usize) {
        while self.course() > most {
            let is_less = self.series.thin() | self.rounds.thin() | self.rtts.thin();
            if !is_less {
                break;
            }
        }
        self.shorten(scoreboard::MAX_PIECES_WHEN_SHORT.max(most / size_of::<Entry>()));
        self.outstanding.thin();
        self.sender.echoes.thin();
        self.acks.copies.thin();
        self.recovery.thin();
        self.model.thin();
    }

    /// Drops the state that only further packets would need.
    pub fn rest(&mut self) {
        self.outstanding.rest();
        self.sender.echoes = Echoes::default();
        self.acks.copies.thin();
    }

    /// The samples alone.
    pub fn into_samples(self) -> Vec<Sample> {
        self.series.into_samples()
    }

    /// The bytes in flight: those sent beyond the highest acknowledged byte, and the retransmissions below it (Mathis and
    /// Mahdavi, "Forward Acknowledgement", SIGCOMM 1996). Away from the sender: those that the sender did not know to be
    /// acknowledged when it sent.
    fn flight(&self, vantage: Vantage) -> Bytes {
        let bytes = match (vantage, &self.sender.known) {
            (Vantage::Elsewhere, Some(known)) => {
                self.stream.sent().saturating_sub(known.delivered.get())
            }
            _ => {
                let beyond = self.stream.end.saturating_sub(self.highest());
                beyond + self.outstanding.repeats_out
            }
        };
        Bytes::new(bytes)
    }

    /// The end of the highest acknowledged byte.
    fn highest(&self) -> u64 {
        self.outstanding.highest(self.stream.una)
    }

    /// True if data below the highest acknowledged byte are not acknowledged.
    fn has_hole(&self) -> bool {
        self.highest() > self.stream.una
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
        self.judge.refresh(&self.model, self.full.size(), vantage);
    }
}
