//! `fullpipe-proof cdn`: an experiment on a small CDN whose true effects are known.

use std::fmt::Display;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use cdn::{Found, LabError, Laboratory, Live, POLICY, STUDY, Spec, tables};
use clap::Args;
use document::de::MAX_FILE_BYTES;
use document::tree::Node;
use files::regular;
use lab::EngineKind;
use linux::command::Init;
use program::awake_option::AwakeOption;
use program::command_line;
use program::directory::{self, MadeDirectory};
use program::failure::Failure;
use program::interrupt;
use program::output;
use program::usage;
use program::work_bar::WorkBar;
use rollout::study::own_directory;
use studies::runs;

use crate::files::document::Document;
use crate::files::machine;

/// The first argument with which this program starts itself as the first process in a namespace.
pub const INIT: &str = "init-of-a-command";

/// Study a small CDN whose true effects are known, and compare them with the results of the study
#[derive(Debug, Args)]
#[command(after_help = "\
Each client network is simulated with each controller, so that the truth is known: what the other controller would have achieved \
for the same clients. What the study would have recorded is in DIR/study, and `fullpipe study report DIR/study` evaluates it like \
any other study. DIR/policy.toml is what `fullpipe steer learn DIR/study` makes of it, and DIR/systems.txt has the networks of its systems.

With --engine linux, nginx serves and curl fetches over emulated paths, in real time: with each controller, while a study runs, and with \
its policy in force. If the machine does not keep up, a line says so and no number is shown. It takes root, nginx, curl, and a \
fullpipe-proof that was built for it: cargo build --release -p fullpipe-proof --features kernel (docs/kernel.md).

Examples:
  fullpipe-proof cdn scenarios/cdn.toml --out cdn
  fullpipe-proof cdn scenarios/cdn-shared.toml --out cdn-shared
  fullpipe-proof cdn scenarios/cdn-linux.toml --engine linux --out /var/lib/fullpipe/cdn")]
pub struct Options {
    /// File of the CDN: its networks, the objects and the controllers
    #[arg(value_name = "CDN.toml")]
    file: PathBuf,
    /// Directory for the study's data and its policy; it must not contain a study yet
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Engine: sim, or linux for the kernel's own TCP in real time
    #[arg(long, value_name = "ENGINE", default_value_t)]
    engine: EngineKind,
    /// Seed of every random choice, instead of the file's
    #[arg(long, value_name = "N", value_parser = usage::whole)]
    seed: Option<u64>,
    /// Number of simulator runs at a time [default: the number of processors]
    #[arg(long, value_name = "N", value_parser = usage::at_least_one)]
    jobs: Option<NonZeroUsize>,
    /// Write the results into this document, between `<!-- cdn: begin -->` and `<!-- cdn: end -->`. The marks are
    /// `cdn-linux` with --engine linux, and `cdn-shared` if the CDN's lines share a link
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    #[command(flatten)]
    awake: AwakeOption,
    /// Print all results as JSON
    #[arg(long)]
    json: bool,
    /// Print only the result and errors
    #[arg(long)]
    quiet: bool,
}

