//! `fullpipe-proof figures`: draws the figures of the publications about BBR from new measurements.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use clap::Args;
use lab::EngineKind;
use program::command_line;
use program::directory;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::whole;
use proof::figures::{self, Drawn, Figure, Made, STUDIES_DIRECTORY};
use studies::runs::Findings;
use tables::numbers;

use crate::commands::agenda::{Agenda, Item};
use crate::files::machine;
use crate::options::engines::names;
use crate::options::study_options::StudyOptions;

/// The page with all figures.
const PAGE: &str = "figures.html";

/// The end of the name of a picture for narrow screens, which the page has beside the wide one.
const NARROW: &str = "narrow.svg";

/// Draw the figures of the publications about BBR from new runs
#[derive(Debug, Args)]
#[command(after_help = "\
Each figure becomes NAME.svg, NAME.png and NAME.csv, the numbers that it shows; NAME.narrow.svg is for a phone. \
figures.html shows all that the directory has. What is run for a figure is in scenarios/figures/NAME.toml.

Several engines are drawn over each other. Engines in real time run one scenario after the other, and draw only \
what they can show; --list tells which.")]
pub struct Options {
    /// Names of figures, or their first parts: paper-8, cdn (paper-1 does not select paper-10) [default: all]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    #[command(flatten)]
    study: StudyOptions,
    /// Directory for the pictures
    #[arg(long, value_name = "DIR", default_value = "figures")]
    out: PathBuf,
}

/// Runs the studies of the figures, and draws the figures.
pub fn run(options: &Options) -> Result<(), Failure> {
    let chosen = figures::chosen(&options.names).map_err(Failure::usage)?;
    let shelf = options.study.shelf(STUDIES_DIRECTORY);
    let item = |figure: &'static Figure| {
        let runs = figure.runs(&shelf, options.study.length());
        Ok(Item {
            what: figure,
            runs: runs.map_err(Failure::usage)?,
            engines: figure.engines.to_vec(),
        })
    };
    let mut items: Vec<_> = chosen.into_iter().map(item).collect::<Result<_, _>>()?;
    if options.study.list {
        return list(&items);
    }
    let engines = options.study.engines();
    items.retain(|item| engines.iter().any(|engine| item.engines.contains(engine)));
    if items.is_empty() {
        return Err(Failure::usage(
            "these engines can show none of these figures; --list names the engines that can",
        ));
    }
    let agenda = Agenda::new(&engines, &items)?;
    let _made = directory::make("--out", &options.out)?;
    let _awake = options.study.awake.prepare(&engines)?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut found: HashMap<&str, Vec<Findings>> = HashMap::new();
    let mut written = Ok(());
    let failed = agenda.run(&options.study.work, &cancel, |item, findings, is_last| {
        let name = item.what.name;
        found.entry(name).or_default().push(findings);
        if is_last && written.is_ok() {
            let found = found.remove(name).unwrap_or_default();
            written = write(options, item, &engines, &found);
        }
    });
    written?;
    if cancel.is_cancelled() {
        return Err(Failure::interrupted(
            "finished figures are in the directory",
        ));
    }
    let shown = write_page(options).and_then(|page| output::result(page.display()));
    let drawn = match failed {
        0 => Ok(()),
        failed => Err(Failure::failed(format_args!(
            "{} failed, so their points are missing",
            numbers::count(failed, "run")
        ))),
    };
    Failure::all([drawn, shown])
}

fn list(items: &[Item<&Figure>]) -> Result<(), Failure> {
    let rows = items.iter().map(|Item { what: figure, .. }| {
        let (name, title) = (figure.name.to_owned(), figure.title.to_owned());
        vec![name, names(figure.engines), title]
    });
    let table = report::Table {
        text: vec![0, 1, 2],
        ..report::Table::new(["figure", "engines", "shows"], rows)
    };
    output::result(table.lines(output::width()).trim_end())
}

fn write(
    options: &Options,
    item: &Item<&Figure>,
    engines: &[EngineKind],
    found: &[Findings],
) -> Result<(), Failure> {
    let figure = item.what;
    let mut versions: Vec<String> = found.iter().map(|of| machine::version(of.engine)).collect();
    versions.dedup();
    let made = Made {
        caption: item.runs.caption().map(str::to_owned),
        command: command(options, figure, engines),
        versions,
        less: item.runs.less(),
    };
    let picture = figure.picture(found, &made);
    let svg = picture.svg();
    let png = picture.png().map_err(Failure::failed)?;
    let file = |extension: &str| options.out.join(format!("{}.{extension}", figure.name));
    whole::write(&file("svg"), svg.as_bytes())?;
    if let Some(narrow) = picture.narrow_svg() {
        whole::write(&file(NARROW), narrow.as_bytes())?;
    }
    whole::write(&file("png"), &png)?;
    whole::write(&file("csv"), picture.csv().as_bytes())
}

/// The command that draws this figure alone in the same way.
fn command(options: &Options, figure: &Figure, engines: &[EngineKind]) -> String {
    let mut command = format!("fullpipe-proof figures {}", figure.name);
    if engines != [EngineKind::Sim] {
        command += &format!(" --engine {}", names(engines));
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

/// The page with every figure whose picture is in the directory, drawn by this run or earlier.
fn write_page(options: &Options) -> Result<PathBuf, Failure> {
    let drawn = |figure: &'static Figure| {
        let read = |extension: &str| {
            let file = format!("{}.{extension}", figure.name);
            fs::read_to_string(options.out.join(file)).ok()
        };
        Some(Drawn {
            figure,
            svg: read("svg")?,
            narrow: read(NARROW),
        })
    };
    let drawn: Vec<Drawn> = figures::ALL.iter().filter_map(drawn).collect();
    let path = options.out.join(PAGE);
    let page = figures::page(&drawn, &command_line::origin());
    whole::write(&path, page.as_bytes())?;
    Ok(path)
}
