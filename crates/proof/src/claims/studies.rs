//! The runs of claims.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::judge::Judgement;
use super::spec::Claim;
use crate::study::{Length, Shelf, Source, SourceError};
use document::DocumentError;
use lab::EngineKind;

/// A study with claims.
#[derive(Debug)]
pub struct Studied<'c> {
    /// The name.
    pub name: &'c str,
    /// The runs.
    pub runs: Source,
    /// The engines that can show any of its claims.
    pub engines: Vec<EngineKind>,
}

/// The reasons for which claims cannot be judged. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudiesError {
    /// The runs cannot be had.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// A claim does not fit its study.
    #[error("claim {id}: {error}")]
    Claim {
        /// The claim.
        id: String,
        /// The error in the claim.
        error: DocumentError,
    },
}

/// The studies of the claims, each once. Records have samples if a claim needs them.
///
/// # Errors
///
/// A study cannot be read, or a claim does not fit its runs.
pub fn studies<'c>(
    shelf: &Shelf,
    claims: &[&'c Claim],
    length: Length,
) -> Result<Vec<Studied<'c>>, StudiesError> {
    let mut studies: Vec<Studied<'c>> = Vec::new();
    // A population takes a while to read, and many claims share it.
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

/// Sorts judgements by claim, expectation and engine.
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
