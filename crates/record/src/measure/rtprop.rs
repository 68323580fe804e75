//! Measures of flows' estimates of RTprop, and how they follow its changes.

use super::Measure;
use crate::dimension::Dimension;
use tables::statistics::median;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "rtprop_p50",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "median of the RTprop that a flow believes in, in RTprops of the path, of the flow with the longest",
        of: |subject| {
            let medians = subject.each().filter_map(|(summary, flow)| {
                let samples = subject.samples(flow?).iter();
                let believed = samples.filter_map(|sample| Some(sample.rtprop?.as_millis_f64()));
                Some(median(believed)? / subject.rtprop_ms(summary)?)
            });
            medians.reduce(f64::max)
        },
    },
    Measure {
        name: "rtprop_follow",
        unit: Dimension::Time,
        is_windowed: true,
        about: "time from the change of the path's RTprop until the first flow believes in one within 5 % of the new one",
        of: |subject| {
            subject.path()?;
            let changes = subject.scenario()?.path.data.changes.iter();
            let (at, rtt) = changes
                .filter(|change| subject.from <= change.at && change.at <= subject.to)
                .find_map(|change| Some((change.at, change.rtt?.as_millis_f64())))?;
            let mut samples = subject.samples(subject.flows().next()?).iter();
            let found = samples.find(|sample| {
                let believed = sample.rtprop.map(|rtprop| rtprop.as_millis_f64());
                sample.at >= at && believed.is_some_and(|ms| (ms / rtt - 1.0).abs() <= 0.05)
            })?;
            Some(found.at.saturating_sub(at).as_millis_f64())
        },
    },
];
