//! A policy in force: each new connection of a control group gets the controller that the policy's rules give it.

mod ask;
mod journal;
mod metrics;
mod stale;

pub use ask::{AssignedController, InForce, in_force, steers};
pub use journal::{History, history};

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Instant;

use experiment::policy::{LoweredRule, Policy, Rule};
use experiment::stale::MIN_OBJECT_BYTES;
use kernel::{EndedConnection, Steering, SteeringCounts, SteeringRule, since_boot};
use serde_json::{Value, json};
use units::Duration;

use crate::controllers::offered;
use crate::interfaces;
use crate::study::{
    Calendar, Claim, ControlGroup, GroupError, Hold, HoldError, Problems, Step, booted, drawn_unit,
    release, sweep,
};
use journal::Journal;
use metrics::Metrics;
use stale::{Keeper, Report, TakenBack};

/// A reason why a policy is not in force.
#[derive(Debug, thiserror::Error)]
pub enum SteerError {
    /// The program cannot be attached to the control group.
    #[error(transparent)]
    Hold(#[from] HoldError),
    /// The control group cannot be used.
    #[error(transparent)]
    Group(#[from] GroupError),
    /// The controller of a rule cannot be used.
    #[error("rule {rule}: controller: {why}")]
    Controller {
        /// The name of the rule.
        rule: String,
        /// The reason.
        why: String,
    },
    /// An interface of a rule does not exist.
    #[error("rule {rule}: interface: {why}")]
    Interface {
        /// The name of the rule.
        rule: String,
        /// The reason.
        why: String,
    },
    /// The policy is for another control group.
    #[error("cgroup: a reload cannot change it; end the command and start it again")]
    OtherGroup,
    /// The journal cannot be opened.
    #[error("--journal {}: {error}", path.display())]
    Journal {
        /// The journal's file.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
}

/// A policy in force.
#[derive(Debug)]
pub struct Steer {
    hold: Hold,
    policy: Policy,
    journal: Option<Journal<File>>,
    /// The policy's text that was last written to the journal.
    noted: String,
    told: Problems,
    calendar: Calendar,
    keeper: Keeper,
    metrics: Metrics,
}

/// The configuration of the program in the kernel, for a machine with this boot time.
fn steering(policy: &Policy, boot: Duration) -> Steering {
    let lowered = policy.lowered();
    let rule = |rule: LoweredRule<'_>| {
        let names = rule.controllers.iter().map(|name| (*name).to_owned());
        SteeringRule {
            name: rule.rule.name.clone(),
            conditions: rule.conditions,
            // Only a rule that explores can become stale, and only large objects say so.
            objects: (rule.controllers.len() > 1).then_some(MIN_OBJECT_BYTES),
            arms: rule.shares.ends().iter().copied().zip(names).collect(),
        }
    };
    Steering {
        key: lowered.key.words(),
        unit: drawn_unit(policy.unit(), boot),
        rules: lowered.rules.into_iter().map(rule).collect(),
        networks: lowered.networks,
    }
}

/// The groups of connections in metrics: by rule, controller, and whether they explore.
fn groups(policy: &Policy) -> BTreeSet<(&str, &str, bool)> {
    let of = |rule| {
        let arms = policy.arms(rule).0.into_iter().enumerate();
        arms.map(|(place, controller)| (rule.name.as_str(), controller, place > 0))
    };
    policy.rules.iter().flat_map(of).collect()
}

impl Steer {
    /// Checks whether this machine can have the policy in force. It only makes the kernel load modules of controllers.
    ///
    /// # Errors
    ///
    /// The machine lacks something.
    pub fn check(policy: &Policy) -> Result<ControlGroup, SteerError> {
        let group = ControlGroup::at(&policy.cgroup)?;
        group.claim(Claim::Shared)?;
        kernel::check_permission().map_err(HoldError::from)?;
        for rule in &policy.rules {
            offered(rule.controller()).map_err(|why| SteerError::Controller {
                rule: rule.name.clone(),
                why,
            })?;
        }
        let named = policy.rules.iter().flat_map(|rule| {
            let of_rule = rule.interface.iter();
            of_rule.map(move |interface| (rule, *interface))
        });
        interfaces::check(named, group.path()).map_err(|(rule, why)| SteerError::Interface {
            rule: rule.name.clone(),
            why,
        })?;
        Ok(group)
    }

    /// Puts a policy in force. If this process dies without `finish`, the policy stays in force until the lease is
    /// over. New lines are appended to `journal`.
    ///
    /// # Errors
    ///
    /// The machine lacks something.
    pub fn begin(
        policy: Policy,
        lease: Duration,
        journal: Option<&Path>,
        unix_s: f64,
    ) -> Result<Steer, SteerError> {
        let group = Steer::check(&policy)?;
        let open = |path: &Path| {
            Journal::open(path).map_err(|error| SteerError::Journal {
                path: path.to_owned(),
                error,
            })
        };
        let journal = journal.map(open).transpose()?;
        let now = since_boot().map_err(HoldError::from)?;
        let mut steer = Steer {
            hold: Hold::begin(group, steering(&policy, booted(now)), lease, true)?,
            keeper: Keeper::new(&policy, now),
            metrics: Metrics::default(),
            policy,
            journal,
            noted: String::new(),
            told: Problems::default(),
            calendar: Calendar::default(),
        };
        if steer.took_over() {
            steer.note(unix_s, "took_over", &Value::Null);
        }
        steer.note_policy(unix_s, "began");
        Ok(steer)
    }

    /// True if this policy replaced one that another process had left in force.
    pub fn took_over(&self) -> bool {
        self.hold.took_over()
    }

    /// Maintains the policy. Call it several times a second. `trouble` gets each problem once. The result is `Over` if
    /// another process has put a policy in force for this control group.
    pub fn step(&mut self, unix_s: f64, mut trouble: impl FnMut(&str)) -> Step {
        // This comes before calls that may take a second, because `unix_s` is the present time.
        let set = since_boot().map(|boot| self.calendar.news(unix_s, boot));
        let tended = self.hold.tend();
        if tended.is_back {
            self.told.over();
        }
        let mut troubles = tended.troubles;
        troubles.extend(set.into_iter().flatten());
        let objects = tended.objects.iter().map(Report::Object);
        for heard in tended.ended.iter().map(Report::Connection).chain(objects) {
            if let Err(error) = self.heard(heard, unix_s, &mut trouble) {
                troubles.push(format!("a stale rule is not taken back: {error}"));
            }
        }
        troubles.extend(self.journal.as_mut().and_then(Journal::write));
        for text in self.told.news(troubles, Instant::now()) {
            trouble(&text);
            self.note(unix_s, "trouble", &Value::from(text.as_str()));
        }
        if tended.is_superseded {
            let why = "another process has a policy in force for this control group now";
            self.note(unix_s, "superseded", &Value::Null);
            return Step::Over(why.to_owned());
        }
        Step::On
    }

    /// Adds a connection that has ended, or an object. Takes its rule back if the rule is stale.
    fn heard(
        &mut self,
        heard: Report<'_>,
        unix_s: f64,
        tell: impl FnMut(&str),
    ) -> Result<(), SteerError> {
        let now = since_boot().map_err(HoldError::from)?;
        if let Report::Connection(of) = heard {
            self.count(of);
        }
        let taken = self.keeper.add(&self.policy, heard, now);
        taken.map_or(Ok(()), |taken| self.take_back(&taken, unix_s, tell))
    }

    /// Counts a connection that has ended in the metrics.
    fn count(&mut self, of: &EndedConnection) {
        if let Some(rule) = self.policy.rules.get(of.steered.rule)
            && let Some(controller) = self.policy.arms(rule).0.get(of.steered.arm)
            && self.keeper.is_of_these(&of.steered)
        {
            let is_exploring = of.steered.arm > 0;
            self.metrics
                .ended(&rule.name, controller, is_exploring, of.acknowledged);
        }
    }

    /// Takes a stale rule back.
    fn take_back(
        &mut self,
        taken: &TakenBack,
        unix_s: f64,
        mut tell: impl FnMut(&str),
    ) -> Result<(), SteerError> {
        let mut rest = self.policy.clone();
        rest.rules.retain(|rule| *rule != taken.rule);
        self.replace(rest)?;
        self.metrics.taken_back();
        let about = json!({ "rule": taken.rule.name, "why": taken.why });
        self.note(unix_s, "taken_back", &about);
        tell(&format!(
            "rule \"{}\" is stale, and is taken back: {}",
            taken.rule.name, taken.why
        ));
        Ok(())
    }

    /// The present metrics, as OpenMetrics.
    pub fn metrics(&self) -> String {
        self.metrics.text(self.policy.rules.len(), self.counts())
    }

    /// Replaces the policy, all of it at once. Leaves out rules that were taken back, unless they have been changed
    /// since. Returns the names of the rules that are left out.
    ///
    /// # Errors
    ///
    /// The policy cannot be put in force. Then the old policy stays in force.
    pub fn reload(&mut self, mut policy: Policy, unix_s: f64) -> Result<Vec<String>, SteerError> {
        let left_out = self.keeper.leave_out(&mut policy);
        if policy.cgroup != self.policy.cgroup {
            return Err(SteerError::OtherGroup);
        }
        Steer::check(&policy)?;
        self.replace(policy)?;
        self.note_policy(unix_s, "reloaded");
        Ok(left_out)
    }

    /// Puts other rules in force, all of them at once.
    fn replace(&mut self, policy: Policy) -> Result<(), SteerError> {
        let now = since_boot().map_err(HoldError::from)?;
        self.hold.replace(steering(&policy, booted(now)))?;
        // Loading many networks takes seconds. Meanwhile connections still get the old rules.
        let now = since_boot().map_err(HoldError::from)?;
        let before = std::mem::replace(&mut self.policy, policy);
        self.keeper.begin(&self.policy, now);
        let present = groups(&self.policy);
        for group in groups(&before).difference(&present) {
            let (rule, controller, is_exploring) = *group;
            self.metrics.forget(rule, controller, is_exploring);
        }
        Ok(())
    }

    /// Notes in the journal that a policy was refused, and why.
    pub fn refused(&mut self, why: &str, unix_s: f64) {
        self.note(unix_s, "refused", &Value::from(why));
    }

    /// The counters of the program.
    pub fn counts(&self) -> SteeringCounts {
        self.hold.counts()
    }

    /// Ends the policy: from now on, new connections have the default controller.
    pub fn finish(mut self, unix_s: f64) {
        self.hold.release();
        let counts =
            json!({ "assigned": self.counts().assigned, "refused": self.counts().refused });
        self.note(unix_s, "ended", &counts);
    }

    /// Notes in the journal which policy is in force. Includes the policy's text if it differs from the last text.
    fn note_policy(&mut self, unix_s: f64, what: &str) {
        let file = self.policy.file.as_deref().and_then(Path::to_str);
        let mut about = json!({ "rules": rules(&self.policy), "file": file });
        if self.noted != self.policy.text {
            self.noted.clone_from(&self.policy.text);
            about["policy"] = Value::from(self.noted.as_str());
        }
        self.note(unix_s, what, &about);
    }

    /// A journal that cannot be written does not stop the work. The next step reports the problem.
    fn note(&mut self, unix_s: f64, what: &str, about: &Value) {
        if let Some(journal) = &mut self.journal {
            journal.note(unix_s, what, about);
        }
    }
}

/// A policy's rules, for the journal.
fn rules(policy: &Policy) -> Value {
    let rule = |rule: &Rule| json!({ "name": rule.name, "controller": rule.controller(), "networks": rule.prefix.len(), "evidence": rule.evidence });
    policy.rules.iter().map(rule).collect()
}

/// The result of [`stop`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// A policy was in force, and was removed.
    Taken,
    /// A policy was removed, but its process is running and puts the policy in force again.
    TakenFromProcess,
    /// No policy was in force.
    Nothing,
    /// The control group does not exist any more. Programs kept for it, or for other removed groups, were removed.
    Gone,
}

/// Removes a policy that a killed process has left in force.
///
/// # Errors
///
/// The control group does not exist, or the policy cannot be removed.
pub fn stop(policy: &Policy) -> Result<Stopped, SteerError> {
    let swept = sweep().map_err(HoldError::from)?;
    let group = ControlGroup::at(&policy.cgroup)?;
    let opened = match group.open() {
        Err(_) if swept > 0 => return Ok(Stopped::Gone),
        opened => opened?,
    };
    let was_there = release(&opened.name()).map_err(HoldError::from)?;
    Ok(match (was_there, opened.is_held()) {
        (true, false) => Stopped::Taken,
        (true, true) => Stopped::TakenFromProcess,
        (false, _) => Stopped::Nothing,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_gets_the_rules_in_order() {
        let policy = Policy::parse(
            "cgroup = \"a\"\nexplore = \"2%\"\n\
             [[rule]]\nname = \"one\"\nlisten = [443]\nconnect = [\"80-81\"]\nrtt_from = \"1ms\"\nrtt_below = \"9ms\"\n\
             resent_below = \"2%\"\ncontroller = \"kernel:bbr\"\n\
             [[rule]]\nname = \"rest\"\nlisten = [443]\nexplore = \"0%\"\ninterface = [\"eth0\"]\ncontroller = \"cubic\"\n",
        );
        let boot = Duration::from_secs(7);
        let Steering { unit, rules, .. } = steering(&policy.unwrap(), boot);
        assert!(
            matches!(unit, kernel::DrawnUnit::PrefixInSlot { boot: of, .. } if of == boot),
            "{unit:?}"
        );
        let [one, rest] = &rules[..] else {
            panic!("{rules:?}");
        };
        assert_eq!((one.name.as_str(), rest.name.as_str()), ("one", "rest"));
        // One in fifty explores, and gets the other controller.
        let names: Vec<&str> = one.arms.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["bbr", "cubic"]);
        let shares = experiment::Shares::of_ends(one.arms.iter().map(|(end, _)| *end).collect());
        assert!((shares.shares()[0] - 0.98).abs() < 1e-9, "{shares:?}");
        assert_eq!(rest.arms.len(), 1);
        assert_eq!(rest.arms[0].1, "cubic");
    }
}
