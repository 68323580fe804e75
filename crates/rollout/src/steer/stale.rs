//! Takes back rules that have become stale.

use experiment::policy::{Policy, Rule};
use experiment::stale::{Made, Stale, Watch};
use experiment::verdict::{change, range};
use experiment::{Observation, Scope};
use kernel::{EndedConnection, ReportedObject, SteeredConnection};
use units::Duration;

/// The minimum time between taking back two rules, so that one error cannot take back all rules.
const MIN_INTERVAL: Duration = Duration::from_secs(600);

/// Watches the rules of a policy.
#[derive(Debug)]
pub(super) struct Keeper {
    watch: Watch,
    /// The time since boot at which the present rules were put in force. Older connections had other rules.
    since: Duration,
    last: Option<Duration>,
    /// Rules that were taken back. They are not put in force again without a change.
    taken_back: Vec<Rule>,
}

/// A report of the program.
#[derive(Debug, Clone, Copy)]
pub(super) enum Report<'h> {
    Connection(&'h EndedConnection),
    Object(&'h ReportedObject),
}

/// A rule that was taken back, and why.
#[derive(Debug)]
pub(super) struct TakenBack {
    pub rule: Rule,
    /// The reason, in words.
    pub why: String,
}

fn made(policy: &Policy) -> impl Iterator<Item = Made> + '_ {
    let rules = policy.rules.iter();
    rules.map(|rule| Made::of(policy.arms(rule).0.len(), rule.expect))
}

/// True if a rule is unchanged. The networks of autonomous systems may differ, because they change by themselves.
fn is_same(one: &Rule, other: &Rule) -> bool {
    let mut one = one.clone();
    if !one.systems.is_empty() {
        one.prefix.clone_from(&other.prefix);
    }
    one == *other
}

impl Keeper {
    /// A keeper for a policy that is put in force at this time.
    pub fn new(policy: &Policy, now: Duration) -> Keeper {
        Keeper {
            watch: Watch::new(made(policy)),
            since: now,
            last: None,
            taken_back: Vec::new(),
        }
    }

    /// Other rules are in force from this time on.
    pub fn begin(&mut self, policy: &Policy, now: Duration) {
        self.watch = Watch::new(made(policy));
        self.since = now;
    }

    /// Removes rules that were taken back and are unchanged since from a policy. Returns their names.
    pub fn leave_out(&self, policy: &mut Policy) -> Vec<String> {
        let (out, rest) = std::mem::take(&mut policy.rules)
            .into_iter()
            .partition(|rule| self.taken_back.iter().any(|taken| is_same(taken, rule)));
        policy.rules = rest;
        let out: Vec<Rule> = out;
        out.into_iter().map(|rule| rule.name).collect()
    }

    /// True if a connection was set up under the present rules. Rule indices of older connections are of other rules.
    pub fn is_of_these(&self, of: &SteeredConnection) -> bool {
        of.set_up >= self.since
    }

    /// Adds a connection that has ended, or an object. Returns the rule that has to be taken back, if any. As in a
    /// study, from which the rule was learned, a connection with objects has no size and no time of its own.
    pub fn add(&mut self, policy: &Policy, heard: Report<'_>, now: Duration) -> Option<TakenBack> {
        let (of, scope, acknowledged, busy, packets, resent) = match heard {
            Report::Connection(of) => {
                let scope = if of.objects > 0 {
                    Scope::Carrier
                } else {
                    Scope::Connection
                };
                let EndedConnection {
                    acknowledged,
                    busy,
                    packets,
                    resent,
                    ..
                } = *of;
                (&of.steered, scope, acknowledged, busy, packets, resent)
            }
            Report::Object(of) => {
                let scope = if of.is_whole {
                    Scope::Object
                } else {
                    Scope::Part
                };
                (&of.steered, scope, of.bytes, of.busy, of.packets, of.resent)
            }
        };
        if !self.is_of_these(of) {
            return None;
        }
        let observation = Observation {
            scope,
            unit: of.unit,
            arm: of.arm,
            acknowledged,
            busy,
            packets,
            resent,
            rtt: None,
            groups: Vec::new(),
        };
        let stale = self.watch.add(of.rule, &observation)?;
        let may_be = self
            .last
            .is_none_or(|last| now.saturating_sub(last) >= MIN_INTERVAL);
        // A rule that has to wait is reported again in its next window.
        if !may_be {
            return None;
        }
        self.take_back(policy, &stale, now)
    }

