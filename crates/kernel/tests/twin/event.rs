//! The events of a controller, in both languages.

use congestion::{
    Ack, Bytes, Cause, Connection, Controller, Duration, Lost, RateSample, Recovery, Time,
};

/// A call of [`Controller`], or a new one.
#[derive(Debug, Clone)]
pub enum Event {
    New(Connection),
    IdleRestart(Time),
    Lost(Lost),
    Recovery(Time, Recovery, Bytes),
    Timeout(Time, Bytes),
    Handshake(Time, Duration),
    MtuChange(Bytes),
    Ack(Box<Ack>),
}

impl Event {
    /// Passes the event to a controller, or begins with a new one.
    pub fn happen<C: Controller>(&self, controller: &mut C, make: impl Fn(Connection) -> C) {
        match *self {
            Event::New(connection) => *controller = make(connection),
            Event::IdleRestart(now) => controller.on_idle_restart(now),
            Event::Lost(ref lost) => controller.on_packet_lost(lost),
            Event::Recovery(now, recovery, inflight) => {
                controller.on_recovery(now, recovery, inflight);
            }
            Event::Timeout(now, inflight) => controller.on_timeout(now, inflight),
            Event::Handshake(now, rtt) => controller.on_handshake(now, rtt),
            Event::MtuChange(mss) => controller.on_mtu_change(mss),
            Event::Ack(ref ack) => controller.on_ack(ack),
        }
    }

    /// `struct event` of `host.c`.
    pub fn words(&self) -> Words {
        let mut words = Words::default();
        match *self {
            Event::New(connection) => {
                words.kind = 0;
                words.connection = [
                    connection.now.as_nanos(),
                    connection.mss.get(),
                    connection.initial_cwnd.get(),
                    connection.seed,
                    connection.has_selective_acks.into(),
                ];
            }
            Event::IdleRestart(now) => words.at(1, now),
            Event::Lost(ref lost) => {
                words.at(2, lost.now);
                words.lost = lost_words(lost);
            }
            Event::Recovery(now, recovery, inflight) => {
                let kind = match recovery {
                    Recovery::Entered(Cause::Loss) => 3,
                    Recovery::Entered(Cause::RepairedLoss) => 10,
                    Recovery::Entered(Cause::Ecn) => 11,
                    Recovery::Entered(other) => panic!("C has no event for {other:?}"),
                    Recovery::Left => 4,
                    Recovery::Undone => 5,
                };
                words.at(kind, now);
                words.ack.inflight = inflight.get();
            }
            Event::Timeout(now, inflight) => {
                words.at(6, now);
                words.ack.inflight = inflight.get();
            }
            Event::Handshake(now, rtt) => {
                words.at(7, now);
                words.ack.rtt = [1, rtt.as_nanos(), 0];
            }
            Event::MtuChange(mss) => {
                words.kind = 8;
                words.mss = mss.get();
            }
            Event::Ack(ref ack) => {
                words.at(9, ack.now);
                words.ack(ack);
            }
        }
        words
    }
}

/// `struct event`.
#[derive(Default)]
pub struct Words {
    kind: u64,
    mss: u64,
    connection: [u64; 5],
    lost: [u64; 9],
    ack: AckWords,
}

#[derive(Default)]
struct AckWords {
    now: u64,
    newly_acked: u64,
    prior_inflight: u64,
    inflight: u64,
    rate: [u64; 12],
    rtt: [u64; 3],
    next_departure: u64,
    is_window_full: u64,
    ce_marked: u64,
}

impl Words {
    /// The kind of event.
    #[cfg(feature = "load")]
    pub fn kind(&self) -> u64 {
        self.kind
    }

    fn at(&mut self, kind: u64, now: Time) {
        self.kind = kind;
        self.ack.now = now.as_nanos();
    }

    fn ack(&mut self, ack: &Ack) {
        self.ack.newly_acked = ack.newly_acked.get();
        self.ack.prior_inflight = ack.prior_inflight.get();
        self.ack.inflight = ack.inflight.get();
        self.ack.rate = rate(&ack.rate);
        if let Some(sample) = ack.rtt {
            self.ack.rtt = [1, sample.rtt.as_nanos(), sample.is_ack_delayed.into()];
        }
        self.ack.next_departure = ack.next_departure.as_nanos();
        self.ack.is_window_full = ack.is_window_full.into();
        self.ack.ce_marked = ack.ce_marked.get();
    }

    /// The events, one after the other.
    pub fn bytes(&self) -> Vec<u8> {
        let Words {
            kind,
            mss,
            connection,
            lost,
            ack,
        } = self;
        let mut words = vec![*kind, *mss];
        words.extend(connection);
        words.extend(lost);
        words.extend([ack.now, ack.newly_acked, ack.prior_inflight, ack.inflight]);
        words.extend(ack.rate);
        words.extend(ack.rtt);
        words.extend([ack.next_departure, ack.is_window_full, ack.ce_marked]);
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }
}

fn lost_words(lost: &Lost) -> [u64; 9] {
    [
        lost.now.as_nanos(),
        lost.packet.bytes.get(),
        lost.packet.sequence,
        lost.packet.delivered.get(),
        lost.packet.lost.get(),
        lost.packet.inflight.get(),
        lost.packet.is_app_limited.into(),
        lost.total_delivered.get(),
        lost.total_lost.get(),
    ]
}

fn rate(rate: &RateSample) -> [u64; 12] {
    [
        rate.delivery_rate.is_some().into(),
        rate.delivery_rate.unwrap_or_default().bytes_per_sec(),
        rate.delivered.get(),
        rate.prior_delivered.get(),
        rate.total_delivered.get(),
        rate.total_lost.get(),
        rate.newly_lost.get(),
        rate.inflight_at_send.get(),
        rate.lost_since_send.get(),
        rate.is_app_limited.into(),
        rate.delivered_ce.get(),
        rate.total_delivered_ce.get(),
    ]
}
