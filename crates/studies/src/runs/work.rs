//! The progress of runs, weighted by their expected work.

use super::execute::Event;
use super::plan::Run;
use lab::Advance;
use scenario::Scenario;

/// About the size of a packet in bytes.
const PACKET_BYTES: f64 = 1500.0;

/// Runs in execution with the progress of each.
#[derive(Debug)]
pub struct Work {
    runs: Vec<Part>,
    total: f64,
    /// The work done.
    done: f64,
}

#[derive(Debug)]
struct Part {
    work: f64,
    advance: Advance,
    /// The share of the work that is done.
    done: f64,
}

impl Work {
    /// The work of these runs.
    pub fn new(engine: lab::EngineKind, runs: &[&Run]) -> Work {
        let part = |run: &&Run| Part {
            work: work(engine, &run.scenario),
            advance: Advance::new(&run.scenario),
            done: 0.0,
        };
        let runs: Vec<Part> = runs.iter().map(part).collect();
        Work {
            total: runs.iter().map(|run| run.work).sum(),
            done: 0.0,
            runs,
        }
    }

    /// Updates the progress.
    pub fn note(&mut self, event: &Event) {
        let (run, done) = match event {
            Event::Progress(place, progress) => {
                let run = &mut self.runs[*place];
                run.advance.note(progress);
                let done = run.done.max(run.advance.share());
                (run, done)
            }
            Event::Repeated(_) => return,
            Event::Ended(place) => (&mut self.runs[*place], 1.0),
        };
        self.done += run.work * (done - run.done);
        run.done = done;
    }

    /// The share of the work that is done.
    pub fn share(&self) -> f64 {
        if self.total > 0.0 {
            (self.done / self.total).clamp(0.0, 1.0)
        } else {
            1.0
        }
    }
}

/// The expected work of a run, relative to other runs of the same engine: packets in virtual time, seconds in real
/// time.
fn work(engine: lab::EngineKind, scenario: &Scenario) -> f64 {
    let flows = scenario.each_flow();
    let bytes = flows
        .map(|(flow, _)| flow.bytes)
        .sum::<Option<units::Bytes>>();
    let rate = scenario.hops().find_map(|hop| hop.data.rate);
    let by_bytes = match (bytes, rate) {
        (Some(bytes), Some(rate)) => rate.time_for(bytes).as_secs_f64(),
        _ => f64::INFINITY,
    };
    let by_time = scenario
        .duration
        .map_or(f64::INFINITY, |duration| duration.as_secs_f64());
    let seconds = Some(by_bytes.min(by_time)).filter(|seconds| seconds.is_finite());
    let seconds = seconds.unwrap_or(1.0);
    match (engine.is_real_time(), rate) {
        (false, Some(rate)) => seconds * rate.bytes_per_sec() as f64 / PACKET_BYTES,
        _ => seconds,
    }
}
