//! The measures of a run, each with a name, a unit and a meaning.

mod app;
mod cycle;
mod delay;
mod host;
mod limits;
mod loss;
mod playback;
mod probe_rtt;
mod queue;
mod recovery;
mod rounds;
mod rtprop;
mod settling;
mod share;
mod startup;
mod steps;
mod subject;
mod together;
mod transfers;

pub use subject::{Flows, Select, Subject};

use crate::dimension::Dimension;
use units::UnknownName;

/// A number of a run, and its computation.
#[derive(Debug)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// Its dimension.
    pub unit: Dimension,
    /// Whether it can be computed for a part of the run: it comes from samples and not from the run's summary.
    pub is_windowed: bool,
    /// Its meaning.
    pub about: &'static str,
    of: fn(&Subject<'_>) -> Option<f64>,
}

/// The data from which the measures of a subject come, for a whole run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The summary and the transfers.
    Summary,
    /// The samples over time.
    Samples,
}

/// The measures, by subject.
const SUBJECTS: [(&[Measure], Source); 17] = [
    (share::MEASURES, Source::Summary),
    (delay::MEASURES, Source::Summary),
    (queue::MEASURES, Source::Samples),
    (host::MEASURES, Source::Summary),
    (limits::MEASURES, Source::Summary),
    (loss::MEASURES, Source::Summary),
    (startup::MEASURES, Source::Samples),
    (cycle::MEASURES, Source::Samples),
    (steps::MEASURES, Source::Samples),
    (rtprop::MEASURES, Source::Samples),
    (settling::MEASURES, Source::Samples),
    (probe_rtt::MEASURES, Source::Samples),
    (recovery::MEASURES, Source::Samples),
    (together::MEASURES, Source::Samples),
    (app::MEASURES, Source::Samples),
    (playback::MEASURES, Source::Summary),
    (transfers::MEASURES, Source::Summary),
];

impl Measure {
    /// All measures, by subject.
    pub fn all() -> impl Iterator<Item = &'static Measure> {
        SUBJECTS.iter().flat_map(|(measures, _)| *measures)
    }

    /// The measure with this name.
    ///
    /// # Errors
    ///
    /// No measure has this name.
    pub fn named(name: &str) -> Result<&'static Measure, UnknownName> {
        let found = Measure::all().find(|measure| measure.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            UnknownName::new("measure", name, Measure::all().map(|measure| measure.name))
        })
    }

    /// The measure with this name of a column: its own, and the suffix of its [unit](Dimension::suffix).
    pub fn of_column(column: &str) -> Option<&'static Measure> {
        let is_it = |one: &&Measure| column.strip_prefix(one.name) == Some(one.unit.suffix());
        Measure::all().find(is_it)
    }

    /// Whether it needs samples over time for this part of a run. If not, summary and transfers suffice.
    pub fn needs_samples(&self, select: &Select) -> bool {
        let of_it = SUBJECTS.iter().find(|(measures, _)| {
            let mut measures = measures.iter();
            measures.any(|measure| measure.name == self.name)
        });
        select.is_window() || of_it.is_none_or(|(_, source)| *source == Source::Samples)
    }

    /// The number in a run; `None` if the run does not have it, or if it exists only for whole runs and the subject
    /// is a part.
    pub fn of(&self, subject: &Subject<'_>) -> Option<f64> {
        if subject.is_window && !self.is_windowed {
            return None;
        }
        (self.of)(subject).filter(|value| value.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_near_ones_are_guessed() {
        let mut names: Vec<&str> = Measure::all().map(|measure| measure.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert_eq!(Measure::named("goodput").unwrap().name, "goodput");
        let error = Measure::named("limit_shar").unwrap_err().to_string();
        assert!(error.contains("`limit_share`"), "{error}");
        assert_eq!(Measure::of_column("rtt_p50_ms").unwrap().name, "rtt_p50");
        assert!(Measure::of_column("rtt_p50").is_none());
    }
}
