//! The tail loss probe: when the last packets of a flight are lost, nothing behind them arrives to tell. After two round
//! trips of silence one packet is sent whose acknowledgement does (RFC 8985, "TLP Algorithm Details").

use congestion::{Duration, Time};

/// The silence to wait for without a round-trip time (RFC 8985, `TLP_calc_PTO`).
const NO_RTT_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a receiver may hold back the acknowledgement of a single packet (RFC 8985, `TLP.max_ack_delay`; Linux takes its
/// least retransmission timeout).
const MAX_ACK_DELAY: Duration = Duration::from_millis(200);

#[derive(Debug, Clone, Default)]
pub struct Tlp {
    deadline: Option<Time>,
    is_due: bool,
    probe: Option<Probe>,
}

/// A probe that is not yet answered.
#[derive(Debug, Clone, Copy)]
struct Probe {
    /// What had been sent when it was (`TLP.end_seq`).
    end: u64,
    /// Whether it repeated data (`TLP.is_retrans`).
    is_repeat: bool,
}

impl Tlp {
    /// Lets a probe follow on silence after `from`, when data in flight is sent or acknowledged; but not on a probe, nor
    /// later than the retransmission timeout at `limit` (`TLP_calc_PTO`).
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

    /// No probe is to follow.
    pub fn disarm(&mut self) {
        self.deadline = None;
        self.is_due = false;
    }

    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        self.deadline
    }

    /// Whether the silence has lasted long enough.
    pub fn on_timer(&mut self, now: Time) -> bool {
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return false;
        }
        self.deadline = None;
        self.is_due = true;
        true
    }

    /// Whether a probe is to leave now; once.
    pub fn take_due(&mut self) -> bool {
        core::mem::take(&mut self.is_due)
    }

    /// A probe was sent; with it, everything before `end` (`TLP_send_probe`).
    pub fn on_probe(&mut self, end: u64, is_repeat: bool) {
        self.probe = Some(Probe { end, is_repeat });
    }

    /// A D-SACK for what ends at `end`. Whether it is about the probe: then nothing was lost, and it tells nothing of
    /// reordering (`TLP_process_ack`).
    pub fn on_duplicate(&mut self, end: u64) -> bool {
        let is_probe = self
            .probe
            .is_some_and(|probe| probe.is_repeat && probe.end == end);
        if is_probe {
            self.probe = None;
        }
        is_probe
    }

    /// An ACK up to `una`; `is_news` if it tells anything at all. Whether it shows that the probe has repaired a loss,
    /// which else nobody would notice ("Detecting Losses Using TLP").
    pub fn on_ack(&mut self, una: u64, is_news: bool) -> bool {
        let Some(probe) = self.probe.filter(|probe| una >= probe.end) else {
            return false;
        };
        // Repeated data that is acknowledged twice without a word has arrived twice. One acknowledgement leaves it open
        // until more is acknowledged.
        let is_settled = !probe.is_repeat || una > probe.end || !is_news;
        if is_settled {
            self.probe = None;
        }
        probe.is_repeat && una > probe.end
    }

    /// A timeout has overtaken the probe.
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
