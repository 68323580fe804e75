//! The source of runs for a figure or a claim: a study or a population.

use congestion::ControllerKind;
use serde::Deserializer;
use units::bounds::whole;

use super::{Length, Shelf, ShelfError, Study, Text};
use cdn::population::{self, AS_ASSUMED, Contender, Spec};
use document::DocumentError;
use scenario::{Bbr1Variant, Controller};
use studies::runs::{Batch, BatchError, Plan, distinct};
use studies::sweep::SweepError;

/// The members drawn from a [population](cdn::population), that of `population.toml`. Each runs with the BBR of the
/// publications' years, with the current one, and with CUBIC.
#[derive(Debug, Clone, PartialEq, Eq, serde::Deserialize)]
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
    /// The versions of the population, each with as many members.
    #[serde(default = "as_assumed")]
    pub versions: Vec<String>,
}

fn as_assumed() -> Vec<String> {
    vec![AS_ASSUMED.to_owned()]
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

/// What each member runs.
const CONTENDERS: [(ControllerKind, Bbr1Variant); 3] = [
    (ControllerKind::Bbr1, Bbr1Variant::Linux419),
    (ControllerKind::Bbr1, Bbr1Variant::Linux),
    (ControllerKind::Cubic, Bbr1Variant::Linux),
];

/// The seed of the draw, equal to the default of scenarios.
const SEED: u64 = 1;

/// The source of runs for a figure or a claim.
#[derive(Debug, Clone)]
pub enum Source {
    /// A study.
    Study(Box<Study>),
    /// Each member of a population with each contender.
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

    /// The runs of every member with each contender. Uses Fullpipe's own population if the shelf has no
    /// `population.toml`.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is invalid. Points are not checked yet.
    pub fn of_population(
        population: &Population,
        shelf: &Shelf,
        length: Length,
    ) -> Result<Source, SourceError> {
        let (text, spec) = read_population(shelf)?;
        let count = match length {
            Length::Whole => population.members,
            Length::Quick => population.quick,
        };
        let wrong = |error| SourceError::Population {
            place: text.place.clone(),
            error,
        };
        let contenders = CONTENDERS.map(|(kind, bbr1)| Contender {
            controller: Controller::from(kind),
            bbr1,
        });
        Ok(Source::Population {
            plan: population::plan(
                &spec,
                &population.versions,
                [SEED, count as u64],
                &contenders,
            )
            .map_err(wrong)?,
            place: text.place.clone(),
            less: (length == Length::Quick)
                .then(|| format!("members = {count}, and not {}", population.members)),
        })
    }

    /// The names of the population's versions, the first of them without differences.
    ///
    /// # Errors
    ///
    /// The file cannot be read or is invalid.
    pub fn versions(shelf: &Shelf) -> Result<Vec<String>, SourceError> {
        let (_, spec) = read_population(shelf)?;
        let own = spec.versions.into_iter().map(|version| version.name);
        Ok(as_assumed().into_iter().chain(own).collect())
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

    /// True if records have samples over time.
    pub fn keeps_samples(&self) -> bool {
        matches!(self, Source::Study(study) if study.keeps_samples)
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

/// The population of the shelf, or Fullpipe's own if it has none.
fn read_population(shelf: &Shelf) -> Result<(Text, Spec), SourceError> {
    let text = match shelf.get(POPULATION) {
        Err(ShelfError::Unknown { .. }) => Shelf::built_in("").get(POPULATION)?,
        text => text?,
    };
    match Spec::parse(&text.text, &text.directory) {
        Ok(spec) => Ok((text, spec)),
        Err(error) => Err(SourceError::Population {
            place: text.place,
            error,
        }),
    }
}
