//! `fullpipe steer why`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use experiment::policy::Connection;
use units::Duration;

use super::super::study;
use super::read_with;
use crate::failure::Failure;
use crate::terminal::output;

/// Say which controller a policy gives a connection, and by which rule
#[derive(Debug, Args)]
pub struct Options {
    /// The other side's address
    #[arg(value_name = "ADDR")]
    address: IpAddr,
    /// The policy
    #[arg(value_name = "POLICY.toml")]
    policy: PathBuf,
    /// The port: this side's, or with --outgoing the other side's
    #[arg(long, value_name = "PORT", default_value = "443")]
    port: u16,
    /// The round-trip time of its handshake; 0s if it is not known
    #[arg(long, value_name = "TIME", default_value = "0s")]
    rtt: Duration,
    /// Find networks of autonomous systems in this file, as `watch --as` takes it
    #[arg(long = "as", value_name = "FILE")]
    systems: Option<PathBuf>,
    /// It goes out
    #[arg(long)]
    outgoing: bool,
}

/// Says it.
pub fn run(options: &Options) -> Result<(), Failure> {
    let policy = read_with(&options.policy, options.systems.as_deref())?;
    let of = Connection {
        client: options.address,
        is_incoming: !options.outgoing,
        port: options.port,
        rtt: options.rtt,
        at: std::time::Duration::try_from_secs_f64(study::unix_s())
            .unwrap_or_default()
            .into(),
    };
    let Some(decision) = policy.decide(&of) else {
        return output::result("no rule holds: it has the default");
    };
    let rule = decision.rule;
    let mut text = format!("{}: rule \"{}\"", decision.controller, rule.name);
    if decision.is_exploring {
        text += &format!(
            " says {}, and in these ten minutes this client network is among the {} that explore",
            rule.controller(),
            policy.explore
        );
    }
    if !rule.evidence.is_empty() {
        text += &format!("; {}", rule.evidence);
    }
    output::result(text)
}
