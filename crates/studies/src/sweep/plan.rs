//! The plan of a sweep: every point of its grid with its repeats.

use lab::Cancel;

use super::spec::{Sweep, SweepError};
use crate::runs::{Keys, MAX_RUNS, Plan};

impl Sweep {
    /// The plan for the program `build`: every combination of the axes' values with its repeats, the last axis varying
    /// fastest. All scenarios are valid.
    ///
    /// # Errors
    ///
    /// A point's scenario is invalid, or there are too many runs.
    pub fn plan(&self, build: &str) -> Result<Plan, SweepError> {
        self.plan_until(build, &Cancel::new())
    }

    /// As [`plan`](Sweep::plan), but only with the points before a cancellation.
    ///
    /// # Errors
    ///
    /// Those of [`plan`](Sweep::plan).
    pub fn plan_until(&self, build: &str, cancel: &Cancel) -> Result<Plan, SweepError> {
        if self.count().is_none_or(|count| count > MAX_RUNS) {
            return Err(SweepError::TooMany);
        }
        let points = self.points().take_while(|_| !cancel.is_cancelled());
        let mut points = points.peekable();
        let first = match points.peek() {
            Some(Ok(point)) => Some(point.scenario.name.clone()),
            // The loop below returns the error.
            Some(Err(_)) | None => None,
        };
        let name = self.name.clone().or(first).unwrap_or_default();
        let mut plan = Plan::new(name, self.fields());
        let mut keys = Keys::new(self.engine, build);
        for point in points {
            let point = point?;
            plan.add_point(point.values, point.scenario);
            plan.add_repeats(self.repeats, &self.paired, &mut keys)?;
        }
        Ok(plan)
    }
}
