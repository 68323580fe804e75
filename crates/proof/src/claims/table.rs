//! The judgements as a table for terminals.

use super::judge::{Judgement, Tally, Verdict};
use super::words;
use report::Table;

/// One row for each expectation and engine, then remarks on those that fail or differ, and a line with the tally. Has
/// all columns, or those that fit into `width` columns. Ends with a newline.
pub fn table(judgements: &[Judgement<'_>], width: Option<usize>) -> String {
    let headings = [
        "claim",
        "what",
        "published",
        "engine",
        "measured",
        "verdict",
    ];
    let mut rows = Vec::new();
    let mut before = "";
    for one in judgements {
        let id = one.claim.id.as_str();
        let shown = if id == before { "" } else { id };
        before = id;
        rows.push(vec![
            shown.to_owned(),
            one.expectation.what.clone(),
            words::band(one.expectation),
            one.engine.to_string(),
            words::measured(one),
            words::verdict(one.verdict).to_owned(),
        ]);
    }
    let has_one_engine = judgements.iter().all(|one| {
        judgements
            .first()
            .is_some_and(|first| first.engine == one.engine)
    });
    let table = Table {
        text: vec![0, 1, 3, 5],
        // A single engine for all rows is known to the user.
        spare: if has_one_engine { vec![3] } else { Vec::new() },
        ..Table::new(headings, rows)
    };
    let remarks = judgements
        .iter()
        .filter(|one| one.verdict != Verdict::Holds);
    let remarks = remarks.map(|one| {
        let (id, what) = (&one.claim.id, &one.expectation.what);
        let verdict = words::verdict(one.verdict);
        let heading = format!("{verdict}: {id}, {what}, on {}", one.engine);
        let below = words::remarks(one).into_iter();
        let below = below.flat_map(|(points, why)| [points, why]);
        let below = below.filter(|text| !text.is_empty());
        let below = below.map(|text| report::explained(&text, "    ", width));
        report::explained(&heading, "", width) + &below.collect::<String>()
    });
    format!(
        "{}{}{}\n",
        table.lines(width),
        remarks.collect::<String>(),
        Tally::of(judgements).text()
    )
}

impl Tally {
    /// `80 hold, 2 differ for a known reason, 0 fail`. Also the numbers of unexplained and unjudged ones, if there are
    /// any.
    pub fn text(&self) -> String {
        let each = |count: usize, verb: &str| {
            let s = if count == 1 { "s" } else { "" };
            format!("{count} {verb}{s}")
        };
        let explained = self.differs.saturating_sub(self.unexplained);
        let (holds, differs) = (each(self.holds, "hold"), each(explained, "differ"));
        let fails = each(self.fails, "fail");
        let untrusted = match self.untrusted {
            0 => String::new(),
            untrusted => format!(", {untrusted} not judged, since no run was to be trusted"),
        };
        let unexplained = match self.unexplained {
            0 => String::new(),
            unexplained => format!(
                ", {} for none that is established",
                each(unexplained, "differ")
            ),
        };
        format!("{holds}, {differs} for a known reason{unexplained}, {fails}{untrusted}")
    }
}
