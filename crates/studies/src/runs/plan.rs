//! Plans of runs: scenarios with seeds.

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use ::advise::derive_seed;
use files::regular;
use scenario::Scenario;

/// The most runs of a plan: more would be a mistake in an axis.
pub const MAX_RUNS: u64 = 100_000;

/// A scenario at a point of a plan.
#[derive(Debug, Clone)]
pub struct Point {
    /// The values of the varying fields as text, in the order of [`Plan::fields`].
    pub values: Vec<String>,
    /// The scenario with these values.
    pub scenario: Arc<Scenario>,
}

/// One run of one point.
#[derive(Debug, Clone)]
pub struct Run {
    /// The index of the run's point.
    pub point: usize,
    /// The index of the run among its point's runs.
    pub repeat: u64,
    /// The displayed name: `path.loss=1% flow.controller=bbr1 repeat 0`.
    pub name: String,
    /// The point's scenario with the run's own seed. A point's single run has the same one.
    pub scenario: Arc<Scenario>,
    /// A key that determines the result and differs from every other run's.
    pub key: String,
    /// Whether the record has samples over time.
    pub keeps_samples: bool,
}

/// A plan of runs.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The name of the plan.
    pub name: String,
    /// The names of the varying fields.
    pub fields: Vec<String>,
    /// The points.
    pub points: Vec<Point>,
    /// The runs of the points.
    pub runs: Vec<Run>,
}

impl Plan {
    /// A plan without points, in which these fields vary.
    pub fn new(
        name: impl Into<String>,
        fields: impl IntoIterator<Item = impl Into<String>>,
    ) -> Plan {
        Plan {
            name: name.into(),
            fields: fields.into_iter().map(Into::into).collect(),
            points: Vec::new(),
            runs: Vec::new(),
        }
    }

    /// Adds a point, without runs.
    pub fn add_point(&mut self, values: Vec<String>, scenario: impl Into<Arc<Scenario>>) {
        assert_eq!(values.len(), self.fields.len(), "a value for each field");
        let scenario = scenario.into();
        self.points.push(Point { values, scenario });
    }

    /// Adds a run of the last point.
    pub fn add_run(&mut self, repeat: u64, scenario: impl Into<Arc<Scenario>>, key: String) {
        let scenario = scenario.into();
        let values = self.last_values();
        let parts = values.map(|(field, value)| format!("{field}={value} "));
        let name = format!("{}repeat {repeat}", parts.collect::<String>());
        self.runs.push(Run {
            point: self.points.len() - 1,
            repeat,
            name,
            scenario,
            key,
            keeps_samples: true,
        });
    }

    /// Sets whether the records of all runs have samples over time. Samples of hundreds of runs need gigabytes.
    pub fn keep_samples(&mut self, keeps_samples: bool) {
        for run in &mut self.runs {
            run.keeps_samples = keeps_samples;
        }
    }

    /// Adds runs of the last point, each with a [seed of its own](super::derive_seed). The values of the `paired`
    /// fields do not change the seed.
    ///
    /// # Errors
    ///
    /// A trace cannot be read.
    pub fn add_repeats(
        &mut self,
        repeats: u64,
        paired: &[String],
        keys: &mut Keys<'_>,
    ) -> Result<(), UnreadableTrace> {
        let point = self.points.last().expect("a point before its runs");
        let base = Arc::clone(&point.scenario);
        let counts = |(field, _): &(&str, &str)| !paired.iter().any(|of| of == field);
        let values: Vec<(&str, &str)> = self.last_values().filter(counts).collect();
        let seeded = (0..repeats).map(|repeat| Scenario {
            seed: derive_seed(base.seed, &values, repeat),
            ..Scenario::clone(&base)
        });
        for (repeat, scenario) in (0..).zip(seeded.collect::<Vec<Scenario>>()) {
            let key = keys.of(&scenario)?;
            self.add_run(repeat, scenario, key);
        }
        Ok(())
    }

    fn last_values(&self) -> impl Iterator<Item = (&str, &str)> {
        let point = self.points.last().expect("a point before its runs");
        let pairs = self.fields.iter().zip(&point.values);
        pairs.map(|(field, value)| (field.as_str(), value.as_str()))
    }

    /// The point of a run.
    pub fn point(&self, run: &Run) -> &Point {
        &self.points[run.point]
    }

    /// The value of this field at each point.
    pub fn values(&self, field: usize) -> impl Iterator<Item = &str> {
        self.points
            .iter()
            .map(move |point| point.values[field].as_str())
    }

    /// All runs, in their order.
    pub fn all(&self) -> Vec<&Run> {
        self.runs.iter().collect()
    }
}

/// Derives the keys of runs from everything that determines their results: the engine, the program, the scenario and
/// its traces.
#[derive(Debug)]
pub struct Keys<'b> {
    engine: lab::EngineKind,
    build: &'b str,
    /// The hashes of traces, which many runs share.
    traces: HashMap<PathBuf, blake3::Hash>,
}

/// The error that a trace cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {source}", .file.display())]
pub struct UnreadableTrace {
    /// The file.
    pub file: PathBuf,
    /// The system's error.
    pub source: io::Error,
}

impl Keys<'_> {
    /// Keys of runs on this engine by the program `build`. Results of another program are not the same.
    pub fn new(engine: lab::EngineKind, build: &str) -> Keys<'_> {
        Keys {
            engine,
            build,
            traces: HashMap::new(),
        }
    }

    /// The key of a scenario with its seed.
    ///
    /// # Errors
    ///
    /// A trace cannot be read.
    pub fn of(&mut self, scenario: &Scenario) -> Result<String, UnreadableTrace> {
        let mut hasher = blake3::Hasher::new();
        let (engine, build) = (self.engine, self.build);
        hasher.update(format!("{engine}\n{build}\n{scenario}\n").as_bytes());
        let links = scenario
            .hops()
            .flat_map(|hop| [&hop.data.trace, &hop.uplink.trace]);
        for trace in links.flatten() {
            hasher.update(self.content(trace)?.as_bytes());
        }
        let hash = hasher.finalize().to_hex();
        Ok(hash.chars().take(32).collect())
    }

    fn content(&mut self, trace: &PathBuf) -> Result<blake3::Hash, UnreadableTrace> {
        if let Some(content) = self.traces.get(trace) {
            return Ok(*content);
        }
        let failed = |source| UnreadableTrace {
            file: trace.clone(),
            source,
        };
        let mut hasher = blake3::Hasher::new();
        let file = regular::open(trace).map_err(failed)?;
        hasher.update_reader(file).map_err(failed)?;
        let content = hasher.finalize();
        self.traces.insert(trace.clone(), content);
        Ok(content)
    }
}
