//! The results of a sweep: for each point and controller, every metric over the repeats.

use serde_json::{Map, Value, json};

use super::metric::Metric;
use crate::runs::{Failed, Plan, Point, Store, distinct};
use record::Summary;
use record::measure::Subject;
use tables::statistics::Spread;

/// The flows of one controller at one point, over all repeats.
#[derive(Debug, Clone)]
pub struct Group {
    /// The index of the point in the plan.
    pub point: usize,
    /// The controller's name.
    pub controller: String,
    /// The number of runs.
    pub runs: usize,
    /// The metrics, in the order of [`Metric::ALL`]. Nothing where no run has a value.
    metrics: Vec<Option<Spread>>,
}

impl Group {
    /// A metric over the repeats. Nothing if no run has a value.
    pub fn metric(&self, metric: Metric) -> Option<Spread> {
        let place = Metric::ALL.iter().position(|other| *other == metric)?;
        *self.metrics.get(place)?
    }
}

/// The results of a sweep's points.
#[derive(Debug)]
pub struct Results<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// The engine.
    pub engine: lab::EngineKind,
    /// The groups, in the order of the points and of the controllers' flows.
    pub groups: Vec<Group>,
    /// Whether each run has at most one controller, so that points determine it.
    pub has_one_controller: bool,
    /// Whether any run has several flows.
    pub has_several_flows: bool,
}

impl<'p> Results<'p> {
    /// The results in the store.
    pub fn new<'s>(
        plan: &'p Plan,
        engine: lab::EngineKind,
        store: &'s Store<Summary>,
    ) -> Results<'p> {
        let mut groups = Vec::new();
        let (mut has_one_controller, mut has_several_flows) = (true, false);
        // The runs of a point follow one another.
        for runs in plan.runs.chunk_by(|one, next| one.point == next.point) {
            let done = runs.iter().filter_map(|run| store.get(&run.key));
            let summaries: Vec<&Summary> = done.collect();
            has_several_flows |= summaries.iter().any(|summary| summary.flows.len() > 1);
            let flows = summaries.iter().flat_map(|summary| &summary.flows);
            let controllers = distinct(flows.map(|flow| flow.controller.as_str()));
            has_one_controller &= controllers.len() <= 1;
            groups.extend(controllers.into_iter().map(|controller| {
                let of_controller = |one: &&'s Summary| Subject::of_controller(one, controller);
                let subjects: Vec<Subject<'_>> = summaries.iter().map(of_controller).collect();
                let spread = |metric: Metric| {
                    let measure = metric.measure();
                    Spread::of(subjects.iter().filter_map(|subject| measure.of(subject)))
                };
                Group {
                    point: runs[0].point,
                    controller: controller.to_string(),
                    runs: summaries.len(),
                    metrics: Metric::ALL.map(spread).to_vec(),
                }
            }));
        }
        Results {
            plan,
            engine,
            groups,
            has_one_controller,
            has_several_flows,
        }
    }

    /// The fields that distinguish the groups, beside the controller. Fields that only name the one controller of each
    /// run are left out.
    pub fn fields(&self) -> Vec<usize> {
        let fields = self.plan.fields.iter().enumerate();
        let is_needed = |(_, field): &(usize, &String)| {
            !(self.has_one_controller && field.ends_with("controller"))
        };
        fields.filter(is_needed).map(|(place, _)| place).collect()
    }

    /// The point of the group.
    pub fn point(&self, group: &Group) -> &Point {
        &self.plan.points[group.point]
    }

    /// The results as one JSON object: `sweep`, `engine`, `runs` (the planned number), `failed` and `points`. Each
    /// point has the values of the fields, the controller, the number of its runs, and the metrics with their median,
    /// smallest and largest value.
    pub fn json(&self, failed: &[Failed<'_>]) -> Value {
        let points: Vec<Value> = self.groups.iter().map(|group| self.group(group)).collect();
        let failed = failed.iter();
        let failed =
            failed.map(|one| json!({ "run": one.run.name, "reason": one.reason.to_string() }));
        json!({
            "sweep": self.plan.name,
            "engine": self.engine.name(),
            "runs": self.plan.runs.len(),
            "failed": failed.collect::<Vec<_>>(),
            "points": points,
        })
    }

    fn group(&self, group: &Group) -> Value {
        let fields = self.plan.fields.iter();
        let values: Map<String, Value> = fields
            .zip(&self.point(group).values)
            .map(|(field, value)| (field.clone(), value.clone().into()))
            .collect();
        let mut object = Map::new();
        object.insert("values".into(), values.into());
        object.insert("controller".into(), group.controller.clone().into());
        object.insert("runs".into(), group.runs.into());
        for metric in Metric::ALL {
            object.insert(metric.name().into(), json!(group.metric(metric)));
        }
        object.into()
    }
}
