//! `fullpipe steer why`.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use experiment::policy::{Policy, Rule};
use kernel::{KNOWN_PACKETS, Resent};
use program::failure::Failure;
use program::output;
use rollout::steer::{self, AssignedController};
use rules::{Connection, Interface, Quantity};
use tables::numbers;

use super::super::live_controllers::unix_s;
use super::{read, with_networks};

/// Print which controller the policy in force gives a connection, and by which rule
#[derive(Debug, Args)]
pub struct Options {
    /// Remote address
    #[arg(value_name = "ADDR")]
    address: IpAddr,
    /// File of the policy, for the name of the control group; if no policy is in force there, the file's policy is used
    #[arg(value_name = "POLICY.toml")]
    policy: PathBuf,
    /// Local port, or with --outgoing the remote port
    #[arg(long, value_name = "PORT", default_value = "443")]
    port: u16,
    #[command(flatten)]
    quantities: Quantities,
    /// Interface through which the connection's data leave
    #[arg(long, value_name = "NAME")]
    interface: Option<Interface>,
    /// Find networks of autonomous systems in this file, as with `watch --as`
    #[arg(long = "as", value_name = "FILE")]
    systems: Option<PathBuf>,
    /// The connection is outgoing
    #[arg(long)]
    outgoing: bool,
}

/// The values of the connection's quantities, with an option for each.
#[derive(Debug)]
struct Quantities([Option<u64>; Quantity::ALL.len()]);

