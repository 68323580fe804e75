//! The versions of a population, compared: by how much the median RTT of a region's users is lower with BBR than with
//! CUBIC, under each set of assumptions.

use report::{Marks, Table, markdown};
use studies::runs::{Finding, Findings, distinct};
use tables::statistics::median;

/// The marks that enclose the section.
pub const MARKS: Marks = Marks("population");

/// The heading of all users together.
const ALL_USERS: &str = "all users";

/// The BBR of the publications' years and the current one, as scenarios and headings have them.
const BBRS: [(&str, &str); 2] = [
    ("linux-4.19", "BBR of Linux 4.19"),
    ("linux", "the current BBR"),
];

/// Runs with the values of these fields.
struct Users<'f> {
    findings: &'f Findings,
}

impl<'f> Users<'f> {
    fn value<'r>(&self, run: &'r Finding, field: &str) -> &'r str {
        let place = self.findings.fields.iter().position(|of| of == field);
        let value = place.and_then(|place| run.values.get(place));
        value.map_or("", String::as_str)
    }

    fn values(&self, field: &str) -> Vec<&'f str> {
        let runs = self.findings.runs.iter();
        distinct(runs.map(|run| self.value(run, field)))
    }

    /// The median of the users' median RTTs, in milliseconds.
    fn rtt(&self, fields: &[(&str, &str)]) -> Option<f64> {
        let is_meant = |run: &&Finding| {
            let mut fields = fields.iter();
            fields.all(|(field, value)| self.value(run, field) == *value)
        };
        let runs = self.findings.runs.iter().filter(is_meant);
        median(runs.filter_map(|run| run.record.summary.flows.first()?.rtt_ms.p50))
    }

    /// By how much BBR's median is lower than CUBIC's, as a share, and CUBIC's in milliseconds.
    fn lower(&self, version: &str, region: Option<&str>, bbr1: &str) -> Option<(f64, f64)> {
        let rtt = |controller, variant| {
            let mut fields = vec![
                ("version", version),
                ("flow.controller", controller),
                ("flow.bbr1.variant", variant),
            ];
            fields.extend(region.map(|region| ("region", region)));
            self.rtt(&fields)
        };
        let (bbr, cubic) = (rtt("bbr1", bbr1)?, rtt("cubic", "linux")?);
        (cubic > 0.0).then(|| (1.0 - bbr / cubic, cubic))
    }

    /// Each region, and then all users.
    fn regions(&self) -> Vec<Option<&'f str>> {
        let regions = self.values("region").into_iter();
        regions.map(Some).chain([None]).collect()
    }

    /// The headings, and a row for each version.
    fn table(&self, bbr1: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let regions = self.regions();
        let names = regions.iter().map(|region| region.unwrap_or(ALL_USERS));
        let headings = ["version"].into_iter().chain(names);
        let headings = headings.map(str::to_owned).collect();
        let rows = self.values("version").into_iter().map(|version| {
            let cells = regions
                .iter()
                .map(|region| cell(self.lower(version, *region, bbr1)));
            [version.to_owned()].into_iter().chain(cells).collect()
        });
        (headings, rows.collect())
    }

    /// The rows of a version: its name, and below it, for each region, CUBIC's median, and by how much each BBR's is lower.
    fn rows(&self, version: &str) -> Vec<Vec<String>> {
        let of_region = |region: Option<&str>| {
            let lower = BBRS.map(|(bbr1, _)| self.lower(version, region, bbr1));
            let cubic = lower.iter().flatten().next();
            let cubic = cubic.map(|(_, cubic)| format!("{cubic:.0} ms"));
            let shares = lower.map(|of| of.map(|(lower, _)| share(lower)));
            let cells = [cubic].into_iter().chain(shares);
            let cells = cells.map(|cell| cell.unwrap_or_else(unknown));
            let region = format!("  {}", region.unwrap_or(ALL_USERS));
            [region].into_iter().chain(cells).collect()
        };
        let regions = self.regions().into_iter().map(of_region);
        [vec![version.to_owned()]]
            .into_iter()
            .chain(regions)
            .collect()
    }
}

/// A median that nobody has.
fn unknown() -> String {
    "–".to_owned()
}

/// `26 %`.
fn share(lower: f64) -> String {
    format!("{:.0} %", lower * 100.0)
}

/// `26 % of 72 ms`: by how much BBR's median is lower than CUBIC's.
fn cell(lower: Option<(f64, f64)>) -> String {
    lower.map_or_else(unknown, |(lower, cubic)| {
        format!("{} of {cubic:.0} ms", share(lower))
    })
}

/// The section in Markdown: the origin, and a table for each BBR.
pub fn section(findings: &Findings, origin: &str) -> String {
    let users = Users { findings };
    let tables = BBRS.map(|(bbr1, name)| {
        let (headings, rows) = users.table(bbr1);
        let rule = format!("| --- |{}\n", " ---: |".repeat(headings.len() - 1));
        let rows: String = rows.iter().map(markdown::row).collect();
        format!("\n### {name}\n\n{}{rule}{rows}", markdown::row(&headings))
    });
    format!("{origin}\n{}", tables.concat())
}

/// The same for a terminal: a row for each version, and below it one for each region.
pub fn table(findings: &Findings, width: Option<usize>) -> String {
    let users = Users { findings };
    let versions = users.values("version").into_iter();
    let rows = versions.flat_map(|version| users.rows(version));
    let lower = BBRS.map(|(_, name)| format!("lower with\n{name}"));
    let headings = ["version\n  region", "median RTT\nwith CUBIC"];
    let headings = headings.map(str::to_owned).into_iter().chain(lower);
    Table::new(headings, rows).lines(width)
}
