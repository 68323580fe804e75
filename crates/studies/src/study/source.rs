//! What is run for a figure or a claim: a study of its own, or a population.

use congestion::ControllerKind;
use serde::Deserializer;
use units::bounds::whole;

use super::{Length, Shelf, ShelfError, Study};
use crate::population::{self, Spec};
use crate::runs::{Batch, BatchError, Plan, distinct};
use crate::sweep::SweepError;
use scenario::{Controller, ScenarioError};

/// How many members of a [population](crate::population), that of `population.toml`, are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { members = 1500, quick = 60 }"
)]
pub struct Population {
    /// As a rule.
    #[serde(deserialize_with = "members")]
    pub members: usize,
    /// For a first impression.
    #[serde(deserialize_with = "members")]
    pub quick: usize,
}

fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let most = u64::from(u32::MAX);
    let members: u64 = whole(
        deserializer,
        1..=most,
        "members cannot be drawn; give 1 or more",
    )?;
    Ok(usize::try_from(members).unwrap_or(usize::MAX))
}

/// The population's file: beside the studies in a directory, above them among the scenarios that are built in.
const POPULATION: &str = "population";

/// Members are drawn with the seed that scenarios have if they say nothing.
const SEED: u64 = 1;

/// What is run for a figure or a claim.
#[derive(Debug, Clone)]
pub enum Source {
    /// A study of its own.
    Study(Box<Study>),
    /// Each member of a population with each controller.
    Population {
        /// The population's file, for people.
        place: String,
        /// The runs.
        plan: Plan,
        /// What a first impression does otherwise, if it is one.
        less: Option<String>,
    },
}

/// Why there is nothing to run. Prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There is no file.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// A study makes no sense.
    #[error("{place}: {error}")]
    Study {
        /// Its file.
        place: String,
        /// What is wrong.
        error: Box<SweepError>,
    },
    /// A population makes no sense.
    #[error("{place}: {error}")]
    Population {
        /// Its file.
        place: String,
        /// What is wrong.
        error: ScenarioError,
    },
    /// The engine cannot do it.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

impl Source {
    /// The runs of the study of this name.
    ///
    /// # Errors
    ///
    /// The shelf has no such file, or it makes no sense. Points are not checked yet.
    pub fn of_study(name: &str, shelf: &Shelf, length: Length) -> Result<Source, SourceError> {
        let text = shelf.get(name)?;
        let study = Study::read(&text, length).map_err(|error| SourceError::Study {
            place: text.place,
            error: Box::new(error),
        })?;
        Ok(Source::Study(Box::new(study)))
    }

    /// The runs of every member with each controller. A shelf without a `population.toml` has Fullpipe's own population.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or it makes no sense. Points are not checked yet.
    pub fn of_population(
        population: Population,
        shelf: &Shelf,
        length: Length,
    ) -> Result<Source, SourceError> {
        let text = match shelf.get(POPULATION) {
            Err(ShelfError::Unknown { .. }) => Shelf::built_in("").get(POPULATION)?,
            text => text?,
        };
        let count = match length {
            Length::Whole => population.members,
            Length::Quick => population.quick,
        };
        let spec = Spec::parse(&text.text, &text.directory);
        let members = spec.and_then(|spec| spec.draw(SEED, count));
        let members = members.map_err(|error| SourceError::Population {
            place: text.place.clone(),
            error,
        })?;
        Ok(Source::Population {
            place: text.place,
            plan: population::plan(
                &members,
                &[ControllerKind::Bbr1, ControllerKind::Cubic].map(Controller::from),
            ),
            less: (length == Length::Quick)
                .then(|| format!("members = {count}, and not {}", population.members)),
        })
    }

    /// What their file says of them, for below a picture.
    pub fn caption(&self) -> Option<&str> {
        match self {
            Source::Study(study) => study.caption.as_deref(),
            Source::Population { .. } => None,
        }
    }

    /// What a first impression does otherwise than the file says, if it is one and does: `duration = 5s`.
    pub fn less(&self) -> Option<String> {
        match self {
            Source::Study(study) => study.less(),
            Source::Population { less, .. } => less.clone(),
        }
    }

    /// The fields in which the runs differ.
    pub fn fields(&self) -> Vec<&str> {
        match self {
            Source::Study(study) => study.sweep.fields().collect(),
            Source::Population { plan, .. } => plan.fields.iter().map(String::as_str).collect(),
        }
    }

    /// The values that a field has in them, each once; nothing if they do not differ in it.
    pub fn values(&self, field: &str) -> Option<Vec<String>> {
        match self {
            Source::Study(study) => study.sweep.values(field),
            Source::Population { plan, .. } => {
                let place = plan.fields.iter().position(|of| of == field)?;
                let values = distinct(plan.values(place)).into_iter();
                Some(values.map(str::to_owned).collect())
            }
        }
    }

    /// Whether samples over time are kept of them. Of a population they never are: its runs are many, and what is shown of it
    /// is made of summaries.
    pub fn keep_samples(&mut self, keeps_samples: bool) {
        if let Source::Study(study) = self {
            study.keeps_samples = keeps_samples;
        }
    }

    /// Adds them to what is run.
    ///
    /// # Errors
    ///
    /// A point makes no sense, or the engine cannot run it.
    pub fn add_to(&self, batch: &mut Batch) -> Result<(), SourceError> {
        match self {
            Source::Study(study) => {
                let mut plan = self.plan(batch.engine)?;
                plan.keep_samples(study.keeps_samples);
                batch.add(&study.place, plan)?;
            }
            Source::Population { place, plan, .. } => {
                let mut plan = plan.clone();
                plan.keep_samples(false);
                batch.add(place, plan)?;
            }
        }
        Ok(())
    }

    /// What is run on an engine.
    ///
    /// # Errors
    ///
    /// A point makes no sense.
    pub fn plan(&self, engine: lab::EngineKind) -> Result<Plan, SourceError> {
        match self {
            Source::Study(study) => study.plan(engine).map_err(|error| SourceError::Study {
                place: study.place.clone(),
                error: Box::new(error),
            }),
            Source::Population { plan, .. } => Ok(plan.clone()),
        }
    }
}
