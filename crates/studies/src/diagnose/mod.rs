//! What a capture says of one connection: its path, what limited it, what another controller would gain there, and whom that
//! would harm.
//!
//! A [`Direction`] of a capture's summary shows the path, and an [`Advice`] says what is best on it. A [`Diagnosis`] is both
//! in words, as tables, as a page and for programs. [`untellable`] says why a capture shows no path, and what to capture, and
//! [`more`] how to ask for more.

mod page;
mod words;

use capture::{Direction, FlowSummary, FlowTimeline, Summary};
use serde::Serialize;

use crate::advise::{self, Advice, Goal};
use report::Table;

pub use words::{more, named, not_used, untellable};

/// A connection of a capture, and what is best on its path.
#[derive(Debug, Clone, Copy)]
pub struct Diagnosis<'a> {
    /// The capture.
    pub summary: &'a Summary,
    /// The direction that is diagnosed.
    pub direction: Direction<'a>,
    /// The same over time, for the page.
    pub timeline: Option<&'a FlowTimeline>,
    /// What is best on its path.
    pub advice: &'a Advice<'a>,
    /// What for.
    pub goal: Goal,
    /// How many runs the advice is from.
    pub runs: usize,
}

/// A diagnosis for programs.
#[derive(Debug, Serialize)]
pub struct Json<'a> {
    /// The direction that is diagnosed, as in the summary of a trace.
    flow: &'a FlowSummary,
    /// Which others are not used, and why.
    not_used: Vec<String>,
    /// The diagnosis in sentences.
    sentences: Vec<String>,
    /// The advice, as `advise --json` prints it.
    advice: advise::Json<'a>,
}

impl<'a> Diagnosis<'a> {
    /// The diagnosis for a terminal of so many columns. Ends with a newline.
    pub fn text(&self, width: Option<usize>) -> String {
        let sentences = report::sentences(words::sentences(self), width);
        let tables = self.tables();
        let tables: Vec<String> = tables.iter().map(|table| table.lines(width)).collect();
        let columns = report::explained(advise::words::COLUMNS, "", width);
        format!("{sentences}\n{}{columns}", tables.join("\n"))
    }

    /// The diagnosis for programs.
    pub fn json(&self) -> Json<'a> {
        Json {
            flow: self.direction.flow,
            not_used: not_used(self.summary, &self.direction),
            sentences: words::sentences(self),
            advice: advise::Json::new(self.advice, self.goal, self.runs),
        }
    }

    /// The choice beside the other candidates, and what each candidate does.
    fn tables(&self) -> Vec<Table> {
        let rivals = advise::table::rivals(self.advice.of(self.goal));
        let candidates = advise::table::candidates(self.advice);
        rivals.into_iter().chain([candidates]).collect()
    }
}
