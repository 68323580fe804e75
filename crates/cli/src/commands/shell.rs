//! `fullpipe shell`: runs any program behind an emulated path.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use linux::command::{Init, init_main};
use program::apart;
use program::awake_option::AwakeOption;
use program::command_line;
use program::failure::Failure;
use program::output;
use program::usage;
use program::whole;
use scenario::Controller;
use shell::{Attendant, Direction, Observed, Shell, ShellError, Signal};

use crate::options::path_options::{self, PathOptions};
use crate::terminal::signals::Signals;

/// Run a program behind an emulated path, and report what happened
#[derive(Debug, Args)]
#[command(after_help = "\
COMMAND runs in a network of its own. Nothing is in it but the far side, beyond the path, at 10.200.1.1 and fd66:756c:6c70:1::1 \
($FULLPIPE_FAR, $FULLPIPE_FAR6). It answers pings; --serve runs something to talk to there: 'iperf3 -s', \
'python3 -m http.server 8000'. COMMAND itself is at $FULLPIPE_NEAR and $FULLPIPE_NEAR6.

The bottleneck and what belongs to it (--rate, --trace, --buffer, --queue, --policer, --demand, --loss, --jitter, --reorder, \
--duplicate, --corruption, --mtu) is on the way down, from the far side to COMMAND: what COMMAND downloads. The way up, from COMMAND to the far \
side, has half of --rtt, and --uplink, --ack-loss and --aggregation. --direction up exchanges the two; both puts the same \
bottleneck on each way. Changes (--change) count from the start of COMMAND.

Stdin and stdout are COMMAND's; everything that fullpipe says is on stderr. The exit code is COMMAND's, 128 and the \
signal if one ended it, 127 if there is no such command, 126 if it cannot be executed, 125 if fullpipe failed or could not \
write --json or --out after COMMAND had ended, 130 if it was interrupted before COMMAND began, 2 if the arguments make no \
sense or the place for --json or --out cannot be written. Whatever COMMAND and --serve have started ends with them, and with fullpipe.

This command needs no privilege where the kernel allows user namespaces, and root elsewhere.

  fullpipe shell --rate 10mbit --rtt 40ms --buffer 1s --serve 'python3 -m http.server 8000' -- \
curl -o /dev/null http://10.200.1.1:8000/file
  fullpipe shell --rate 10mbit --rtt 40ms --direction up --serve 'iperf3 -s' -- iperf3 -c 10.200.1.1")]
pub struct Options {
    /// Direction of the bottleneck: down for data that COMMAND receives, up for data that it sends, or both
    #[arg(long, value_name = "WAY", default_value_t = Direction::default())]
    direction: Direction,
    /// Run this program on the far side with sh -c, from before COMMAND starts until it has ended; its stdout goes to
    /// stderr
    #[arg(long, value_name = "PROGRAM")]
    serve: Option<OsString>,
    /// Start COMMAND when a program listens on this TCP or UDP port of the far side [default: any port]
    #[arg(long, value_name = "PORT", requires = "serve")]
    wait_for: Option<u16>,
    /// Congestion control of both sides' TCP sockets that do not select one: bbr1, cubic, reno, or kernel:NAME
    #[arg(long, value_name = "NAME")]
    controller: Option<Controller>,
    /// Seed of the path's random choices
    #[arg(long, value_name = "N", value_parser = usage::whole, default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    awake: AwakeOption,
    /// Write a page with plots, the queue over time as Parquet, and the summary into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write the summary as JSON to this file, or to an open descriptor such as /dev/fd/3
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print only errors
    #[arg(long)]
    quiet: bool,
    /// Program and its arguments
    #[arg(required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
    // After all other options: their heading would be that of these options.
    #[command(flatten)]
    path: PathOptions,
}

/// The first argument with which this program starts itself as the init process of a command.
pub const INIT: &str = "init-of-a-command";

/// Runs the command, and returns its exit code.
pub fn run(options: &Options) -> Result<ExitCode, Failure> {
    let (path, note) = options.path.bounded()?;
    let shell = Shell {
        path,
        direction: options.direction,
        seed: options.seed,
        controller: options.controller,
        command: options.command.clone(),
        serve: options.serve.clone(),
        wait_for: options.wait_for,
    };
    shell.check().map_err(path_options::usage)?;
    let out = options.out.as_deref();
    apart::check(("--out", out), &[("--json", options.json.as_deref())])?;
    if let Some(directory) = out {
        shell::check_dir(directory)
            .map_err(|error| Failure::usage(format_args!("--out: {error}")))?;
    }
    if let Some(file) = &options.json {
        whole::check(file)
            .map_err(|error| Failure::usage(format_args!("--json {}: {error}", file.display())))?;
    }
    // This must come before there is a second thread.
    linux::privilege::acquire().map_err(Failure::not_run)?;
    let _awake = options.awake.keep();
    let mut host = Host {
        signals: Signals::listen()?,
        is_quiet: options.quiet,
    };
    if let Some(note) = note {
        host.tell(&note);
    }
    let observed = shell
        .run(&Init::subcommand(INIT), &mut host)
        .map_err(failure)?;
    report(options, &observed).map_err(Failure::of_the_host)?;
    Ok(ExitCode::from(observed.summary.exit_code))
}

/// The code of the first process of a command, with the arguments after [`INIT`].
pub fn init(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    ExitCode::from(init_main(arguments))
}

/// Prints messages on stderr, and passes on signals.
struct Host {
    signals: Signals,
    is_quiet: bool,
}

impl Attendant for Host {
    fn tell(&self, line: &str) {
        if !self.is_quiet {
            output::note(format_args!("fullpipe: {line}"));
        }
    }

    fn signal(&mut self) -> Option<Signal> {
        self.signals.next()
    }
}

fn failure(error: ShellError) -> Failure {
    match error {
        ShellError::Path(error) => path_options::usage(error),
        ShellError::Interrupted => Failure::interrupted("the command has not run"),
        error => Failure::not_run(error),
    }
}

fn report(options: &Options, observed: &Observed) -> Result<(), Failure> {
    if !options.quiet {
        output::note(shell::table(&observed.summary, output::width()).trim_end());
    }
    if let Some(file) = &options.json {
        write_json(file, observed)?;
    }
    if let Some(directory) = &options.out {
        let origin = command_line::origin();
        shell::write_dir(directory, observed, &origin).map_err(Failure::failed)?;
        if !options.quiet {
            output::note(format_args!("fullpipe: report in {}", directory.display()));
        }
    }
    Ok(())
}

fn write_json(path: &Path, observed: &Observed) -> Result<(), Failure> {
    let text = report::pretty(&observed.summary) + "\n";
    whole::write(path, text.as_bytes())
}
