//! The progress of work: a bar on a terminal, nothing elsewhere.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use indicatif::ProgressBar;
use lab::{Advance, EngineKind, Progress};
use scenario::Scenario;
use studies::runs::{Event, Run, Work};
use tables::numbers;
use units::Duration;

use crate::bars::{Bars, FULL_LENGTH, lock};
use crate::{human, output};

/// The state of work, with its share of the whole.
pub trait Course: Send + 'static {
    /// A progress event.
    type News;
    /// Handles an event.
    fn note(&mut self, news: &Self::News);
    /// The completed share of the whole, from 0 to 1.
    fn share(&self) -> f64;
    /// The parts of the text after the bar after so many seconds, with the remaining time.
    fn parts(&self, seconds: f64, left: Option<String>) -> Vec<String>;
}

/// The bar of some work.
pub struct WorkBar<C> {
    // Dropped before the group of the bar, which then clears the rest.
    bar: Option<ProgressBar>,
    bars: Bars,
    course: Arc<Mutex<C>>,
}

impl<C: Course> WorkBar<C> {
    fn new(course: C) -> WorkBar<C> {
        WorkBar {
            bar: None,
            bars: Bars::default(),
            course: Arc::new(Mutex::new(course)),
        }
    }

    fn draw(&mut self, name: &str) {
        let (course, began) = (self.course.clone(), Instant::now());
        self.bar = Some(self.bars.add(name, FULL_LENGTH, move |_| {
            let (course, taken) = (lock(&course), began.elapsed());
            let left = human::rest(taken, course.share()).map(|left| format!("{left} left"));
            course.parts(taken.as_secs_f64(), left)
        }));
    }

    /// Shows an event.
    pub fn show(&self, news: &C::News) {
        let mut course = lock(&self.course);
        course.note(news);
        if let Some(bar) = &self.bar {
            bar.set_position((course.share() * FULL_LENGTH as f64) as u64);
        }
    }
}

/// One run, which ends at a time of its own.
pub struct OneRun {
    duration: Option<Duration>,
    advance: Advance,
}

impl WorkBar<OneRun> {
    /// Prints the scenario and draws the bar, unless `quiet` is set.
    pub fn of_run(scenario: &Scenario, quiet: bool) -> WorkBar<OneRun> {
        let mut bar = WorkBar::new(OneRun {
            duration: scenario.duration,
            advance: Advance::new(scenario),
        });
        if !quiet {
            let path = report::describe_hops(scenario);
            bar.bars.say(format_args!("{}: {path}", scenario.name));
            bar.draw(&scenario.name);
        }
        bar
    }
}

impl Course for OneRun {
    type News = Progress;

    fn note(&mut self, progress: &Progress) {
        self.advance.note(progress);
    }

    fn share(&self) -> f64 {
        self.advance.share()
    }

    /// `12.3 s of 60s`, `2 s left`, `35.1× real time`.
    fn parts(&self, seconds: f64, left: Option<String>) -> Vec<String> {
        let at = self.advance.at().as_secs_f64();
        let until = self.duration.map(|duration| format!(" of {duration}"));
        let mut parts = vec![format!("{at:.1} s{}", until.unwrap_or_default())];
        parts.extend(left);
        parts.push(format!("{:.1}× real time", at / seconds.max(1e-3)));
        parts
    }
}

/// Several runs.
pub struct ManyRuns {
    work: Work,
    ended: usize,
    repeated: usize,
    all: usize,
}

impl WorkBar<ManyRuns> {
    /// Draws the bar of these runs, unless `quiet` is set.
    pub fn of_runs(
        name: &str,
        engine: EngineKind,
        runs: &[&Run],
        quiet: bool,
    ) -> WorkBar<ManyRuns> {
        let mut bar = WorkBar::new(ManyRuns {
            work: Work::new(engine, runs),
            ended: 0,
            repeated: 0,
            all: runs.len(),
        });
        if !quiet && !runs.is_empty() {
            bar.draw(name);
        }
        bar
    }

    /// Removes the bar, and prints the number of repeated runs, if there were any.
    pub fn finish(self) {
        let repeated = lock(&self.course).repeated;
        drop(self);
        if repeated > 0 {
            let runs = numbers::count(repeated as u64, "run");
            output::note(format_args!(
                "{runs} not to be trusted, since the machine was late: not judged, and run again"
            ));
        }
    }
}

impl Course for ManyRuns {
    type News = Event;

    fn note(&mut self, event: &Event) {
        self.work.note(event);
        self.ended += usize::from(matches!(event, Event::Ended(_)));
        self.repeated += usize::from(matches!(event, Event::Repeated(_)));
    }

    fn share(&self) -> f64 {
        self.work.share()
    }

    /// `12 of 60 runs`, `2 repeated since the machine was late`, `1:05 left`.
    fn parts(&self, _seconds: f64, left: Option<String>) -> Vec<String> {
        let runs = numbers::count(self.all as u64, "run");
        let done = format!("{} of {runs}", self.ended);
        let repeated = (self.repeated > 0)
            .then(|| format!("{} repeated since the machine was late", self.repeated));
        std::iter::once(done).chain(repeated).chain(left).collect()
    }
}
