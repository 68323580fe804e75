//! The study, its policy, and the truth beside both.

use std::fs;
use std::path::Path;

use experiment::learn;
use experiment::plan::Plan;
use experiment::policy::{Connection, Policy};
use experiment::{Effect, Findings, Gathered, Key, Measure, Measured, Observation};
use fleet::Systems;
use fleet::study::{Place, Recording, StudyError, observations, read};
use record::statistics::Sorted;
use units::Bytes;

use crate::found::{Choice, Found, MEASURES, NEAR, OfNetwork, Redraws, Told};
use crate::laboratory::{LabError, World, Worlds, systems};
use crate::line::Line;
use crate::observed::{PORT, drawn};

/// The study's data in the directory of the results.
pub const STUDY: &str = "study";

/// The policy that it makes.
pub const POLICY: &str = "policy.toml";

/// Whose lines are whose, in pyasn's format.
pub const SYSTEMS: &str = "systems.txt";

/// More data than any CDN here has.
const KEEP: Bytes = Bytes::new(4_000_000_000);

/// So often, it is drawn again who has which arm.
const REDRAWS: u64 = 100;

/// What an experiment would see of a line with each arm.
struct Seen<'l> {
    line: &'l Line,
    arms: Vec<Vec<Observation>>,
}

/// What is in force: an arm for each line.
enum InForce<'p> {
    Arm(usize),
    Policy(&'p Policy),
}

