//! `fullpipe emulate`: a UDP relay with a network path inside.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use clap::Args;
use emulator::{Relay, RelayConfig, RelayError, Sharing};
use program::failure::Failure;
use program::interrupt::{self, Interrupt};
use program::output;
use program::usage;

use crate::options::address::resolve;
use crate::options::path_options::{self, PathOptions};
use crate::terminal::relay_report::{summary, table, warning};
use crate::terminal::relay_status::RelayStatus;

/// The interval at which the status is redrawn.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);

/// Put an emulated path in front of a UDP server, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = "\
Clients send to --listen, the server at --to receives what comes through, and its answers go back the same way.

The bottleneck and what belongs to it (--rate, --trace, --buffer, --queue, --policer, --demand, --loss, --jitter, --reorder, \
--duplicate, --corruption, --mtu) is on the way from the clients to the server. The opposite direction has half of --rtt, and --uplink, --ack-loss and \
--aggregation.

Without path options, packets pass unchanged. A bottleneck without --buffer gets a buffer of 1.5 MB. This command needs no \
privilege.")]
pub struct Options {
    /// Address for clients; port 0 takes a free port
    #[arg(long, value_name = "ADDR", value_parser = resolve)]
    listen: SocketAddr,
    /// Address of the server
    #[arg(long, value_name = "ADDR", value_parser = resolve)]
    to: SocketAddr,
    /// Give each client its own path instead of one bottleneck for all
    #[arg(long)]
    per_client: bool,
    /// Seed of the path's random choices
    #[arg(long, value_name = "N", value_parser = usage::whole, default_value_t = 1)]
    seed: u64,
    /// Print the counters as JSON on stdout at the end
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    path: PathOptions,
}

/// Relays until the user ends the command, then prints what happened to the packets.
pub fn run(options: &Options) -> Result<(), Failure> {
    let (path, note) = options.path.bounded()?;
    let config = RelayConfig {
        listen: options.listen,
        to: options.to,
        path: path.config().map_err(path_options::usage)?,
        seed: options.seed,
        sharing: if options.per_client {
            Sharing::PathPerClient
        } else {
            Sharing::OneBottleneck
        },
    };
    let runtime = interrupt::runtime()?;
    let mut interrupt = runtime.block_on(async { Interrupt::listen() })?;
    let relay = Relay::start(config).map_err(|error| match error {
        RelayError::OwnAddress { .. } => Failure::usage(format_args!("--to: {error}")),
        error => Failure::failed(error),
    })?;
    output::note(format_args!(
        "relaying {} to {} over {}; Ctrl-C ends it",
        relay.local_addr(),
        options.to,
        report::describe(&path)
    ));
    if let Some(note) = note {
        output::note(note);
    }
    let began = Instant::now();
    runtime.block_on(watch(&relay, &mut interrupt));
    let counters = relay.stop();
    output::note(summary(&counters, began.elapsed()));
    if let Some(warning) = warning(&counters) {
        output::note(warning);
    }
    output::show(options.json, || counters, |_| table(&counters))
}

/// Shows the state of the relay until the user ends the command.
async fn watch(relay: &Relay, interrupt: &mut Interrupt) {
    let mut status = RelayStatus::new();
    let mut ticks = tokio::time::interval(REDRAW_INTERVAL);
    loop {
        tokio::select! {
            () = interrupt.wait() => break,
            _ = ticks.tick() => status.show(relay, Instant::now()),
        }
    }
    status.clear();
}
