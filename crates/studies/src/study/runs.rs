//! What is run for a figure or a claim: a study of its own, or a population.

use std::path::Path;

use congestion::ControllerKind;

use super::{Batch, BatchError, Length, Shelf, ShelfError, Study};
use crate::population::{self, Spec};
use crate::sweep::{Plan, SweepError};
use scenario::{Controller, ScenarioError};

/// How many members of a [population](crate::population), that of `population.toml`, are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Population {
    /// As a rule.
    pub members: usize,
    /// For a first impression.
    pub quick: usize,
}

/// The population's file: beside the studies in a directory, above them among the scenarios that are built in.
const POPULATION: &str = "population";

/// Members are drawn with the seed that scenarios have if they say nothing.
const SEED: u64 = 1;

/// What is run for a figure or a claim.
#[derive(Debug, Clone)]
pub enum Runs {
    /// A study of its own.
    Study(Study),
    /// Each member of a population with each controller.
    Population {
        /// What its runs are called.
        name: String,
        /// The population's file, for people.
        place: String,
        /// The runs.
        plan: Plan,
        /// What a first impression does otherwise, if it is one.
        less: Option<String>,
    },
}

/// Why there are no runs. Prints as one line.
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
    /// The runs of the study of this name.
    ///
    /// # Errors
    ///
    /// The shelf has no such file, or it makes no sense. Points are not checked yet.
    pub fn of_study(name: &str, shelf: &Shelf, length: Length) -> Result<Runs, RunsError> {
        let text = shelf.get(name)?;
        let study = Study::read(&text, length).map_err(|error| RunsError::Study {
            place: text.place,
            error: Box::new(error),
        })?;
        Ok(Runs::Study(study))
    }

    /// The runs of every member with each controller, called by this name.
    ///
    /// # Errors
    ///
    /// There is no `population.toml`, or it makes no sense. Points are not checked yet.
    pub fn of_population(
        name: &str,
        population: Population,
        shelf: &Shelf,
        length: Length,
    ) -> Result<Runs, RunsError> {
        let text = match shelf {
            Shelf::BuiltIn(_) => Shelf::built_in("").get(POPULATION)?,
            Shelf::Directory(_) => shelf.get(POPULATION)?,
        };
        let count = match length {
            Length::Whole => population.members,
            Length::Quick => population.quick,
        };
        match plan(&text.text, &text.directory, count) {
            Ok(plan) => Ok(Runs::Population {
                name: name.to_owned(),
                place: text.place,
                plan,
                less: (length == Length::Quick)
                    .then(|| format!("members = {count}, and not {}", population.members)),
            }),
            Err(error) => Err(RunsError::Population {
                place: text.place,
                error,
            }),
        }
    }

    /// What their file says of them, for below a picture.
    pub fn caption(&self) -> Option<&str> {
        match self {
            Runs::Study(study) => study.caption.as_deref(),
            Runs::Population { .. } => None,
        }
    }

    /// What a first impression does otherwise than the file says, if it is one and does: `duration = 5s`.
    pub fn less(&self) -> Option<String> {
        match self {
            Runs::Study(study) => study.less(),
            Runs::Population { less, .. } => less.clone(),
        }
    }

    /// The fields in which the runs differ.
    pub fn fields(&self) -> Vec<&str> {
        match self {
            Runs::Study(study) => study.sweep.fields().collect(),
            Runs::Population { plan, .. } => plan.fields.iter().map(String::as_str).collect(),
        }
    }

    /// The values that a field has in them, each once; nothing if they do not differ in it.
    pub fn values(&self, field: &str) -> Option<Vec<String>> {
        match self {
            Runs::Study(study) => study.sweep.values(field),
            Runs::Population { plan, .. } => {
                let place = plan.fields.iter().position(|of| of == field)?;
                let mut values: Vec<String> = Vec::new();
                for value in plan
                    .points
                    .iter()
                    .filter_map(|point| point.values.get(place))
                {
                    if !values.contains(value) {
                        values.push(value.clone());
                    }
                }
                Some(values)
            }
        }
    }

    /// Adds them to what is run. Of a population no samples are kept: its runs are many, and its figures are made of summaries.
    ///
    /// # Errors
    ///
    /// A point makes no sense, or the engine cannot run it.
    pub fn add_to(&self, batch: &mut Batch) -> Result<(), BatchError> {
        match self {
            Runs::Study(study) => batch.add_study(study),
            Runs::Population {
                name, place, plan, ..
            } => batch.add(name, place, plan.clone(), false),
        }
    }
}

/// The runs of so many members of a population, with their regions and kinds of access.
fn plan(text: &str, directory: &Path, count: usize) -> Result<Plan, ScenarioError> {
    let members = Spec::parse(text, directory)?.draw(SEED, count)?;
    let controllers = [ControllerKind::Bbr1, ControllerKind::Cubic].map(Controller::from);
    let mut plan = population::plan(&members, &controllers);
    plan.fields = ["region", "access", "flow.controller"]
        .map(String::from)
        .to_vec();
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
