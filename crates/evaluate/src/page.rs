//! An evaluation as an HTML page.

use askama::Template;
use draw::{Axis, Chart, Curve, Dash, Look, Picture, Unit, cdf};
use record::{Dimension, Measure};
use report::Table;
use report::page::{Origin, PLAIN, Page};

use crate::evaluation::{Evaluation, Row};

/// The part of the page between header and footer.
#[derive(Template)]
#[template(path = "evaluate.html")]
struct Body {
    table: Table,
    rows: Vec<OfRow>,
    statements: Vec<String>,
}

/// The part of the page about one criterion.
struct OfRow {
    title: String,
    verdict: String,
    sentence: String,
    measure: String,
    picture: Option<String>,
    worst: String,
    scenario: String,
}

impl Evaluation {
    /// The evaluation as one self-contained page, to read and to print.
    pub fn page(&self, origin: &Origin) -> String {
        let shown = self.shown();
        let of = |row: &Row| OfRow {
            title: format!("{} {}: {}", row.section, row.title, row.name),
            verdict: row.verdict.to_string(),
            sentence: row.sentence(),
            measure: Measure::named(&row.measure).map_or(String::new(), |it| it.about.to_string()),
            picture: picture(row, &shown).as_ref().map(Picture::html),
            worst: row.worst_case.clone(),
            scenario: row.scenario.clone(),
        };
        let statements = self.statements.iter();
        let statement =
            |one: &crate::Statement| format!("{} {}: {}", one.section, one.title, one.text);
        let mut facts = vec![format!("engine {}", self.engine)];
        if self.seeds > 0 {
            facts.push(format!("seeds 1 to {}", self.seeds));
        }
        if self.paths > 0 {
            facts.push(format!("the first {} of the drawn paths", self.paths));
        }
        let page = Page {
            title: &format!("{} by RFC 9743", self.controller),
            about: &self.headline(),
            body: Body {
                table: self.table(),
                rows: self.rows.iter().map(of).collect(),
                statements: statements.map(statement).collect(),
            },
            facts: &facts,
            source: None,
            style: include_str!("../assets/evaluate.css"),
            script: PLAIN,
            data: &(),
            origin,
        };
        page.html()
    }
}

/// The distribution of each controller's values over the cases.
fn picture(row: &Row, shown: &[(usize, String)]) -> Option<Picture> {
    let names: Vec<&str> = shown.iter().map(|(_, name)| name.as_str()).collect();
    let (unit, scale) = match Measure::named(&row.measure).ok()?.unit {
        Dimension::Rate => (Unit::MEGABITS_PER_SECOND, 1e-6),
        Dimension::Time => (Unit::MILLISECONDS, 1.0),
        Dimension::Share => (Unit::PERCENT, 100.0),
        _ => (Unit::NONE, 1.0),
    };
    let mut all = Vec::new();
    let places = report::places(&names).into_iter();
    let curves = shown.iter().zip(places).map(|((of, name), place)| {
        let known: Vec<f64> = row.values[*of]
            .known()
            .values()
            .iter()
            .map(|one| one * scale)
            .collect();
        all.extend(known.iter().copied());
        let look = Look {
            mark: None,
            dash: Dash::Solid,
            ..Look::of_place(place)
        };
        Curve::new(name, look, cdf(known))
    });
    let curves: Vec<Curve> = curves.collect();
    if all.is_empty() {
        return None;
    }
    let chart = Chart::new(
        Axis::from_zero(&row.measure, unit, all),
        Axis::linear("Share of the cases", Unit::NONE, 0.0, 1.0),
    );
    Some(Picture::of(&row.name, 1, 260.0, [chart.with_all(curves)]))
}
