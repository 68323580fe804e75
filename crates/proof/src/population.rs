//! The versions of a population, compared: by how much the median RTT of a region's users is lower with BBR than with
//! CUBIC, under each set of assumptions.

use report::{Marks, Table};
use studies::runs::{Finding, Findings, distinct};
use tables::statistics::median;

/// The marks that enclose the section.
pub const MARKS: Marks = Marks("population");

/// The heading of all users together.
const ALL_USERS: &str = "all users";

/// The BBR of the publications' years and the current one, as scenarios and headings have them.
const BBRS: [(&str, &str); 2] = [("linux-4.19", "Linux 4.19"), ("linux", "today's BBR")];

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

    /// `26 % of 72 ms`: by how much BBR's median is lower than CUBIC's.
    fn cell(&self, version: &str, region: Option<&str>, bbr1: &str) -> String {
        let rtt = |controller, variant| {
            let mut fields = vec![
                ("version", version),
                ("flow.controller", controller),
                ("flow.bbr1.variant", variant),
            ];
            fields.extend(region.map(|region| ("region", region)));
            self.rtt(&fields)
        };
        match (rtt("bbr1", bbr1), rtt("cubic", "linux")) {
            (Some(bbr), Some(cubic)) if cubic > 0.0 => {
                let lower = (1.0 - bbr / cubic) * 100.0;
                format!("{lower:.0} % of {cubic:.0} ms")
            }
            _ => "–".to_owned(),
        }
    }

    /// The headings, and a row for each version.
    fn table(&self, bbr1: &str) -> (Vec<String>, Vec<Vec<String>>) {
        let regions = self.values("region");
        let headings = ["version"].into_iter().chain(regions.iter().copied());
        let headings = headings.chain([ALL_USERS]).map(str::to_owned).collect();
        let rows = self.values("version").into_iter().map(|version| {
            let columns = regions.iter().copied().map(Some).chain([None]);
            let cells = columns.map(|region| self.cell(version, region, bbr1));
            [version.to_owned()].into_iter().chain(cells).collect()
        });
        (headings, rows.collect())
    }
}

/// The section in Markdown: the origin, and a table for each BBR.
pub fn section(findings: &Findings, origin: &str) -> String {
    let users = Users { findings };
    let tables = BBRS.map(|(bbr1, name)| {
        let (headings, rows) = users.table(bbr1);
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = format!("| --- |{}\n", " ---: |".repeat(headings.len() - 1));
        let rows: String = rows.iter().map(|row| line(row)).collect();
        format!("\n### {name}\n\n{}{rule}{rows}", line(&headings))
    });
    format!("{origin}\n{}", tables.concat())
}

/// The same for a terminal.
pub fn table(findings: &Findings, width: Option<usize>) -> String {
    let users = Users { findings };
    let tables = BBRS.map(|(bbr1, name)| {
        let (headings, rows) = users.table(bbr1);
        format!("{name}\n{}", Table::new(headings, rows).lines(width))
    });
    tables.concat()
}