impl Worlds<'_> {
    /// Draws who has which arm and writes what a study would have recorded of that into the directory. Reads it back and evaluates
    /// it as any study, makes a policy of it, and puts the truth beside both.
    ///
    /// # Errors
    ///
    /// The directory cannot be written, or the study says too little.
    pub fn prove(&self, directory: &Path) -> Result<Found, LabError> {
        let table = directory.join(SYSTEMS);
        write(&table, &self.spec.systems())?;
        let text = self.plan();
        let plan = Plan::parse(&text)?;
        let data = directory.join(STUDY);
        let place = Place::make(&data, &text, &plan, 0.0).map_err(StudyError::from)?;
        self.record(place, systems(&table)?)?;
        let findings = read(&[&data], Vec::new())?.gathered.findings();
        let text = learn::policy(&plan, &findings, None)
            .map_err(|_| LabError::NoPolicy(findings.verdict.clone()))?;
        write(&directory.join(POLICY), &text)?;
        let systems = systems(&table)?;
        let policy = read_policy(&text, &systems)?;
        Ok(self.found(&plan, &findings, policy, &systems, text))
    }

    /// The plan of the study.
    fn plan(&self) -> String {
        let quoted = |text: &str| toml::Value::from(text).to_string();
        let spec = self.spec;
        let mut text = format!(
            "name = {}\ncgroup = \"laboratory\"\nunit = \"prefix\"\nduration = \"{}\"\nseed = \"{}\"\n\
             [connections]\nlisten = [{PORT}]\n",
            quoted(&spec.name),
            spec.duration,
            spec.seed
        );
        for controller in spec.controllers() {
            let share = 1.0 / spec.arms.len() as f64;
            text += &format!("[[arm]]\ncontroller = \"{controller}\"\nshare = {share:.4}\n");
        }
        text
    }

    /// Writes what a study records where each line has the arm that is drawn for it.
    fn record(&self, place: Place, systems: Systems) -> Result<(), StudyError> {
        let (key, shares) = (place.key(), place.plan.shares());
        let mut recording = Recording::begin(place, KEEP, Some(systems))?;
        for world in &self.study {
            let (unit, arm) = drawn(world.line, &key, &shares);
            for given in world.arms.get(arm).into_iter().flatten() {
                recording.add(&given.assigned(unit, arm))?;
            }
        }
        recording.finish(self.spec.duration)
    }

    fn seen<'w>(&self, worlds: &'w [World<'w>]) -> Vec<Seen<'w>> {
        let system = |line: &Line| Some(self.spec.networks[line.network].system);
        let seen = |world: &'w World<'w>| Seen {
            line: world.line,
            arms: world
                .arms
                .iter()
                .map(|given| observations(given, system(world.line)).collect())
                .collect(),
        };
        worlds.iter().map(seen).collect()
    }

    fn found(
        &self,
        plan: &Plan,
        findings: &Findings,
        policy: Policy,
        systems: &Systems,
        text: String,
    ) -> Found {
        let names = plan.names();
        let (study, after) = (self.seen(&self.study), self.seen(&self.after));
        let arms = || (0..names.len()).map(InForce::Arm).collect::<Vec<_>>();
        let mut choices = arms();
        choices.push(InForce::Policy(&policy));
        let of = |network: usize| move |line: &Line| line.network == network;
        let truths: Vec<Measured> = (0..self.spec.networks.len())
            .map(|network| measured(&study, &arms(), &names, of(network)))
            .collect();
        let truth = measured(&study, &arms(), &names, |_| true);
        let redrawn = Redrawn::of(self, plan, &study, &after, systems);
        let told = |network: Option<usize>, measure: Measure| {
            let truth = network.map_or(&truth, |network| &truths[network]);
            (1..names.len())
                .map(|arm| Told {
                    measure,
                    controller: names[arm].to_owned(),
                    truth: truth.effect(arm, measure).map(|effect| effect.change),
                    told: self.told(findings, arm, network, measure),
                    covered: redrawn.covered(self, arm, network, measure, truth),
                })
                .collect::<Vec<_>>()
        };
        let networks: Vec<OfNetwork> = (0..self.spec.networks.len())
            .map(|index| {
                let network = &self.spec.networks[index];
                let in_force = measured(&after, &choices, &names, of(index));
                OfNetwork {
                    name: network.name.clone(),
                    kind: network.kind.to_string(),
                    system: network.system,
                    lines: study
                        .iter()
                        .filter(|seen| seen.line.network == index)
                        .count(),
                    throughput: told(Some(index), Measure::Throughput),
                    rule: rule(&policy, &after, index),
                    changes: (0..choices.len())
                        .map(|choice| changes(&in_force, choice))
                        .collect(),
                }
            })
            .collect();
        let everywhere = measured(&after, &choices, &names, |_| true);
        let count = |seen: &[Seen<'_>]| -> u64 {
            let arms = seen.iter().flat_map(|seen| &seen.arms);
            arms.map(|all| connections(all)).sum()
        };
        Found {
            name: self.spec.name.clone(),
            seed: self.spec.seed,
            lines: study.len(),
            connections: findings.arms.iter().map(|arm| arm.connections).sum(),
            runs_connections: count(&study) + count(&after),
            verdict: findings.verdict.clone(),
            measures: MEASURES
                .iter()
                .flat_map(|&measure| told(None, measure))
                .collect(),
            choices: (0..choices.len())
                .map(|choice| Choice {
                    name: names
                        .get(choice)
                        .map_or("the policy", |name| *name)
                        .to_owned(),
                    changes: changes(&everywhere, choice),
                    worst: worst(&networks, choice),
                })
                .collect(),
            networks,
            redraws: redrawn.redraws(),
            policy: text,
        }
    }

    /// What findings say of an arm, in a network or over all.
    fn told(
        &self,
        findings: &Findings,
        arm: usize,
        network: Option<usize>,
        measure: Measure,
    ) -> Option<Effect> {
        let comparison = findings.comparisons.get(arm - 1)?;
        let Some(network) = network else {
            let row = comparison
                .measures
                .iter()
                .find(|row| row.measure == measure);
            return row?.effect;
        };
        // Groups are compared in throughput alone.
        let name = format!("AS{}", self.spec.networks.get(network)?.system);
        let row = comparison.groups.iter().find(|row| row.group == name);
        row.filter(|_| measure == Measure::Throughput)
            .map(|row| row.effect)
    }
}

