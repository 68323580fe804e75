//! `fullpipe race`: the same transfer, once a controller, over the same path.

use std::path::{Path, PathBuf};

use clap::Args;
use congestion::ControllerKind;
use lab::EngineError;
use studies::race::{Payload, Race, RaceError};
use units::{Bytes, Duration};

use crate::failure::Failure;
use crate::files::own_file::{self, OwnFile};
use crate::options::awake_option::AwakeOption;
use crate::options::command_line;
use crate::options::path_options::{self, PathOptions};
use crate::options::usage;
use crate::terminal::interrupt;
use crate::terminal::lanes::Lanes;
use crate::terminal::output;

/// Where the report goes if nothing else is said.
const REPORT: &str = "fullpipe-race.html";

/// Race congestion controllers: each carries the same file over the same path
#[derive(Debug, Args)]
#[command(after_help = format!("\
Each controller gets a path of its own, unless they --share one; all of them run at the same time, as real QUIC over \
the loopback interface.

Without path options, the path is: {}. With any path option, it loses nothing unless --loss says so; every other \
part keeps its default.

The command ends with a table, and a page with plots that needs no network. The page replaces an older one; nothing \
else is ever overwritten. A race that is interrupted ends with the same, but has a page only if --report is given.", report::describe(&Race::default().path)))]
pub struct Options {
    /// The file to carry; without it, bytes made on the fly
    file: Option<PathBuf>,
    #[arg(
        long,
        help = usage::one_of("The controllers that race", ControllerKind::ALL),
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "bbr3,bbr1,cubic"
    )]
    controllers: Vec<ControllerKind>,
    /// End after this time; without --bytes or FILE, send as much as fits into it
    #[arg(long, allow_hyphen_values = true, value_name = "TIME", value_parser = usage::positive_time)]
    duration: Option<Duration>,
    /// The bytes to carry if there is no FILE [default: 8mib, unless --duration is given]
    #[arg(long, allow_hyphen_values = true, value_name = "SIZE", value_parser = positive_size, conflicts_with = "file")]
    bytes: Option<Bytes>,
    /// Put all of them on one bottleneck
    #[arg(long)]
    share: bool,
    /// Seed of every random choice
    #[arg(long, value_name = "N", value_parser = usage::whole, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    awake: AwakeOption,
    /// Where the report goes [default: fullpipe-race.html, or nowhere with --json]
    #[arg(long, value_name = "PATH")]
    report: Option<PathBuf>,
    /// Print the summaries on stdout as a JSON array, and nothing else there: one summary a lane, or one with --share
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    path: PathOptions,
}

/// Runs the race, shows it, and reports.
pub fn run(options: &Options) -> Result<(), Failure> {
    let race = race(options)?;
    let report = match (&options.report, options.json) {
        (None, true) => None,
        (path, _) => {
            let path = path.as_deref().unwrap_or(Path::new(REPORT));
            Some(OwnFile::at(path, &own_file::REPORT)?)
        }
    };
    let _awake = options.awake.keep();
    let (_runtime, cancel) = interrupt::cancel()?;
    let lanes = Lanes::new(&race);
    let records = race
        .run(&|progress| lanes.show(&progress), &cancel)
        .map_err(failure)?;
    drop(lanes);
    if options.json {
        output::result(report::json(&records))?;
    } else {
        output::result(report::table(&records, output::width()).trim_end())?;
    }
    let is_partial = records.iter().any(|record| record.summary.is_partial);
    // Half a race takes the usual place from no whole one; whoever gave a place wants what there is.
    if let Some(file) = report.filter(|_| !is_partial || options.report.is_some()) {
        let written = file.write(&report::html(&records, &command_line::origin()))?;
        output::note(format_args!("report: {written}"));
    }
    if is_partial {
        return Err(Failure::interrupted("this is what happened until then"));
    }
    Ok(())
}

fn race(options: &Options) -> Result<Race, Failure> {
    let default = Race::default();
    let payload = match (&options.file, options.bytes, options.duration) {
        (Some(file), ..) => Payload::File(file.clone()),
        (None, Some(bytes), _) => Payload::Noise(bytes),
        (None, None, Some(_)) => Payload::Endless,
        (None, None, None) => default.payload.clone(),
    };
    let path = options.path.apply_to(default.path.clone())?;
    path.check_open().map_err(path_options::usage)?;
    Ok(Race {
        path,
        controllers: options.controllers.clone(),
        payload,
        duration: options.duration,
        seed: options.seed,
        share: options.share,
        ..default
    })
}

fn failure(error: RaceError) -> Failure {
    match error {
        RaceError::Engine(EngineError::Scenario(error)) => path_options::usage(error),
        RaceError::Engine(error) => Failure::failed(error),
        RaceError::File { .. } | RaceError::Unsuitable { .. } => Failure::usage(error),
    }
}

fn positive_size(text: &str) -> Result<Bytes, String> {
    match text.parse::<Bytes>() {
        Ok(size) if size.is_zero() => {
            Err("there is nothing to carry; give a size such as 8mib".into())
        }
        Ok(size) => Ok(size),
        Err(error) => Err(error.to_string()),
    }
}
