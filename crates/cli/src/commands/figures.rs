//! `fullpipe figures`: what the publications show about BBR, measured again and drawn.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use report::Origin;
use studies::figures::{self, Drawn, Figure, Made, SHELF};
use studies::runs::{Batch, Findings};
use studies::study::Source;

use crate::failure::Failure;
use crate::files::machine;
use crate::files::whole;
use crate::options::command_line;
use crate::options::study_options::StudyOptions;
use crate::terminal::interrupt;
use crate::terminal::output;

/// The page with all figures.
const PAGE: &str = "figures.html";

/// Draw the figures of the publications about BBR from new runs
#[derive(Debug, Args)]
#[command(after_help = "\
Each figure becomes NAME.svg, NAME.png and NAME.csv, the numbers that it shows; figures.html shows all that the \
directory has. What is run for a figure is in scenarios/figures/NAME.toml.

Several engines are drawn over each other. Engines in real time run one scenario after the other, and draw only \
what they can show; --list tells which.")]
pub struct Options {
    /// Figures, by the first parts of their names: paper-8, cdn (paper-1 is not paper-10) [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    study: StudyOptions,
    /// Where pictures go
    #[arg(long, value_name = "DIR", default_value = "figures")]
    out: PathBuf,
}

/// Runs what the figures need, and draws them.
pub fn run(options: &Options) -> Result<(), Failure> {
    let chosen = figures::chosen(&options.names).map_err(Failure::usage)?;
    if options.study.list {
        return list(&chosen);
    }
    let engines = options.study.engines();
    let possible = |figure: &&&Figure| engines.iter().any(|engine| figure.engines.contains(engine));
    let chosen: Vec<&'static Figure> = chosen.iter().filter(possible).copied().collect();
    if chosen.is_empty() {
        return Err(Failure::usage(
            "these engines can show none of these figures; --list tells which can",
        ));
    }
    let shelf = options.study.shelf(SHELF);
    let runs: Vec<Source> = chosen
        .iter()
        .map(|figure| {
            figure
                .runs(&shelf, options.study.length())
                .map_err(Failure::usage)
        })
        .collect::<Result<_, _>>()?;
    let batches: Vec<(Vec<usize>, Batch)> = engines
        .iter()
        .map(|engine| batch(*engine, &chosen, &runs))
        .collect::<Result<_, _>>()?;
    whole::make_directory("--out", &options.out)?;
    for engine in &engines {
        engine.prepare().map_err(Failure::failed)?;
    }
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut found: HashMap<usize, Vec<Findings>> = HashMap::new();
    let mut failed = 0;
    let mut outcome = Ok(());
    for (place, (figures, batch)) in batches.iter().enumerate() {
        options.study.run(batch, &cancel, |study, findings| {
            for (run, reason) in &findings.failed {
                failed += 1;
                output::note(format_args!(
                    "failed: {run} on {}: {reason}",
                    findings.engine
                ));
            }
            let Some(figure) = figures.get(study) else {
                return;
            };
            let seen = found.entry(*figure).or_default();
            seen.push(findings);
            // Drawn as soon as no other engine has anything to add.
            let is_last = !batches
                .iter()
                .skip(place + 1)
                .any(|(later, _)| later.contains(figure));
            if is_last
                && let (Some(seen), Some(drawn)) = (found.remove(figure), chosen.get(*figure))
            {
                let written = write(options, drawn, runs.get(*figure), &engines, &seen);
                outcome = std::mem::replace(&mut outcome, Ok(())).and(written);
            }
        });
    }
    outcome?;
    if cancel.is_cancelled() {
        return Err(Failure::interrupted("the figures that were done are there"));
    }
    let page = write_page(options)?;
    output::result(page.display())?;
    match failed {
        0 => Ok(()),
        failed => Err(Failure::failed(format_args!(
            "{} failed, and so their points are missing",
            report::count(failed, "run")
        ))),
    }
}

fn list(chosen: &[&Figure]) -> Result<(), Failure> {
    chosen.iter().try_for_each(|figure| {
        let engines: Vec<&str> = figure.engines.iter().map(|engine| engine.name()).collect();
        output::result(format_args!(
            "{:<28} {:<17} {}",
            figure.name,
            engines.join(","),
            figure.title
        ))
    })
}

/// The runs of the figures that the engine can show, and the places of these figures.
fn batch(
    engine: lab::EngineKind,
    chosen: &[&Figure],
    runs: &[Source],
) -> Result<(Vec<usize>, Batch), Failure> {
    let mut batch = Batch::new(engine);
    let mut figures = Vec::new();
    for (place, (figure, runs)) in chosen.iter().zip(runs).enumerate() {
        if figure.engines.contains(&engine) {
            runs.add_to(&mut batch).map_err(Failure::usage)?;
            figures.push(place);
        }
    }
    Ok((figures, batch))
}

fn write(
    options: &Options,
    figure: &Figure,
    runs: Option<&Source>,
    engines: &[lab::EngineKind],
    found: &[Findings],
) -> Result<(), Failure> {
    let made = Made {
        caption: runs.and_then(Source::caption).map(str::to_owned),
        command: command(options, figure, engines),
        versions: versions(found.iter().map(|of| of.engine)),
        less: runs.and_then(Source::less),
    };
    let picture = figure.picture(found, &made);
    let svg = picture.svg();
    let png = picture.png().map_err(Failure::failed)?;
    let file = |extension: &str| options.out.join(format!("{}.{extension}", figure.name));
    whole::write(&file("svg"), svg.as_bytes())?;
    whole::write(&file("png"), &png)?;
    whole::write(&file("csv"), picture.csv().as_bytes())
}

/// The command that draws this figure, and no other, in the same way.
fn command(options: &Options, figure: &Figure, engines: &[lab::EngineKind]) -> String {
    let mut command = format!("fullpipe figures {}", figure.name);
    if engines != [lab::EngineKind::Sim] {
        let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
        command += &format!(" --engine {}", names.join(","));
    }
    if options.study.quick {
        command += " --quick";
    }
    if let Some(directory) = &options.study.scenarios {
        command += &format!(
            " --scenarios {}",
            command_line::quote(&directory.display().to_string())
        );
    }
    command
}

/// What the engines run, each once.
fn versions(engines: impl Iterator<Item = lab::EngineKind>) -> Vec<String> {
    let mut versions: Vec<String> = Vec::new();
    for engine in engines {
        let version = machine::version(engine);
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    versions
}

/// The page with every figure whose picture is in the directory, drawn now or before.
fn write_page(options: &Options) -> Result<PathBuf, Failure> {
    let drawn: Vec<Drawn> = figures::ALL
        .iter()
        .filter_map(|figure| drawn(&options.out, figure))
        .collect();
    let origin = Origin {
        command: command_line::again(),
        generated: SystemTime::now(),
    };
    let path = options.out.join(PAGE);
    whole::write(&path, figures::page(&drawn, &origin).as_bytes())?;
    Ok(path)
}

fn drawn(directory: &Path, figure: &'static Figure) -> Option<Drawn> {
    let svg = fs::read_to_string(directory.join(format!("{}.svg", figure.name))).ok()?;
    Some(Drawn { figure, svg })
}
