//! How far a sweep has come: a bar on a terminal, nothing elsewhere.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use indicatif::ProgressBar;
use studies::runs::{Event, Run, Work};

use crate::terminal::bars::{Bars, FULL};
use crate::terminal::human;

/// A sweep as it is seen while it runs.
pub struct SweepBar {
    // Dropped before the group that it is in, which then clears what is left of it.
    bar: Option<ProgressBar>,
    _bars: Bars,
    state: Arc<Mutex<State>>,
}

struct State {
    began: Instant,
    work: Work,
    /// How many runs have ended, and how many there are to do.
    ended: usize,
    count: usize,
}

impl SweepBar {
    /// Draws the bar of these runs, unless it should be quiet.
    pub fn new(name: &str, engine: lab::EngineKind, runs: &[&Run], quiet: bool) -> SweepBar {
        let bars = Bars::default();
        let state = Arc::new(Mutex::new(State {
            began: Instant::now(),
            work: Work::new(engine, runs),
            ended: 0,
            count: runs.len(),
        }));
        let bar = (!quiet && !runs.is_empty()).then(|| {
            let shown = state.clone();
            bars.add(name, FULL, move |_| lock(&shown).parts())
        });
        SweepBar {
            bar,
            _bars: bars,
            state,
        }
    }

    /// Shows what happened.
    pub fn show(&self, event: &Event) {
        let mut state = lock(&self.state);
        state.work.note(event);
        if let Event::Ended(_) = event {
            state.ended += 1;
        }
        if let Some(bar) = &self.bar {
            bar.set_position((state.work.share() * FULL as f64) as u64);
        }
    }
}

impl State {
    /// `12 of 60 runs`, `1:05 left`.
    fn parts(&self) -> Vec<String> {
        let left = human::rest(self.began.elapsed(), self.work.share());
        let mut parts = vec![format!(
            "{} of {}",
            self.ended,
            report::count(self.count as u64, "run")
        )];
        parts.extend(left.map(|left| format!("{left} left")));
        parts
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    // Nothing that holds the lock can leave it half-changed.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
