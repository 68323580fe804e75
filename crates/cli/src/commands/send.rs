//! `fullpipe send`: sends files.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use clap::Args;
use congestion::ControllerKind;
use program::failure::Failure;
use program::interrupt;
use program::usage;
use quic::controller::factory;
use transfer::{SenderConfig, Ticket};

use crate::options::stdin_file::StdinFile;
use crate::options::ticket;
use crate::terminal::progress::Progress;

/// Send files and directories to a `fullpipe recv`
#[derive(Debug, Args)]
#[command(
    override_usage = "fullpipe send [OPTIONS] <FILE|TICKET>...",
    after_help = "\
The ticket is read from --ticket-file, from the environment variable FULLPIPE_TICKET, or from stdin, where a terminal \
asks for it. It holds a secret. A ticket among the files works too, but the shell keeps it in its history, and the list \
of processes shows it for a moment.

After an interruption of either side, the same command continues from what was verified."
)]
pub struct Options {
    /// Files and directories to send; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    words: Vec<PathBuf>,
    /// Read the ticket from the first line of FILE; `-` is stdin
    #[arg(long, value_name = "FILE")]
    ticket_file: Option<PathBuf>,
    /// Name for the data from stdin
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    #[arg(
        long,
        help = usage::one_of("The congestion controller", ControllerKind::ALL),
        value_name = "NAME",
        default_value_t = ControllerKind::Bbr1
    )]
    controller: ControllerKind,
    /// Begin anew: discard what an earlier attempt with this ticket has sent
    #[arg(long)]
    restart: bool,
    /// Leave out what cannot be sent because of its name, or because it cannot be read, and send the rest
    #[arg(long)]
    skip: bool,
    /// Print only errors, and the result with --json
    #[arg(long)]
    quiet: bool,
    /// Print the result as JSON on stdout at the end
    #[arg(long)]
    json: bool,
}

/// Sends until the receiver has everything.
pub fn run(options: &Options) -> Result<(), Failure> {
    let (ticket, files) = ticket::find(&options.words, options.ticket_file.as_deref())?;
    let stdin_name = check(&files, options.name.as_deref())?;
    check_all_there(&files)?;
    interrupt::run(
        send(options, ticket, files, stdin_name),
        "run the same command again to continue",
    )
}

/// The name for stdin, if stdin is one of the files.
fn check<'a>(files: &[PathBuf], name: Option<&'a str>) -> Result<Option<&'a str>, Failure> {
    let stdin = files.iter().filter(|file| is_stdin(file)).count();
    match (stdin, name) {
        _ if files.is_empty() => Err(Failure::usage("nothing to send: name at least one file")),
        (0, None) => Ok(None),
        (0, Some(_)) => Err(Failure::usage(
            "--name is for stdin: name `-` among the files",
        )),
        (1, Some(name)) => match transfer::check_name(name) {
            Ok(()) => Ok(Some(name)),
            Err(problem) => Err(Failure::usage(format_args!("--name {name:?}: {problem}"))),
        },
        (1, None) => Err(Failure::usage(
            "`-` needs a name for the receiver: add --name NAME",
        )),
        _ => Err(Failure::usage(
            "`-` is there more than once; stdin can be sent once",
        )),
    }
}

/// Names every file that is not there or cannot be looked at, or one that is named twice.
fn check_all_there(files: &[PathBuf]) -> Result<(), Failure> {
    let wrong = |file: &PathBuf| {
        let error = fs::metadata(file).err().filter(|_| !is_stdin(file))?;
        Some(format!("{file:?}: {error}"))
    };
    let wrong: Vec<String> = files.iter().filter_map(wrong).collect();
    if wrong.is_empty() {
        let again = (1..files.len()).find(|place| files[..*place].contains(&files[*place]));
        return again.map_or(Ok(()), |place| {
            let file = &files[place];
            Err(Failure::usage(format_args!(
                "{file:?} is named twice; name it once"
            )))
        });
    }
    let wrong = wrong.join("; ");
    Err(Failure::usage(format_args!("cannot read {wrong}")))
}

fn is_stdin(file: &Path) -> bool {
    file == Path::new("-")
}

async fn send(
    options: &Options,
    ticket: Ticket,
    mut files: Vec<PathBuf>,
    stdin_name: Option<&str>,
) -> Result<(), Failure> {
    let stdin = match stdin_name {
        Some(name) => Some(StdinFile::read(name).await?),
        None => None,
    };
    for file in files.iter_mut().filter(|file| is_stdin(file)) {
        stdin.iter().for_each(|stdin| file.clone_from(&stdin.path));
    }
    let progress = Progress::new(options.quiet, options.json);
    let config = SenderConfig {
        controllers: factory(options.controller, seed(), Some(progress.observer())),
        restart: options.restart,
        skip: options.skip,
    };
    let watch = |event: transfer::Event<'_>| {
        progress.count_losses(&event);
        progress.on_event(&event);
    };
    let mut sent = transfer::send(&files, &ticket, config, &watch)
        .await
        .map_err(|error| {
            if let transfer::Error::NotAFile(_) | transfer::Error::Unsendable(_) = error {
                return Failure::usage(error);
            }
            let advice = if error.is_interruption() {
                "; run the same command again to continue from what was verified"
            } else {
                ""
            };
            Failure::failed(format_args!("{error}{advice}"))
        })?;
    // The copy of stdin has a generated name.
    for file in &mut sent {
        if stdin.as_ref().is_some_and(|stdin| stdin.path == file.path) {
            file.path = PathBuf::from(&file.name);
        }
    }
    progress.conclude("sent", &sent)
}

/// A random seed. Transfers need not be reproducible, and flows that start together should not synchronize.
fn seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::from(since.subsec_nanos()))
}
