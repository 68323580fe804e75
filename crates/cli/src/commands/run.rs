//! `fullpipe run`: runs one scenario on one engine, which gives one record.

use std::path::PathBuf;

use clap::Args;
use lab::EngineError;
use program::apart;
use program::awake_option::AwakeOption;
use program::command_line;
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::usage;
use program::work_bar::WorkBar;
use record::columns;
use report::Also;
use scenario::{Draft, Scenario};
use units::Duration;

use crate::files::captures::Captures;
use crate::options::input::Input;
use crate::options::override_option::Override;
use crate::options::several;

/// Run a scenario
#[derive(Debug, Args)]
#[command(after_help = "\
The simulator runs in virtual time: the same scenario and seed give the same result on any machine. quic sends real \
packets over the loopback interface, in real time. linux runs the kernel's own TCP between two network namespaces, in real \
time; it needs root, or a kernel that allows unprivileged user namespaces.

With --out, docs/records.md says what the files have in them.")]
pub struct Options {
    /// File of the scenario; - for stdin
    scenario: PathBuf,
    #[arg(
        long,
        help = usage::one_of("What runs it", lab::EngineKind::ALL),
        value_name = "ENGINE",
        default_value_t = lab::EngineKind::default()
    )]
    engine: lab::EngineKind,
    /// Seed of every random choice, instead of the scenario's
    #[arg(long, value_name = "N", value_parser = usage::seed)]
    seed: Option<u64>,
    /// Replace a field of the scenario: path.loss=2%, flow.1.controller=bbr1; can be given several times
    #[arg(long, value_name = "FIELD=VALUE")]
    set: Vec<Override>,
    /// Write the record of the run into this directory: summary, samples as Parquet, a page with plots
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write the events of these flows as qlog, for qvis: 0,2
    #[arg(long, value_name = "FLOWS", value_delimiter = ',', value_parser = flow, requires = "out")]
    qlog: Vec<usize>,
    /// Also write every flow at common times, one STEP apart (grid.parquet): 10ms
    #[arg(long, value_name = "STEP", requires = "out")]
    grid: Option<Duration>,
    #[command(flatten)]
    awake: AwakeOption,
    /// Write the packets that each end sent and received into this directory, as pcapng without payload (engines sim
    /// and linux)
    #[arg(long, value_name = "DIR")]
    pcap: Option<PathBuf>,
    /// With --pcap: also capture at the entrances of these links, by their names in the scenario, such as core, or
    /// core.uplink for its opposite direction. A capture has what enters the link, and what leaves its opposite direction
    /// (engine sim)
    #[arg(long, value_name = "LINK", value_delimiter = ',', requires = "pcap")]
    pcap_at: Vec<String>,
    /// Print only the summary on stdout, as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// The number of a flow.
fn flow(text: &str) -> Result<usize, String> {
    let parsed = text.parse();
    parsed.map_err(|_| "expected the number of a flow such as 0, or several such as 0,2".to_owned())
}

/// Runs the scenario, shows it, and writes the results.
pub fn run(options: &Options) -> Result<(), Failure> {
    let scenario = scenario(options)?;
    if !options.quiet {
        scenario.idle().for_each(output::note);
    }
    let flows = scenario.each_flow().count();
    if let Some(flow) = options.qlog.iter().find(|flow| **flow >= flows) {
        let last = flows.saturating_sub(1);
        return Err(Failure::usage(format_args!(
            "--qlog {flow}: there are flows 0 to {last}"
        )));
    }
    check_grid(options, &scenario)?;
    let out = options.out.as_deref();
    apart::check(("--out", out), &[("--pcap", options.pcap.as_deref())])?;
    if let Some(directory) = out {
        report::check_dir(directory)
            .map_err(|error| Failure::usage(format_args!("--out: {error}")))?;
    }
    let captures = options
        .pcap
        .as_deref()
        .map(|directory| Captures::create(directory, options.engine, &scenario, &options.pcap_at));
    let captures = captures.transpose()?;
    let _awake = options.awake.prepare(&[options.engine])?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let bar = WorkBar::of_run(&scenario, options.quiet);
    let watch = |progress: lab::Progress| bar.show(&progress);
    let record = match captures {
        Some(captures) => captures.run(&scenario, &watch, &cancel)?,
        None => {
            let engine = options.engine.engine();
            let run = engine.run(&scenario, &watch, &cancel);
            run.map_err(Failure::failed)?
        }
    };
    drop(bar);
    let table = |width| report::table(std::slice::from_ref(&record), width);
    output::show(options.json, || &record.summary, table)?;
    if let Some(directory) = &options.out {
        let also = Also {
            qlog: options.qlog.clone(),
            grid: options.grid,
        };
        report::write_dir(directory, &record, &also, &command_line::origin())
            .map_err(Failure::failed)?;
        if !options.quiet {
            output::note(format_args!("record: {}", directory.display()));
        }
    }
    if record.summary.is_partial {
        return Err(Failure::interrupted("this is what happened until then"));
    }
    Ok(())
}

/// Refuses an invalid grid, or one that is too large for a disk, before the run.
fn check_grid(options: &Options, scenario: &Scenario) -> Result<(), Failure> {
    let Some(step) = options.grid else {
        return Ok(());
    };
    if step.is_zero() {
        return Err(Failure::usage(
            "--grid 0s: the step must be above zero; give one such as 10ms",
        ));
    }
    match columns::grid_rows(scenario, step) {
        Some(rows) if rows > columns::MAX_GRID_ROWS => Err(Failure::usage(format_args!(
            "--grid {step}: that is {rows} rows, more than {}; give a longer step",
            columns::MAX_GRID_ROWS
        ))),
        _ => Ok(()),
    }
}

fn scenario(options: &Options) -> Result<Scenario, Failure> {
    let input = Input::read(&options.scenario, "run")?;
    let written =
        Draft::parse(&input.text, &input.directory).map_err(|error| input.wrong(error))?;
    let mut draft = written.clone();
    for given in &options.set {
        given.apply(|field, text| draft.set(field, text))?;
    }
    let wrong = |error| {
        let culprit = draft.culprit(&error);
        match culprit.and_then(|field| Override::named(&options.set, field)) {
            Some(given) => {
                let several =
                    several::failure(&options.set, &written, &options.scenario, options.engine);
                several.unwrap_or_else(|| given.wrong(&error))
            }
            None => input.wrong(draft.located(error)),
        }
    };
    let mut scenario = draft.read().map_err(wrong)?;
    if let Some(seed) = options.seed {
        scenario.seed = seed;
    }
    let checked = options.engine.engine().check(&scenario);
    checked.map_err(|error| match error {
        EngineError::Scenario(error) => wrong(error),
        error => input.wrong(error),
    })?;
    Ok(scenario)
}
