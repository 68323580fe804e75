//! The runs of claims with a fault.

use lab::EngineKind;
use studies::runs::{Batch, BatchError, Findings, Plan};

use super::{Fault, Faults};
use crate::claims::judge::{Judgement, Verdict};
use crate::claims::spec::Claim;
use crate::claims::studies::{Studied, StudiesError};
use crate::study::{Length, SourceError};
use ::document::DocumentError;

/// A study with a fault, and the claims that it is tried on.
#[derive(Debug)]
pub struct Trial<'c> {
    /// The fault.
    pub fault: &'c Fault,
    /// The claims.
    pub claims: Vec<&'c Claim>,
    study: &'c str,
    place: String,
    plan: Plan,
}

/// The result of a trial for a claim.
#[derive(Debug)]
pub struct Attempt<'c> {
    /// The fault.
    pub fault: &'c Fault,
    /// The claim.
    pub claim: &'c Claim,
    /// The judgements of the expectations that hold without the fault, at one of their points or more.
    pub judgements: Vec<Judgement<'c>>,
    /// True if a first impression left out some of the claim's expectations.
    pub is_partial: bool,
}

/// The reasons for which a fault cannot be tried. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrialError {
    /// A study cannot be had.
    #[error(transparent)]
    Studies(#[from] StudiesError),
    /// The runs cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A run is invalid with the fault.
    #[error("fault {fault}, in {run}: {error}")]
    Run {
        /// The fault.
        fault: String,
        /// The run.
        run: String,
        /// The error in its scenario.
        error: DocumentError,
    },
    /// A fault changes no run of a claim that is to notice it.
    #[error("fault {fault}: it changes no run of {study}, so that study's claims cannot notice it")]
    Idle {
        /// The fault.
        fault: String,
        /// The study.
        study: String,
    },
}

/// The trials of a fault, or of all faults, on the studies of these claims in the simulator. All faults are tried on
/// the claims that they are to break, and some everywhere; a single one on every claim that it concerns.
///
/// # Errors
///
/// A run is invalid with a fault, or a fault changes nothing for a claim that is to notice it.
pub fn trials<'c>(
    faults: &'c Faults,
    only: Option<&'c Fault>,
    studies: &[Studied<'c>],
    claims: &[&'c Claim],
) -> Result<Vec<Trial<'c>>, TrialError> {
    let mut trials = Vec::new();
    for fault in only.map_or(&faults.faults[..], std::slice::from_ref) {
        let is_everywhere = fault.is_everywhere || only.is_some();
        for study in studies {
            let of_study = claims.iter().copied().filter(|claim| {
                let is_tried = is_everywhere || fault.is_to_break(claim);
                claim.study == study.name && is_tried && claim.is_shown_on(EngineKind::Sim)
            });
            let claims: Vec<&Claim> = of_study.collect();
            if claims.is_empty() {
                continue;
            }
            let mut plan = study.runs.plan(EngineKind::Sim)?;
            plan.keep_samples(claims.iter().any(|claim| claim.needs_samples()));
            if put_into(fault, &mut plan)? {
                trials.push(Trial {
                    fault,
                    claims,
                    study: study.name,
                    place: format!("{} with {}", study.name, fault.name),
                    plan,
                });
            } else if claims.iter().any(|claim| fault.is_to_break(claim)) {
                return Err(TrialError::Idle {
                    fault: fault.name.clone(),
                    study: study.name.to_owned(),
                });
            }
        }
    }
    Ok(trials)
}

/// Puts the fault into the runs. Returns whether it changes any.
fn put_into(fault: &Fault, plan: &mut Plan) -> Result<bool, TrialError> {
    let mut changes_any = false;
    for run in &mut plan.runs {
        let faulty = fault.put_into(&run.scenario);
        let faulty = faulty.map_err(|error| TrialError::Run {
            fault: fault.name.clone(),
            run: run.name.clone(),
            error,
        })?;
        if let Some(faulty) = faulty {
            changes_any = true;
            run.scenario = faulty.into();
            run.key = format!("{}-{}", run.key, fault.name);
        }
    }
    Ok(changes_any)
}

impl<'c> Trial<'c> {
    /// Adds its runs to a batch.
    ///
    /// # Errors
    ///
    /// The engine cannot run one.
    pub fn add_to(&self, batch: &mut Batch) -> Result<(), BatchError> {
        batch.add(&self.place, self.plan.clone())
    }

    /// The result for each of its claims.
    pub fn attempts(&self, findings: &Findings, length: Length) -> Vec<Attempt<'c>> {
        let judged = Judgement::all(&self.claims, self.study, findings, length);
        let attempts = self.claims.iter().map(|claim| Attempt {
            fault: self.fault,
            claim,
            judgements: judged
                .iter()
                .filter(|one| std::ptr::eq(one.claim, *claim))
                .filter(|one| one.values.iter().any(|value| one.known(value).is_none()))
                .cloned()
                .collect(),
            is_partial: length == Length::Quick && claim.expectations.iter().any(|of| !of.is_quick),
        });
        attempts.collect()
    }
}

impl<'c> Attempt<'c> {
    /// The judgements that the fault refutes: a value lies outside the band, or what is timed or counted never happens. With
    /// another controller in its place, a missing value is no proof, since that controller may have no such quantity.
    /// Points that are known to differ do not count.
    pub fn broken(&self) -> Vec<&Judgement<'c>> {
        let is_refuted = |one: &&Judgement<'c>| {
            let band = one.expectation.band;
            let is_outside = |value: Option<f64>| match value {
                Some(value) => !band.holds(value),
                None => !self.fault.is_another_controller(),
            };
            let mut values = one.values.iter();
            one.verdict == Verdict::Fails
                && values.any(|of| one.known(of).is_none() && is_outside(of.value))
        };
        self.judgements.iter().filter(is_refuted).collect()
    }

    /// True if the claim does not notice the fault.
    pub fn is_survived(&self) -> bool {
        self.broken().is_empty()
    }

    /// True if the claim does not notice the fault, and is to. What a first impression leaves out may notice it.
    pub fn is_missed(&self) -> bool {
        self.fault.is_to_break(self.claim) && self.is_survived() && !self.is_partial
    }
}
