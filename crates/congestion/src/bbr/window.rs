//! The congestion window (BBR draft, "Congestion Window"; Linux `bbr_set_cwnd`, `bbr_save_cwnd`).

use units::{Bytes, Duration, Rate, Ratio};

use crate::controller::Ack;

/// The least window, in packets, except right after a timeout and while conserving packets. Four keep the pipe going
/// with a receiver that acknowledges every other packet (BBR draft, `BBR.MinPipeCwnd`; Linux `bbr_cwnd_min_target`; the paper
/// has four in ProbeRTT).
const MIN_PACKETS: u64 = 4;

/// The least window with packets of `mss`.
pub fn least(mss: Bytes) -> Bytes {
    mss * MIN_PACKETS
}

/// The estimated bandwidth-delay product times `gain`; the initial window while no RTT is known.
pub fn bdp(bw: Rate, rtt: Option<Duration>, gain: Ratio, initial: Bytes) -> Bytes {
    match rtt {
        Some(rtt) => gain.of_bytes(bw.bytes_in(rtt)),
        None => initial,
    }
}

/// The window after this ACK: it approaches `target` from below, by what is delivered. An estimate that still grows, before the
/// pipe `is_full`, is no reason to cut it; and until the initial window is delivered there is no estimate to go by.
pub fn approach(cwnd: Bytes, target: Bytes, ack: &Ack, is_full: bool, initial: Bytes) -> Bytes {
    if is_full {
        (cwnd + ack.newly_acked).min(target)
    } else if cwnd < target || ack.rate.total_delivered < initial {
        cwnd + ack.newly_acked
    } else {
        cwnd
    }
}

/// The window to return to after a recovery, or after ProbeRTT.
#[derive(Debug, Clone, Copy, Default)]
pub struct Saved(Bytes);

impl Saved {
    /// Remembers the window before something cuts it. One that `is_cut` already does not replace a greater one.
    pub fn save(&mut self, cwnd: Bytes, is_cut: bool) {
        self.0 = if is_cut { cwnd.max(self.0) } else { cwnd };
    }

    /// The window, or the remembered one if that is greater.
    pub fn or_saved(self, cwnd: Bytes) -> Bytes {
        cwnd.max(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_that_is_cut_does_not_replace_a_greater_one() {
        let bytes = Bytes::new;
        let mut saved = Saved::default();
        saved.save(bytes(10), false);
        saved.save(bytes(4), true);
        assert_eq!(saved.or_saved(bytes(4)), bytes(10));
        assert_eq!(saved.or_saved(bytes(12)), bytes(12));
        saved.save(bytes(6), false);
        assert_eq!(saved.or_saved(bytes(4)), bytes(6));
    }
}
