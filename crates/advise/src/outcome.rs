//! The results of the runs: each candidate on each sampled path.

use congestion::ControllerKind;
use record::{Record, jain_index};
use serde::Serialize;
use tables::statistics::quantile;

use super::plan::{Case, Company};

/// The results of a candidate on a sampled path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// Alone on the path.
    pub alone: Alone,
    /// Beside a CUBIC flow.
    pub beside_cubic: Beside,
    /// Beside a second flow of the same controller, and small requests.
    pub beside_itself: Together,
}

impl Outcome {
    /// Whether none of the candidate's packets arrived.
    fn is_nothing(&self) -> bool {
        self.alone.goodput_bps <= 0.0 && self.beside_cubic.goodput_bps <= 0.0
    }
}

/// The results of a flow alone on the path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Alone {
    /// Its goodput.
    pub goodput_bps: f64,
    /// The same, as a share of the path's limit.
    pub limit_share: Option<f64>,
    /// The round-trip time, 95th percentile.
    pub rtt_p95_ms: f64,
    /// Retransmitted bytes as a share of sent bytes.
    pub resent_share: f64,
}

/// The results of a flow beside a CUBIC flow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Beside {
    /// Its goodput.
    pub goodput_bps: f64,
    /// The same, as a share of half of the path's limit.
    pub fair_share: Option<f64>,
    /// The CUBIC flow's goodput, as a share of its goodput beside another CUBIC flow.
    pub neighbour_goodput: Option<f64>,
    /// The CUBIC flow's round-trip time (95th percentile), over its value beside another CUBIC flow.
    pub neighbour_rtt_p95: Option<f64>,
}

/// The results of two flows of the same controller with small requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Together {
    /// The goodput of all flows, as a share of the path's limit.
    pub limit_share: Option<f64>,
    /// Jain's index of the two flows.
    pub jain: f64,
    /// Jain's index of two CUBIC flows with CUBIC requests.
    pub cubic_jain: f64,
    /// The time that requests for 30 kB take, 95th percentile.
    pub request_p95_ms: f64,
}

/// The results of all runs.
#[derive(Debug, Clone)]
pub struct Outcomes {
    controllers: Vec<ControllerKind>,
    /// Each candidate by path. Nothing where a run failed, or where no candidate's packets arrived.
    paths: Vec<Vec<Option<Outcome>>>,
    dead: usize,
}

/// The measurements of one run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Measured {
    goodput: f64,
    rtt_p95: f64,
    resent: f64,
    /// The goodput of the second flow.
    other_goodput: f64,
    other_rtt_p95: f64,
    limit: Option<f64>,
    together: Option<f64>,
    request_p95: f64,
}

/// The measurements of the runs that have ended. The records themselves are dropped.
#[derive(Debug, Clone)]
pub struct Gathering {
    measured: Vec<Option<Measured>>,
}

impl Gathering {
    /// Expects this number of runs.
    pub fn new(runs: usize) -> Gathering {
        Gathering {
            measured: vec![None; runs],
        }
    }

    /// Keeps the measurements of the run at this index.
    pub fn note(&mut self, place: usize, measured: Measured) {
        self.measured[place] = Some(measured);
    }

    /// The number of runs whose measurements are kept.
    pub fn noted(&self) -> usize {
        self.measured.iter().flatten().count()
    }
}

impl Measured {
    /// What advice needs of the record of a whole run.
    pub fn of(record: &Record) -> Measured {
        let flows = &record.summary.flows;
        let goodput = |place: usize| flows.get(place).map_or(0.0, |flow| flow.goodput_bps as f64);
        // A flow without any ACK has an unbounded round-trip time.
        let rtt = |place: usize| flows.get(place).and_then(|flow| flow.rtt_ms.p95);
        Measured {
            goodput: goodput(0),
            rtt_p95: rtt(0).unwrap_or(f64::INFINITY),
            resent: flows
                .first()
                .and_then(|flow| flow.retransmitted_share())
                .unwrap_or(0.0),
            other_goodput: goodput(1),
            other_rtt_p95: rtt(1).unwrap_or(f64::INFINITY),
            limit: record.summary.path.limit_bps.map(|limit| limit as f64),
            together: record.summary.together.limit_share,
            request_p95: request_p95(record),
        }
    }

    /// The measurements as numbers, with NaN for one that a run does not have. [`Measured::from_numbers`] reads them.
    pub fn numbers(&self) -> [f64; 8] {
        [
            self.goodput,
            self.rtt_p95,
            self.resent,
            self.other_goodput,
            self.other_rtt_p95,
            self.limit.unwrap_or(f64::NAN),
            self.together.unwrap_or(f64::NAN),
            self.request_p95,
        ]
    }

