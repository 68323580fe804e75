//! The completed share of a run, computed from the progress that its engine reports.

use simulate::Progress;
use units::{Bytes, Duration};

use scenario::Scenario;

/// The progress of a run.
#[derive(Debug, Clone)]
pub struct Advance {
    duration: Option<Duration>,
    at: Duration,
    /// The bytes that all flows together have to transfer; `None` if one of them sends until the end of the run.
    total: Option<Bytes>,
    /// The bytes that each flow has delivered, followed by their sum.
    delivered: Vec<Bytes>,
    sum: Bytes,
}

impl Advance {
    /// Creates the progress of a run that has just started.
    pub fn new(scenario: &Scenario) -> Advance {
        let bytes = scenario.each_flow().map(|(flow, _)| flow.bytes);
        let delivered = vec![Bytes::ZERO; scenario.each_flow().count()];
        Advance {
            duration: scenario.duration,
            at: Duration::ZERO,
            total: bytes.sum(),
            delivered,
            sum: Bytes::ZERO,
        }
    }

    /// Records the progress of one flow.
    pub fn note(&mut self, progress: &Progress) {
        self.at = self.at.max(progress.at);
        if let Some(delivered) = self.delivered.get_mut(progress.flow) {
            self.sum = self.sum - *delivered + progress.delivered;
            *delivered = progress.delivered;
        }
    }

    /// The latest reported time, in the scenario's time.
    pub fn at(&self) -> Duration {
        self.at
    }

    /// The completed share of the run: of its time or of its bytes, whichever is larger.
    pub fn share(&self) -> f64 {
        let of_time = self.duration.map_or(0.0, |duration| {
            self.at.as_secs_f64() / duration.as_secs_f64()
        });
        let of_bytes = match self.total {
            Some(total) if !total.is_zero() => self.sum.get() as f64 / total.get() as f64,
            _ => 0.0,
        };
        of_time.max(of_bytes).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use congestion::ControllerKind;
    use units::Rate;

    fn progress(flow: usize, seconds: u64, delivered: u64) -> Progress {
        Progress {
            flow,
            controller: ControllerKind::Bbr1.into(),
            at: Duration::from_secs(seconds),
            delivered: Bytes::new(delivered),
            total: None,
            rate: Rate::ZERO,
            rtt: None,
            state: None,
            is_done: false,
        }
    }

    fn advance(flows: &str) -> Advance {
        let text = format!("name = \"x\"\nduration = \"10s\"\n{flows}");
        Advance::new(&text.parse().unwrap())
    }

    #[test]
    fn by_time() {
        let mut advance = advance("[[flow]]\ncontroller = \"bbr1\"\n");
        assert_eq!(advance.share(), 0.0);
        advance.note(&progress(0, 4, 1_000));
        assert_eq!(
            (advance.at(), advance.share()),
            (Duration::from_secs(4), 0.4)
        );
        advance.note(&progress(0, 11, 1_000));
        assert_eq!(advance.share(), 1.0);
    }

    #[test]
    fn by_bytes_if_they_are_sooner() {
        let group = "[[flow]]\ncontroller = \"bbr1\"\ncount = 2\nbytes = \"1kb\"\n";
        let mut advance = advance(group);
        advance.note(&progress(0, 1, 400));
        advance.note(&progress(1, 1, 1_000));
        advance.note(&progress(0, 1, 500));
        assert_eq!(advance.share(), 0.75);
        advance.note(&progress(7, 1, 500));
        assert_eq!(advance.share(), 0.75);
    }
}
