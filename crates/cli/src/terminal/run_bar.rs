//! How far a run has come: a bar on a terminal, nothing elsewhere.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use indicatif::ProgressBar;
use lab::{Advance, Progress};
use scenario::Scenario;
use units::Duration;

use crate::terminal::bars::{Bars, FULL};
use crate::terminal::human;

/// A run as it is seen while it goes on.
pub struct RunBar {
    // Dropped before the group that it is in, which then clears what is left of it.
    bar: Option<ProgressBar>,
    _bars: Bars,
    state: Arc<Mutex<State>>,
}

struct State {
    began: Instant,
    duration: Option<Duration>,
    advance: Advance,
}

impl RunBar {
    /// Says what is run, and draws the bar; unless it should be quiet.
    pub fn new(scenario: &Scenario, quiet: bool) -> RunBar {
        let bars = Bars::default();
        let state = Arc::new(Mutex::new(State {
            began: Instant::now(),
            duration: scenario.duration,
            advance: Advance::new(scenario),
        }));
        let bar = (!quiet).then(|| {
            let path = report::describe_hops(scenario);
            bars.say(format_args!("{}: {path}", scenario.name));
            let shown = state.clone();
            bars.add(&scenario.name, FULL, move |_| lock(&shown).parts())
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
        state.advance.note(progress);
        if let Some(bar) = &self.bar {
            bar.set_position((state.advance.share() * FULL as f64) as u64);
        }
    }
}

impl State {
    /// `12.3 s of 60s`, `2 s left`, `35.1× real time`.
    fn parts(&self) -> Vec<String> {
        let (wall, at) = (self.began.elapsed(), self.advance.at().as_secs_f64());
        let until = self
            .duration
            .map_or(String::new(), |duration| format!(" of {duration}"));
        let speed = at / wall.as_secs_f64().max(1e-3);
        let left = human::rest(wall, self.advance.share());
        let mut parts = vec![format!("{at:.1} s{until}")];
        parts.extend(left.map(|left| format!("{left} left")));
        parts.push(format!("{speed:.1}× real time"));
        parts
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    // Nothing that holds the lock can leave it half-changed.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
