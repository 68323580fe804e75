//! How far a run has come: a bar on a terminal, nothing elsewhere.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use indicatif::ProgressBar;
use lab::engine::Progress;
use lab::report;
use lab::scenario::Scenario;
use units::{Bytes, Duration};

use crate::bars::Bars;
use crate::human;

/// A full bar; how far a run has come is told in parts of it.
const FULL: u64 = 10_000;

/// A run as it is seen while it goes on.
pub struct RunBar {
    // Dropped before the group that it is in, which then clears what is left of it.
    bar: Option<ProgressBar>,
    _bars: Bars,
    state: Arc<Mutex<State>>,
}

/// What was last told of the run.
struct State {
    began: Instant,
    duration: Option<Duration>,
    /// When, in the scenario's time.
    at: Duration,
    /// Each flow's share of its transfer; nothing of a flow that sends until the end of the run.
    transfers: Vec<Option<f64>>,
}

impl RunBar {
    /// Says what is run, and draws the bar; unless it should be quiet.
    pub fn new(scenario: &Scenario, quiet: bool) -> RunBar {
        let bars = Bars::default();
        let state = State {
            began: Instant::now(),
            duration: scenario.duration,
            at: Duration::ZERO,
            transfers: scenario
                .each_flow()
                .map(|(flow, _)| flow.bytes.map(|_| 0.0))
                .collect(),
        };
        let state = Arc::new(Mutex::new(state));
        let bar = (!quiet).then(|| {
            bars.say(format_args!(
                "{}: {}",
                scenario.name,
                report::describe(&scenario.path)
            ));
            let shown = state.clone();
            bars.add(&scenario.name, FULL, move |_| lock(&shown).line())
        });
        RunBar {
            bar,
            _bars: bars,
            state,
        }
    }

    /// Shows how far a flow has come.
    pub fn show(&self, progress: &Progress) {
        let mut state = lock(&self.state);
        state.note(progress);
        if let Some(bar) = &self.bar {
            bar.set_position((state.share() * FULL as f64) as u64);
        }
    }
}

impl State {
    fn note(&mut self, progress: &Progress) {
        self.at = self.at.max(progress.at);
        if let (Some(share), Some(total)) = (self.transfers.get_mut(progress.flow), progress.total)
        {
            *share = Some(match total == Bytes::ZERO {
                true => 1.0,
                false => progress.delivered.get() as f64 / total.get() as f64,
            });
        }
    }

    /// How much of the run is done: by its time, or by what was transferred if that ends it sooner.
    fn share(&self) -> f64 {
        let by_time = self.duration.map_or(0.0, |duration| {
            self.at.as_secs_f64() / duration.as_secs_f64()
        });
        let by_bytes = self
            .transfers
            .iter()
            .copied()
            .try_fold(1.0, |least: f64, share| Some(least.min(share?)))
            .unwrap_or(0.0);
        by_time.max(by_bytes).min(1.0)
    }

    /// `12.3 s of 60 s  35.1× real time  2 s left`.
    fn line(&self) -> String {
        let wall = self.began.elapsed().as_secs_f64();
        let until = self
            .duration
            .map_or(String::new(), |duration| format!(" of {duration}"));
        let at = self.at.as_secs_f64();
        let speed = if wall > 0.0 { at / wall } else { 0.0 };
        let share = self.share();
        let left = match share > 0.0 {
            true => {
                let left = std::time::Duration::try_from_secs_f64(wall * (1.0 - share) / share);
                left.map_or(String::new(), |left| {
                    format!("  {} left", human::time_left(left.into()))
                })
            }
            false => String::new(),
        };
        format!("{at:.1} s{until}  {speed:.1}× real time{left}")
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    // Nothing that holds the lock can leave it half-changed.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
