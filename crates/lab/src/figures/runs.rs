//! What is run for a figure.

use super::figure::Figure;
use super::seen::CONTROLLER;
use crate::population::{self, Spec};
use crate::scenario::{Controller, ScenarioError};
use crate::study::{Batch, BatchError, Length, Shelf, ShelfError, Study};
use crate::sweep::{Plan, SweepError};

use congestion::kind::Kind;

/// A figure of a [population](crate::population): `population.toml`, and how many members of it are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    /// As a rule.
    pub members: usize,
    /// For a first impression.
    pub quick: usize,
}

/// The population's file, beside the figures' in a directory, above them among the scenarios that are built in.
const POPULATION: &str = "population";

/// Members are drawn with the seed that scenarios have if they say nothing.
const SEED: u64 = 1;

/// What is run for a figure.
#[derive(Debug, Clone)]
pub enum Runs {
    /// Its study.
    Study(Study),
    /// Each member of a population with each controller.
    Population {
        /// The population's file, for people.
        place: String,
        /// The runs.
        plan: Plan,
    },
}

/// Why a figure has no runs. Prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum RunsError {
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
}

impl Runs {
    /// The runs of a figure whose files are on this shelf.
    ///
    /// # Errors
    ///
    /// There is no file, or it makes no sense. Points are not checked yet.
    pub fn of(figure: &Figure, shelf: &Shelf, length: Length) -> Result<Runs, RunsError> {
        let Some(population) = figure.population else {
            let text = shelf.get(figure.name)?;
            let mut study = Study::read(&text, length).map_err(|error| RunsError::Study {
                place: text.place,
                error: Box::new(error),
            })?;
            study.keeps_samples = figure.shows_samples;
            return Ok(Runs::Study(study));
        };
        let text = match shelf {
            Shelf::BuiltIn(_) => Shelf::built_in("").get(POPULATION)?,
            Shelf::Directory(_) => shelf.get(POPULATION)?,
        };
        let count = match length {
            Length::Whole => population.members,
            Length::Quick => population.quick,
        };
        let plan = plan(&text.text, &text.directory, count);
        match plan {
            Ok(plan) => Ok(Runs::Population {
                place: text.place,
                plan,
            }),
            Err(error) => Err(RunsError::Population {
                place: text.place,
                error,
            }),
        }
    }

    /// What their file says of them, for below the picture.
    pub fn caption(&self) -> Option<&str> {
        match self {
            Runs::Study(study) => study.caption.as_deref(),
            Runs::Population { .. } => None,
        }
    }

    /// Adds them to what is run, as those of the figure.
    ///
    /// # Errors
    ///
    /// A point makes no sense, or the engine cannot run it.
    pub fn add_to(&self, batch: &mut Batch, figure: &Figure) -> Result<(), BatchError> {
        match self {
            Runs::Study(study) => batch.add_study(study),
            Runs::Population { place, plan } => {
                batch.add(figure.name, place, plan.clone(), figure.shows_samples)
            }
        }
    }
}

/// The runs of so many members of a population, with their regions and kinds of access.
fn plan(text: &str, directory: &std::path::Path, count: usize) -> Result<Plan, ScenarioError> {
    let members = Spec::parse(text, directory)?.draw(SEED, count)?;
    let controllers = [Kind::Bbr1, Kind::Cubic].map(Controller::from);
    let mut plan = population::plan(&members, &controllers);
    plan.fields = ["region", "access", CONTROLLER].map(String::from).to_vec();
    let of_point = members
        .iter()
        .flat_map(|member| controllers.map(|controller| (member, controller)));
    for (point, (member, controller)) in plan.points.iter_mut().zip(of_point) {
        point.values = vec![
            member.region.clone(),
            member.access.clone(),
            controller.to_string(),
        ];
    }
    Ok(plan)
}
