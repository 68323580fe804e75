//! What the handshake tells: the round trip, and on which side of it the capture was taken.

use units::{Duration, Time};

use crate::packet::{Flags, Segment};

/// What comes again so soon is the same packet at another place: nobody asks again before a second is over (RFC 6298, section 2).
const SOON: Duration = Duration::from_millis(100);

/// The handshake of a connection, as far as it was seen.
#[derive(Debug, Clone, Copy, Default)]
pub struct Handshake {
    syn: Option<Time>,
    syn_ack: Option<Time>,
    syns: u8,
    answers: u8,
    /// From the SYN to its answer: to the server and back.
    pub to_server: Option<Duration>,
    /// From the answer to what follows it: to the client and back.
    pub to_client: Option<Duration>,
    /// When the connection was open.
    pub done: Option<Time>,
}

impl Handshake {
    /// A segment of the end that asked (`is_client`), or of the other.
    pub fn on_segment(&mut self, at: Time, segment: &Segment, is_client: bool) {
        let is_syn = segment.flags.has(Flags::SYN);
        let before = if is_client { self.syn } else { self.syn_ack };
        if is_syn && before.is_some_and(|before| at.since(before) < SOON) {
            return;
        }
        match (is_client, is_syn) {
            (true, true) => {
                self.syns = self.syns.saturating_add(1);
                self.syn = Some(at);
            }
            (false, true) => {
                self.answers = self.answers.saturating_add(1);
                // The answer to which of several SYNs it is cannot be told (RFC 6298, section 3).
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

    /// Whether there was an answer.
    pub fn is_answered(&self) -> bool {
        self.syn_ack.is_some()
    }

    /// Whether it is over.
    pub fn is_done(&self) -> bool {
        self.done.is_some()
    }

    /// The time that it took.
    pub fn rtt(&self) -> Option<Duration> {
        let (there, back) = self.to_server.zip(self.to_client)?;
        Some(there + back)
    }
}
