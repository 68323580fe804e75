//! The judgements for people, on a terminal.

use comfy_table::{CellAlignment, ColumnConstraint, Table, presets};

use super::judge::{Judgement, Tally, Verdict};
use super::words;

/// One row an expectation and engine, what fails or differs below it, and a line that counts them. Ends with a newline.
pub fn table(judgements: &[Judgement<'_>]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "claim",
        "what",
        "published",
        "engine",
        "measured",
        "verdict",
    ]);
    let mut before = "";
    for one in judgements {
        let id = one.claim.id.as_str();
        let shown = if id == before { "" } else { id };
        before = id;
        table.add_row([
            shown.to_owned(),
            one.expectation.what.clone(),
            words::band(one.expectation),
            one.engine.to_string(),
            words::measured(one),
            words::verdict(one.verdict).to_owned(),
        ]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((if index == 0 { 0 } else { 1 }, 1));
        column.set_constraint(ColumnConstraint::ContentWidth);
        if index == 2 || index == 4 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let remarks = judgements
        .iter()
        .filter(|one| one.verdict != Verdict::Holds);
    let remarks = remarks.map(|one| {
        let (id, what, outliers) = (&one.claim.id, &one.expectation.what, words::outliers(one));
        let why = one.why().map_or(String::new(), |why| format!("; {why}"));
        let verdict = words::verdict(one.verdict);
        format!(
            "{verdict}: {id}, {what}, on {}: {outliers}{why}\n",
            one.engine
        )
    });
    format!(
        "{}\n{}{}\n",
        table.trim_fmt(),
        remarks.collect::<String>(),
        Tally::of(judgements).text()
    )
}

impl Tally {
    /// `80 hold, 2 differ for a known reason, 0 fail`.
    pub fn text(&self) -> String {
        format!(
            "{} hold, {} differ for a known reason, {} fail",
            self.holds, self.differs, self.fails
        )
    }
}
