//! The observed state of the bottlenecks.

use path::Queued;
use record::{PathRecord, PathRecorder, PathSample, PathSummary, PathTotals};
use scenario::Scenario;
use units::Duration;

/// The observed state of all hops.
#[derive(Debug)]
pub(crate) struct Hops(Vec<PathRecorder>);

impl Hops {
    /// Creates every hop of the scenario.
    pub fn of(scenario: &Scenario) -> Hops {
        let hops = scenario.hops();
        let recorders = hops.map(|hop| PathRecorder::new(hop.clone(), scenario.warmup));
        Hops(recorders.collect())
    }

    /// Records no samples of any hop.
    pub fn without_samples(self) -> Hops {
        let recorders = self.0.into_iter().map(PathRecorder::without_samples);
        Hops(recorders.collect())
    }

    /// Records the queue of each hop.
    pub fn sample(&mut self, at: Duration, mut queued: impl FnMut(usize) -> Queued) {
        for (hop, recorder) in self.0.iter_mut().enumerate() {
            let queue = queued(hop);
            recorder.sample(PathSample {
                at,
                queue: queue.bytes,
                delay: queue.delay,
            });
        }
    }

    /// Records the counters of each hop's link at `at`. Call it at least at the end of the warmup and of the run.
    pub fn note(&mut self, at: Duration, totals_of: impl Fn(usize) -> PathTotals) {
        for (hop, recorder) in self.0.iter_mut().enumerate() {
            recorder.totals(at, totals_of(hop));
        }
    }

    /// Records packets that the machine lost before the first hop.
    pub fn overflows(&mut self, packets: u64) {
        self.0[0].overflows(packets);
    }

    /// Returns summaries and samples after a run that ended at `end`: those of the first hop, and those of the hops
    /// behind it.
    pub fn finish(self, end: Duration, payload_share: f64) -> (Finished, Vec<Finished>) {
        let mut hops = self.0.into_iter().map(|hop| hop.finish(end, payload_share));
        let first = hops.next().expect("every path has a hop");
        (first, hops.collect())
    }
}

type Finished = (PathSummary, PathRecord);
