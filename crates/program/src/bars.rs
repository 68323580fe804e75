//! Live bars on stderr. Nothing is drawn where stderr is no terminal.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use crate::output;

/// Bars are drawn anew so often, whether or not there is news.
const TICK: Duration = Duration::from_millis(100);

/// The length of a bar for what is measured in shares of a whole.
pub const FULL: u64 = 10_000;

/// A longer name would leave no place for the rest of the line.
const MAX_NAME: usize = 24;

/// A shorter bar shows nothing.
const MIN_BAR: usize = 6;

/// `" 100%"` and the spaces around it.
const PERCENT: usize = 7;

/// Where the width is not known.
const USUAL_COLUMNS: usize = 80;

/// Locks what is shown, also if a thread that held it has ended badly: nothing leaves it half-changed.
pub fn lock<T>(shown: &Mutex<T>) -> MutexGuard<'_, T> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group of bars, one below the other. What is drawn disappears when the group is dropped.
#[derive(Default)]
pub struct Bars {
    group: MultiProgress,
    /// The characters of the longest text that stood behind a bar. The bars take what the terminal's width leaves of
    /// their lines: all of them the same, and no more when a text becomes shorter.
    widest: Arc<AtomicUsize>,
}

impl Bars {
    /// Whether bars can be seen; if not, a command says in plain lines how it goes.
    pub fn are_visible() -> bool {
        stderr().is_terminal()
    }

    /// Adds a bar called `name` that is full at `total`. `live` writes what stands behind it, whenever it is drawn: parts,
    /// of which the last ones are left out where there is no room for all.
    pub fn add(
        &self,
        name: &str,
        total: u64,
        live: impl Fn(&ProgressState) -> Vec<String> + Clone + Send + Sync + 'static,
    ) -> ProgressBar {
        let widest = self.widest.clone();
        let name = shorten(name, MAX_NAME.min(columns() / 4));
        let taken = name.chars().count() + MIN_BAR + PERCENT;
        let live = move |state: &ProgressState, out: &mut dyn Write| {
            let room = columns().saturating_sub(taken);
            let text = fitting(&live(state), room);
            let length = text.chars().count();
            let width = widest.fetch_max(length, Ordering::Relaxed).max(length);
            let width = width.min(room);
            // A line that cannot be written is missing from the terminal, and nowhere else.
            let _ = write!(out, "{text:width$}");
        };
        let style =
            ProgressStyle::with_template("{prefix} {wide_bar:.cyan/dim} {percent:>3}%  {live}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("live", live)
                .progress_chars("━╸─");
        let bar = ProgressBar::new(total).with_style(style).with_prefix(name);
        let bar = self.group.add(bar);
        // It panics without its thread. The bar then moves only when there is progress.
        if lab::are_granted(1).is_ok() {
            bar.enable_steady_tick(TICK);
        }
        bar
    }

    /// Adds a line without a bar, which shows the message that it is given, as far as the terminal is wide.
    pub fn line(&self) -> ProgressBar {
        let style = ProgressStyle::with_template("{wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        self.group.add(ProgressBar::new_spinner().with_style(style))
    }

    /// Says something above the bars.
    pub fn say(&self, line: impl std::fmt::Display) {
        self.group.suspend(|| output::note(line));
    }
}

/// The terminal's columns.
fn columns() -> usize {
    let size = Term::stderr().size_checked();
    size.map_or(USUAL_COLUMNS, |(_, columns)| columns.into())
}

/// As many of the parts, from the first one on, as fit; of the first one as much as fits.
fn fitting(parts: &[String], room: usize) -> String {
    let mut text = String::new();
    for part in parts {
        let gap = if text.is_empty() { "" } else { "  " };
        if text.chars().count() + gap.len() + part.chars().count() > room && !text.is_empty() {
            break;
        }
        text = text + gap + part;
    }
    text.chars().take(room).collect()
}

impl Drop for Bars {
    fn drop(&mut self) {
        // A terminal that has gone needs no tidying.
        let _ = self.group.clear();
    }
}

/// The name, or as much of it as there is place for.
fn shorten(name: &str, most: usize) -> String {
    match name.char_indices().nth(most) {
        None => name.to_owned(),
        Some(_) => name
            .chars()
            .take(most.saturating_sub(1))
            .chain(['…'])
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_NAME, fitting, shorten};

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(
            shorten("exactly-24-characters.xy", MAX_NAME),
            "exactly-24-characters.xy"
        );
        assert_eq!(
            shorten("ä-name-of-25-characters.x", MAX_NAME),
            "ä-name-of-25-characters…"
        );
    }

    #[test]
    fn the_last_parts_go_where_there_is_no_room() {
        let parts = ["18.6 Mbit/s", "RTT 41.2 ms", "4 s left", "ProbeBW"].map(str::to_owned);
        assert_eq!(
            fitting(&parts, 80),
            "18.6 Mbit/s  RTT 41.2 ms  4 s left  ProbeBW"
        );
        assert_eq!(fitting(&parts, 42), "18.6 Mbit/s  RTT 41.2 ms  4 s left");
        assert_eq!(fitting(&parts, 11), "18.6 Mbit/s");
        assert_eq!(fitting(&parts, 4), "18.6");
        assert_eq!(fitting(&[], 4), "");
    }
}
