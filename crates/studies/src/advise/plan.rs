//! What is run: every candidate over every sampled path, alone and beside others.

use congestion::ControllerKind;
use lab::Cancel;
use units::{Bytes, Duration, Rate};

use super::outcome::Company;
use super::ranges::Range;
use crate::runs::{Plan, derive_seed};
use scenario::tree::Node;
use scenario::{FlowSpec, Scenario, de};

/// About the size of a packet in bytes, and what it carries.
pub(super) const PACKET: f64 = 1500.0;
pub(super) const PAYLOAD: f64 = 1448.0;

/// The paths that are sampled, and how long each run is.
#[derive(Debug, Clone, Default)]
pub struct Sampling {
    /// The path as it was told, in one line.
    pub path: String,
    /// How long each run is.
    pub duration: Duration,
    /// How much of its beginning does not count.
    pub warmup: Duration,
    /// What is not known exactly.
    pub ranges: Vec<Range>,
    /// The paths.
    pub sampled: Vec<Sampled>,
    /// The most data packets that all runs together can have.
    pub packets: f64,
    /// What they take to be simulated, as so many packets that come one by one.
    pub steps: f64,
}

/// A path from the ranges.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// What each range is here.
    pub values: Vec<String>,
    /// What the random choices of all its runs derive from.
    pub seed: u64,
    /// What it carries at most, on average.
    pub rate: Rate,
    /// The path and the hosts.
    pub scenario: Scenario,
}

/// A candidate over a sampled path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The path's place.
    pub path: usize,
    /// The candidate.
    pub controller: ControllerKind,
    /// Who else is there.
    pub company: Company,
}

/// What CUBIC's neighbours are compared with.
const NEIGHBOUR: ControllerKind = ControllerKind::Cubic;

/// Small requests, as a page or a call of an API makes them, and the share of the path that they take at most.
const RESPONSE: Bytes = Bytes::new(30_000);
const REQUESTS_SHARE: u64 = 20;

impl Sampling {
    /// All runs, path by path. CUBIC beside CUBIC, which harm is measured against, and CUBIC beside itself with requests, which
    /// fairness is, are among them, whoever the candidates are.
    pub fn cases(&self, controllers: &[ControllerKind]) -> Vec<Case> {
        let of_path = |path: usize| {
            let case = move |controller, company| Case {
                path,
                controller,
                company,
            };
            let each = controllers.iter().flat_map(move |controller| {
                Company::ALL
                    .iter()
                    .map(move |company| case(*controller, *company))
            });
            let is_missing = !controllers.contains(&NEIGHBOUR);
            let references = [Company::Cubic, Company::Itself].into_iter();
            let references = references.filter(move |_| is_missing);
            each.chain(references.map(move |company| case(NEIGHBOUR, company)))
        };
        (0..self.sampled.len()).flat_map(of_path).collect()
    }

    /// These runs, in this order; only the first of them if it is cancelled meanwhile.
    pub fn plan(&self, name: &str, cases: &[Case], cancel: &Cancel) -> Plan {
        let fields = self.ranges.iter().map(|range| range.field.as_str());
        let mut plan = Plan::new(name, fields.chain(["path", "controller", "beside"]));
        for case in cases.iter().take_while(|_| !cancel.is_cancelled()) {
            let own = [
                case.path.to_string(),
                case.controller.to_string(),
                case.company.name().to_owned(),
            ];
            let values = self.sampled[case.path].values.iter().cloned().chain(own);
            let scenario = self.scenario(case);
            plan.add_point(values.collect(), scenario.clone());
            // Nothing is kept of it.
            plan.add_run(0, scenario, String::new());
        }
        plan
    }

    /// The same path and the same seed for all candidates, so that they differ in nothing else.
    pub(super) fn scenario(&self, case: &Case) -> Scenario {
        let sampled = &self.sampled[case.path];
        let of_path = &sampled.scenario;
        let mut flows = vec![FlowSpec::new(case.controller.into())];
        let other = match case.company {
            Company::Nobody => None,
            Company::Cubic => Some(NEIGHBOUR),
            Company::Itself => Some(case.controller),
        };
        flows.extend(other.map(|other| FlowSpec::new(other.into())));
        // Who comes first may have an advantage: on every other path that is the candidate. A part of a second apart,
        // since two that start together lose packets together.
        let most = (self.duration / 10).min(Duration::from_secs(1)) / 1000;
        let later = most * (100 + derive_seed(sampled.seed, &[("start", "")], 0) % 900);
        if let Some(flow) = flows.get_mut(1 - case.path % 2) {
            flow.start = later;
        }
        if case.company == Company::Itself {
            flows.push(self.requests(case.controller, sampled.rate));
        }
        Scenario {
            name: "advise".to_owned(),
            duration: Some(self.duration),
            warmup: self.warmup,
            seed: sampled.seed,
            flows,
            ..of_path.clone()
        }
    }

    /// Small requests over a connection that stays open, a part of a second apart; of shorter runs a fiftieth.
    fn requests(&self, controller: ControllerKind, rate: Rate) -> FlowSpec {
        let takes = rate.time_for(RESPONSE);
        let apart = (self.duration / 50).min(Duration::from_millis(200));
        let mean = (takes * REQUESTS_SHARE).max(apart);
        let text = format!(
            "{{ controller = \"{controller}\", \
             app = {{ kind = \"requests\", response = \"{RESPONSE}\", think = {{ mean = \"{mean}\" }} }} }}"
        );
        de::read(&Node::from_option(&text)).expect("a flow as scenarios have it")
    }
}
