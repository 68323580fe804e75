//! A scenario as hosts and links.

use std::collections::HashMap;

use ::sim::{BufferChange, Config, FlowConfig, HostConfig, MakeController, Route, Simulation};
use congestion::AnyController;
use transport::scheduler::SchedulerConfig;
use transport::{app, receiver, sender};
use units::{Bytes, ConfigError, Duration, Time};

use crate::ENGINE;
use crate::ways::Ways;
use document::DocumentError;
use scenario::{Crossing, HostSpec, LinkSpec, Name, Network, Scenario};

/// The index of a link's direction in the simulation.
pub fn link_of(crossing: Crossing) -> usize {
    crossing.link * 2 + usize::from(crossing.is_back)
}

/// Makes the controllers of a group of flows, given its index.
pub type MakeControllers<'m, C> = &'m dyn Fn(usize) -> Result<MakeController<C>, DocumentError>;

/// The controllers of a group of flows of the scenario, which are our own, in their variant for hosts like Linux.
///
/// # Errors
///
/// The group's controller is not our own.
pub fn ours(
    scenario: &Scenario,
    group: usize,
) -> Result<MakeController<AnyController>, DocumentError> {
    let settings = scenario.our_controller(group, ENGINE)?;
    Ok(MakeController::new(move |connection| {
        AnyController::on_host(settings, connection)
    }))
}

/// Checks that a scenario can be run.
///
/// # Errors
///
/// The scenario is invalid, or asks for something impossible.
pub fn check(scenario: &Scenario) -> Result<(), DocumentError> {
    scenario.check()?;
    let controllers = |group| ours(scenario, group);
    let config = config(&scenario.network(), &controllers)?;
    Simulation::new(config, ()).map_err(refused)?;
    Ok(())
}

/// Translates a network. All groups that send from the same site share a host, unless they have a `scheduler` or `nic`
/// of their own.
///
/// # Errors
///
/// A trace cannot be read, or the scenario asks for something impossible.
pub fn config<C>(
    network: &Network<'_>,
    controllers: MakeControllers<'_, C>,
) -> Result<Config<C>, DocumentError> {
    let scenario = network.scenario();
    let Ways { links, groups } = Ways::of(network)?;
    let mut hosts = Hosts::new(scenario);
    let mut flows = Vec::new();
    for (index, way) in groups.into_iter().enumerate() {
        let group = &scenario.flows[index];
        let spec = group.host.over(&scenario.host);
        let place = hosts.of(network, index, &spec);
        check_time(network, index)?;
        check_bounded(network, index, &spec)?;
        let controller = controllers(index)?;
        let receiver = receiver_config(scenario, index, &spec)?;
        let changes = spec.change.iter().flatten();
        let buffer_changes: Vec<BufferChange> = changes
            .map(|change| BufferChange {
                at: Time::ZERO + change.at,
                max_buffer: change.receive_buffer,
            })
            .collect();
        let sender = sender::Config {
            small_queues: group.small_queues(&spec),
            ..sender_config(&spec, network.mss(index))
        };
        let half = way.access / 2;
        let halves = [half, way.access.saturating_sub(half)];
        let [there, back] = if group.reverse {
            [halves[1], halves[0]]
        } else {
            halves
        };
        let starting = |start| FlowConfig {
            app: group.application(),
            start: Time::ZERO + start,
            sender: sender.clone(),
            receiver,
            buffer_changes: buffer_changes.clone(),
            host: place,
            forward: route(&way.route.there, there),
            backward: route(&way.route.back, back),
            ..FlowConfig::with_controller(controller.clone())
        };
        flows.extend(group.starts().map(starting));
    }
    let links = links.into_iter();
    Ok(Config {
        seed: scenario.seed,
        links: links
            .flat_map(|link| [link.forward, link.reverse])
            .collect(),
        hosts: hosts.all,
        flows,
        end: scenario.duration.map(|duration| Time::ZERO + duration),
    })
}

fn route(crossings: &[Crossing], access: Duration) -> Route {
    Route {
        links: crossings.iter().copied().map(link_of).collect(),
        access,
    }
}

/// The hosts that send.
struct Hosts<'s> {
    scenario: &'s Scenario,
    all: Vec<HostConfig>,
    /// The index of each site's shared host.
    of_sites: HashMap<&'s Name, usize>,
}

