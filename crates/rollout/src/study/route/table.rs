//! The routing table of a study's routes, and the policy rules that lead to it.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use experiment::Members;
use experiment::plan::Connections;
use linux::Error;
use linux::routing::{Changes, Network, PRIORITY, Routing, Rule, Side, Way};
use rules::{Ports, Prefix};
use units::Duration;

use super::wanted::{Wanted, wanted};

/// The interval between synchronisations of the table with `main`. A change of a route causes an earlier
/// synchronisation, but not within [`MIN_SYNC_INTERVAL`] of the last one.
const SYNC_INTERVAL: Duration = Duration::from_secs(5);
/// See [`SYNC_INTERVAL`].
const MIN_SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// The arms of the networks.
pub(super) struct Arms {
    /// The controllers of the arms.
    pub names: Vec<String>,
    /// The networks that take part, with their arms.
    pub networks: Vec<(Prefix, usize)>,
    pub members: Members,
}

/// The study's routing table.
pub(super) struct Table {
    arms: Arms,
    rules: Vec<Rule>,
    routing: Routing,
    changes: Changes,
    /// The entries that were put into it.
    put: BTreeMap<Prefix, Wanted<Way>>,
    synced: Option<Duration>,
    /// True if the rules have been added once.
    has_rules: bool,
}

fn network(prefix: Prefix) -> Network {
    (prefix.first(), prefix.length())
}

/// The rules for these ports, for each IP version that the networks have.
fn rules(of: &Connections, networks: &[(Prefix, usize)]) -> Vec<Rule> {
    let range = |ports: &Ports| ports.ends().0..=ports.ends().1;
    let local = of.listen.iter().map(|ports| Side::Local(range(ports)));
    let remote = of.connect.iter().map(|ports| Side::Remote(range(ports)));
    let sides: Vec<Side> = local.chain(remote).collect();
    let versions = networks.iter().map(|(one, _)| one.first().is_ipv6());
    let versions: BTreeSet<bool> = versions.collect();
    let rules = versions.into_iter().flat_map(|is_v6| {
        let sides = sides.iter().cloned();
        sides.map(move |side| Rule { is_v6, side })
    });
    rules.collect()
}

impl Table {
    /// Makes the table. Removes first what an earlier process has left, and reports that as a trouble.
    pub fn make(
        arms: Arms,
        of: &Connections,
        now: Duration,
        troubles: &mut Vec<String>,
    ) -> Result<Table, Error> {
        let mut routing = Routing::open_here()?;
        if routing.clear()? > 0 {
            troubles.push(
                "an earlier study was killed together with the process that would have removed its rules and routes: they are removed \
                 now"
                .to_owned(),
            );
        }
        let mut table = Table {
            rules: rules(of, &arms.networks),
            arms,
            routing,
            changes: Changes::listen_here()?,
            put: BTreeMap::new(),
            synced: None,
            has_rules: false,
        };
        table.sync(now, troubles)?;
        Ok(table)
    }

    /// Synchronises the table if it is time. Returns whether it did.
    pub fn tend(&mut self, now: Duration, troubles: &mut Vec<String>) -> bool {
        let since = self.synced.map(|synced| now.saturating_sub(synced));
        let is_early = since.is_some_and(|since| since < MIN_SYNC_INTERVAL);
        // A change during the pause is handled after the pause.
        if is_early || !(self.changes.any() || since.is_none_or(|since| since >= SYNC_INTERVAL)) {
            return false;
        }
        let done = self.sync(now, troubles);
        troubles.extend(done.as_ref().err().map(ToString::to_string));
        done.is_ok()
    }

    fn sync(&mut self, now: Duration, troubles: &mut Vec<String>) -> Result<(), Error> {
        self.synced = Some(now);
        let main = self.routing.main()?.into_iter();
        let main = main.map(|((address, length), way)| (Prefix::around(address, length), way));
        let wanted = wanted(&self.arms.networks, &self.arms.members, &main.collect());
        let there = self.routing.own()?.into_iter();
        let there: HashSet<Prefix> = there
            .map(|(address, length)| Prefix::around(address, length))
            .collect();
        let mut refused = None;
        for (prefix, entry) in &wanted {
            if there.contains(prefix) && self.put.get(prefix) == Some(entry) {
                continue;
            }
            let done = match entry {
                Wanted::Way(way, arm) => {
                    let controller = self.arms.names.get(*arm).map_or("", String::as_str);
                    self.routing.put(network(*prefix), way, controller)
                }
                Wanted::LookOn => self.routing.look_on(network(*prefix)),
            };
            match done {
                Ok(()) => drop(self.put.insert(*prefix, entry.clone())),
                // An older or a wider route of ours must not lead there meanwhile.
                Err(error) => {
                    let _ = self.routing.look_on(network(*prefix));
                    self.put.remove(prefix);
                    refused = refused.or(Some(error));
                }
            }
        }
        for prefix in there.iter().filter(|prefix| !wanted.contains_key(*prefix)) {
            self.routing.remove(network(*prefix))?;
            self.put.remove(prefix);
        }
        if let Some(error) = refused {
            troubles.push(format!(
                "{error}; connections there use the table main until this succeeds"
            ));
        }
        let is_way = |prefix: &Prefix| matches!(wanted.get(prefix), Some(Wanted::Way(..)));
        let mut without = self.arms.networks.iter().filter(|(one, _)| !is_way(one));
        if let Some((first, _)) = without.next() {
            let others = without.count();
            troubles.push(format!(
                "the table main has no route, or not one for all packets, to {first} and {others} other networks of the study: their \
                 connections have the default controller"
            ));
        }
        self.keep_rules(troubles)
    }

    fn keep_rules(&mut self, troubles: &mut Vec<String>) -> Result<(), Error> {
        let (own, mut others) = self.routing.rules()?;
        if own != self.rules.len() {
            if self.has_rules {
                troubles.push("the study's rules were removed, and added again".to_owned());
            }
            for rule in &self.rules {
                self.routing.add_rule(rule)?;
            }
            self.has_rules = true;
            (_, others) = self.routing.rules()?;
        }
        if let Some(first) = others.first() {
            troubles.push(format!(
                "other rules come before the study's (the first has priority {first}, and the study's {PRIORITY}): connections that \
                 they route have the default controller"
            ));
        }
        Ok(())
    }

    /// Removes the rules, and then the routes.
    pub fn remove(&mut self) -> Result<(), Error> {
        self.routing.clear().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use experiment::Plan;

    use super::*;

    #[test]
    fn each_range_of_ports_has_a_rule_for_each_version() {
        let text = "name = 'a'\nassign = 'route'\nunit = 'prefix'\nduration = '1h'\n\
             connections = { listen = [443, '8000-8010'], connect = [80], prefix = ['::/0'] }\n\
             arm = [{ controller = 'cubic', share = '1%' }, { controller = 'bbr', share = '1%' }]\n";
        let of = Plan::parse(text).unwrap().connections;
        let networks = |all: &[&str]| -> Vec<(Prefix, usize)> {
            all.iter().map(|one| (one.parse().unwrap(), 0)).collect()
        };
        let v4 = rules(&of, &networks(&["192.0.2.0/24"]));
        let sides: Vec<Side> = v4.iter().map(|rule| rule.side.clone()).collect();
        assert_eq!(
            sides,
            [
                Side::Local(443..=443),
                Side::Local(8000..=8010),
                Side::Remote(80..=80)
            ]
        );
        assert!(v4.iter().all(|rule| !rule.is_v6));
        let both = rules(&of, &networks(&["192.0.2.0/24", "2001:db8::/48"]));
        assert_eq!(both.len(), 6);
    }
}
