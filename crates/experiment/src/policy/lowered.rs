//! A policy as the program in the kernel has it.

use rules::{Conditions, Connection, Networks, Prefix, first_match};

use super::{Policy, Rule, UNIT};
use crate::assignment::{Key, Shares};

/// A policy, lowered once for many connections. It has the policy's rules at the time of [`Policy::lowered`].
#[derive(Debug, Clone)]
pub struct Lowered<'p> {
    /// The rules, in the policy's order.
    pub rules: Vec<LoweredRule<'p>>,
    /// The networks of the rules, with a bit for each rule that holds there.
    pub networks: Networks,
    /// The key of the draws for exploring.
    pub key: Key,
}

/// A rule of a [`Lowered`] policy.
#[derive(Debug, Clone)]
pub struct LoweredRule<'p> {
    /// The rule of the policy.
    pub rule: &'p Rule,
    /// The conditions for a connection, apart from its client's network.
    pub conditions: Conditions,
    /// The controllers. The rule's own is the first.
    pub controllers: Vec<&'p str>,
    /// The shares of the controllers.
    pub shares: Shares,
}

/// The decision about a connection.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision<'p> {
    /// The rule that matched.
    pub rule: &'p Rule,
    /// The controller.
    pub controller: &'p str,
    /// True if the controller is another one than the rule's, in order to explore.
    pub is_exploring: bool,
}

impl Policy {
    /// The policy as the program in the kernel has it.
    pub fn lowered(&self) -> Lowered<'_> {
        let rules = self.rules.iter().map(|rule| {
            let (controllers, shares) = self.arms(rule);
            LoweredRule {
                rule,
                conditions: rule.conditions(),
                controllers,
                shares,
            }
        });
        Lowered {
            rules: rules.collect(),
            networks: networks(&self.rules),
            key: self.key(),
        }
    }
}

impl<'p> Lowered<'p> {
    /// The decision about a connection, as the kernel's program makes it. `None` if no rule matches.
    pub fn decide(&self, of: &Connection) -> Option<Decision<'p>> {
        let for_client = self.networks.rules(of.client);
        let conditions = self.rules.iter().map(|rule| &rule.conditions);
        let rule = self.rules.get(first_match(conditions, for_client, of)?)?;
        let draw = (self.key).draw(UNIT.subject(0, of.client.to_canonical(), of.at));
        let arm = rule.shares.arm(draw);
        Some(Decision {
            rule: rule.rule,
            controller: rule.controllers.get(arm).copied()?,
            is_exploring: arm > 0,
        })
    }
}

/// The networks that rules name, with a bit for each rule that holds there. Lookups use the most specific network, so a
/// network has the bits of those around it.
fn networks(rules: &[Rule]) -> Networks {
    let mut everywhere = 0;
    let count = rules.iter().map(|rule| rule.prefix.len()).sum();
    let mut all: Vec<(Prefix, u64)> = Vec::with_capacity(count);
    for (place, rule) in rules.iter().enumerate() {
        if rule.is_everywhere() {
            everywhere |= 1 << place;
        }
        all.extend(rule.prefix.iter().map(|prefix| (*prefix, 1 << place)));
    }
    all.sort_unstable();
    all.dedup_by(|later, one| {
        let is_same = later.0 == one.0;
        if is_same {
            one.1 |= later.1;
        }
        is_same
    });
    // In this order, a network comes behind those around it. Only other networks within them are in between.
    let mut around: Vec<(Prefix, u64)> = Vec::new();
    for (prefix, bits) in &mut all {
        while around
            .pop_if(|(outer, _)| !outer.has(prefix.first()))
            .is_some()
        {}
        *bits |= around.last().map_or(everywhere, |(_, outer)| *outer);
        around.push((*prefix, *bits));
    }
    Networks::new(all, everywhere)
}
