//! The tail loss probe. When the last packets of a flight are lost, no later packet arrives to show it. After two round
//! trips of silence, the sender sends one packet whose acknowledgement does (RFC 8985, "TLP Algorithm Details").

use congestion::{Duration, Time};

/// The probe timeout without a round-trip time (RFC 8985, `TLP_calc_PTO`).
const NO_RTT_TIMEOUT: Duration = Duration::from_secs(1);

/// The longest delay of an ACK of a single packet (RFC 8985, `TLP.max_ack_delay`; Linux uses its minimum
/// retransmission timeout).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Default)]
pub struct Tlp {
    deadline: Option<Time>,
    is_due: bool,
    probe: Option<Probe>,
}

/// A probe that is not yet acknowledged.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// The end of the data sent with it (`TLP.end_seq`).
    end: u64,
    /// Whether it was a retransmission (`TLP.is_retrans`).
    is_retransmission: bool,
}

impl Tlp {
    /// Schedules a probe after silence since `from`, when data in flight are sent or acknowledged. A probe does not
    /// follow a probe, and comes no later than the retransmission timeout at `limit` (`TLP_calc_PTO`).
    #[inline]
    pub fn arm(
        &mut self,
        from: Time,
        srtt: Option<Duration>,
        is_single: bool,
        limit: Option<Time>,
    ) {
        if self.probe.is_some() {
            self.deadline = None;
            return;
        }
        let timeout = match srtt {
            None => NO_RTT_TIMEOUT,
            Some(srtt) if is_single => srtt * 2 + MAX_ACK_DELAY,
            Some(srtt) => srtt * 2,
        };
        let deadline = from + timeout;
        self.deadline = Some(limit.map_or(deadline, |limit| deadline.min(limit)));
    }

    /// Cancels the scheduled probe.
    pub fn disarm(&mut self) {
        self.deadline = None;
        self.is_due = false;
    }

    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Whether the probe timeout has expired.
    pub fn on_timer(&mut self, now: Time) -> bool {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return false;
        }
        self.deadline = None;
        self.is_due = true;
        true
    }

    /// Whether a probe is to leave now; returns true once.
    pub fn take_due(&mut self) -> bool {
        core::mem::take(&mut self.is_due)
    }

    /// Notes that a probe was sent; everything before `end` was sent with it (`TLP_send_probe`).
    pub fn on_probe(&mut self, end: u64, is_retransmission: bool) {
        self.probe = Some(Probe {
            end,
            is_retransmission,
        });
    }

    /// Handles a D-SACK for data that end at `end`; returns whether it is of the probe. If so, nothing was lost, and
    /// there was no reordering (`TLP_process_ack`).
    pub fn on_duplicate(&mut self, end: u64) -> bool {
        let is_probe = self
            .probe
            .is_some_and(|probe| probe.is_retransmission && probe.end == end);
        if is_probe {
            self.probe = None;
        }
        is_probe
    }

    /// Handles an ACK up to `una`; `is_news` if it delivered data. Returns whether it shows that the probe has
    /// repaired a loss that nothing else would show ("Detecting Losses Using TLP").
    pub fn on_ack(&mut self, una: u64, is_news: bool) -> bool {
        let Some(probe) = self.probe.filter(|probe| una >= probe.end) else {
            return false;
        };
        // A second ACK without new data shows that the retransmitted data arrived twice. After one ACK, that is open
        // until more is acknowledged.
        let is_settled = !probe.is_retransmission || una > probe.end || !is_news;
        if is_settled {
            self.probe = None;
        }
        probe.is_retransmission && una > probe.end
    }

    /// Discards the probe after a timeout.
    pub fn forget(&mut self) {
        *self = Tlp::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repeated() -> Tlp {
        let mut tlp = Tlp::default();
        tlp.on_probe(100, true);
        tlp
    }

    #[test]
    fn a_probe_that_was_needed_tells_of_a_loss() {
        let mut tlp = repeated();
        assert!(!tlp.on_ack(90, true));
        assert!(!tlp.on_ack(100, true), "the original or the probe");
        assert!(
            tlp.on_ack(110, true),
            "no second acknowledgement came between"
        );
        assert!(!tlp.on_ack(120, true));
    }

    #[test]
    fn a_probe_that_was_not_needed_does_not() {
        let mut tlp = repeated();
        assert!(!tlp.on_ack(100, true));
        assert!(!tlp.on_ack(100, false), "the probe's own acknowledgement");
        assert!(!tlp.on_ack(110, true));

        let mut tlp = repeated();
        assert!(!tlp.on_duplicate(50));
        assert!(tlp.on_duplicate(100));
        assert!(!tlp.on_ack(110, true));
    }

    #[test]
    fn new_data_as_probe_tells_nothing_by_itself() {
        let mut tlp = Tlp::default();
        tlp.on_probe(100, false);
        assert!(!tlp.on_ack(110, true));
    }

    #[test]
    fn no_probe_follows_a_probe_and_none_comes_after_the_timeout() {
        let srtt = Some(Duration::from_millis(40));
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        let mut tlp = Tlp::default();
        tlp.arm(at(0), srtt, false, Some(at(300)));
        assert_eq!(tlp.deadline(), Some(at(80)));
        tlp.arm(at(0), srtt, true, Some(at(300)));
        assert_eq!(tlp.deadline(), Some(at(280)));
        tlp.arm(at(0), None, true, Some(at(300)));
        assert_eq!(tlp.deadline(), Some(at(300)));
        assert!(!tlp.on_timer(at(299)));
        assert!(tlp.on_timer(at(300)));
        assert!(tlp.take_due() && !tlp.take_due());
        tlp.on_probe(100, false);
        tlp.arm(at(300), srtt, false, None);
        assert_eq!(tlp.deadline(), None);
    }
}
