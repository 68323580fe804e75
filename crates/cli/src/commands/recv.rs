//! `fullpipe recv`: receives files.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use program::directory;
use program::failure::Failure;
use program::interrupt;
use program::output;
use transfer::{Receiver, ReceiverConfig, Resumption, STATE_FOLDER};

use crate::options::address::resolve;
use crate::terminal::progress::Progress;

/// Receive files and directories from `fullpipe send`
#[derive(Debug, Args)]
#[command(after_help = "\
This command prints a ticket on stdout. Pass it to the sender over a channel that you trust. The ticket lets its holder \
send once, or with --keep as long as this command runs. A file appears under its name only when it is whole and verified. After an \
interruption, the same command prints the same ticket and continues from what was verified.")]
pub struct Options {
    /// Address to listen on; port 0 takes a free port, and `[::]:0` also serves IPv6
    #[arg(long, value_name = "ADDR", value_parser = resolve, default_value = "0.0.0.0:0")]
    listen: SocketAddr,
    /// Address for the ticket, instead of this machine's addresses, for example behind a NAT; can be given several
    /// times
    #[arg(long, value_name = "ADDR", value_parser = resolve)]
    advertise: Vec<SocketAddr>,
    /// Directory for the files
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Replace existing files
    #[arg(long)]
    overwrite: bool,
    /// Give a file whose name is taken another one: `name (2).txt`
    #[arg(long, conflicts_with = "overwrite")]
    rename: bool,
    /// Discard an unfinished transfer, its ticket and its parts, even if they are damaged
    #[arg(long)]
    fresh: bool,
    /// Continue after a transfer: the ticket is valid for any number of transfers, one after the other
    #[arg(long)]
    keep: bool,
    /// Print only the ticket and errors, and the result with --json
    #[arg(long)]
    quiet: bool,
    /// Print the result of each transfer as JSON on stdout, on a line after the ticket
    #[arg(long)]
    json: bool,
}

/// Receives until one transfer is complete, or with `--keep` until the user ends the command.
pub fn run(options: &Options) -> Result<(), Failure> {
    let _made = directory::make("--out", &options.out)?;
    interrupt::run(receive(options), "run the same command again to continue")
}

async fn receive(options: &Options) -> Result<(), Failure> {
    let config = ReceiverConfig {
        listen: options.listen,
        advertise: options.advertise.clone(),
        out: options.out.clone(),
        overwrite: options.overwrite,
        rename: options.rename,
        fresh: options.fresh,
        keep: options.keep,
    };
    let receiver = Receiver::bind(config).await.map_err(Failure::failed)?;
    let state = options.out.join(STATE_FOLDER);
    match receiver.resumption() {
        _ if options.quiet => {}
        Resumption::None => {}
        Resumption::SameTicket => output::note(format_args!(
            "continuing the unfinished transfer in {}, with the same ticket",
            state.display()
        )),
        Resumption::NewPort => output::note(format_args!(
            "continuing the unfinished transfer in {}; its port is taken, so the ticket is a new one",
            state.display()
        )),
    }
    if !options.quiet {
        output::note("waiting for: fullpipe send FILE…, which asks for the ticket");
    }
    output::result(receiver.ticket())?;
    let progress = Progress::new(options.quiet, options.json);
    let received = receiver
        .run(&|event| progress.on_event(&event))
        .await
        .map_err(Failure::failed)?;
    progress.conclude("received", &received)
}
