//! An event as recorded by the kernel's program.

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, Bytes, Cause, Connection, Duration, Lost, Rate, RateSample, Recovery, RttSample, Time,
};

use crate::event::Event;
use crate::host::{SnapshotWords, WORDS};

/// The words of `struct record`: the connection, the event, and the snapshot after it.
pub const RECORD: usize = 1 + EVENT + WORDS;

const EVENT: usize = 2 + CONNECTION + LOST + ACK;
const CONNECTION: usize = 5;
const LOST: usize = 9;
const ACK: usize = 22;

/// An event from the kernel, and the controller's snapshot after it.
#[derive(Debug)]
pub struct KernelEvent {
    /// The connection.
    pub flow: u64,
    pub event: Event,
    pub seen: SnapshotWords,
}

impl KernelEvent {
    pub fn of(words: &[u64; RECORD]) -> KernelEvent {
        let event = &words[1..];
        KernelEvent {
            flow: words[0],
            event: of_words(event),
            seen: event[EVENT..].try_into().expect("a snapshot"),
        }
    }
}

/// The inverse of [`Event::words`].
fn of_words(words: &[u64]) -> Event {
    let (head, words) = words.split_at(2);
    let (connection, words) = words.split_at(CONNECTION);
    let (lost, ack) = words.split_at(LOST);
    let (now, inflight, rtt) = (time(ack[0]), Bytes::new(ack[3]), ack[17]);
    let recovery = |recovery| Event::Recovery(now, recovery, inflight);
    match head[0] {
        0 => {
            let (mss, cwnd) = (Bytes::new(connection[1]), Bytes::new(connection[2]));
            let mut new = Connection::new(time(connection[0]), mss, cwnd);
            new.seed = connection[3];
            new.has_selective_acks = connection[4] != 0;
            Event::New(new)
        }
        1 => Event::IdleRestart(now),
        2 => Event::Lost(of_lost(lost)),
        3 => recovery(Recovery::Entered(Cause::Loss)),
        4 => recovery(Recovery::Left),
        5 => recovery(Recovery::Undone),
        6 => Event::Timeout(now, inflight),
        7 => Event::Handshake(now, Duration::from_nanos(rtt)),
        8 => Event::MtuChange(Bytes::new(head[1])),
        9 => Event::Ack(Box::new(of_ack(ack))),
        10 => recovery(Recovery::Entered(Cause::RepairedLoss)),
        11 => recovery(Recovery::Entered(Cause::Ecn)),
        kind => panic!("no kind of event {kind}"),
    }
}

fn time(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

fn of_lost(words: &[u64]) -> Lost {
    let now = time(words[0]);
    let bytes = Bytes::new(words[1]);
    let mut sampler = Sampler::new(now);
    let mut packet = sampler.on_packet_sent(now, bytes, Outstanding::Nothing);
    packet.sequence = words[2];
    packet.delivered = Bytes::new(words[3]);
    packet.lost = Bytes::new(words[4]);
    packet.inflight = Bytes::new(words[5]);
    packet.is_app_limited = words[6] != 0;
    let mut lost = Lost::new(now, packet, Bytes::ZERO, &sampler);
    lost.total_delivered = Bytes::new(words[7]);
    lost.total_lost = Bytes::new(words[8]);
    lost
}

fn of_ack(words: &[u64]) -> Ack {
    let [now, newly_acked, prior_inflight, inflight] = [0, 1, 2, 3].map(|at| words[at]);
    let rate = of_rate(&words[4..16]);
    let bytes = [newly_acked, prior_inflight, inflight].map(Bytes::new);
    let mut ack = Ack::new(time(now), bytes[0], bytes[1], bytes[2], rate);
    ack.rtt = (words[16] != 0).then(|| RttSample {
        rtt: Duration::from_nanos(words[17]),
        is_ack_delayed: words[18] != 0,
    });
    ack.next_departure = time(words[19]);
    ack.is_window_full = words[20] != 0;
    ack.ce_marked = Bytes::new(words[21]);
    ack
}

fn of_rate(words: &[u64]) -> RateSample {
    let bytes = |at: usize| Bytes::new(words[at]);
    let mut rate = RateSample::default();
    rate.delivery_rate = (words[0] != 0).then(|| Rate::from_bytes_per_sec(words[1]));
    rate.delivered = bytes(2);
    rate.prior_delivered = bytes(3);
    rate.total_delivered = bytes(4);
    rate.total_lost = bytes(5);
    rate.newly_lost = bytes(6);
    rate.inflight_at_send = bytes(7);
    rate.lost_since_send = bytes(8);
    rate.is_app_limited = words[9] != 0;
    rate.delivered_ce = bytes(10);
    rate.total_delivered_ce = bytes(11);
    rate
}