fn connections(observations: &[Observation]) -> u64 {
    let carriers = observations
        .iter()
        .filter(|of| of.packets > 0 && of.rtt.is_some());
    carriers.count() as u64
}

fn read_policy(text: &str, systems: &Systems) -> Result<Policy, LabError> {
    let mut policy = Policy::parse(text)?;
    let networks = systems.networks(&policy.systems())?;
    policy.place_systems(&networks)?;
    Ok(policy)
}

/// What the policy decides on the connections of a line, by the path that it has without a queue.
fn decide<'p>(policy: &'p Policy, line: &Line) -> Option<experiment::policy::Decision<'p>> {
    policy.decide(&Connection {
        client: line.client,
        is_incoming: true,
        port: PORT,
        rtt: line.rtt(),
    })
}

impl InForce<'_> {
    /// The place of the arm that a line has. What a policy leaves alone has the first arm, which was there before.
    fn arm(&self, line: &Line, names: &[&str]) -> usize {
        match self {
            InForce::Arm(arm) => *arm,
            InForce::Policy(policy) => {
                let decision = decide(policy, line);
                let place = |of: &str| names.iter().position(|name| *name == of);
                decision.and_then(|of| place(of.controller)).unwrap_or(0)
            }
        }
    }
}

/// What is measured on some of the lines with each of these in force: they are its arms.
fn measured(
    seen: &[Seen<'_>],
    in_force: &[InForce<'_>],
    names: &[&str],
    is_of: impl Fn(&Line) -> bool,
) -> Measured {
    let mut measured = Measured::new(in_force.len());
    let lines = (0..).zip(seen).filter(|(_, seen)| is_of(seen.line));
    for (unit, seen) in lines {
        for (place, in_force) in in_force.iter().enumerate() {
            let arm = in_force.arm(seen.line, names);
            for of in seen.arms.get(arm).into_iter().flatten() {
                measured.add(&Observation {
                    unit,
                    arm: place,
                    groups: Vec::new(),
                    ..*of
                });
            }
        }
    }
    measured
}

/// How much measures change over the first arm.
fn changes(measured: &Measured, arm: usize) -> Vec<Option<f64>> {
    let change = |&measure| Some(measured.effect(arm, measure)?.change);
    MEASURES.iter().map(change).collect()
}

/// The rule of a network, by the first of its lines that does not explore, and its controller: a rule is of a whole system, and so of
/// all of them.
fn rule(policy: &Policy, seen: &[Seen<'_>], network: usize) -> [String; 2] {
    let mut lines = seen.iter().filter(|seen| seen.line.network == network);
    let found = lines.find_map(|seen| decide(policy, seen.line).filter(|of| !of.is_exploring));
    found.map_or_else(Default::default, |of| {
        [of.rule.name.clone(), of.rule.controller().to_owned()]
    })
}

/// The network where a choice is furthest from the best.
fn worst(networks: &[OfNetwork], choice: usize) -> Option<(String, f64)> {
    let of_best = networks
        .iter()
        .filter_map(|network| Some((network.name.clone(), network.of_best(choice)?)));
    of_best.min_by(|one, other| one.1.total_cmp(&other.1))
}

/// Studies of the same lines with other draws of who has which arm.
struct Redrawn {
    findings: Vec<Findings>,
    /// Of each that made a policy, how far from the best arm's throughput the worst network is.
    worst: Vec<f64>,
}

impl Redrawn {
    fn of(
        worlds: &Worlds<'_>,
        plan: &Plan,
        study: &[Seen<'_>],
        after: &[Seen<'_>],
        systems: &Systems,
    ) -> Redrawn {
        let (names, shares) = (plan.names(), plan.shares());
        let sums = Sums::of(after, worlds.spec.networks.len());
        let mut redrawn = Redrawn {
            findings: Vec::new(),
            worst: Vec::new(),
        };
        for draw in 0..REDRAWS {
            let key = Key::of_seed(&format!("{}, drawn again: {draw}", worlds.spec.seed));
            let mut gathered = Gathered::new(&names, &shares.shares());
            for seen in study {
                let (unit, arm) = drawn(seen.line, &key, &shares);
                for of in seen.arms.get(arm).into_iter().flatten() {
                    gathered.add(&Observation {
                        unit,
                        arm,
                        groups: of.groups.clone(),
                        ..*of
                    });
                }
            }
            let findings = gathered.findings();
            let policy = learn::policy(plan, &findings, None).ok();
            let policy = policy.and_then(|text| read_policy(&text, systems).ok());
            redrawn.worst.extend(policy.and_then(|policy| {
                let policy = InForce::Policy(&policy);
                sums.worst(|line| policy.arm(line, &names))
            }));
            redrawn.findings.push(findings);
        }
        redrawn
    }

    /// In how many the interval has the truth, and how many have one.
    fn covered(
        &self,
        worlds: &Worlds<'_>,
        arm: usize,
        network: Option<usize>,
        measure: Measure,
        truth: &Measured,
    ) -> [usize; 2] {
        let Some(truth) = truth.effect(arm, measure) else {
            return [0, 0];
        };
        let told = self.findings.iter();
        let told = told.filter_map(|findings| worlds.told(findings, arm, network, measure));
        let has: Vec<bool> = told.map(|effect| effect.once.has(truth.change)).collect();
        [has.iter().filter(|has| **has).count(), has.len()]
    }

    fn redraws(&self) -> Redraws {
        let sorted: Sorted = self.worst.iter().copied().collect();
        let near = self.worst.iter().filter(|worst| **worst >= -NEAR);
        Redraws {
            studies: self.findings.len(),
            policies: self.worst.len(),
            near_best: near.count(),
            worst: sorted
                .median()
                .zip(sorted.min())
                .map(|(median, worst)| [median, worst]),
        }
    }
}

/// Logarithms of the throughput of large objects and how many there are.
type Sum = (f64, f64);

/// What each line has with each arm, added up: so that a policy of each redraw is told from the best arm without looking at every
/// connection again.
struct Sums<'l> {
    lines: Vec<(&'l Line, Vec<Sum>)>,
    networks: usize,
}

impl<'l> Sums<'l> {
    fn of(seen: &[Seen<'l>], networks: usize) -> Sums<'l> {
        let sum = |all: &Vec<Observation>| -> Sum {
            let samples = all.iter().filter_map(|of| Measure::Throughput.sample(of));
            samples.fold((0.0, 0.0), |sum, of| (sum.0 + of.value, sum.1 + of.weight))
        };
        let line = |seen: &Seen<'l>| (seen.line, seen.arms.iter().map(sum).collect());
        Sums {
            lines: seen.iter().map(line).collect(),
            networks,
        }
    }

    /// How far from that of the best arm the throughput is in the worst network, if lines have these arms.
    fn worst(&self, chosen: impl Fn(&Line) -> usize) -> Option<f64> {
        let arms = self.lines.first()?.1.len();
        let of = |network: usize| {
            let lines = || {
                self.lines
                    .iter()
                    .filter(move |(line, _)| line.network == network)
            };
            let mean = |arm: &dyn Fn(&Line) -> usize| {
                let sums =
                    lines().map(|(line, sums)| sums.get(arm(line)).copied().unwrap_or_default());
                let all = sums.fold((0.0, 0.0), |all, of| (all.0 + of.0, all.1 + of.1));
                (all.1 > 0.0).then(|| all.0 / all.1)
            };
            let best = (0..arms)
                .filter_map(|arm| mean(&|_| arm))
                .reduce(f64::max)?;
            Some((mean(&chosen)? - best).exp_m1())
        };
        (0..self.networks).filter_map(of).reduce(f64::min)
    }
}

fn write(path: &Path, text: &str) -> Result<(), LabError> {
    fs::write(path, text).map_err(|error| LabError::File {
        path: path.display().to_string(),
        error,
    })
}
