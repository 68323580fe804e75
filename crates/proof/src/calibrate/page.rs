//! The comparisons as a self-contained page with plots.

use askama::Template;
use serde::Serialize;

use super::comparison::{Comparison, Verdict, tally};
use super::observation::{Curves, Observation};
use super::quantity::Quantity;
use super::words::{Detail, difference, headings, row, sides};
use report::page::Page;
use report::{Origin, Table, describe_hops, points};

/// The part of the page between header and footer.
#[derive(Template)]
#[template(path = "calibrate.html")]
struct Body<'b> {
    headings: Vec<String>,
    /// The largest differences first.
    cases: Vec<Case<'b>>,
    notes: &'b [String],
}

/// A row of the table, linked to the case's section with a heading, plots and all quantities.
struct Case<'b> {
    place: usize,
    name: &'b str,
    class: &'static str,
    path: String,
    remark: String,
    cells: Vec<String>,
    quantities: Table,
}

/// The data for the page's script.
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
    /// The bottleneck's rate in Mbit/s, and RTprop in milliseconds. Each pair is a time in seconds and the value from
    /// then on.
    rate: Vec<(f64, f64)>,
    rtprop: Vec<(f64, f64)>,
}

/// A comparison, and the observations on both sides.
pub type Compared<'c> = (Comparison<'c>, [Vec<&'c Observation>; 2]);

/// The comparisons as one self-contained page: a table, and the curves of every case, largest differences first.
/// `notes` are printed below the table.
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
    let data = Data {
        engines,
        cases: sorted.iter().map(|compared| case(compared)).collect(),
    };
    let cases = sorted.iter().enumerate();
    let page = Page {
        title: &format!("{} and {}", engines[0], engines[1]),
        about: &tally(&comparisons).text(),
        body: Body {
            headings: headings(engines, Detail::Ranges),
            cases: cases
                .map(|(place, (one, _))| Case::new(engines, place, one))
                .collect(),
            notes,
        },
        facts: &[],
        source: None,
        style: include_str!("../../assets/calibrate.css"),
        script: include_str!("../../assets/calibrate.js"),
        data: &data,
        origin,
    };
    page.html()
}

impl<'b> Case<'b> {
    fn new(engines: [&str; 2], place: usize, comparison: &'b Comparison<'_>) -> Case<'b> {
        let quantities = comparison.differences.iter().map(|one| {
            let [first, second] = sides(Some(one), Detail::Ranges);
            let title = one.quantity.title.to_string();
            vec![title, first, second, difference(Some(one))]
        });
        let [first, second] = engines;
        let of_rtprop = format!("differs ({} ones: of RTprop)", Quantity::RTT.title);
        Case {
            place,
            name: &comparison.case.name,
            class: class(comparison.verdict()),
            path: describe_hops(&comparison.case.scenario),
            remark: comparison.remark(),
            cells: row(comparison, Detail::Ranges),
            quantities: Table::new(["", first, second, &of_rtprop], quantities),
        }
    }
}

const fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Agrees => "agrees",
        Verdict::Explained => "explained",
        Verdict::Missing | Verdict::Differs => "differs",
    }
}

fn case<'d>((comparison, runs): &'d Compared<'_>) -> CaseData<'d> {
    let path = &comparison.case.scenario.path;
    let curves = |runs: &'d Vec<&Observation>| runs.iter().map(|run| &run.curves).collect();
    CaseData {
        runs: runs.each_ref().map(curves),
        rate: points::rates(path),
        rtprop: points::rtprops(path),
    }
}
