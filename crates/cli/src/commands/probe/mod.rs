//! `fullpipe probe`: sends the same bytes repeatedly over connections that stay open.

mod hosts;
mod paths;
mod serve;
mod token;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use clap::Args;
use program::apart;
use program::awake_option::AwakeOption;
use program::failure::Failure;
use program::output;
use program::results_directory;
use program::usage;
use studies::probe::{self, Dataset, Results, Row, Spec, Target};
use units::Duration;

use crate::files::own_file::{self, OwnFile};
use crate::options::address::resolve;
use crate::options::input::Input;

/// The most rounds; more would be a mistake.
const MAX_ROUNDS: u64 = 100_000;

/// The default number of rounds on paths.
const DEFAULT_ROUNDS: u64 = 10;

/// Probe paths or hosts with each controller, round by round
#[derive(Debug, Args)]
#[command(after_help = "\
Each controller keeps one connection open to each destination and sends 8 MB over it every minute, or what the file says. \
Destinations are paths, which the simulator or the kernel runs, or hosts where fullpipe probe --serve receives.

Rows are appended to the directory: one Parquet file a round, which is there as a whole or not at all. The command ends with \
the median goodput of each destination, and with the percentiles of the ratio of the first two controllers. The exit code \
is 1 if every probe of a host failed.

A receiver that a network can reach needs a token: --token FILE, or the environment variable FULLPIPE_PROBE_TOKEN on both \
sides. docs/probe.md says more.")]
pub struct Options {
    /// File with the destinations; - for stdin
    #[arg(required_unless_present = "serve", conflicts_with = "serve")]
    probe: Option<PathBuf>,
    /// Number of rounds, instead of the file's [default: 10 on paths; with hosts until Ctrl-C]
    #[arg(long, value_name = "N", value_parser = rounds, conflicts_with_all = ["duration", "serve"])]
    rounds: Option<u64>,
    /// Run the rounds that begin within this time: 1s, 90min
    #[arg(long, value_name = "TIME", conflicts_with = "serve")]
    duration: Option<Duration>,
    /// Directory for the rows [default: the file's name without .toml, in this directory]
    #[arg(long, value_name = "DIR", conflicts_with = "serve")]
    out: Option<PathBuf>,
    /// Draw the distributions of goodputs, and of their ratio, over the destinations, as SVG into this file
    #[arg(long, value_name = "FILE", conflicts_with = "serve")]
    picture: Option<PathBuf>,
    /// Number of paths at a time [default: the number of processors; 1 for linux, which measures in real time]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one, conflicts_with = "serve")]
    jobs: Option<NonZeroUsize>,
    #[command(flatten)]
    awake: AwakeOption,
    /// Print only the results on stdout, as JSON
    #[arg(long, conflicts_with = "serve")]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
    /// Receive probes of others until Ctrl-C: over QUIC, or with --tcp over the kernel's TCP
    #[arg(long, requires = "listen")]
    serve: bool,
    /// Address to listen on; port 0 takes a free port
    #[arg(long, value_name = "ADDR", value_parser = resolve, requires = "serve")]
    listen: Option<SocketAddr>,
    /// Receive over TCP
    #[arg(long, requires = "serve", conflicts_with = "identity")]
    tcp: bool,
    /// Keep the certificate in this file, so that its fingerprint stays the same after a restart
    #[arg(long, value_name = "FILE", requires = "serve")]
    identity: Option<PathBuf>,
    /// Receive only from senders that know the token in this file; if the file does not exist, write a new token into
    /// it
    #[arg(long, value_name = "FILE", requires = "serve")]
    token: Option<PathBuf>,
}

/// Probes or receives.
pub fn run(options: &Options) -> Result<(), Failure> {
    match (&options.probe, options.listen) {
        (Some(file), _) => send(options, file),
        (None, Some(listen)) => serve::serve(options, listen),
        (None, None) => Err(Failure::usage("give a file with destinations, or --serve")),
    }
}

fn send(options: &Options, file: &Path) -> Result<(), Failure> {
    let input = Input::read(file, "probe")?;
    let mut spec =
        Spec::parse(&input.text, &input.directory).map_err(|error| input.wrong(error))?;
    let usual = matches!(spec.target, Target::Paths { .. }).then_some(DEFAULT_ROUNDS);
    let asked = options.rounds.or(rounds_in_time(options, &spec)?);
    spec.rounds = asked.or(spec.rounds).or(usual);
    let probing = Probing {
        options,
        picture: OwnFile::asked(options.picture.as_deref(), &own_file::PICTURE)?,
        directory: results_directory::named(options.out.as_deref(), file, "probe"),
        input,
        spec,
    };
    let directory = ("--out", Some(&*probing.directory));
    apart::check(directory, &[("--picture", options.picture.as_deref())])?;
    match &probing.spec.target {
        Target::Paths { engine, .. } => paths::probe(&probing, *engine),
        Target::Hosts(hosts) => hosts::probe(&probing, hosts),
    }
}

/// The rounds that begin within --duration.
fn rounds_in_time(options: &Options, spec: &Spec) -> Result<Option<u64>, Failure> {
    let Some(duration) = options.duration else {
        return Ok(None);
    };
    match duration
        .as_nanos()
        .div_ceil(spec.interval.as_nanos().max(1))
    {
        MAX_ROUNDS.. => Err(Failure::usage(format_args!(
            "--duration {duration}: these are more than {MAX_ROUNDS} rounds"
        ))),
        rounds => Ok(Some(rounds.max(1))),
    }
}

/// A number of rounds.
fn rounds(text: &str) -> Result<u64, String> {
    let rounds = text
        .parse()
        .ok()
        .filter(|rounds| (1..=MAX_ROUNDS).contains(rounds));
    rounds.ok_or_else(|| format!("expected a whole number from 1 to {MAX_ROUNDS}"))
}

/// The target of the probes, and the directory for its rows.
struct Probing<'o> {
    options: &'o Options,
    picture: Option<OwnFile>,
    directory: PathBuf,
    input: Input,
    spec: Spec,
}

impl Probing<'_> {
    fn dataset(&self) -> Result<Dataset, Failure> {
        Dataset::open(&self.directory)
            .map_err(|error| Failure::usage(format_args!("--out: {error}")))
    }

    fn results(&self) -> Results {
        Results::new(self.spec.controllers.iter().map(ToString::to_string))
    }

    /// Stores a round.
    fn keep(
        &self,
        rows: &[Row],
        dataset: &mut Dataset,
        results: &mut Results,
    ) -> Result<(), report::DirectoryError> {
        let about = [
            ("fullpipe.version", env!("CARGO_PKG_VERSION").to_owned()),
            ("fullpipe.probe", self.input.text.clone()),
        ];
        dataset.append(rows, &about)?;
        results.add(rows);
        Ok(())
    }

    fn conclude(&self, results: &Results) -> Result<(), Failure> {
        let (options, spec) = (self.options, &self.spec);
        let table = |width| {
            let mut text = probe::table(results, width);
            // Without --quiet, the failures of hosts were printed when they happened.
            if options.quiet || matches!(spec.target, Target::Paths { .. }) {
                text += &probe::failures(results);
            }
            text
        };
        output::show(options.json, || results.json(&spec.name), table)?;
        if let Some(file) = &self.picture {
            let written = file.write(&probe::picture(results, &spec.name).svg())?;
            // The user would not look for the file there.
            if written.is_elsewhere() {
                output::note(format_args!("picture: {written}"));
            }
        }
        if !options.quiet {
            let rows = self.directory.join("*.parquet");
            output::note(format_args!("every probe: {}", rows.display()));
        }
        Ok(())
    }
}