impl<'s> Hosts<'s> {
    /// A path has a host at each end; a network's sites get theirs when they send.
    fn new(scenario: &'s Scenario) -> Hosts<'s> {
        let ends = if scenario.links.is_empty() { 2 } else { 0 };
        Hosts {
            scenario,
            all: vec![host(&scenario.host); ends],
            of_sites: HashMap::new(),
        }
    }

    /// The index of the host that sends a group's data, with these settings.
    fn of(&mut self, network: &Network<'s>, group: usize, spec: &HostSpec) -> usize {
        let flow = &self.scenario.flows[group];
        if flow.host.scheduler.is_some() || flow.host.nic.is_some() {
            self.all.push(host(spec));
            return self.all.len() - 1;
        }
        let Some(site) = network.sender(group) else {
            return usize::from(flow.reverse);
        };
        *self.of_sites.entry(site).or_insert_with(|| {
            self.all.push(host(&self.scenario.host));
            self.all.len() - 1
        })
    }
}

/// Checks that packets take time on their way.
fn check_time(network: &Network<'_>, group: usize) -> Result<(), DocumentError> {
    let is_paced = |link: &LinkSpec| link.rate.is_some() || link.trace.is_some();
    let mut crossed = network.route(group).both();
    if network.rtprop(group).is_zero()
        && !crossed.any(|crossing| is_paced(network.direction(crossing)))
    {
        let first = network.route(group).there.first();
        let first = first.map_or(0, |crossing| crossing.link);
        let field = network.scenario().hop_name(first) + ".rtt";
        let reason = "packets take no time at all; give an RTprop or a rate";
        return Err(DocumentError::new(field, reason));
    }
    Ok(())
}

/// Checks that something limits a bulk flow. Otherwise its window would double for ever and exhaust the memory.
fn check_bounded(
    network: &Network<'_>,
    index: usize,
    host: &HostSpec,
) -> Result<(), DocumentError> {
    let scenario = network.scenario();
    let group = &scenario.flows[index];
    let is_limited = |crossing: &Crossing| {
        let link = network.direction(*crossing);
        link.rate.is_some() || link.trace.is_some() || link.effects.policer.is_some()
    };
    if group.bytes.is_some()
        || group.app != app::Config::Bulk
        || host.nic.is_some()
        || host.send_buffer.is_some()
        || host.receive_buffer.is_some()
        || network.route(index).there.iter().any(is_limited)
    {
        return Ok(());
    }
    let (field, missing) = match (group.reverse, scenario.links.is_empty()) {
        (true, _) => ("reverse", "path.uplink.rate,".to_owned()),
        (false, true) => ("controller", "path.rate,".to_owned()),
        (false, false) => ("controller", missing_rate(network, index)),
    };
    let reason = format!("nothing limits what this flow sends; give {missing} bytes or host.nic");
    Err(scenario.flow_error(index, field, &reason))
}

/// What to give the links of a group's route, none of which has a rate in its direction. If links are crossed from their
/// `to` to their `from`, the rate that they may have in the data direction does not help.
fn missing_rate(network: &Network<'_>, index: usize) -> String {
    let against = network.route(index).there.iter();
    let against = against.filter(|crossing| crossing.is_back);
    let names: Vec<String> = against
        .filter_map(|crossing| network.name(crossing.opposite()))
        .collect();
    if names.is_empty() {
        return "a link of its route a rate,".to_owned();
    }
    let links = if names.len() == 1 { "link" } else { "links" };
    let names = names.join(", ");
    format!(
        "{links} {names}, which it crosses from to to from, uplink = {{ rate = \"10mbit\" }}, turn its route round, or give"
    )
}

/// Converts an error of the simulation about a scenario that passed its own checks.
pub fn refused(error: ConfigError) -> DocumentError {
    error.into()
}

fn host(spec: &HostSpec) -> HostConfig {
    HostConfig {
        scheduler: SchedulerConfig::of(spec.scheduler.unwrap_or_default()),
        nic: spec.nic,
    }
}

/// The given number, or else the default.
fn number<T: TryFrom<u64>>(given: Option<u64>, usual: T) -> T {
    let given = given.and_then(|number| T::try_from(number).ok());
    given.unwrap_or(usual)
}

fn sender_config(spec: &HostSpec, mss: Bytes) -> sender::Config {
    let usual = sender::Config::default();
    sender::Config {
        mss,
        initial_cwnd: number(spec.initial_cwnd, usual.initial_cwnd),
        send_buffer: spec.send_buffer.unwrap_or(usual.send_buffer),
        min_rto: spec.min_rto.unwrap_or(usual.min_rto),
        max_rto: spec.max_rto.unwrap_or(usual.max_rto),
        loss_detection: spec.loss_detection.unwrap_or(usual.loss_detection),
        pacing: spec.scheduler.unwrap_or(usual.pacing),
        max_burst: match spec.offload {
            Some(false) => mss,
            _ => usual.max_burst,
        },
        ecn: spec.ecn.unwrap_or(usual.ecn) || spec.accurate_ecn == Some(true),
        accurate_ecn: spec.accurate_ecn.unwrap_or(usual.accurate_ecn),
        requests_acks: spec.ack_frequency.unwrap_or(usual.requests_acks),
        fast_open: spec.fast_open.unwrap_or(usual.fast_open),
        syn_timer: spec.syn_timer.unwrap_or(usual.syn_timer),
        ..usual
    }
}

fn receiver_config(
    scenario: &Scenario,
    index: usize,
    spec: &HostSpec,
) -> Result<receiver::Config, DocumentError> {
    let usual = receiver::Config::default();
    let max_buffer = spec.receive_buffer.unwrap_or(usual.max_buffer);
    // A small maximum applies from the start.
    let initial_buffer = usual.initial_buffer.min(max_buffer);
    let config = receiver::Config {
        ack_every: number(spec.ack_every, usual.ack_every),
        aggregation_delay: spec.aggregation_delay.unwrap_or(usual.aggregation_delay),
        max_ack_delay: spec.delayed_ack.unwrap_or(usual.max_ack_delay),
        initial_buffer: spec.initial_receive_buffer.unwrap_or(initial_buffer),
        max_buffer,
        max_sack_blocks: number(spec.sack_blocks, usual.max_sack_blocks),
        max_compressed_acks: number(spec.compressed_acks, usual.max_compressed_acks),
        accurate_ecn: spec.accurate_ecn.unwrap_or(usual.accurate_ecn),
    };
    let wrong = |error: ConfigError| {
        let field = host_field(error.field()).to_string();
        scenario.of_flow(index, error.of(field).into())
    };
    config.validate().map_err(wrong)?;
    Ok(config)
}

/// The scenario's name of a receiver's setting.
fn host_field(setting: &str) -> &str {
    match setting {
        "initial_buffer" => "host.initial_receive_buffer",
        "max_buffer" => "host.receive_buffer",
        "max_sack_blocks" => "host.sack_blocks",
        "max_ack_delay" => "host.delayed_ack",
        "aggregation_delay" => "host.aggregation_delay",
        "ack_every" => "host.ack_every",
        other => other,
    }
}
