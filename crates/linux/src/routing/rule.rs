//! The policy rules that lead to our table.

use std::ops::RangeInclusive;

use netlink_packet_route::IpProtocol;
use netlink_packet_route::rule::{RuleAction, RuleAttribute, RuleMessage, RulePortRange};

use super::{FAMILIES, OWN, PRIORITY, TABLE};

/// The input interface by which a rule selects the machine's own traffic.
const OWN_TRAFFIC: &str = "lo";

/// Local or remote ports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Side {
    /// Local ports.
    Local(RangeInclusive<u16>),
    /// Remote ports.
    Remote(RangeInclusive<u16>),
}

/// Selects the machine's own connections that use the table: those of an IP version, with such a port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rule {
    /// Whether the rule is for IPv6.
    pub is_v6: bool,
    /// The ports.
    pub side: Side,
}

impl Rule {
    pub(super) fn message(&self) -> RuleMessage {
        let mut message = RuleMessage::default();
        message.header.family = FAMILIES[usize::from(self.is_v6)];
        message.header.action = RuleAction::ToTable;
        let range = |ports: &RangeInclusive<u16>| RulePortRange {
            start: *ports.start(),
            end: *ports.end(),
        };
        message.attributes = vec![
            RuleAttribute::Table(TABLE),
            RuleAttribute::Priority(PRIORITY),
            RuleAttribute::Protocol(OWN),
            RuleAttribute::Iifname(OWN_TRAFFIC.to_owned()),
            RuleAttribute::IpProtocol(IpProtocol::Tcp),
            match &self.side {
                Side::Local(ports) => RuleAttribute::SourcePortRange(range(ports)),
                Side::Remote(ports) => RuleAttribute::DestinationPortRange(range(ports)),
            },
        ];
        message
    }
}

/// See [`super::Routing::rules`]. The kernel lists rules in the order of their evaluation.
pub(super) fn in_order(rules: &[RuleMessage]) -> (usize, Vec<u32>) {
    let (mut own, mut others) = (0, Vec::new());
    for family in FAMILIES {
        let mut before = Vec::new();
        for rule in rules.iter().filter(|rule| rule.header.family == family) {
            let priority = rule.attributes.iter().find_map(|one| match one {
                RuleAttribute::Priority(priority) => Some(*priority),
                _ => None,
            });
            if is_own(rule) {
                own += 1;
                others.append(&mut before);
            } else {
                before.extend(priority.filter(|&priority| priority > 0));
            }
        }
    }
    (own, others)
}

pub(super) fn is_own(rule: &RuleMessage) -> bool {
    let has = |wanted: &RuleAttribute| rule.attributes.contains(wanted);
    has(&RuleAttribute::Table(TABLE)) && has(&RuleAttribute::Protocol(OWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_come_before_are_told() {
        let own = |is_v6| {
            let side = Side::Local(80..=80);
            Rule { is_v6, side }.message()
        };
        let other = |is_v6, priority| {
            let mut rule = RuleMessage::default();
            rule.header.family = FAMILIES[usize::from(is_v6)];
            if priority > 0 {
                rule.attributes = vec![RuleAttribute::Priority(priority)];
            }
            rule
        };
        let v4 = [
            other(false, 0),
            other(false, 7),
            // `ip rule add` takes this priority for the first rule.
            other(false, PRIORITY),
            own(false),
            other(false, PRIORITY),
            own(false),
            other(false, 32_766),
        ];
        assert_eq!(in_order(&v4), (2, vec![7, PRIORITY, PRIORITY]));
        // Rules for a version without rules of ours do not matter.
        let both = [&v4[2..5], &[other(true, 0), other(true, 8)]].concat();
        assert_eq!(in_order(&both), (1, vec![PRIORITY]));
    }
}
