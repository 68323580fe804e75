//! The controller of a flow whose window and pacing rate are set from outside the simulator.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use congestion::pacing::send_quantum;
use congestion::{
    Ack, AnyController, Bytes, Connection, Controller, Lost, Rate, Recovery, Sent, Snapshot, Time,
    loss_based,
};
use units::Duration;

use crate::view::{OBSERVATION, Observation, View, nanos};

/// The connection of an agent, seen from both sides: the simulator's, and the agent's.
#[derive(Debug, Default)]
pub struct Seat {
    is_due: AtomicBool,
    /// Nothing before the connection begins.
    view: Mutex<Option<View>>,
}

impl Seat {
    /// Whether the agent has to decide before the next event.
    pub fn is_due(&self) -> bool {
        self.is_due.load(Ordering::Relaxed)
    }

    /// What the agent sees now: zeros before the connection begins.
    pub fn observe(&self, now: Time) -> Observation {
        self.is_due.store(false, Ordering::Relaxed);
        self.with(|view| view.observe(nanos(now)))
            .unwrap_or([0.0; OBSERVATION.len()])
    }

    /// Sets what the agent decides.
    pub fn act(&self, action: [f64; 2]) {
        self.with(|view| view.act(action));
    }

    fn with<T>(&self, work: impl FnOnce(&mut View) -> T) -> Option<T> {
        let mut view = self.view.lock().unwrap_or_else(PoisonError::into_inner);
        view.as_mut().map(work)
    }
}

/// Controls the connection as the agent in its seat decides.
#[derive(Debug)]
pub struct Agent {
    seat: Arc<Seat>,
    mss: Bytes,
    cwnd: Bytes,
    pacing_rate: Rate,
}

impl Agent {
    /// The controller of a new connection. The first one takes the seat: where an application asks for its data, the connection
    /// for its requests is the second, and keeps its first window.
    pub fn new(seat: &Arc<Seat>, connection: Connection, interval: Duration) -> Agent {
        let view = View::new(&connection, interval);
        let (cwnd, rate) = view.values();
        let taken = seat.with(|_| ()).is_some();
        let seat = if taken {
            Arc::default()
        } else {
            Arc::clone(seat)
        };
        let mut free = seat.view.lock().unwrap_or_else(PoisonError::into_inner);
        *free = Some(view);
        drop(free);
        Agent {
            seat,
            mss: connection.mss,
            cwnd: Bytes::new(cwnd),
            pacing_rate: Rate::from_bits_per_sec(rate),
        }
    }

    /// Tells the agent's view of an event, and takes over what was decided before it.
    fn tell(&mut self, event: impl FnOnce(&mut View) -> bool) {
        let told = self.seat.with(|view| (event(view), view.values()));
        if let Some((is_due, (cwnd, rate))) = told {
            self.cwnd = Bytes::new(cwnd);
            self.pacing_rate = Rate::from_bits_per_sec(rate);
            if is_due {
                self.seat.is_due.store(true, Ordering::Relaxed);
            }
        }
    }
}

impl Controller for Agent {
    fn on_idle_restart(&mut self, _: Time) {}

    fn on_packet_sent(&mut self, _: &Sent) {}

    fn on_packet_lost(&mut self, _: &Lost) {}

    fn on_recovery(&mut self, _: Time, _: Recovery, _: Bytes) {}

    fn on_ack(&mut self, ack: &Ack) {
        self.tell(|view| view.on_ack(&ack.into()));
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.tell(|view| view.on_timeout(nanos(now), inflight.get()));
    }

    fn on_mtu_change(&mut self, mss: Bytes) {
        self.mss = mss;
        self.cwnd = self.cwnd.max(mss);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Rate {
        self.pacing_rate
    }

    fn send_quantum(&self) -> Bytes {
        send_quantum(self.pacing_rate, self.mss)
    }

    fn needs_pacing(&self) -> bool {
        true
    }

    fn snapshot(&self) -> Snapshot {
        let state = loss_based::states::CONGESTION_AVOIDANCE;
        let mut snapshot = Snapshot::new("python", state, self.cwnd, self.pacing_rate);
        snapshot.send_quantum = self.send_quantum();
        snapshot
    }
}

/// The controllers of a run: the agent's, and Fullpipe's.
#[derive(Debug)]
pub enum Seated {
    /// The agent's.
    Agent(Box<Agent>),
    /// One of Fullpipe's.
    Ours(Box<AnyController>),
}

congestion::by_variant!(Seated: Agent, Ours);
