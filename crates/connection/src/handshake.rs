//! The handshake: its round trip, split at the capture's place.

use capture::packet::{Flags, Segment};
use units::{Duration, Time};

/// A SYN that comes again this soon is a copy from another capture point: retransmissions wait for a second (RFC 6298,
/// section 2).
const COPY_TIMEOUT: Duration = Duration::from_millis(100);

/// The handshake of a connection, as far as it was captured.
#[derive(Debug, Clone, Copy, Default)]
pub struct Handshake {
    syn: Option<Time>,
    syn_ack: Option<Time>,
    syns: u8,
    answers: u8,
    /// From the SYN to the SYN-ACK: to the server and back.
    pub to_server: Option<Duration>,
    /// From the SYN-ACK to the client's next segment: to the client and back.
    pub to_client: Option<Duration>,
    /// When the handshake was complete.
    pub done: Option<Time>,
}

impl Handshake {
    /// A segment of the client, or of the server.
    pub fn on_segment(&mut self, at: Time, segment: &Segment, is_client: bool) {
        let is_syn = segment.flags.has(Flags::SYN);
        let before = if is_client { self.syn } else { self.syn_ack };
        if is_syn && before.is_some_and(|before| at.since(before) < COPY_TIMEOUT) {
            return;
        }
        match (is_client, is_syn) {
            (true, true) => {
                self.syns = self.syns.saturating_add(1);
                self.syn = Some(at);
            }
            // Both ends may send a SYN at once (RFC 9293, section 3.5). Then neither answers the other.
            (false, true) if !segment.flags.has(Flags::ACK) => {}
            (false, true) => {
                self.answers = self.answers.saturating_add(1);
                // With several SYNs, nothing tells which one was answered (RFC 6298, section 3).
                if self.syn_ack.is_none() && self.syns == 1 {
                    self.to_server = self.syn.map(|syn| at.since(syn));
                }
                self.syn_ack = Some(at);
            }
            (true, false) => {
                if let Some(answer) = self.syn_ack
                    && self.done.is_none()
                {
                    self.to_client = (self.answers == 1).then(|| at.since(answer));
                    self.done = Some(at);
                }
            }
            (false, false) => {}
        }
    }

    /// The capture's clock was set. What began before is not measured.
    pub fn spoil(&mut self) {
        if !self.is_done() {
            (self.syns, self.answers) = (u8::MAX, u8::MAX);
        }
    }

    /// True if the server has answered.
    pub fn is_answered(&self) -> bool {
        self.syn_ack.is_some()
    }

    /// True if the handshake is complete.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// The round trip of the handshake.
    pub fn rtt(&self) -> Option<Duration> {
        let (there, back) = self.to_server.zip(self.to_client)?;
        Some(there + back)
    }
}
