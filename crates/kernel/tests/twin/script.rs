//! Records the events of a controller.

use std::sync::{Arc, Mutex, PoisonError};

use congestion::{
    Ack, AnyController, Bytes, Connection, Controller, Duration, Lost, Recovery, Sent, Time,
};

use crate::event::Event;
use crate::forward::as_the_controller_says;

/// The events of one connection after the other.
#[derive(Debug, Clone, Default)]
pub struct Scripts(Arc<Mutex<Vec<Vec<Event>>>>);

impl Scripts {
    /// A controller whose events are recorded.
    pub fn follow(&self, connection: Connection, controller: AnyController) -> Followed {
        let mut scripts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.push(vec![Event::New(connection)]);
        Followed {
            controller,
            scripts: self.clone(),
            number: scripts.len() - 1,
        }
    }

    /// All recorded events.
    pub fn take(&self) -> Vec<Event> {
        self.take_each().into_iter().flatten().collect()
    }

    /// The recorded events of each connection.
    pub fn take_each(&self) -> Vec<Vec<Event>> {
        let mut scripts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        scripts.drain(..).collect()
    }
}

/// A controller whose events are recorded.
#[derive(Debug)]
pub struct Followed {
    controller: AnyController,
    scripts: Scripts,
    number: usize,
}

impl Followed {
    fn tell(&mut self, event: Event) {
        let mut scripts = self
            .scripts
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        event.happen(&mut self.controller, |_| unreachable!("one is there"));
        scripts[self.number].push(event);
    }
}

impl Controller for Followed {
    fn on_idle_restart(&mut self, now: Time) {
        self.tell(Event::IdleRestart(now));
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.controller.on_packet_sent(sent);
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.tell(Event::Lost(*lost));
    }

    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes) {
        self.tell(Event::Recovery(now, recovery, inflight));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.tell(Event::Ack(Box::new(*ack)));
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.tell(Event::Timeout(now, inflight));
    }

    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        self.tell(Event::Handshake(now, rtt));
    }

    fn on_mtu_change(&mut self, mss: Bytes) {
        self.tell(Event::MtuChange(mss));
    }

    as_the_controller_says!();
}
