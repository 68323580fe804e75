//! What the runs gave: each candidate on each sampled path.

use congestion::ControllerKind;
use record::statistics::quantile;
use record::{Record, jain_index};
use serde::Serialize;

use super::plan::Case;

units::named! {
    /// Who else is on the path.
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

/// A candidate on a sampled path.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Outcome {
    /// With the path to itself.
    pub alone: Alone,
    /// Beside a CUBIC flow.
    pub beside_cubic: Beside,
    /// Beside a second flow of its own, and small requests.
    pub beside_itself: Together,
}

impl Outcome {
    /// Whether none of its own packets arrived.
    fn is_nothing(&self) -> bool {
        self.alone.goodput_bps <= 0.0 && self.beside_cubic.goodput_bps <= 0.0
    }
}

/// A flow that has the path to itself.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Alone {
    /// Its goodput.
    pub goodput_bps: f64,
    /// The same, as a share of what the path allows.
    pub limit_share: Option<f64>,
    /// Its round-trip time, 95th percentile.
    pub rtt_p95_ms: f64,
    /// What it sends again, as a share of what it sends.
    pub resent_share: f64,
}

/// A flow beside a CUBIC flow.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Beside {
    /// Its goodput.
    pub goodput_bps: f64,
    /// The same, as a share of half of what the path allows.
    pub fair_share: Option<f64>,
    /// The CUBIC flow's goodput, as a share of what it has beside another CUBIC flow.
    pub neighbour_goodput: Option<f64>,
    /// The CUBIC flow's round-trip time (95th percentile), over that beside another CUBIC flow.
    pub neighbour_rtt_p95: Option<f64>,
}

/// Two flows with the same controller, and small requests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Together {
    /// The goodput of all, as a share of what the path allows.
    pub limit_share: Option<f64>,
    /// Jain's index of the two.
    pub jain: f64,
    /// That of two CUBIC flows, with requests of CUBIC's.
    pub cubic_jain: f64,
    /// How long requests for 30 kB take, 95th percentile.
    pub request_p95_ms: f64,
}

/// What the runs gave.
#[derive(Debug, Clone)]
pub struct Outcomes {
    controllers: Vec<ControllerKind>,
    /// Of each path, each candidate; nothing where a run failed, or nothing arrived whoever sent.
    paths: Vec<Vec<Option<Outcome>>>,
    dead: usize,
}

/// What one run tells.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Told {
    goodput: f64,
    rtt_p95: f64,
    resent: f64,
    /// The second flow's.
    other_goodput: f64,
    other_rtt_p95: f64,
    limit: Option<f64>,
    together: Option<f64>,
    request_p95: f64,
}

/// The runs as they end: each is forgotten but for what it tells.
#[derive(Debug, Clone)]
pub struct Gathering {
    told: Vec<Option<Told>>,
}

impl Gathering {
    /// Of so many runs, none has ended.
    pub fn new(runs: usize) -> Gathering {
        Gathering {
            told: vec![None; runs],
        }
    }

    /// The run at this place has ended.
    pub fn note(&mut self, place: usize, record: &Record) {
        self.told[place] = Some(Told::of(record));
    }
}

impl Told {
    fn of(record: &Record) -> Told {
        let flows = &record.summary.flows;
        let goodput = |place: usize| flows.get(place).map_or(0.0, |flow| flow.goodput_bps as f64);
        // A flow without any ACK had nothing but the queue to wait in.
        let rtt = |place: usize| flows.get(place).and_then(|flow| flow.rtt_ms.p95);
        Told {
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
}

/// Jain's index of the first two flows.
fn jain(told: &Told) -> f64 {
    jain_index([told.goodput, told.other_goodput]).unwrap_or(0.0)
}

/// How long requests take that are made after the warmup, in milliseconds. One without its answer has taken the time until
/// the end at least, and leaving it out would make those quick that answer few.
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
    /// What these runs gave.
    pub fn new(controllers: &[ControllerKind], cases: &[Case], gathering: &Gathering) -> Outcomes {
        let paths = cases.iter().map(|case| case.path + 1).max().unwrap_or(0);
        let told = |path, controller, company| {
            let case = Case {
                path,
                controller,
                company,
            };
            let place = cases.iter().position(|of| *of == case)?;
            gathering.told[place]
        };
        let outcome = |path: usize, controller: ControllerKind| {
            let alone = told(path, controller, Company::Nobody)?;
            let beside = told(path, controller, Company::Cubic)?;
            let itself = told(path, controller, Company::Itself)?;
            let usual = told(path, ControllerKind::Cubic, Company::Cubic)?;
            let usual_itself = told(path, ControllerKind::Cubic, Company::Itself)?;
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

    /// How many paths there are.
    pub fn paths(&self) -> usize {
        self.paths.len()
    }

    /// Over how many of them nothing arrived, whoever sent. They have no outcomes.
    pub fn dead(&self) -> usize {
        self.dead
    }

    /// How many have outcomes.
    pub fn known(&self) -> usize {
        let has_some = |path: &&Vec<Option<Outcome>>| path.iter().any(Option::is_some);
        self.paths.iter().filter(has_some).count()
    }

    /// A candidate on a path, both by their places; nothing if a run failed.
    pub fn of(&self, path: usize, candidate: usize) -> Option<&Outcome> {
        self.paths.get(path)?.get(candidate)?.as_ref()
    }

    /// A candidate on all paths.
    pub fn all_of(&self, candidate: usize) -> impl Iterator<Item = &Outcome> {
        (0..self.paths()).filter_map(move |path| self.of(path, candidate))
    }
}
