//! HyStart: leaves slow start when the path seems to be full, before its buffer overflows.
//!
//! | file | what |
//! | --- | --- |
//! | `linux` | Linux's, the original (Ha and Rhee, "Taming the Elephants: New TCP Slow Start", 2011), as `tcp_cubic.c` has it |
//! | `rfc9406` | HyStart++ (RFC 9406) |

mod linux;
mod rfc9406;

use units::{Bytes, Duration, Rate, Time};

/// A variant of HyStart.
#[derive(Debug, Clone, Copy)]
pub enum HyStart {
    Linux(linux::HyStart),
    Rfc9406(rfc9406::HyStart),
}

/// The input of HyStart from an ACK.
#[derive(Debug, Clone, Copy)]
pub struct Observed {
    pub now: Time,
    /// Whether this ACK began a packet-timed round.
    pub begins_round: bool,
    pub rtt: Option<Duration>,
    /// The window in packets.
    pub packets: u64,
    pub pacing_rate: Rate,
    /// Whether this is slow start.
    pub is_slow_start: bool,
    /// Whether it is the first one, which has no threshold.
    pub is_initial: bool,
}

impl HyStart {
    /// Linux's HyStart, for a sender with or without pacing.
    pub fn linux(now: Time, is_paced: bool) -> HyStart {
        HyStart::Linux(linux::HyStart::new(now, is_paced))
    }

    /// HyStart++.
    pub fn rfc9406() -> HyStart {
        HyStart::Rfc9406(rfc9406::HyStart::default())
    }

    /// Takes an ACK. Returns whether slow start is over.
    pub fn on_ack(&mut self, observed: &Observed) -> bool {
        match self {
            HyStart::Linux(hystart) => hystart.on_ack(observed),
            HyStart::Rfc9406(hystart) => {
                if !observed.is_initial {
                    return false;
                }
                if observed.begins_round && hystart.on_round() {
                    return true;
                }
                if let Some(rtt) = observed.rtt {
                    hystart.on_rtt(rtt);
                }
                false
            }
        }
    }

    /// Resets after a retransmission timeout, which starts another slow start.
    pub fn on_timeout(&mut self, now: Time) {
        if let HyStart::Linux(hystart) = self {
            hystart.restart(now);
        }
    }

    /// The growth of the window for `acked` bytes in the initial slow start.
    pub fn growth(&self, acked: Bytes) -> Bytes {
        match self {
            HyStart::Linux(_) => acked,
            HyStart::Rfc9406(hystart) => hystart.growth(acked),
        }
    }

    /// Whether HyStart++ is in Conservative Slow Start.
    pub fn is_conservative(&self) -> bool {
        match self {
            HyStart::Linux(_) => false,
            HyStart::Rfc9406(hystart) => hystart.is_conservative(),
        }
    }
}
