//! How far a sweep has come: runs differ in how long they take.

use std::collections::HashMap;

use super::execute::Event;
use super::plan::Plan;
use lab::Advance;
use scenario::Scenario;

/// About the size of a packet in bytes.
const PACKET: f64 = 1500.0;

/// The runs that are to be done, and how far each of them is.
#[derive(Debug)]
pub struct Work {
    runs: HashMap<usize, Remaining>,
    total: f64,
    done: f64,
}

#[derive(Debug)]
struct Remaining {
    work: f64,
    advance: Advance,
    /// What has been counted of it.
    done: f64,
}

impl Work {
    /// The runs of the plan at these places.
    pub fn new(plan: &Plan, engine: lab::EngineKind, places: &[usize]) -> Work {
        let runs: HashMap<usize, Remaining> = places
            .iter()
            .filter_map(|place| {
                let scenario = &plan.runs.get(*place)?.scenario;
                let remaining = Remaining {
                    work: work(engine, scenario),
                    advance: Advance::new(scenario),
                    done: 0.0,
                };
                Some((*place, remaining))
            })
            .collect();
        Work {
            total: runs.values().map(|run| run.work).sum(),
            runs,
            done: 0.0,
        }
    }

    /// Notes what happened.
    pub fn note(&mut self, event: &Event) {
        let place = match event {
            Event::Progress(place, _) | Event::Ended(place) => place,
        };
        let Some(run) = self.runs.get_mut(place) else {
            return;
        };
        let share = match event {
            Event::Progress(_, progress) => {
                run.advance.note(progress);
                run.advance.share()
            }
            Event::Ended(_) => 1.0,
        };
        self.done += run.work * share - run.done;
        run.done = run.work * share;
        if let Event::Ended(_) = event {
            self.runs.remove(place);
        }
    }

    /// The share of the work that is done.
    pub fn share(&self) -> f64 {
        match self.total > 0.0 {
            true => (self.done / self.total).clamp(0.0, 1.0),
            false => 1.0,
        }
    }
}

/// How much work a run is, beside other runs of the same engine: packets in virtual time, seconds in real time.
fn work(engine: lab::EngineKind, scenario: &Scenario) -> f64 {
    let flows = scenario.each_flow();
    let bytes = flows
        .map(|(flow, _)| flow.bytes)
        .sum::<Option<units::Bytes>>();
    let rate = scenario.path.data.rate;
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
        (false, Some(rate)) => seconds * rate.bytes_per_sec() as f64 / PACKET,
        _ => seconds,
    }
}
