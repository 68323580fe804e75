//! Loss recovery: its start, its end, and its undoing if it was spurious (Linux `tcp_fastretrans_alert`).
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
//! A recovery or timeout was spurious if the receiver got every retransmitted packet twice (D-SACK, RFC 3708), or
//! echoed a timestamp from before the first retransmission (Eifel, RFC 3522), or, after a timeout, acknowledged data
//! that were never retransmitted (F-RTO, RFC 5682).

mod steps;

use congestion::{Duration, Time};

/// The phase of recovery (Linux `tcp_ca_state`; its Disorder is Open with selectively acknowledged data).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// No recovery.
    Open,
    /// No losses, but the network has marked a packet.
    Cwr,
    /// Recovery from losses.
    Recovery,
    /// Recovery from a timeout.
    Loss,
}

#[derive(Debug, Clone)]
pub struct Recovery {
    phase: Phase,
    /// The end of the data sent when the phase began; the phase ends when these are acknowledged.
    end: u64,
    /// The state needed to detect that it was spurious.
    undo: Option<Undo>,
    /// The time of the first retransmission among those in flight, or acknowledged in this phase (Linux
    /// `retrans_stamp`).
    first_retransmission: Option<Time>,
    /// Whether F-RTO may still find the timeout spurious.
    is_frto: bool,
    /// Whether new data go before retransmissions until the next ACK (F-RTO, step 2b).
    is_new_data_first: bool,
    /// Whether the next retransmission leaves regardless of the window: the first one does (RFC 6675, "Algorithm
    /// Details", step 4.3; RFC 6298, section 5.4).
    is_retransmission_forced: bool,
    /// Whether the phase is undone, and lasts only until its end is exceeded.
    is_undone: bool,
}

#[derive(Debug, Clone, Copy)]
struct Undo {
    /// The cumulative acknowledgement when the phase began.
    since: u64,
    /// Packets retransmitted, and not reported as duplicates (Linux `undo_retrans`).
    unanswered: u64,
    has_retransmitted: bool,
    is_timeout: bool,
    /// The round-trip time of the packets that overtook the lost one.
    rtt: Duration,
}

impl Recovery {
    pub fn new() -> Recovery {
        Recovery {
            phase: Phase::Open,
            end: 0,
            undo: None,
            first_retransmission: None,
            is_frto: false,
            is_new_data_first: false,
            is_retransmission_forced: false,
            is_undone: false,
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

    /// Whether retransmissions have to wait for new data.
    pub fn is_new_data_first(&self) -> bool {
        self.is_new_data_first
    }

    /// Whether a retransmission may leave regardless of the window.
    pub fn is_retransmission_forced(&self) -> bool {
        self.is_retransmission_forced
    }

    /// Notes that a packet is retransmitted, to leave at `departure`.
    pub fn on_retransmission(&mut self, departure: Time) {
        self.is_retransmission_forced = false;
        self.first_retransmission.get_or_insert(departure);
        if let Some(undo) = &mut self.undo {
            undo.has_retransmitted = true;
            undo.unanswered += 1;
        }
    }

    /// Notes that the receiver has received `packets` packets, up to `end`, twice.
    pub fn on_duplicate(&mut self, end: u64, packets: u64) {
        if let Some(undo) = &mut self.undo
            && end > undo.since
        {
            undo.unanswered = undo.unanswered.saturating_sub(packets);
        }
    }

    /// Whether all retransmitted packets arrived twice.
    fn is_undone_by_duplicates(&self) -> bool {
        self.undo
            .is_some_and(|undo| undo.has_retransmitted && undo.unanswered == 0)
    }

    /// Whether the progress of an ACK with this timestamp is due to a first transmission.
    fn is_undone_by_time(&self, echo: Time) -> bool {
        self.undo.is_some() && self.first_retransmission.is_none_or(|first| echo < first)
    }

    fn begin(&mut self, phase: Phase, end: u64) {
        self.phase = phase;
        self.end = end;
        self.is_frto = false;
        self.is_new_data_first = false;
        self.is_undone = false;
    }
}
