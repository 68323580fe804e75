//! What a sweep will run: every point of its grid, as often as it repeats them.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};

use super::seed;
use super::spec::{Sweep, SweepError};
use scenario::Scenario;
use scenario::regular;

/// The most runs of a sweep: more would be a mistake in an axis.
pub const MAX_RUNS: u64 = 100_000;

/// One combination of the axes' values.
#[derive(Debug, Clone)]
pub struct Point {
    /// The values as text, in the order of [`Sweep::fields`].
    pub values: Vec<String>,
    /// The scenario with these values.
    pub scenario: Scenario,
}

/// One run of one point.
#[derive(Debug, Clone)]
pub struct Run {
    /// The point's place among the points.
    pub point: usize,
    /// Which of the point's runs it is, from zero.
    pub repeat: u64,
    /// The point's scenario, with this run's own seed.
    pub scenario: Scenario,
    /// What tells it from every other run: same key, same result.
    pub key: String,
}

/// The runs of a sweep, all of them checked.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What people call the sweep.
    pub name: String,
    /// The names of the fields that vary.
    pub fields: Vec<String>,
    /// The points, the last axis varying fastest.
    pub points: Vec<Point>,
    /// The runs, in the order of the points and repeats.
    pub runs: Vec<Run>,
}

impl Plan {
    /// The plan of `sweep`, to be carried out by the program `build`: results of another one are not the same.
    ///
    /// # Errors
    ///
    /// A point's scenario makes no sense, or there are too many runs.
    pub fn new(sweep: &Sweep, build: &str) -> Result<Plan, SweepError> {
        let count = sweep.count();
        if count.is_none_or(|count| count > MAX_RUNS) {
            return Err(SweepError::TooMany);
        }
        let points = sweep.points()?;
        let fields: Vec<String> = sweep.fields().map(str::to_string).collect();
        let mut runs = Vec::new();
        let mut traces = HashMap::new();
        for (index, point) in points.iter().enumerate() {
            let values: Vec<(&str, &str)> = fields
                .iter()
                .map(String::as_str)
                .zip(point.values.iter().map(String::as_str))
                .collect();
            for repeat in 0..sweep.repeats {
                let scenario = Scenario {
                    seed: seed::derive(point.scenario.seed, &values, repeat),
                    ..point.scenario.clone()
                };
                let key = key(sweep.engine, build, &scenario, &mut traces)?;
                runs.push(Run {
                    point: index,
                    repeat,
                    scenario,
                    key,
                });
            }
        }
        let first = points.first().map(|point| point.scenario.name.clone());
        Ok(Plan {
            name: sweep.name.clone().or(first).unwrap_or_default(),
            fields,
            points,
            runs,
        })
    }

    /// The run for people: `path.loss=1% flow.controller=bbr1 repeat 0`.
    pub fn name(&self, run: &Run) -> String {
        let values = self.points.get(run.point).map(|point| point.values.iter());
        let parts = self
            .fields
            .iter()
            .zip(values.into_iter().flatten())
            .map(|(field, value)| format!("{field}={value} "));
        format!("{}repeat {}", parts.collect::<String>(), run.repeat)
    }
}

/// What a run's result depends on: the engine, the program, the scenario, and the traces that it names. What is in those
/// is kept in `traces`, since many runs have the same.
fn key(
    engine: lab::EngineKind,
    build: &str,
    scenario: &Scenario,
    traces: &mut HashMap<PathBuf, blake3::Hash>,
) -> Result<String, SweepError> {
    let mut hasher = blake3::Hasher::new();
    hasher.update(format!("{engine}\n{build}\n{scenario}\n").as_bytes());
    let links = scenario
        .hops()
        .flat_map(|hop| [&hop.data.trace, &hop.uplink.trace]);
    for trace in links.flatten() {
        let content = match traces.get(trace) {
            Some(content) => *content,
            None => {
                let content = hash(trace).map_err(|source| SweepError::File {
                    file: trace.clone(),
                    source,
                })?;
                traces.insert(trace.clone(), content);
                content
            }
        };
        hasher.update(content.as_bytes());
    }
    let hash = hasher.finalize().to_hex();
    Ok(hash.chars().take(32).collect())
}

/// What is in the file.
fn hash(file: &Path) -> io::Result<blake3::Hash> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(regular::open(file)?)?;
    Ok(hasher.finalize())
}
