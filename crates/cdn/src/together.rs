//! Lines that are simulated together, because they share a link, and lines alone.

use std::sync::Arc;

use document::DocumentError;
use record::Record;
use rollout::study::CarriedConnection;
use scenario::{MAX_FLOWS, Scenario};
use studies::runs::Plan;
use units::Bytes;

use crate::combined::combined;
use crate::line::Line;
use crate::observed;
use crate::spec::Spec;

/// The connections of a line in a run, and the bytes that its background traffic delivered.
pub(crate) type Delivered = (Vec<CarriedConnection>, Bytes);

/// The lines of one simulation: all lines of a draw that go over the same shared link, or a line that shares nothing.
#[derive(Debug)]
pub(crate) struct Together {
    /// The index of the shared link.
    pub shared: Option<usize>,
    /// The indices of the lines among all lines.
    pub lines: Vec<usize>,
    /// True if the lines are those of the study.
    pub is_of_study: bool,
}

impl Together {
    /// The simulations of a draw of lines, of which the first has this index among all lines.
    ///
    /// # Errors
    ///
    /// A simulation would have too many connections.
    pub fn all(spec: &Spec, drawn: &[Line], first: usize) -> Result<Vec<Together>, DocumentError> {
        let mut all: Vec<Together> = Vec::new();
        for (place, line) in (first..).zip(drawn) {
            let shared = spec.networks[line.network].over;
            let with = |of: &&mut Together| of.shared == shared;
            match shared.and_then(|_| all.iter_mut().find(with)) {
                Some(of) => of.lines.push(place),
                None => all.push(Together {
                    shared,
                    lines: vec![place],
                    is_of_study: first == 0,
                }),
            }
        }
        for of in &all {
            let counts = of
                .lines
                .iter()
                .map(|place| drawn[place - first].flow_count());
            let count: usize = counts.sum();
            if let Some(shared) = of.shared.filter(|_| count as u64 > MAX_FLOWS) {
                let reason = format!(
                    "{count} connections in one run are more than {MAX_FLOWS}; give longer intervals, or fewer lines"
                );
                return Err(DocumentError::new("", reason).item(shared).within("shared"));
            }
        }
        Ok(all)
    }

    /// A plan of its runs, without any yet.
    pub fn plan(&self) -> Plan {
        Plan::new("cdn", ["network", "line", "controller"])
    }

    /// Adds the run in which each of the lines has the arm with this index. No files are kept of it.
    pub fn add_run(
        &self,
        plan: &mut Plan,
        spec: &Spec,
        lines: &[Line],
        controller: String,
        arm: impl Fn(&Line) -> usize,
    ) {
        let line = &lines[self.lines[0]];
        let [network, place] = match self.shared {
            Some(shared) => [spec.shared[shared].name.clone(), "all".to_owned()],
            None => [
                spec.networks[line.network].name.clone(),
                line.place.to_string(),
            ],
        };
        let scenario = Arc::new(self.scenario(spec, lines, arm));
        plan.add_point(vec![network, place, controller], Arc::clone(&scenario));
        plan.add_run(0, scenario, String::new());
    }

    fn scenario(&self, spec: &Spec, lines: &[Line], arm: impl Fn(&Line) -> usize) -> Scenario {
        let lines = self.lines.iter().map(|&place| &lines[place]);
        let mut each = lines.map(|line| (line, &spec.arms[arm(line)]));
        let shared = self.shared.map(|shared| &spec.shared[shared]);
        let together = shared.and_then(|shared| combined(shared, each.clone()));
        let alone = || each.next().map(|(line, arm)| line.scenario(arm));
        together.or_else(alone).expect("a simulation has lines")
    }

    /// What each of the lines got in a run, with the line's index among all lines.
    pub fn delivered(&self, record: &Record, lines: &[Line]) -> Vec<(usize, Delivered)> {
        let mut flows = &*record.summary.flows;
        let each = self.lines.iter().map(|&place| {
            let line = &lines[place];
            let (own, rest) = flows.split_at(line.flow_count().min(flows.len()));
            flows = rest;
            let given = observed::given(own, line, place as u64);
            (place, (given, observed::background(own, line)))
        });
        each.collect()
    }
}
