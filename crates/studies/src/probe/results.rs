//! Summaries of probes: medians by destination and controller, and the distribution of their ratio.

use serde::Serialize;
use serde_json::{Value, json};

use super::row::Row;
use record::LimitShares;
use tables::statistics::{Sorted, median};

/// The results by destination.
#[derive(Debug, Clone, Default)]
pub struct Results {
    /// The controllers, in the order of the spec.
    controllers: Vec<String>,
    destinations: Vec<DestinationProbes>,
}

/// The probes of a destination.
#[derive(Debug, Clone)]
struct DestinationProbes {
    name: String,
    /// Goodputs, the sender's limits, and the number of failed probes, by controller.
    goodputs: Vec<Vec<f64>>,
    limits: Vec<Vec<LimitShares>>,
    failed: Vec<u64>,
    failures: Vec<FailedProbes>,
}

/// Probes that failed for the same reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FailedProbes {
    /// The controller.
    pub controller: String,
    /// The reason.
    pub reason: String,
    /// The number of probes.
    pub count: u64,
}

/// The results of a destination, by controller in the order of [`Results::controllers`].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Destination {
    /// The name.
    pub name: String,
    /// The median goodput over the rounds.
    pub goodput_bps: Vec<Option<f64>>,
    /// The sender's limits, the mean over the probes that have them.
    pub limited_by: Vec<Option<LimitShares>>,
    /// The number of successful probes.
    pub probes: Vec<u64>,
    /// The number of failed probes.
    pub failed: Vec<u64>,
    /// The reasons of failures, in the order of their first occurrence.
    pub failures: Vec<FailedProbes>,
    /// The median goodput of the first controller over that of the second.
    pub ratio: Option<f64>,
}

impl Results {
    /// Empty results for probes with these controllers.
    pub fn new(controllers: impl IntoIterator<Item = String>) -> Results {
        Results {
            controllers: controllers.into_iter().collect(),
            destinations: Vec::new(),
        }
    }

    /// The controllers.
    pub fn controllers(&self) -> &[String] {
        &self.controllers
    }

    /// Adds rows.
    pub fn add(&mut self, rows: &[Row]) {
        for row in rows {
            let mut controllers = self.controllers.iter();
            let Some(controller) = controllers.position(|name| *name == row.controller) else {
                continue;
            };
            let known = self
                .destinations
                .iter()
                .position(|one| one.name == row.destination);
            let place = known.unwrap_or_else(|| {
                self.destinations.push(DestinationProbes {
                    name: row.destination.clone(),
                    goodputs: vec![Vec::new(); self.controllers.len()],
                    limits: vec![Vec::new(); self.controllers.len()],
                    failed: vec![0; self.controllers.len()],
                    failures: Vec::new(),
                });
                self.destinations.len() - 1
            });
            let Some(seen) = self.destinations.get_mut(place) else {
                continue;
            };
            if let Some(limits) = seen.limits.get_mut(controller) {
                limits.extend(row.limited_by);
            }
            match (row.goodput_bps, seen.goodputs.get_mut(controller)) {
                (Some(goodput), Some(goodputs)) => goodputs.push(goodput),
                _ => seen.fail(controller, row),
            }
        }
    }

    /// The destinations, in the order of their first row.
    pub fn destinations(&self) -> Vec<Destination> {
        self.destinations
            .iter()
            .map(DestinationProbes::in_numbers)
            .collect()
    }

    /// Whether there were probes and all failed.
    pub fn is_all_failed(&self) -> bool {
        let mut goodputs = self.destinations.iter().flat_map(|one| &one.goodputs);
        !self.destinations.is_empty() && goodputs.all(Vec::is_empty)
    }

    /// The ratios of all destinations that have one, ascending: the first controller's goodput over the second's. At
    /// the `i`-th of `n`, the distribution function reaches `i / n`.
    pub fn ratios(&self) -> Sorted {
        let destinations = self.destinations();
        destinations.iter().filter_map(|one| one.ratio).collect()
    }

    /// The results as one JSON object: `name`, `controllers`, `destinations`, and `cdf` with the ascending ratios and
    /// the share of destinations up to each.
    pub fn json(&self, name: &str) -> Value {
        let ratios = self.ratios();
        let ratios = ratios.values();
        let count = ratios.len() as f64;
        let cdf = ratios.iter().enumerate();
        let cdf: Vec<Value> = cdf
            .map(|(place, ratio)| json!({ "ratio": ratio, "share": (place + 1) as f64 / count }))
            .collect();
        json!({
            "name": name,
            "controllers": self.controllers,
            "destinations": self.destinations(),
            "cdf": cdf,
        })
    }
}

impl DestinationProbes {
    fn fail(&mut self, controller: usize, row: &Row) {
        if let Some(failed) = self.failed.get_mut(controller) {
            *failed += 1;
        }
        let reason = row.failure.as_deref().unwrap_or("no reason is known");
        let is_same =
            |one: &&mut FailedProbes| one.controller == row.controller && one.reason == reason;
        match self.failures.iter_mut().find(is_same) {
            Some(same) => same.count += 1,
            None => self.failures.push(FailedProbes {
                controller: row.controller.clone(),
                reason: reason.to_owned(),
                count: 1,
            }),
        }
    }

    fn in_numbers(&self) -> Destination {
        let medians = self
            .goodputs
            .iter()
            .map(|goodputs| median(goodputs.iter().copied()));
        let medians: Vec<Option<f64>> = medians.collect();
        let ratio = match medians.as_slice() {
            [Some(first), Some(second), ..] => Some(first / second),
            _ => None,
        };
        Destination {
            name: self.name.clone(),
            goodput_bps: medians,
            limited_by: self
                .limits
                .iter()
                .map(|limits| LimitShares::mean(limits.iter().copied()))
                .collect(),
            probes: self
                .goodputs
                .iter()
                .map(|goodputs| goodputs.len() as u64)
                .collect(),
            failed: self.failed.clone(),
            failures: self.failures.clone(),
            ratio,
        }
    }
}
