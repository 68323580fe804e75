//! The diagnosis of one connection in a capture: its path, its limit, the gain of another controller, and the harm to
//! others.
//!
//! A [`Direction`] of a capture's summary shows the path, and an [`Advice`] chooses the best controller for it. A
//! [`Diagnosis`] presents both in words, as tables, as a page and as JSON. [`untellable`] explains why a capture shows
//! no path, and what to capture instead. [`more`] explains how to ask for more.

mod page;
mod words;

use serde::Serialize;
use trace::{Direction, FlowSummary, FlowTimeline, Summary};

use crate::advise::{self, Advice, Goal};
use report::Table;

pub use words::{more, named, not_used, untellable};

/// A captured connection with advice for its path.
#[derive(Debug, Clone, Copy)]
pub struct Diagnosis<'a> {
    /// The capture.
    pub summary: &'a Summary,
    /// The diagnosed direction.
    pub direction: Direction<'a>,
    /// The direction over time, for the page.
    pub timeline: Option<&'a FlowTimeline>,
    /// The advice for its path.
    pub advice: &'a Advice<'a>,
    /// The goal.
    pub goal: Goal,
    /// The number of runs behind the advice.
    pub runs: usize,
}

/// A diagnosis as JSON.
#[derive(Debug, Serialize)]
pub struct Json<'a> {
    /// The diagnosed direction, as in the summary of a trace.
    flow: &'a FlowSummary,
    /// The directions that are not used, with reasons.
    not_used: Vec<String>,
    /// The diagnosis in sentences.
    sentences: Vec<String>,
    /// The advice, as `advise --json` prints it.
    advice: advise::Json<'a>,
}

impl<'a> Diagnosis<'a> {
    /// The diagnosis for a terminal of `width` columns. Ends with a newline.
    pub fn text(&self, width: Option<usize>) -> String {
        let sentences = report::sentences(words::sentences(self), width);
        let tables = self.tables();
        let tables: Vec<String> = tables.iter().map(|table| table.lines(width)).collect();
        let columns = report::explained(advise::words::COLUMNS, "", width);
        format!("{sentences}\n{}{columns}", tables.join("\n"))
    }

    /// The diagnosis as JSON.
    pub fn json(&self) -> Json<'a> {
        Json {
            flow: self.direction.flow,
            not_used: not_used(self.summary, &self.direction),
            sentences: words::sentences(self),
            advice: advise::Json::new(self.advice, self.goal, self.runs),
        }
    }

    /// The choice against its rivals, and the outcomes of all candidates.
    fn tables(&self) -> Vec<Table> {
        let rivals = advise::rivals(self.advice.of(self.goal));
        let candidates = advise::candidates(self.advice);
        rivals.into_iter().chain([candidates]).collect()
    }
}