/// Runs everything, and shows the results.
pub fn run(options: &Options) -> Result<(), Failure> {
    if options.engine == EngineKind::Quic {
        return Err(Failure::usage(
            "--engine quic: studies are for TCP; give sim or linux",
        ));
    }
    let name = options.file.display().to_string();
    let wrong = |error: LabError| match error {
        LabError::Spec(error) => Failure::usage(format_args!("{name}: {error}")),
        LabError::Engine(error) => Failure::usage(format_args!("{name}: {error}")),
        LabError::Batch(error) => Failure::usage(error),
        LabError::Cancelled => Failure::interrupted("nothing is kept"),
        error => Failure::failed(error),
    };
    let text = regular::text(&options.file, MAX_FILE_BYTES)
        .map_err(|error| Failure::usage(format_args!("cannot read {name}: {error}")))?;
    let spec = Spec::parse(&text, options.file.parent().unwrap_or(Path::new("")));
    let mut spec = spec.map_err(|error| {
        if is_scenario(&text) {
            return Failure::usage(format_args!("{name}: is a scenario; use `fullpipe run`"));
        }
        wrong(error.into())
    })?;
    spec.seed = options.seed.unwrap_or(spec.seed);
    let document = Document::asked(
        options.document.as_deref(),
        tables::marks(options.engine, &spec),
    )?;
    let found = match options.engine {
        EngineKind::Linux => in_real_time(options, &spec, &wrong)?,
        _ => simulated(options, spec, &name, &wrong)?,
    };
    // The results are printed even if the document cannot be written.
    let kept = document.map(|document| {
        let origin = format!(
            "Made with `{}`; {}.",
            command_line::again(),
            machine::version(options.engine)
        );
        document.keep(&tables::section(&found, &origin))
    });
    let shown = output::show(options.json, || &found, |width| tables::text(&found, width));
    if !options.quiet {
        output::note(format_args!(
            "the policy is in {}",
            options.out.join(POLICY).display()
        ));
    }
    Failure::all([shown].into_iter().chain(kept))
}

/// True if a text has the flows of a scenario.
fn is_scenario(text: &str) -> bool {
    Node::from_toml(text).is_ok_and(|entries| entries.iter().any(|entry| entry.key == "flow"))
}

/// The directory for the results cannot be used.
fn refused(error: &dyn Display) -> Failure {
    Failure::usage(format_args!("--out: {error}"))
}

/// Makes the directory for the results, which has no study yet. Returns its path, too.
fn make_directory(out: &Path) -> Result<(PathBuf, MadeDirectory), Failure> {
    let own = own_directory(out).map_err(|error| refused(&error))?;
    let made = directory::make("--out", &own)?;
    if own.join(STUDY).exists() {
        return Err(Failure::usage(format_args!(
            "--out {}: there is a study already; give another directory",
            out.display()
        )));
    }
    Ok((own, made))
}

fn simulated(
    options: &Options,
    spec: Spec,
    name: &str,
    wrong: &dyn Fn(LabError) -> Failure,
) -> Result<Found, Failure> {
    let laboratory = Laboratory::new(spec, name).map_err(wrong)?;
    let (out, _made) = make_directory(&options.out)?;
    let (_runtime, cancel) = interrupt::cancel()?;
    let jobs = runs::jobs(options.jobs, EngineKind::Sim);
    let found = laboratory.prove(&out, &mut |batch, done| {
        let bar = WorkBar::of_runs("cdn", EngineKind::Sim, &batch.runs(), options.quiet);
        batch.run(jobs, &|event| bar.show(&event), &cancel, done);
        bar.finish();
    });
    if cancel.is_cancelled() {
        return Err(wrong(LabError::Cancelled));
    }
    found.map_err(wrong)
}

fn in_real_time(
    options: &Options,
    spec: &Spec,
    wrong: &dyn Fn(LabError) -> Failure,
) -> Result<Found, Failure> {
    let live = Live::new(spec).map_err(wrong)?;
    let busy = || cdn::machine::busy(cdn::machine::load());
    if let Some(lack) = cdn::live::lacking().or_else(busy) {
        return Err(wrong(LabError::Lacking(lack)));
    }
    let way = cdn::live::way(&options.out).map_err(|error| refused(&error))?;
    let (out, _made) = make_directory(&way)?;
    let _awake = options.awake.keep();
    let (_runtime, cancel) = interrupt::cancel()?;
    let mut tell = |text: &str| {
        if !options.quiet {
            output::note(text);
        }
    };
    tell(&format!(
        "everything is fetched {} times, for {} to {} each",
        live.passes(),
        spec.duration,
        spec.duration * 2
    ));
    live.run(&out, &Init::subcommand(INIT), &cancel, &mut tell)
        .map_err(wrong)
}
