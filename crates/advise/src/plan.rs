//! The plan of runs: every candidate over every sampled path, alone and beside others.

use congestion::ControllerKind;
use units::{Bytes, Duration, Rate};

use super::ranges::Range;
use super::seed::derive as derive_seed;
use document::de;
use document::tree::Node;
use scenario::{FlowSpec, Scenario};

/// The approximate size of a packet, and of its payload, in bytes.
pub(crate) const PACKET: f64 = 1500.0;
pub(crate) const PAYLOAD: f64 = 1448.0;

/// The sampled paths and the duration of each run.
#[derive(Debug, Clone, Default)]
pub struct Sampling {
    /// The path as given, in one line.
    pub path: String,
    /// The duration of each run.
    pub duration: Duration,
    /// The part at the beginning of each run that is not measured.
    pub warmup: Duration,
    /// The fields that are ranges.
    pub ranges: Vec<Range>,
    /// The sampled paths.
    pub sampled: Vec<Sampled>,
    /// The most data packets of all runs together.
    pub packets: f64,
    /// The cost of simulating them, in packets that are processed one by one.
    pub steps: f64,
}

/// A path sampled from the ranges.
#[derive(Debug, Clone)]
pub struct Sampled {
    /// The value of each range on this path.
    pub values: Vec<String>,
    /// The seed from which all random choices of the path's runs derive.
    pub seed: u64,
    /// The highest average rate that the path carries.
    pub rate: Rate,
    /// The path and the hosts.
    pub scenario: Scenario,
}

units::named! {
    /// The other flows on the path.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum Company, "company" {
        /// Nobody.
        Nobody = "nobody",
        /// A CUBIC flow.
        Cubic = "cubic",
        /// A second flow of the candidate, and small requests with it.
        Itself = "itself",
    }
}

/// A candidate over a sampled path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    /// The index of the path.
    pub path: usize,
    /// The candidate.
    pub controller: ControllerKind,
    /// The other flows on the path.
    pub company: Company,
}

/// The controller of the neighbouring flow, which candidates are compared with.
const NEIGHBOUR: ControllerKind = ControllerKind::Cubic;

/// The size of a small request, as a page or an API call makes it, and the divisor of the path's time that requests may
/// take.
const RESPONSE_SIZE: Bytes = Bytes::new(30_000);
const REQUESTS_DIVISOR: u64 = 20;

impl Sampling {
    /// All runs, path by path. They always include CUBIC beside CUBIC, the reference for harm, and CUBIC beside itself
    /// with requests, the reference for fairness.
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

    /// The scenario of a case. All candidates have the same path and seed, so that they differ in nothing else.
    pub fn scenario(&self, case: &Case) -> Scenario {
        let sampled = &self.sampled[case.path];
        let of_path = &sampled.scenario;
        let mut flows = vec![FlowSpec::new(case.controller.into())];
        let other = match case.company {
            Company::Nobody => None,
            Company::Cubic => Some(NEIGHBOUR),
            Company::Itself => Some(case.controller),
        };
        flows.extend(other.map(|other| FlowSpec::new(other.into())));
        // The first flow may have an advantage; the candidate is first on every other path. Starts are less than a
        // second apart, since two flows that start together lose packets together.
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

    /// Small requests over one connection, at least 200 ms apart, or a fiftieth of a shorter run.
    fn requests(&self, controller: ControllerKind, rate: Rate) -> FlowSpec {
        let takes = rate.time_for(RESPONSE_SIZE);
        let apart = (self.duration / 50).min(Duration::from_millis(200));
        let mean = (takes * REQUESTS_DIVISOR).max(apart);
        let text = format!(
            "{{ controller = \"{controller}\", \
             app = {{ kind = \"requests\", response = \"{RESPONSE_SIZE}\", think = {{ mean = \"{mean}\" }} }} }}"
        );
        de::read(&Node::from_option(&text)).expect("a flow as scenarios have it")
    }
}
