//! The source of runs for a figure or a claim: a study or a population.

use congestion::ControllerKind;
use serde::Deserializer;
use units::bounds::whole;

use super::{Length, Shelf, ShelfError, Study};
use cdn::population::{self, Spec};
use document::DocumentError;
use scenario::Controller;
use studies::runs::{Batch, BatchError, Plan, distinct};
use studies::sweep::SweepError;

/// The number of members drawn from a [population](cdn::population), that of `population.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { members = 1500, quick = 60 }"
)]
pub struct Population {
    /// The number for a whole run.
    #[serde(deserialize_with = "members")]
    pub members: usize,
    /// The number for a first impression.
    #[serde(deserialize_with = "members")]
    pub quick: usize,
}

fn members<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let most = u64::from(u32::MAX);
    let members: u64 = whole(
        deserializer,
        1..=most,
        "members are too few; give 1 or more",
    )?;
    Ok(usize::try_from(members).unwrap_or(usize::MAX))
}

/// The name of the population's file: beside the studies in a directory, above them among the built-in scenarios.
const POPULATION: &str = "population";

/// The seed of the draw, equal to the default of scenarios.
const SEED: u64 = 1;

/// The source of runs for a figure or a claim.
#[derive(Debug, Clone)]
pub enum Source {
    /// A study.
    Study(Box<Study>),
    /// Each member of a population with each controller.
    Population {
        /// The displayed path of the population's file.
        place: String,
        /// The runs.
        plan: Plan,
        /// The differences of a first impression, if it is one.
        less: Option<String>,
    },
}

/// The reasons for which runs cannot be had. Each prints as one line.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A file is missing.
    #[error(transparent)]
    Shelf(#[from] ShelfError),
    /// A study is invalid.
    #[error("{place}: {error}")]
    Study {
        /// The file.
        place: String,
        /// The error.
        error: Box<SweepError>,
    },
    /// A population is invalid.
    #[error("{place}: {error}")]
    Population {
        /// The file.
        place: String,
        /// The error.
        error: DocumentError,
    },
    /// The engine cannot run it.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

impl Source {
    /// The runs of the study with this name.
    ///
    /// # Errors
    ///
    /// The file is missing or invalid. Points are not checked yet.
    pub fn of_study(name: &str, shelf: &Shelf, length: Length) -> Result<Source, SourceError> {
        let text = shelf.get(name)?;
        let study = Study::read(&text, length).map_err(|error| SourceError::Study {
            place: text.place,
            error: Box::new(error),
        })?;
        Ok(Source::Study(Box::new(study)))
    }

    /// The runs of every member with each controller. Uses Fullpipe's own population if the shelf has no
    /// `population.toml`.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is invalid. Points are not checked yet.
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

    /// The caption from the file, for use below a picture.
    pub fn caption(&self) -> Option<&str> {
        match self {
            Source::Study(study) => study.caption.as_deref(),
            Source::Population { .. } => None,
        }
    }

    /// The differences of a first impression from the file, if there are any: `duration = 5s`.
    pub fn less(&self) -> Option<String> {
        match self {
            Source::Study(study) => study.less(),
            Source::Population { less, .. } => less.clone(),
        }
    }

    /// The varying fields.
    pub fn fields(&self) -> Vec<&str> {
        match self {
            Source::Study(study) => study.sweep.fields().collect(),
            Source::Population { plan, .. } => plan.fields.iter().map(String::as_str).collect(),
        }
    }

    /// The distinct values of a field. Nothing if it does not vary.
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

    /// Sets whether records have samples over time. Those of a population never do: it has many runs, and its figures
    /// need only summaries.
    pub fn keep_samples(&mut self, keeps_samples: bool) {
        if let Source::Study(study) = self {
            study.keeps_samples = keeps_samples;
        }
    }

    /// Adds the runs to a batch.
    ///
    /// # Errors
    ///
    /// A point is invalid, or the engine cannot run it.
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

    /// The plan for an engine.
    ///
    /// # Errors
    ///
    /// A point is invalid.
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
