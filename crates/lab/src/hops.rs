//! What is seen of the bottlenecks.

use path::Queued;
use record::{PathRecord, PathRecorder, PathSample, PathSummary, PathTotals};
use scenario::Scenario;
use units::Duration;

/// All hops, watched.
#[derive(Debug)]
pub(crate) struct Hops(Vec<PathRecorder>);

impl Hops {
    /// Every hop of the scenario.
    pub fn of(scenario: &Scenario) -> Hops {
        let hops = scenario.hops();
        let recorders = hops.map(|hop| PathRecorder::new(hop.clone(), scenario.warmup));
        Hops(recorders.collect())
    }

    /// Keeps no samples of any.
    pub fn without_samples(self) -> Hops {
        let recorders = self.0.into_iter().map(PathRecorder::without_samples);
        Hops(recorders.collect())
    }

    /// Notes what waits at each hop.
    pub fn look(&mut self, at: Duration, mut see: impl FnMut(usize) -> Queued) {
        for (hop, recorder) in self.0.iter_mut().enumerate() {
            let queued = see(hop);
            recorder.sample(PathSample {
                at,
                queue: queued.bytes,
                delay: queued.delay,
            });
        }
    }

    /// Notes what each hop's link has done by `at`: at least when the warmup ends and when the run does.
    pub fn note(&mut self, at: Duration, see: impl Fn(usize) -> PathTotals) {
        for (hop, recorder) in self.0.iter_mut().enumerate() {
            recorder.totals(at, see(hop));
        }
    }

    /// Notes packets that the machine lost before the first hop.
    pub fn overflows(&mut self, packets: u64) {
        self.0[0].overflows(packets);
    }

    /// Summaries and samples after a run that ended at `end`: of the first hop, and of those behind it.
    pub fn finish(self, end: Duration, payload_share: f64) -> (Finished, Vec<Finished>) {
        let mut hops = self.0.into_iter().map(|hop| hop.finish(end, payload_share));
        let first = hops.next().expect("every path has a hop");
        (first, hops.collect())
    }
}

type Finished = (PathSummary, PathRecord);
