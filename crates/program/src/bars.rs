//! Live bars on stderr. Nothing is drawn if stderr is not a terminal.

use std::fmt::Write;
use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use console::Term;
use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use crate::output;

/// The interval at which bars are redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// The length of a bar that shows a share.
pub const FULL_LENGTH: u64 = 10_000;

/// The maximum length of a name; a longer one would leave no room for the rest of the line.
const MAX_NAME_CHARS: usize = 24;

/// The minimum length of a bar.
const MIN_BAR_CHARS: usize = 6;

/// `" 100%"` and the spaces around it.
const PERCENT_WIDTH: usize = 7;

/// The number of columns if the width is unknown.
const USUAL_COLUMNS: usize = 80;

/// Locks the state of a display, even if a thread that held the lock has panicked: no change leaves it inconsistent.
pub fn lock<T>(shown: &Mutex<T>) -> MutexGuard<'_, T> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A group of bars, one below the other. The bars disappear when the group is dropped.
#[derive(Default)]
pub struct Bars {
    group: MultiProgress,
    /// The length in characters of the longest text after a bar. The bars share the rest of the terminal's width, and
    /// do not grow when a text becomes shorter.
    widest: Arc<AtomicUsize>,
}

impl Bars {
    /// True if bars are visible; otherwise, commands print plain lines.
    pub fn are_visible() -> bool {
        stderr().is_terminal()
    }

    /// Adds a bar called `name` that is full at `total`. `live` writes the parts of the text after it at each redraw.
    /// Parts that do not fit are dropped from the end.
    pub fn add(
        &self,
        name: &str,
        total: u64,
        live: impl Fn(&ProgressState) -> Vec<String> + Clone + Send + Sync + 'static,
    ) -> ProgressBar {
        let widest = self.widest.clone();
        let name = shorten(&output::word(name), MAX_NAME_CHARS.min(columns() / 4));
        let taken = name.chars().count() + MIN_BAR_CHARS + PERCENT_WIDTH;
        let live = move |state: &ProgressState, out: &mut dyn Write| {
            let room = columns().saturating_sub(taken);
            let text = fitting(&live(state), room);
            let length = text.chars().count();
            let width = widest.fetch_max(length, Ordering::Relaxed).max(length);
            let width = width.min(room);
            // A line that cannot be written is missing only from the terminal.
            let _ = write!(out, "{text:width$}");
        };
        let style =
            ProgressStyle::with_template("{prefix} {wide_bar:.cyan/dim} {percent:>3}%  {live}")
                .unwrap_or_else(|_| ProgressStyle::default_bar())
                .with_key("live", live)
                .progress_chars("━╸─");
        let bar = ProgressBar::new(total).with_style(style).with_prefix(name);
        let bar = self.group.add(bar);
        // The bar panics without its thread. It then moves only when there is progress.
        if lab::are_granted(1).is_ok() {
            bar.enable_steady_tick(REDRAW_INTERVAL);
        }
        bar
    }

    /// Adds a line without a bar, which shows its message, cut to the terminal's width.
    pub fn line(&self) -> ProgressBar {
        let style = ProgressStyle::with_template("{wide_msg}");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
        self.group.add(ProgressBar::new_spinner().with_style(style))
    }

    /// Prints a line above the bars.
    pub fn say(&self, line: impl std::fmt::Display) {
        self.group.suspend(|| output::note(line));
    }
}

/// The terminal's columns.
fn columns() -> usize {
    let size = Term::stderr().size_checked();
    size.map_or(USUAL_COLUMNS, |(_, columns)| columns.into())
}

/// The leading parts that fit; of the first one as much as fits.
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
        // If the terminal is gone, there is nothing to clear.
        let _ = self.group.clear();
    }
}

/// The name, cut to the maximum length.
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
    use super::{MAX_NAME_CHARS, fitting, shorten};

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(
            shorten("exactly-24-characters.xy", MAX_NAME_CHARS),
            "exactly-24-characters.xy"
        );
        assert_eq!(
            shorten("ä-name-of-25-characters.x", MAX_NAME_CHARS),
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
