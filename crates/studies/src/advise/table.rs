//! Advice as text for a terminal.

use ::advise::{Advice, Choice, Goal, Rows, words};
use report::Table;

/// The advice for this goal, for a terminal of `width` columns. Ends with a newline.
pub fn text(advice: &Advice<'_>, goal: Goal, width: Option<usize>) -> String {
    let choice = advice.of(goal);
    let mut lines = vec![words::headline(advice, choice)];
    lines.extend(words::sentences(advice, choice));
    lines.push(words::others(advice, goal));
    let sentences = report::sentences(lines, width);
    let tables = rivals(choice).into_iter().chain([candidates(advice)]);
    let tables: Vec<String> = tables.map(|table| table.lines(width)).collect();
    let columns = report::explained(words::COLUMNS, "", width);
    format!("{sentences}\n{}{columns}", tables.join("\n"))
}

/// A table of the choice against each rival, if there are any.
pub fn rivals(choice: &Choice) -> Option<Table> {
    let Rows { headings, rows } = ::advise::rivals(choice)?;
    Some(Table {
        text: vec![0, 5],
        ..Table::new(headings, rows)
    })
}

/// A table of the candidates: medians over the paths.
pub fn candidates(advice: &Advice<'_>) -> Table {
    let names = advice.outcomes.controllers().iter();
    let colours = report::places(&names.map(|of| of.name()).collect::<Vec<_>>());
    let Rows { headings, rows } = ::advise::candidates(advice);
    let table = Table::new(headings, rows).coloured(colours);
    table.sparing(&["resent", "of limit", "CUBIC's RTT"])
}
