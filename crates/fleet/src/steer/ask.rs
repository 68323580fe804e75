//! What is in force, asked of the kernel: a policy's file may have been changed since, and rules may have been taken back.

use std::io;

use experiment::policy::{Connection, Policy};
use experiment::{Key, Shares};
use kernel::{DrawnUnit, since_boot};
use units::Duration;

use super::{SteerError, steering};
use crate::study::{ControlGroup, HoldError, Steerer};

/// What is in force for a control group, of one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct InForce {
    /// What a new connection gets; nothing if no rule holds.
    pub given: Option<Given>,
    /// Whether the policy says just that, as far as can be seen without a look at each network.
    pub is_of_policy: bool,
    /// For how long it is in force if nobody looks after it; zero if it is not any more.
    pub lease: Duration,
}

/// What a new connection gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The name of its rule, of which 63 bytes are kept.
    pub rule: String,
    /// The controller.
    pub controller: String,
    /// The rule's own controller.
    pub own: String,
    /// The share of client networks that explore, if this one does.
    pub explores: Option<f64>,
}

/// What the kernel has in force for the policy's control group; nothing if there is no program.
///
/// # Errors
///
/// There is no such control group, or this process may not ask.
pub fn in_force(policy: &Policy, of: &Connection) -> Result<Option<InForce>, SteerError> {
    let opened = ControlGroup::at(&policy.cgroup)?.open()?;
    let found = kernel::in_force(&opened.name(), of.client).map_err(HoldError::from)?;
    let Some(found) = found else {
        return Ok(None);
    };
    let told = found.steering();
    // Who explores goes by the clock as it was when the policy was put in force.
    let boot = match told.unit {
        DrawnUnit::PrefixInSlot { boot, .. } => boot,
        _ => Duration::ZERO,
    };
    let now = boot + since_boot().map_err(HoldError::from)?;
    let subject = policy.unit().subject(0, of.client, now);
    let draw = Key::of_words(told.key).draw(subject);
    let rule = found.rule(of.is_incoming, of.port, of.rtt);
    let given = rule.map(|rule| {
        let arm = rule.arm(draw);
        let name = |place: usize| rule.arms.get(place).map(|(_, name)| name.clone());
        let ends: Vec<u64> = rule.arms.iter().map(|(end, _)| *end).collect();
        let own = Shares::of_ends(ends).shares().first().copied();
        Given {
            rule: rule.name.clone(),
            controller: name(arm).unwrap_or_default(),
            own: name(0).unwrap_or_default(),
            explores: (arm > 0).then_some(1.0 - own.unwrap_or(1.0)),
        }
    });
    Ok(Some(InForce {
        given,
        is_of_policy: found.is_of(&steering(policy, boot), of.client),
        lease: found.lease,
    }))
}

/// The processes that have a policy in force for this one's control group: more than one while the later one takes over.
///
/// # Errors
///
/// They cannot be told.
pub fn steers(policy: &Policy) -> io::Result<Vec<Steerer>> {
    match ControlGroup::at(&policy.cgroup).and_then(|group| group.open()) {
        Ok(group) => group.steers(),
        // Nobody has one in force for what is not there.
        Err(_) => Ok(Vec::new()),
    }
}
