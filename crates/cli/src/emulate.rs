//! `fullpipe emulate`: a UDP relay with a network path inside.

use std::net::SocketAddr;

use clap::Args;
use emulator::{DirectionCounters, Relay, RelayConfig, RelayCounters, Sharing};
use lab::scenario::PathSpec;

use crate::address::resolve;
use crate::failure::Failure;
use crate::interrupt::{self, Interrupt};
use crate::output;
use crate::path_options::{self, PathOptions};

/// Put an emulated network path in front of a UDP server, until Ctrl-C
#[derive(Debug, Args)]
#[command(after_help = "\
Clients send to --listen, the server at --to receives what comes through, and its answers go back the same way. \
Without path options, packets pass unchanged. Needs no privilege.")]
pub struct Options {
    /// Where clients send to; port 0 takes a free one
    #[arg(long, value_name = "ADDR", value_parser = resolve)]
    listen: SocketAddr,
    /// The server
    #[arg(long, value_name = "ADDR", value_parser = resolve)]
    to: SocketAddr,
    /// Give each client a path of its own instead of one bottleneck for all
    #[arg(long)]
    per_client: bool,
    /// Seed of the path's random choices
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// At the end, print the counters as JSON on stdout
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    path: PathOptions,
}

/// Relays until the user ends it, then prints what happened to the packets.
pub fn run(options: &Options) -> Result<(), Failure> {
    let path = options.path.apply_to(PathSpec::default())?;
    let config = RelayConfig {
        listen: options.listen,
        to: options.to,
        path: path.config().map_err(path_options::usage)?,
        seed: options.seed,
        sharing: match options.per_client {
            true => Sharing::PathPerClient,
            false => Sharing::OneBottleneck,
        },
    };
    let runtime = interrupt::runtime()?;
    let mut interrupt = runtime.block_on(async { Interrupt::listen() })?;
    let relay = Relay::start(config).map_err(Failure::failed)?;
    output::note(format_args!(
        "relaying {} to {} over {}; Ctrl-C ends it",
        relay.local_addr(),
        options.to,
        lab::report::describe(&path)
    ));
    runtime.block_on(interrupt.wait());
    let counters = relay.stop();
    match options.json {
        true => output::json(&counters),
        false => output::result(table(&counters)),
    }
}

/// The counters for people: one line a counter, forward and reverse side by side. What never happened is left out.
fn table(counters: &RelayCounters) -> String {
    let RelayCounters {
        forward, reverse, ..
    } = counters;
    let always = [
        "entered packets",
        "entered bytes",
        "delivered packets",
        "delivered bytes",
    ];
    let mut table = format!("{:<20}{:>16}{:>16}\n", "", "forward", "reverse");
    for ((name, forward), (_, reverse)) in rows(forward).into_iter().zip(rows(reverse)) {
        if always.contains(&name) || forward > 0 || reverse > 0 {
            table += &format!("{name:<20}{forward:>16}{reverse:>16}\n");
        }
    }
    table += &format!("{:<20}{:>16}", "clients", counters.clients_seen);
    for (name, count) in [
        ("refused packets", counters.refused_packets),
        ("unreachable reports", counters.unreachable_reports),
        ("socket overflows", counters.socket_overflows),
    ] {
        if count > 0 {
            table += &format!("\n{name:<20}{count:>16}");
        }
    }
    table
}

fn rows(direction: &DirectionCounters) -> [(&'static str, u64); 11] {
    [
        ("entered packets", direction.entered_packets),
        ("entered bytes", direction.entered_bytes),
        ("delivered packets", direction.delivered_packets),
        ("delivered bytes", direction.delivered_bytes),
        ("buffer drops", direction.buffer_drops),
        ("random losses", direction.random_losses),
        ("policer drops", direction.policer_drops),
        ("duplicated packets", direction.duplicated_packets),
        ("in transit packets", direction.in_transit_packets),
        ("send errors", direction.send_errors),
        ("orphaned packets", direction.orphaned_packets),
    ]
}
