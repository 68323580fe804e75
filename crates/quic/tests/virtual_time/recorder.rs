//! A controller that records its events.

use std::sync::{Arc, Mutex};

use congestion::{Ack, Bytes, Connection, Controller, Lost, Rate, Recovery, Sent, Snapshot, Time};
use quic::controller::Controllers;
use quic::controller::factory_with;

#[derive(Debug, Clone, Copy)]
pub enum Event {
    IdleRestart(Time),
    Sent(Sent),
    Lost(Lost),
    Recovery(Time, Recovery, Bytes),
    Ack(Ack),
    Timeout(Time, Bytes),
    Mtu(Bytes),
}

/// A fixed window and rate, and a record of all events.
#[derive(Debug, Clone)]
pub struct Recorder {
    window: Bytes,
    rate: Rate,
    events: Log,
}

/// The record.
#[derive(Debug, Clone, Default)]
pub struct Log(Arc<Mutex<Vec<Event>>>);

impl Log {
    pub fn events(&self) -> Vec<Event> {
        self.0.lock().unwrap().clone()
    }

    fn push(&self, event: Event) {
        self.0.lock().unwrap().push(event);
    }
}

/// Makes recorders with the given window and rate, and their log.
pub fn recorder(window: u64, rate: &str) -> (Arc<dyn Controllers>, Log) {
    let log = Log::default();
    let recorder = Recorder {
        window: Bytes::new(window),
        rate: rate.parse().unwrap(),
        events: log.clone(),
    };
    let factory = factory_with(move |_: Connection| recorder.clone(), 1, None);
    (factory, log)
}

impl Controller for Recorder {
    fn on_idle_restart(&mut self, now: Time) {
        self.events.push(Event::IdleRestart(now));
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.events.push(Event::Sent(*sent));
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.events.push(Event::Lost(*lost));
    }

    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes) {
        self.events.push(Event::Recovery(now, recovery, inflight));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.events.push(Event::Ack(*ack));
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.events.push(Event::Timeout(now, inflight));
    }

    fn on_mtu_change(&mut self, mss: Bytes) {
        self.events.push(Event::Mtu(mss));
    }

    fn cwnd(&self) -> Bytes {
        self.window
    }

    fn pacing_rate(&self) -> Rate {
        self.rate
    }

    fn send_quantum(&self) -> Bytes {
        Bytes::new(2 * 1452)
    }

    fn responds_to_ecn(&self) -> bool {
        true
    }

    fn snapshot(&self) -> Snapshot {
        let state = congestion::State {
            name: "Recording",
            phase: congestion::Phase::Avoidance,
        };
        Snapshot::new("recorder", state, self.window, self.rate)
    }
}
