//! `--connection 192.0.2.7:50000`: one connection of the captures.

use std::net::SocketAddr;

use program::failure::Failure;
use studies::diagnose::{named, untellable};
use tables::numbers::count;
use trace::{Direction, FlowSummary, Summary};

/// The most connections that are listed if the requested one does not exist.
const MAX_LISTED: usize = 5;

/// An end of a connection.
pub fn end(text: &str) -> Result<SocketAddr, String> {
    let parsed = text.parse();
    parsed.map_err(|_| "expected an address and a port such as 192.0.2.7:50000".to_owned())
}

/// The direction with the most payload whose path is known, of the connection with this end, or of all.
///
/// # Errors
///
/// No connection has this end, or no such direction shows its path.
pub fn direction(summary: &Summary, end: Option<SocketAddr>) -> Result<Direction<'_>, Failure> {
    let end = end.map(|end| end.to_string());
    let is_wanted = |flow: &FlowSummary| {
        end.as_ref()
            .is_none_or(|end| *end == flow.from || *end == flow.to)
    };
    let flows = || summary.connections.iter().flat_map(|one| &one.flows);
    if let Some(end) = &end
        && !flows().any(is_wanted)
    {
        return Err(Failure::usage(format_args!(
            "--connection {end}: no connection with data has this end; {}",
            others(flows().collect())
        )));
    }
    let found = Direction::of(summary, is_wanted);
    found.ok_or_else(|| Failure::failed(untellable(summary, is_wanted)))
}

/// The existing connections, in words.
fn others(mut flows: Vec<&FlowSummary>) -> String {
    flows.sort_by_key(|flow| u64::MAX - flow.sent_bytes);
    let mut names: Vec<String> = flows
        .iter()
        .take(MAX_LISTED)
        .map(|flow| named(flow))
        .collect();
    let more = flows.len().saturating_sub(MAX_LISTED);
    if more > 0 {
        names.push(format!("{} more", count(more as u64, "direction")));
    }
    if names.is_empty() {
        "there is none".to_owned()
    } else {
        format!("there are {}", names.join(", "))
    }
}
