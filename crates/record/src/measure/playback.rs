//! Measures of how videos played and how media arrived, over their whole life: playback knows no window.

use super::{Measure, Subject};
use crate::PlaybackSummary;
use crate::dimension::Dimension;
use tables::statistics::median;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "stalls",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "number of times that a video stopped for want of data, all players together",
        of: |subject| sum(subject, |played| played.stalls as f64),
    },
    Measure {
        name: "rebuffer_share",
        unit: Dimension::Share,
        is_windowed: false,
        about: "time that videos stood still after their start, as a share of that and of what was played",
        of: |subject| {
            let stood = sum(subject, |played| played.stalled_s)?;
            Some(stood / (stood + sum(subject, |played| played.played_s)?))
        },
    },
    Measure {
        name: "late_share",
        unit: Dimension::Share,
        is_windowed: false,
        about: "frames of rate-limited sources that were skipped, late or not delivered, as a share of those that they began or skipped",
        of: late_share,
    },
    Measure {
        name: "startup_delay",
        unit: Dimension::Time,
        is_windowed: false,
        about: "time from the start of a player to its first picture, of the median player that got one",
        of: |subject| median(all(subject).filter_map(|played| Some(played.startup_s? * 1e3))),
    },
];

fn late_share(subject: &Subject<'_>) -> Option<f64> {
    let apps = subject.summaries().filter_map(|flow| flow.app.as_ref());
    let counts = apps.filter_map(|app| {
        let (skipped, late) = (app.skipped?, app.late?);
        let lost = app.started.saturating_sub(app.completed);
        Some((skipped + late + lost, skipped + app.started))
    });
    let (missed, all) = counts.reduce(|(missed, all), next| (missed + next.0, all + next.1))?;
    (all > 0).then(|| missed as f64 / all as f64)
}

fn all<'r>(subject: &Subject<'r>) -> impl Iterator<Item = PlaybackSummary> + use<'r> {
    let played: Vec<_> = subject
        .summaries()
        .filter_map(|flow| flow.app.as_ref()?.playback)
        .collect();
    played.into_iter()
}

/// The sum over the players, if there are any.
fn sum(subject: &Subject<'_>, of: fn(PlaybackSummary) -> f64) -> Option<f64> {
    all(subject).map(of).reduce(|sum, next| sum + next)
}
