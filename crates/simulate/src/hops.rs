//! The observed state of the bottlenecks.

use path::Queued;
use record::{PathRecord, PathRecorder, PathSample, PathSummary, PathTotals};
use scenario::{Crossing, Network};
use units::Duration;

/// The observed state of all bottlenecks.
#[derive(Debug, Clone)]
pub struct Hops {
    /// The observed direction of each link.
    crossings: Vec<Crossing>,
    recorders: Vec<PathRecorder>,
}

impl Hops {
    /// Creates every bottleneck of the network.
    pub fn of(network: &Network<'_>) -> Hops {
        let warmup = network.scenario().warmup;
        let crossings = network.observed();
        let recorder = |crossing: &Crossing| {
            let link = network.links()[crossing.link];
            let spec = if crossing.is_back {
                link.turned()
            } else {
                link.clone()
            };
            let recorder = PathRecorder::new(spec, warmup).among(crossings.len());
            recorder.named(network.name(*crossing))
        };
        Hops {
            recorders: crossings.iter().map(recorder).collect(),
            crossings,
        }
    }

    /// Records no samples of any bottleneck.
    pub fn without_samples(self) -> Hops {
        let recorders = self.recorders.into_iter();
        Hops {
            recorders: recorders.map(PathRecorder::without_samples).collect(),
            ..self
        }
    }

    /// The number of bottlenecks.
    pub fn count(&self) -> u64 {
        self.recorders.len() as u64
    }

    /// Records the queue of each bottleneck.
    pub fn sample(&mut self, at: Duration, mut queued: impl FnMut(Crossing) -> Queued) {
        for (crossing, recorder) in self.crossings.iter().zip(&mut self.recorders) {
            let queue = queued(*crossing);
            recorder.sample(PathSample {
                at,
                queue: queue.bytes,
                delay: queue.delay,
            });
        }
    }

    /// Records the counters of each bottleneck at `at`. Call it at least at the end of the warmup and of the run.
    pub fn note(&mut self, at: Duration, totals_of: impl Fn(Crossing) -> PathTotals) {
        for (crossing, recorder) in self.crossings.iter().zip(&mut self.recorders) {
            recorder.totals(at, totals_of(*crossing));
        }
    }

    /// Records packets that the machine lost before the first bottleneck.
    pub fn overflows(&mut self, packets: u64) {
        self.recorders[0].overflows(packets);
    }

    /// Returns summaries and samples after a run that ended at `end`: those of the first bottleneck, and those of
    /// the others.
    pub fn finish(self, end: Duration, payload_share: f64) -> (Finished, Vec<Finished>) {
        let recorders = self.recorders.into_iter();
        let mut hops = recorders.map(|hop| hop.finish(end, payload_share));
        let first = hops.next().expect("every path has a hop");
        (first, hops.collect())
    }
}

type Finished = (PathSummary, PathRecord);
