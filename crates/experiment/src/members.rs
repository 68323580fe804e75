//! The client networks that take part in a study, for a plan that names networks.

use std::collections::{BTreeSet, HashMap};

use document::DocumentError;
use rules::Prefix;

use crate::assignment::Unit;
use crate::plan::Plan;

/// The maximum number of client networks in a study by route. Each takes a route that is checked every few seconds.
const MAX_ROUTES: usize = 10_000;

/// The networks that a plan names. The most specific network with an address counts, as in the kernel's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Members {
    all: HashMap<Prefix, bool>,
    /// True if networks take part that the plan does not name.
    is_open: bool,
}

impl Members {
    /// The networks of a plan.
    pub fn of(plan: &Plan) -> Members {
        let named = &plan.connections;
        let prefix = named.prefix.iter().map(|network| (*network, true));
        // If a network is named twice, the later entry counts.
        let except = named.except.iter().map(|network| (*network, false));
        Members {
            all: prefix.chain(except).collect(),
            is_open: named.prefix.is_empty(),
        }
    }

    /// True if a network takes part, if no part of it is named separately.
    pub fn has(&self, network: Prefix) -> bool {
        let around = (0..=network.length()).rev();
        let mut named = around.filter_map(|length| {
            let around = Prefix::around(network.first(), length);
            self.all.get(&around)
        });
        *named.next().unwrap_or(&self.is_open)
    }

    /// Networks that take no part and lie within networks that do.
    pub fn excepted(&self) -> impl Iterator<Item = Prefix> {
        let excepted = self.all.iter().filter(|(_, takes_part)| !**takes_part);
        excepted.map(|(network, _)| *network)
    }

    /// The client networks that are units of randomisation: the parts of named networks that have the size of a unit. A
    /// named network that is smaller than a unit is listed itself.
    ///
    /// # Errors
    ///
    /// There are too many.
    pub fn networks(&self, unit: Unit) -> Result<BTreeSet<Prefix>, DocumentError> {
        let (v4, v6) = match unit {
            Unit::Prefix { v4, v6 } | Unit::PrefixInSlot { v4, v6, .. } => (v4, v6),
            Unit::Connection | Unit::Slot(_) => (32, 128),
        };
        let mut found = BTreeSet::new();
        for (network, _) in self.all.iter().filter(|(_, takes_part)| **takes_part) {
            let length = if network.first().is_ipv4() { v4 } else { v6 };
            let mut parts = network.parts(length);
            let first = parts.by_ref().take(MAX_ROUTES);
            found.extend(first.filter(|part| self.has(*part)));
            if found.len() > MAX_ROUTES || parts.next().is_some() {
                let reason = format!(
                    "has more than {MAX_ROUTES} client networks (/{v4}, /{v6}), each of which takes a route; give fewer, or larger \
                     ones by prefix_v4 and prefix_v6"
                );
                return Err(DocumentError::new("connections.prefix", reason));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(prefix: &str, except: &str) -> Plan {
        let text = format!(
            "name = 'a'\nassign = 'route'\nunit = 'prefix'\nduration = '1h'\n\
             connections = {{ listen = [80], prefix = [{prefix}], except = [{except}] }}\n\
             arm = [{{ controller = 'cubic', share = '1%' }}, {{ controller = 'bbr', share = '1%' }}]\n"
        );
        Plan::parse(&text).unwrap()
    }

    fn networks(prefix: &str, except: &str) -> Vec<String> {
        let plan = plan(prefix, except);
        let found = Members::of(&plan).networks(plan.unit).unwrap();
        found.iter().map(Prefix::to_string).collect()
    }

    #[test]
    fn networks_are_units_and_the_most_specific_name_counts() {
        assert_eq!(
            networks("'192.0.2.0/23', '2001:db8::/48'", ""),
            ["192.0.2.0/24", "192.0.3.0/24", "2001:db8::/48"]
        );
        // A unit of which only a part is excepted stays. A unit that is wholly excepted does not.
        assert_eq!(
            networks(
                "'10.0.0.0/22', '10.0.3.128/25'",
                "'10.0.1.0/24', '10.0.2.0/25', '10.0.3.0/24'"
            ),
            ["10.0.0.0/24", "10.0.2.0/24", "10.0.3.128/25"]
        );
        let members = Members::of(&plan("'10.0.0.0/8'", "'10.0.1.0/24'"));
        let has = |address: &str| members.has(address.parse().unwrap());
        assert!(has("10.0.0.1") && !has("10.0.1.1") && !has("11.0.0.1") && !has("::1"));
    }

    #[test]
    fn too_many_are_refused() {
        for (prefix, except) in [
            ("'2001:db8::/32'", ""),
            ("'10.0.0.0/10', '10.64.0.0/18'", ""),
            ("'10.0.0.0/8'", "'10.0.0.0/9'"),
            ("'10.0.0.0/11', '10.64.0.0/11'", ""),
        ] {
            let plan = plan(prefix, except);
            let error = Members::of(&plan).networks(plan.unit).unwrap_err();
            assert!(
                error
                    .to_string()
                    .contains("more than 10000 client networks"),
                "{error}"
            );
        }
    }
}
