//! Loss recovery: when it starts, when it is over, and when it turns out to have been for nothing (Linux
//! `tcp_fastretrans_alert`).
//!
//! ```text
//!              ECN mark                     loss
//!      ┌──────► Cwr ───────────────┬──────────────────┐
//!      │         │                 │                  ▼
//!    Open ◄──────┴── all that was outstanding ─── Recovery
//!      ▲            at the start is acknowledged      │
//!      │                     │                        │ timeout (from anywhere)
//!      └─────────────────────┴───────────────────── Loss
//! ```
//!
//! A recovery or timeout was for nothing if the receiver got every repeated packet twice (D-SACK, RFC 3708), or
//! acknowledged with a timestamp from before the first repetition (Eifel, RFC 3522), or, after a timeout, data that was
//! never repeated (F-RTO, RFC 5682).

mod steps;

use congestion::{Duration, Time};

/// What the sender is repairing (Linux `tcp_ca_state`; its Disorder is Open with something selectively acknowledged).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    Open,
    /// Nothing, but the network has marked a packet.
    Cwr,
    /// Losses.
    Recovery,
    /// A timeout.
    Loss,
}

#[derive(Debug, Clone)]
pub struct Recovery {
    phase: Phase,
    /// What had been sent when the phase began: it ends when that is acknowledged.
    end: u64,
    /// What is needed to find out that it was for nothing.
    undo: Option<Undo>,
    /// When the first of the repeated packets in flight, or acknowledged in this phase, was repeated (Linux
    /// `retrans_stamp`).
    first_repeat: Option<Time>,
    /// Whether the timeout may still be found spurious by F-RTO.
    is_frto: bool,
    /// F-RTO, step 2b: new data goes before repeated, until the next ACK.
    is_new_data_first: bool,
    /// The first repetition leaves whatever the window (RFC 6675, "Algorithm Details", step 4.3; RFC 6298, section 5.4).
    is_repeat_forced: bool,
}

#[derive(Debug, Clone, Copy)]
struct Undo {
    /// What was acknowledged when the phase began.
    since: u64,
    /// Packets repeated, and not reported as duplicates (Linux `undo_retrans`).
    unanswered: u64,
    has_repeated: bool,
    is_timeout: bool,
    /// The round-trip time that the packets had which overtook the lost one.
    rtt: Duration,
}

impl Recovery {
    pub fn new() -> Recovery {
        Recovery {
            phase: Phase::Open,
            end: 0,
            undo: None,
            first_repeat: None,
            is_frto: false,
            is_new_data_first: false,
            is_repeat_forced: false,
        }
    }

    pub fn phase(&self) -> Phase {
        self.phase
    }

    pub fn end(&self) -> u64 {
        self.end
    }

    /// Whether losses are being repaired.
    pub fn is_repairing(&self) -> bool {
        matches!(self.phase, Phase::Recovery | Phase::Loss)
    }

    /// Whether repetitions have to wait for new data.
    pub fn is_new_data_first(&self) -> bool {
        self.is_new_data_first
    }

    /// Whether a repetition may leave whatever the window.
    pub fn is_repeat_forced(&self) -> bool {
        self.is_repeat_forced
    }

    /// A packet is repeated, to leave at `departure`.
    pub fn on_repeat(&mut self, departure: Time) {
        self.is_repeat_forced = false;
        self.first_repeat.get_or_insert(departure);
        if let Some(undo) = &mut self.undo {
            undo.has_repeated = true;
            undo.unanswered += 1;
        }
    }

    /// The receiver has got `packets` packets, up to `end`, twice.
    pub fn on_duplicate(&mut self, end: u64, packets: u64) {
        if let Some(undo) = &mut self.undo
            && end > undo.since
        {
            undo.unanswered = undo.unanswered.saturating_sub(packets);
        }
    }

    /// Whether all that was repeated arrived twice.
    fn is_undone_by_duplicates(&self) -> bool {
        self.undo
            .is_some_and(|undo| undo.has_repeated && undo.unanswered == 0)
    }

    /// Whether the progress that an ACK with this timestamp makes is due to a first transmission.
    fn is_undone_by_time(&self, echo: Time) -> bool {
        self.undo.is_some() && self.first_repeat.is_none_or(|repeat| echo < repeat)
    }

    fn begin(&mut self, phase: Phase, end: u64) {
        self.phase = phase;
        self.end = end;
        self.is_frto = false;
        self.is_new_data_first = false;
    }
}
