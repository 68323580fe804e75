//! Live progress on stderr: one bar a flow. Nothing is drawn where stderr is no terminal.

use std::borrow::Cow;
use std::io::{IsTerminal, stderr};

use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

/// Whether bars can be seen; if not, a command says in plain lines what matters.
pub fn are_visible() -> bool {
    stderr().is_terminal()
}

/// A group of bars, one below the other. What is drawn disappears when the group is dropped.
#[derive(Default)]
pub struct Bars {
    group: MultiProgress,
}

impl Bars {
    /// Adds a bar for something called `name` that ends at `total`.
    pub fn add(&self, name: impl Into<Cow<'static, str>>, total: u64, template: &str) -> ProgressBar {
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .progress_chars("━╸─");
        let bar = ProgressBar::new(total).with_style(style).with_prefix(name);
        self.group.add(bar)
    }

    /// Says `line` above the bars.
    pub fn say(&self, line: impl AsRef<str>) {
        let line = line.as_ref();
        self.group.suspend(|| crate::output::note(line));
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        // A terminal that has gone needs no tidying.
        let _ = self.group.clear();
    }
}
