//! The comparisons as a page with plots that holds everything it needs.

use serde::Serialize;
use units::Duration;

use super::comparison::{Comparison, Verdict, tally};
use super::observation::{Curves, Observation};
use super::quantity::Quantity;
use super::words::{Detail, difference, headings, row, sides};
use report::page::{Page, cells, escape, fill};
use report::{Origin, describe};
use scenario::Scenario;

const BODY: &str = include_str!("../../assets/calibrate.html");
const STYLE: &str = include_str!("../../assets/calibrate.css");
const SCRIPT: &str = include_str!("../../assets/calibrate.js");

/// Everything that the page's script gets.
#[derive(Serialize)]
struct Data<'d> {
    engines: [&'d str; 2],
    cases: Vec<CaseData<'d>>,
}

/// A case over time.
#[derive(Serialize)]
struct CaseData<'d> {
    /// The runs on each engine.
    runs: [Vec<&'d Curves>; 2],
    /// The bottleneck's rate in Mbit/s, and RTprop in milliseconds: a time in seconds, and the value from then on.
    rate: Vec<(f64, f64)>,
    rtprop: Vec<(f64, f64)>,
}

/// A comparison and the runs that it is of.
pub type Compared<'c> = (Comparison<'c>, [Vec<&'c Observation>; 2]);

/// The comparisons as one self-contained page: a table, and the curves of every case, what differs most first. `notes`
/// are said below the table.
pub fn page(
    engines: [&str; 2],
    compared: &[Compared<'_>],
    notes: &[String],
    origin: &Origin,
) -> String {
    let mut sorted: Vec<&Compared<'_>> = compared.iter().collect();
    sorted.sort_by(|(one, _), (other, _)| {
        let is_open = |one: &Comparison<'_>| one.verdict() >= Verdict::Missing;
        let by_excess = other.excess().total_cmp(&one.excess());
        is_open(other).cmp(&is_open(one)).then(by_excess)
    });
    let comparisons: Vec<Comparison<'_>> = compared.iter().map(|(one, _)| one.clone()).collect();
    let rows = sorted.iter().enumerate();
    let rows: String = rows.map(|(place, (one, _))| linked(place, one)).collect();
    let sections = sorted.iter().enumerate();
    let sections: String = sections
        .map(|(place, (one, _))| section(engines, place, one))
        .collect();
    let data = Data {
        engines,
        cases: sorted.iter().map(|compared| case(compared)).collect(),
    };
    let notes: String = notes
        .iter()
        .map(|note| format!("<p class=\"hint\">{}</p>", escape(note)))
        .collect();
    let body = fill(BODY, &|placeholder| match placeholder {
        "headings" => cells("th", &headings(engines, Detail::Ranges)),
        "rows" => rows.clone(),
        "notes" => notes.clone(),
        "sections" => sections.clone(),
        _ => String::new(),
    });
    let page = Page {
        title: &format!("{} and {}", engines[0], engines[1]),
        about: &tally(&comparisons).text(),
        body,
        facts: &[],
        source: None,
        style: STYLE,
        script: SCRIPT,
        data: &data,
    };
    page.html(origin)
}

/// A row of the table, linked to the case's section.
fn linked(place: usize, comparison: &Comparison<'_>) -> String {
    let row = row(comparison, Detail::Ranges);
    let mut cells = row.iter().map(|cell| escape(cell));
    let name = cells.next().unwrap_or_default();
    let rest: String = cells.map(|cell| format!("<td>{cell}</td>")).collect();
    let class = class(comparison.verdict());
    format!("<tr class=\"{class}\"><td><a href=\"#case-{place}\">{name}</a></td>{rest}</tr>")
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Explained => "explained",
        Verdict::Missing | Verdict::Differs => "differs",
    }
}

/// The heading of a case, all its quantities, and the place of its plots.
fn section(engines: [&str; 2], place: usize, comparison: &Comparison<'_>) -> String {
    let quantities = comparison.differences.iter().map(|one| {
        let [first, second] = sides(Some(one), Detail::Ranges);
        let title = one.quantity.title().to_string();
        cells("td", &[title, first, second, difference(Some(one))])
    });
    let [first, second] = engines;
    let of_rtprop = format!("differs ({} ones: of RTprop)", Quantity::Rtt.title());
    let heads = cells("th", &["", first, second, &of_rtprop]);
    let class = class(comparison.verdict());
    let name = escape(&comparison.case.name);
    let path = escape(&describe(&comparison.case.scenario.path));
    let remark = escape(&comparison.remark());
    let quantities: String = quantities.collect();
    format!(
        "<section class=\"case\" id=\"case-{place}\" data-case=\"{place}\">\
         <h2>{name}</h2><p class=\"path\">{path}</p><p class=\"{class}\">{remark}</p>\
         <div class=\"plots\"></div>\
         <details><summary>All quantities</summary><table><thead>{heads}</thead><tbody>{quantities}</tbody></table>\
         </details></section>"
    )
}

fn case<'d>((comparison, runs): &'d Compared<'_>) -> CaseData<'d> {
    let scenario = &comparison.case.scenario;
    let path = &scenario.path;
    let curves = |runs: &'d Vec<&Observation>| runs.iter().map(|run| &run.curves).collect();
    CaseData {
        runs: runs.each_ref().map(curves),
        rate: steps(scenario, |at| {
            Some(path.data.rate_at(at)?.bits_per_sec() as f64 / 1e6)
        }),
        rtprop: steps(scenario, |at| Some(path.rtt_at(at).as_millis_f64())),
    }
}

/// What of the path has which value from when on.
fn steps(scenario: &Scenario, value: impl Fn(Duration) -> Option<f64>) -> Vec<(f64, f64)> {
    let changes = scenario.path.data.changes.iter().map(|change| change.at);
    let mut times: Vec<Duration> = std::iter::once(Duration::ZERO).chain(changes).collect();
    times.sort();
    let steps = times.into_iter();
    let mut steps: Vec<(f64, f64)> = steps
        .filter_map(|at| Some((at.as_secs_f64(), value(at)?)))
        .collect();
    steps.dedup_by_key(|(_, value)| *value);
    steps
}
