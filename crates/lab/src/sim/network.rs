//! A scenario as hosts and links.

use ::sim::{Config, FlowConfig, HostConfig, MakeController, parking_lot};
use congestion::AnyController;
use transport::scheduler::SchedulerConfig;
use transport::{app, receiver, sender};
use units::{Bytes, ConfigError, Time};

use crate::engine_kind::EngineKind;
use crate::ways::Ways;
use document::DocumentError;
use scenario::{FlowSpec, HostSpec, LinkSpec, PathSpec, Scenario};

/// The index of the link that carries data over this hop.
pub(super) const fn data_link(hop: usize) -> usize {
    hop * 2
}

/// Makes the controllers of a group of flows, given its index.
pub type MakeControllers<'m, C> = &'m dyn Fn(usize) -> Result<MakeController<C>, DocumentError>;

/// The controllers of the scenario that are our own, in their variant for hosts like Linux.
pub(super) fn ours(
    scenario: &Scenario,
    group: usize,
) -> Result<MakeController<AnyController>, DocumentError> {
    let settings = scenario.our_controller(group, EngineKind::Sim.name())?;
    Ok(MakeController::new(move |connection| {
        AnyController::on_host(settings, connection)
    }))
}

/// Translates a scenario. All groups that send in the same direction share a host, unless they have a `scheduler` or
/// `nic` of their own.
///
/// # Errors
///
/// A trace cannot be read, or the scenario asks for something impossible.
pub(super) fn config<C>(
    scenario: &Scenario,
    controllers: MakeControllers<'_, C>,
) -> Result<Config<C>, DocumentError> {
    let Ways { hops, groups } = Ways::of(scenario)?;
    let shared = host(&scenario.host);
    let mut hosts = vec![shared.clone(), shared];
    let mut flows = Vec::new();
    for (index, way) in groups.into_iter().enumerate() {
        let group = &scenario.flows[index];
        let spec = group.host.over(&scenario.host);
        let place = match (group.host.scheduler, group.host.nic) {
            (None, None) => usize::from(group.reverse),
            _ => {
                hosts.push(host(&spec));
                hosts.len() - 1
            }
        };
        check_time(scenario, group)?;
        check_bounded(scenario, index, group, &spec)?;
        let controller = controllers(index)?;
        let receiver = receiver_config(scenario, index, &spec)?;
        let starting = |start| {
            let flow = FlowConfig {
                app: group.application(),
                sender: sender_config(&spec, scenario.mss(group)),
                receiver,
                host: place,
                ..FlowConfig::with_controller(controller.clone())
            };
            let flow = flow.across(way.hops.clone()).with_access(way.access);
            let flow = flow.starting(Time::ZERO + start);
            if group.reverse { flow.reversed() } else { flow }
        };
        flows.extend(group.starts().map(starting));
    }
    Ok(Config {
        seed: scenario.seed,
        hosts,
        end: scenario.duration.map(|duration| Time::ZERO + duration),
        ..parking_lot(hops, flows)
    })
}

/// Checks that packets take time on their way.
fn check_time(scenario: &Scenario, group: &FlowSpec) -> Result<(), DocumentError> {
    let is_paced = |link: &LinkSpec| link.rate.is_some() || link.trace.is_some();
    let takes_time = |hop: &PathSpec| is_paced(&hop.data) || is_paced(&hop.uplink);
    let mut crossed = scenario.crossed(group);
    if scenario.rtprop(group).is_zero() && !crossed.any(|(_, hop)| takes_time(hop)) {
        let reason = "packets take no time at all; give an RTprop or a rate";
        return Err(DocumentError::new("path.rtt", reason));
    }
    Ok(())
}

/// Checks that something limits a bulk flow. Otherwise its window would double for ever and exhaust the memory.
fn check_bounded(
    scenario: &Scenario,
    index: usize,
    group: &FlowSpec,
    host: &HostSpec,
) -> Result<(), DocumentError> {
    let is_limited = |hop: &PathSpec| {
        let link = if group.reverse {
            &hop.uplink
        } else {
            &hop.data
        };
        link.rate.is_some() || link.trace.is_some() || link.effects.policer.is_some()
    };
    if group.bytes.is_some()
        || group.app != app::Config::Bulk
        || host.nic.is_some()
        || host.send_buffer.is_some()
        || host.receive_buffer.is_some()
        || scenario.crossed(group).any(|(_, hop)| is_limited(hop))
    {
        return Ok(());
    }
    let (field, missing) = if group.reverse {
        ("reverse", "path.uplink.rate")
    } else {
        ("controller", "path.rate")
    };
    let reason = format!("nothing limits what this flow sends; give {missing}, bytes or host.nic");
    Err(scenario.flow_error(index, field, &reason))
}

/// Converts an error of the simulation about a scenario that passed its own checks.
pub(super) fn refused(error: ConfigError) -> DocumentError {
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
        ecn: spec.ecn.unwrap_or(usual.ecn),
        fast_open: spec.fast_open.unwrap_or(usual.fast_open),
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