impl Args for Quantities {
    fn augment_args(command: Command) -> Command {
        command.args(Quantity::ALL.map(|quantity| {
            let (name, form) = (quantity.name(), quantity.form());
            let arg = Arg::new(name).long(name).value_name(form.placeholder());
            arg.value_parser(move |text: &str| form.value(text))
                .help(quantity.help())
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Quantities::augment_args(command)
    }
}

impl FromArgMatches for Quantities {
    fn from_arg_matches(given: &ArgMatches) -> Result<Quantities, clap::Error> {
        let value = |quantity: Quantity| given.get_one::<Option<u64>>(quantity.name()).copied();
        Ok(Quantities(
            Quantity::ALL.map(|quantity| value(quantity).flatten()),
        ))
    }

    fn update_from_arg_matches(&mut self, given: &ArgMatches) -> Result<(), clap::Error> {
        *self = Quantities::from_arg_matches(given)?;
        Ok(())
    }
}

/// Names the rules that cannot match because a property of the connection is unknown, and says if no rule names its
/// interface. The kernel knows the retransmissions of the client's network, if its policy uses them.
fn note_unknown(policy: &Policy, of: &Connection, knows_resent: bool) {
    let some = |is_so: &dyn Fn(&Rule) -> bool| policy.rules.iter().any(is_so);
    let unknown = |what: &str, fields: &str, option: &str| {
        output::note(format_args!(
            "{what} is not known here, so rules with {fields} do not match: --{option} names it"
        ));
    };
    match &of.interface {
        None if some(&|rule| !rule.interface.is_empty()) => {
            unknown(
                "the interface of the connection",
                "`interface`",
                "interface",
            );
        }
        Some(one) if !some(&|rule| rule.interface.contains(one)) => {
            output::note(format_args!("no rule names the interface {}", one.name()));
        }
        _ => {}
    }
    for quantity in Quantity::ALL {
        let is_known =
            of.quantity(quantity).is_some() || quantity == Quantity::Resent && knows_resent;
        if !is_known && some(&|rule| rule.conditions().has_bounds(quantity)) {
            let [from, below] = quantity.fields();
            let fields = format!("`{from}` or `{below}`");
            unknown(quantity.meaning(), &fields, quantity.name());
        }
    }
}

/// Prints the decision.
pub fn run(options: &Options) -> Result<(), Failure> {
    let file = options.policy.display();
    let policy = read(&options.policy)?;
    let of = Connection {
        is_incoming: !options.outgoing,
        interface: options.interface,
        at: std::time::Duration::try_from_secs_f64(unix_s())
            .unwrap_or_default()
            .into(),
        quantities: options.quantities.0,
        ..Connection::incoming(options.address.to_canonical(), options.port)
    };
    // The policy in force can be read even if the file is invalid.
    let said = with_networks(policy.clone(), &options.policy, options.systems.as_deref());
    let in_force = match steer::in_force(said.as_ref().unwrap_or(&policy), &of) {
        Ok(Some(in_force)) if !in_force.lease.is_zero() => in_force,
        other => {
            let said = said?;
            output::note(match other {
                Ok(Some(_)) => {
                    format!("the lease of a policy is over; this is the decision of {file}")
                }
                Ok(None) => format!("no policy is in force; this is the decision of {file}"),
                Err(error) => {
                    let error = output::word(&error.to_string());
                    format!("this is the decision of {file}, and not of a policy in force: {error}")
                }
            });
            note_unknown(&said, &of, false);
            let given = by_file(&said, &of);
            return show(&said, given.as_ref(), Some(&of));
        }
    };
    // The rules of a policy that differs are not known.
    if in_force.is_of_policy {
        note_unknown(&policy, &of, true);
    }
    let asked = in_force.is_of_policy.then_some(&of);
    show(&policy, in_force.given.as_ref(), asked)?;
    if let (Some(resent), None) = (in_force.resent, of.quantity(Quantity::Resent)) {
        let network = policy.network(of.client);
        output::result(format_args!("{network}: {}", remembered(resent)))?;
    }
    match said {
        Err(error) => output::note(format_args!(
            "this is in force; the file cannot be compared with it: {error}"
        )),
        Ok(_) if !in_force.is_of_policy => output::note(format_args!(
            "this is in force; {file} differs: it was changed, or rules were taken back, which the journal shows"
        )),
        Ok(_) => {}
    }
    Ok(())
}

/// The decision of the policy in the file.
fn by_file(policy: &Policy, of: &Connection) -> Option<AssignedController> {
    policy
        .lowered()
        .decide(of)
        .map(|decision| AssignedController {
            rule: decision.rule.name.clone(),
            controller: decision.controller.to_owned(),
            own: decision.rule.controller().to_owned(),
            explores: decision
                .is_exploring
                .then(|| policy.explored(decision.rule).as_f64()),
        })
}

/// The kernel's memory of a client network, in words.
fn remembered(of: Resent) -> String {
    let packets = numbers::count(of.sent, "packet");
    let Some(share) = of.share else {
        return format!(
            "{} of {packets} resent; with fewer than {KNOWN_PACKETS}, the share is unknown",
            of.resent
        );
    };
    let measured = of.resent as f64 / of.sent.max(1) as f64;
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    format!(
        "{} of {packets} resent; rules see {}",
        percent(measured),
        percent(share.as_f64())
    )
}

/// Prints the decision. Names and evidence may contain any characters.
fn show(
    policy: &Policy,
    given: Option<&AssignedController>,
    asked: Option<&Connection>,
) -> Result<(), Failure> {
    output::result(output::word(&words(policy, given, asked)))
}

/// The decision in one line, with the evidence of the file's rule with this name and controller. If the policy has no
/// rule for the port that was asked for, this is the reason.
fn words(
    policy: &Policy,
    given: Option<&AssignedController>,
    asked: Option<&Connection>,
) -> String {
    let Some(given) = given else {
        let mut text = "no rule matches: the connection has the default controller".to_owned();
        if let Some(of) = asked.filter(|of| !policy.has_port(of)) {
            let field = if of.is_incoming { "listen" } else { "connect" };
            text += &format!(
                "; no rule has port {} in {field}: --port names another",
                of.port
            );
        }
        return text;
    };
    let mut text = format!("{}: rule \"{}\"", given.controller, given.rule);
    if let Some(share) = given.explores {
        text += &format!(
            " says {}, and in these ten minutes this client network is among the {} that explore",
            given.own,
            numbers::percent(share)
        );
    }
    let mut rules = policy.rules.iter();
    let rule = rules.find(|rule| rule.name == given.rule && rule.controller() == given.own);
    if let Some(rule) = rule
        && !rule.evidence.is_empty()
    {
        text += &format!("; {}", rule.evidence);
    }
    text
}

#[cfg(test)]
mod tests {
    use units::Ratio;

    use super::*;

    #[test]
    fn what_is_remembered_is_told_in_one_line() {
        let of = |sent, resent, share| {
            remembered(Resent {
                sent,
                resent,
                share,
            })
        };
        assert_eq!(
            of(1, 0, None),
            "0 of 1 packet resent; with fewer than 1000, the share is unknown"
        );
        assert_eq!(
            of(8200, 205, Some(Ratio::new(20_000, 1_000_000))),
            "2.50 % of 8200 packets resent; rules see 2.00 %"
        );
    }
}
