//! `fullpipe study report DIR`.

use std::path::{Path, PathBuf};

use clap::Args;
use experiment::{Findings, timeline};
use files::regular;
use program::command_line;
use program::failure::Failure;
use program::output;
use report::{below, sentences};
use rollout::study::log::Format;
use rollout::study::report::{course, html, tables};
use rollout::study::{LeftOut, Log, Read, read};
use serde_json::{Value, json};

use crate::files::own_file::{self, OwnFile};
use crate::options::client_names::Names;

/// Show the results of a study: effects with their intervals, and a verdict in words
#[derive(Debug, Args)]
pub struct Options {
    /// Directory of the study; for a study on several machines, the directory of each
    #[arg(value_name = "DIR", required = true)]
    directories: Vec<PathBuf>,
    /// Take the sizes of objects from an access log, plain or compressed with gzip; can be given several times
    #[arg(long = "log", value_name = "FILE")]
    logs: Vec<PathBuf>,
    /// Format of the logs: nginx, caddy, json:address=KEY,…, or a pattern such as nginx's log_format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "nginx",
        requires = "logs"
    )]
    log_format: Format,
    #[command(flatten)]
    names: Names,
    /// Also write a page with pictures, which works offline
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Print all results as JSON
    #[arg(long)]
    json: bool,
}

/// Shows the results.
pub fn run(options: &Options) -> Result<(), Failure> {
    let page = OwnFile::asked(options.report.as_deref(), &own_file::REPORT)?;
    let logs: Result<Vec<Log>, Failure> =
        options.logs.iter().map(|path| log(options, path)).collect();
    let mut lookup = options.names.lookup()?;
    let read = read(&options.directories, logs?, &mut lookup).map_err(Failure::usage)?;
    let findings = read.gathered.findings();
    output::show(
        options.json,
        || json_of(&read, &findings),
        |width| text(&read, &findings, width),
    )?;
    if let Some(page) = page {
        let written = page.write(&html(&read, &findings, &command_line::origin()))?;
        output::note(format_args!("report: {written}"));
    }
    Ok(())
}

fn log(options: &Options, path: &Path) -> Result<Log, Failure> {
    let file = regular::open(path)
        .map_err(|error| Failure::usage(format_args!("--log {}: {error}", path.display())))?;
    Ok(Log {
        name: path.display().to_string(),
        file,
        format: options.log_format.clone(),
    })
}

fn json_of(read: &Read, findings: &Findings) -> Value {
    let place = &read.place;
    let left_out = |of: &LeftOut| json!({ "path": of.path, "why": of.why });
    json!({
        "study": place.plan.name,
        "unit": place.plan.unit.to_string(),
        "began_unix_s": place.about.began_unix_s,
        "ran_s": place.about.ran_s,
        "ended": place.about.ended,
        "findings": findings,
        "timeline": read.timeline.bins(timeline::MAX_BINS),
        "since_switch": course::since(read, findings),
        "logs": read.joined,
        "left_out": read.left_out.iter().map(left_out).collect::<Vec<_>>(),
    })
}

fn text(read: &Read, findings: &Findings, width: Option<usize>) -> String {
    let name = &read.place.plan.name;
    let mut parts = vec![
        sentences(
            [output::word(&format!("{name}: {}", tables::about(read)))],
            width,
        ),
        sentences([&findings.verdict], width),
        tables::arms(findings).lines(width),
        tables::classes(findings).lines(width),
    ];
    for comparison in &findings.comparisons {
        parts.push(tables::effects(comparison).lines(width));
        parts.push(tables::heat(comparison).lines(width));
        let groups = tables::of_groups(comparison, findings.is_over);
        parts.extend(groups.iter().map(|table| table.lines(width)));
    }
    let over_time = course::tables(read, findings);
    parts.extend(over_time.iter().map(|table| table.lines(width)));
    below(&parts, tables::notes(read, findings), width)
}
