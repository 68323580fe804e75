//! `fullpipe send`: sends files.

use std::path::PathBuf;
use std::time::SystemTime;

use clap::Args;
use congestion::kind::Kind;
use quic::controller::factory;
use quic::transfer::{self, SenderConfig, Ticket};

use crate::controllers;
use crate::failure::Failure;
use crate::interrupt;
use crate::progress::Progress;

/// Send files to a `fullpipe recv`
#[derive(Debug, Args)]
#[command(after_help = "\
After an interruption of either side, the same command continues from what was verified.")]
pub struct Options {
    /// The files
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// The ticket that the receiver printed
    ticket: Ticket,
    #[arg(
        long,
        help = controllers::help("The congestion controller"),
        value_name = "NAME",
        default_value_t = Kind::Bbr1
    )]
    controller: Kind,
    /// Begin anew: forget what an earlier attempt with this ticket has brought
    #[arg(long)]
    restart: bool,
}

/// Sends until the receiver has everything.
pub fn run(options: &Options) -> Result<(), Failure> {
    interrupt::run(send(options), "run the same command again to continue")
}

async fn send(options: &Options) -> Result<(), Failure> {
    let progress = Progress::default();
    let config = SenderConfig {
        controllers: factory(options.controller, seed(), Some(progress.observer())),
        restart: options.restart,
    };
    let watch = |event: transfer::Event<'_>| progress.on_event(&event);
    let sent = transfer::send(&options.files, &options.ticket, config, &watch)
        .await
        .map_err(|error| match error.is_interruption() {
            true => Failure::failed(format_args!(
                "{error}; run the same command again to continue from what was verified"
            )),
            false => Failure::failed(error),
        })?;
    progress.conclude("sent", &sent);
    Ok(())
}

/// Nobody needs to see the same transfer twice: flows that start together should not move in step.
fn seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| u64::from(since.subsec_nanos()))
}
