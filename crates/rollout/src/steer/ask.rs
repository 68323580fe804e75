//! Asks the kernel for the rules in force. The policy's file may have changed, and rules may have been taken back.

use std::io;

use experiment::policy::Policy;
use experiment::{Key, Shares};
use kernel::{DrawnUnit, Resent, SteeringRule, since_boot};
use rules::{Connection, Quantity};
use units::Duration;

use super::{SteerError, steering};
use crate::study::{self, ControlGroup, HoldError, Steerer};

/// The effect of a control group's policy on one connection.
#[derive(Debug, Clone, PartialEq)]
pub struct InForce {
    /// The controller of a new connection. `None` if no rule applies.
    pub given: Option<AssignedController>,
    /// True if the policy in the file gives the same, without a check of each network.
    pub is_of_policy: bool,
    /// The packets that the connections of the client's network resent. `None` if no rule needs them.
    pub resent: Option<Resent>,
    /// The rest of the lease, after which the policy is no longer in force. Zero if the lease is over.
    pub lease: Duration,
}

/// The rule and the controller of a new connection.
#[derive(Debug, Clone, PartialEq)]
pub struct AssignedController {
    /// The name of the rule. The kernel keeps 63 bytes of it.
    pub rule: String,
    /// The controller.
    pub controller: String,
    /// The rule's own controller.
    pub own: String,
    /// The share of client networks that explore, if this network explores.
    pub explores: Option<f64>,
}

impl AssignedController {
    /// The controller that a rule assigns to a connection with this draw.
    fn of(rule: &SteeringRule, draw: u64) -> AssignedController {
        let arm = rule.arm(draw);
        let name = |place: usize| rule.arms.get(place).map(|(_, name)| name.clone());
        let ends: Vec<u64> = rule.arms.iter().map(|(end, _)| *end).collect();
        let own = Shares::of_ends(ends).shares().first().copied();
        AssignedController {
            rule: rule.name.clone(),
            controller: name(arm).unwrap_or_default(),
            own: name(0).unwrap_or_default(),
            explores: (arm > 0).then_some(1.0 - own.unwrap_or(1.0)),
        }
    }
}

/// Asks the kernel for the rules in force in the policy's control group. `None` if there is no program. The kernel
/// supplies the packets that the client's network resent, unless the connection has a share.
///
/// # Errors
///
/// The control group does not exist, or this process may not ask.
pub fn in_force(policy: &Policy, of: &Connection) -> Result<Option<InForce>, SteerError> {
    let opened = ControlGroup::at(&policy.cgroup)?.open()?;
    let found = study::in_force(&opened.name(), of.client).map_err(HoldError::from)?;
    let Some(found) = found else {
        return Ok(None);
    };
    let told = found.steering();
    // The draw of explorers uses the boot time by the clock's setting when the policy was put in force.
    let boot = match told.unit {
        DrawnUnit::PrefixInSlot { boot, .. } => boot,
        _ => Duration::ZERO,
    };
    let now = boot + since_boot().map_err(HoldError::from)?;
    let subject = policy.unit().subject(0, of.client, now);
    let draw = Key::of_words(told.key).draw(subject);
    let resent = found.resent();
    let of = match of.quantity(Quantity::Resent) {
        Some(_) => *of,
        None => of.with_resent(resent.and_then(|resent| resent.share)),
    };
    let rule = found.rule(&of);
    Ok(Some(InForce {
        given: rule.map(|rule| AssignedController::of(rule, draw)),
        resent,
        is_of_policy: found.is_of(&steering(policy, boot), of.client),
        lease: found.lease,
    }))
}

/// The processes with a policy in force for this policy's control group: two while a new process takes over.
///
/// # Errors
///
/// The processes cannot be found.
pub fn steers(policy: &Policy) -> io::Result<Vec<Steerer>> {
    match ControlGroup::at(&policy.cgroup).and_then(|group| group.open()) {
        Ok(group) => group.steers(),
        // No process has a policy in force for a group that does not exist.
        Err(_) => Ok(Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use rules::Conditions;

    use super::*;

    #[test]
    fn a_connection_that_explores_has_the_share_that_explores() {
        let shares = Shares::of(&[0.98, 0.02]);
        let names = ["bbr", "cubic"].map(str::to_owned);
        let rule = SteeringRule {
            name: "one".to_owned(),
            conditions: Conditions::new(Vec::new(), Vec::new(), Vec::new()),
            objects: Some(0),
            arms: shares.ends().iter().copied().zip(names).collect(),
        };
        let given = |draw| AssignedController::of(&rule, draw);
        let own = given(0);
        let told = [&own.rule, &own.controller, &own.own];
        assert_eq!(told, ["one", "bbr", "bbr"]);
        assert_eq!(own.explores, None);
        let exploring = given(u64::MAX);
        let told = [&exploring.controller, &exploring.own];
        assert_eq!(told, ["cubic", "bbr"]);
        let share = exploring.explores.expect("it explores");
        assert!((share - 0.02).abs() < 1e-6, "{share}");
    }
}