    /// The measurements of these [numbers](Measured::numbers).
    pub fn from_numbers(numbers: [f64; 8]) -> Measured {
        let [
            goodput,
            rtt_p95,
            resent,
            other_goodput,
            other_rtt_p95,
            limit,
            together,
            request_p95,
        ] = numbers;
        let known = |number: f64| (!number.is_nan()).then_some(number);
        Measured {
            goodput,
            rtt_p95,
            resent,
            other_goodput,
            other_rtt_p95,
            limit: known(limit),
            together: known(together),
            request_p95,
        }
    }
}

/// Jain's index of the first two flows.
fn jain(measured: &Measured) -> f64 {
    jain_index([measured.goodput, measured.other_goodput]).unwrap_or(0.0)
}

/// The time of requests that start after the warmup, 95th percentile, in milliseconds. An unanswered request counts as
/// if answered at the end of the run. Leaving it out would favour a controller that answers few.
fn request_p95(record: &Record) -> f64 {
    let (warmup, end) = (record.scenario.warmup, record.summary.end());
    let requests = record.transfers.rows.iter();
    let times = requests
        .filter(|request| request.start >= warmup)
        .map(|request| {
            let until = request.completed.unwrap_or(end);
            until.saturating_sub(request.start).as_millis_f64()
        });
    quantile(times, 0.95).unwrap_or(f64::INFINITY)
}

impl Outcomes {
    /// The outcomes of these runs.
    pub fn new(controllers: &[ControllerKind], cases: &[Case], gathering: &Gathering) -> Outcomes {
        let paths = cases.iter().map(|case| case.path + 1).max().unwrap_or(0);
        let measured = |path, controller, company| {
            let case = Case {
                path,
                controller,
                company,
            };
            let place = cases.iter().position(|of| *of == case)?;
            gathering.measured[place]
        };
        let outcome = |path: usize, controller: ControllerKind| {
            let alone = measured(path, controller, Company::Nobody)?;
            let beside = measured(path, controller, Company::Cubic)?;
            let itself = measured(path, controller, Company::Itself)?;
            let usual = measured(path, ControllerKind::Cubic, Company::Cubic)?;
            let usual_itself = measured(path, ControllerKind::Cubic, Company::Itself)?;
            let ratio = |of: f64, usual: f64| {
                let ratio = of / usual;
                ratio.is_finite().then_some(ratio)
            };
            Some(Outcome {
                alone: Alone {
                    goodput_bps: alone.goodput,
                    limit_share: alone.together,
                    rtt_p95_ms: alone.rtt_p95,
                    resent_share: alone.resent,
                },
                beside_cubic: Beside {
                    goodput_bps: beside.goodput,
                    fair_share: beside.limit.map(|limit| beside.goodput / limit * 2.0),
                    neighbour_goodput: ratio(beside.other_goodput, usual.other_goodput),
                    neighbour_rtt_p95: ratio(beside.other_rtt_p95, usual.other_rtt_p95),
                },
                beside_itself: Together {
                    limit_share: itself.together,
                    jain: jain(&itself),
                    cubic_jain: jain(&usual_itself),
                    request_p95_ms: itself.request_p95,
                },
            })
        };
        let of_path = |path: usize| -> Vec<Option<Outcome>> {
            let controllers = controllers.iter();
            controllers.map(|of| outcome(path, *of)).collect()
        };
        let mut paths: Vec<_> = (0..paths).map(of_path).collect();
        let mut dead = 0;
        for path in &mut paths {
            let ended = || path.iter().flatten();
            if ended().next().is_some() && ended().all(Outcome::is_nothing) {
                path.fill(None);
                dead += 1;
            }
        }
        Outcomes {
            controllers: controllers.to_vec(),
            paths,
            dead,
        }
    }

    /// The candidates.
    pub fn controllers(&self) -> &[ControllerKind] {
        &self.controllers
    }

    /// The number of sampled paths.
    pub fn paths(&self) -> usize {
        self.paths.len()
    }

    /// The number of paths over which nothing arrived from any candidate. They have no outcomes.
    pub fn dead(&self) -> usize {
        self.dead
    }

    /// The number of paths with outcomes.
    pub fn known(&self) -> usize {
        let has_some = |path: &&Vec<Option<Outcome>>| path.iter().any(Option::is_some);
        self.paths.iter().filter(has_some).count()
    }

    /// The outcome of a candidate on a path, by their indices. Nothing if a run failed.
    pub fn of(&self, path: usize, candidate: usize) -> Option<&Outcome> {
        self.paths.get(path)?.get(candidate)?.as_ref()
    }

    /// The outcomes of a candidate on all paths.
    pub fn all_of(&self, candidate: usize) -> impl Iterator<Item = &Outcome> {
        (0..self.paths()).filter_map(move |path| self.of(path, candidate))
    }
}
