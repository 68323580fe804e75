//! What is run for claims.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::judge::Judgement;
use super::spec::Claim;
use crate::study::{Length, Shelf, Source, SourceError};
use lab::EngineKind;
use scenario::ScenarioError;

/// A study that claims are about.
#[derive(Debug)]
pub struct Studied<'c> {
    /// Its name.
    pub name: &'c str,
    /// What is run.
    pub runs: Source,
    /// The engines that can show any of its claims.
    pub engines: Vec<EngineKind>,
}

/// Why claims cannot be judged. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudiesError {
    /// There is nothing to run.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A claim is not about its study.
    #[error("claim {id}: {error}")]
    Claim {
        /// The claim.
        id: String,
        /// What is wrong with it.
        error: ScenarioError,
    },
}

/// The studies of the claims, each once; their records have samples if a claim needs any.
///
/// # Errors
///
/// A study cannot be had, or a claim is not about what is run for it.
pub fn studies<'c>(
    shelf: &Shelf,
    claims: &[&'c Claim],
    length: Length,
) -> Result<Vec<Studied<'c>>, StudiesError> {
    let mut studies: Vec<Studied<'c>> = Vec::new();
    // A population takes a while to read, and many claims are about it.
    let mut wholes = HashMap::<&str, Source>::new();
    for claim in claims {
        let whole = match wholes.entry(&claim.study) {
            Entry::Occupied(whole) => whole.into_mut(),
            Entry::Vacant(none) => none.insert(claim.runs(shelf, Length::Whole)?),
        };
        claim
            .check(whole)
            .and_then(|()| claim.check_windows(whole, Length::Whole))
            .map_err(|error| StudiesError::Claim {
                id: claim.id.clone(),
                error,
            })?;
        match studies.iter_mut().find(|of| of.name == claim.study) {
            Some(study) => study.engines.extend(&claim.engines),
            None => studies.push(Studied {
                name: &claim.study,
                runs: match length {
                    Length::Whole => whole.clone(),
                    Length::Quick => claim.runs(shelf, length)?,
                },
                engines: claim.engines.clone(),
            }),
        }
    }
    for study in &mut studies {
        let mut of_study = claims.iter().filter(|claim| claim.study == study.name);
        let needs_samples = of_study.any(|claim| claim.needs_samples());
        study.runs.keep_samples(needs_samples);
    }
    Ok(studies)
}

/// Puts judgements in order: by claim, what is expected, and engine.
pub fn sort(judgements: &mut [Judgement<'_>], claims: &[&Claim], engines: &[EngineKind]) {
    judgements.sort_by_key(|one| {
        let mut expectations = one.claim.expectations.iter();
        [
            claims.iter().position(|claim| claim.id == one.claim.id),
            expectations.position(|of| std::ptr::eq(of, one.expectation)),
            engines.iter().position(|engine| *engine == one.engine),
        ]
    });
}