    fn take_back(&mut self, policy: &Policy, stale: &Stale, now: Duration) -> Option<TakenBack> {
        let rule = policy.rules.get(stale.rule)?.clone();
        let names = policy.arms(&rule).0;
        let why = format!(
            "{} against {}: {} ({}) at any time, in two windows in a row; expected was {}",
            names.get(stale.arm).copied().unwrap_or_default(),
            rule.controller(),
            change(stale.effect.change),
            range(stale.effect.always),
            match rule.expect {
                Some(expect) => format!("{} to be better by {expect}", rule.controller()),
                None => format!("{} to be no worse", rule.controller()),
            }
        );
        self.last = Some(now);
        self.taken_back.push(rule.clone());
        Some(TakenBack { rule, why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use experiment::simulated::{Model, Units};

    const POLICY: &str = "cgroup = \"a\"\nexplore = \"2%\"\n\
        [[rule]]\nname = \"one\"\nlisten = [443]\nprefix = [\"192.0.2.0/24\"]\ncontroller = \"bbr\"\nexpect = \"100%\"\n\
        [[rule]]\nname = \"two\"\nlisten = [443]\nprefix = [\"192.0.3.0/24\"]\ncontroller = \"bbr\"\nexpect = \"100%\"\n\
        [[rule]]\nname = \"rest\"\nlisten = [443]\ncontroller = \"cubic\"\n";

    fn ended(rule: usize, of: &Observation, set_up: Duration) -> EndedConnection {
        EndedConnection {
            cookie: 1,
            steered: SteeredConnection {
                unit: of.unit,
                rule,
                arm: of.arm,
                set_up,
                client: "192.0.2.7".parse().unwrap(),
                ports: [443, 7],
                handshake_rtt: None,
            },
            ended: set_up,
            acknowledged: of.acknowledged,
            packets: of.packets,
            resent: of.resent,
            lost: 0,
            rtt: None,
            min_rtt: None,
            median_rtt: None,
            objects: 0,
            delivery_rate: None,
            busy: of.busy,
            rwnd_limited: Duration::ZERO,
            sndbuf_limited: Duration::ZERO,
            controller: None,
        }
    }

    /// Connections in networks in which both controllers perform alike. One in 50 networks explores.
    fn alike(seeds: std::ops::Range<u64>) -> impl Iterator<Item = Observation> {
        let model = Model::new(Units::Prefixes(4000), 0.0);
        let all = seeds.flat_map(move |seed| model.study(seed));
        all.filter(|of| of.arm == 0 || of.unit % 49 == 0)
    }

    #[test]
    fn a_rule_without_a_reason_any_more_is_taken_back_one_at_a_time_and_stays_out() {
        let mut policy = Policy::parse(POLICY).unwrap();
        let second = Duration::from_secs;
        let mut keeper = Keeper::new(&policy, second(1000));
        // Connections that were set up earlier do not count for these rules.
        for of in alike(0..8) {
            let old = ended(0, &of, second(999));
            assert!(
                keeper
                    .add(&policy, Report::Connection(&old), second(2000))
                    .is_none()
            );
        }
        assert_eq!(keeper.watch.counts(0), [0, 0]);
        let mut taken = Vec::new();
        let mut now = second(2000);
        for of in alike(0..60) {
            now = now + Duration::from_micros(1);
            for rule in 0..2 {
                taken.extend(keeper.add(
                    &policy,
                    Report::Connection(&ended(rule, &of, second(1001))),
                    now,
                ));
            }
        }
        assert_eq!(taken.len(), 1, "{taken:?}");
        let (name, why) = (&taken[0].rule.name, &taken[0].why);
        assert!(
            why.contains("cubic against bbr") && why.contains("100%"),
            "{why}"
        );
        // The rule is left out when the policy is read again, unless it was changed.
        assert_eq!(keeper.leave_out(&mut policy), std::slice::from_ref(name));
        assert_eq!(policy.rules.len(), 2);
        let mut changed = Policy::parse(&POLICY.replace("100%", "40%")).unwrap();
        assert!(keeper.leave_out(&mut changed).is_empty());
        // Some time later, the other rule may be taken back, too.
        keeper.begin(&policy, now);
        let later = now + MIN_INTERVAL;
        let again = alike(100..160)
            .find_map(|of| keeper.add(&policy, Report::Connection(&ended(0, &of, later)), later));
        assert_ne!(&again.unwrap().rule.name, name);
    }

    /// A connection with `small` objects of 60 kB, and one with the size and time of the observation. The small ones
    /// last as long with any controller.
    fn with_small(small: u64, of: &Observation) -> (EndedConnection, ReportedObject) {
        let whole = ended(0, of, Duration::from_secs(1));
        let large = ReportedObject {
            cookie: 1,
            steered: whole.steered,
            number: small + 1,
            begun: whole.ended,
            busy: of.busy,
            bytes: of.acknowledged,
            packets: of.packets,
            resent: of.resent,
            is_whole: true,
        };
        let whole = EndedConnection {
            acknowledged: of.acknowledged + small * 60_000,
            busy: of.busy + Duration::from_millis(100) * small,
            objects: small + 1,
            ..whole
        };
        (whole, large)
    }

    #[test]
    fn a_connection_with_objects_has_no_throughput_of_its_own() {
        let policy = Policy::parse(POLICY).unwrap();
        let mut keeper = Keeper::new(&policy, Duration::ZERO);
        let now = Duration::from_secs(2);
        let all = || alike(0..1).map(|of| with_small(40, &of));
        for (whole, _) in all() {
            keeper.add(&policy, Report::Connection(&whole), now);
        }
        assert_eq!(keeper.watch.counts(0), [0, 0]);
        for (_, large) in all() {
            keeper.add(&policy, Report::Object(&large), now);
        }
        assert!(keeper.watch.counts(0)[0] > 0);
    }

    #[test]
    fn a_rule_that_holds_for_large_objects_stays_in_spite_of_small_ones_beside_them() {
        let policy = Policy::parse(POLICY).unwrap();
        let now = Duration::from_secs(2);
        let taken = |effect: f64| {
            let mut keeper = Keeper::new(&policy, Duration::ZERO);
            let model = Model::new(Units::Prefixes(4000), effect);
            let all = (0..60).flat_map(move |seed| model.study(seed));
            let mut all = all.filter(|of| of.arm == 0 || of.unit % 49 == 0);
            let taken = all.find_map(|of| {
                let (whole, large) = with_small(400, &of);
                let by_object = keeper.add(&policy, Report::Object(&large), now);
                by_object.or_else(|| keeper.add(&policy, Report::Connection(&whole), now))
            });
            (taken.map(|taken| taken.why), keeper.watch.counts(0))
        };
        // The other controller has half the rate, so the rule's is better by 100 %, as expected.
        let (why, [own, others]) = taken(-0.5);
        assert_eq!(why, None);
        assert!(own > 10_000 && others > 500, "{own}, {others}");
        // The objects also show that a reason has gone.
        assert!(taken(0.0).0.is_some());
    }

    #[test]
    fn a_rule_of_systems_stays_out_when_their_networks_change() {
        let text = POLICY.replacen("prefix = [\"192.0.2.0/24\"]", "as = [64500]", 1);
        let policy = |network: &str| {
            let mut policy = Policy::parse(&text).unwrap();
            let networks = vec![network.parse().unwrap()];
            policy.place_systems(&[(64500, networks)].into()).unwrap();
            policy
        };
        let mut keeper = Keeper::new(&policy("192.0.2.0/24"), Duration::ZERO);
        keeper.taken_back = policy("192.0.2.0/24").rules[..2].to_vec();
        let mut later = policy("198.51.100.0/24");
        assert_eq!(keeper.leave_out(&mut later), ["one", "two"]);
        // A change of a network that the rule itself names changes the rule.
        let mut changed = Policy::parse(&POLICY.replace("192.0.3.0", "192.0.4.0")).unwrap();
        assert!(keeper.leave_out(&mut changed).is_empty());
    }

    #[test]
    fn only_connections_of_the_present_rules_count() {
        let policy = Policy::parse(POLICY).unwrap();
        let second = Duration::from_secs;
        let mut keeper = Keeper::new(&policy, second(5));
        let of = alike(0..1).next().unwrap();
        let at = |nanos| ended(0, &of, Duration::from_nanos(nanos));
        assert!(keeper.is_of_these(&at(5_000_000_000).steered));
        assert!(!keeper.is_of_these(&at(4_999_999_999).steered));
        for of in alike(0..1) {
            keeper.add(
                &policy,
                Report::Connection(&ended(0, &of, second(6))),
                second(6),
            );
        }
        assert!(keeper.watch.counts(0)[0] > 0);
        keeper.begin(&policy, second(7));
        assert_eq!(keeper.watch.counts(0), [0, 0]);
        assert!(!keeper.is_of_these(&at(6_999_999_999).steered));
    }
}
