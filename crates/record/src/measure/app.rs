//! Measures of application-limited flows: their effect on the model, and silences.

use super::{Measure, Subject};
use crate::FlowSample;
use crate::dimension::Dimension;
use tables::statistics::median;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "btl_bw_min",
        unit: Dimension::Share,
        is_windowed: true,
        about: "lowest BtlBw, as a share of what the path allows",
        of: |subject| btl_bw(subject, f64::min),
    },
    Measure {
        name: "btl_bw_max",
        unit: Dimension::Share,
        is_windowed: true,
        about: "highest BtlBw, as a share of what the path allows",
        of: |subject| btl_bw(subject, f64::max),
    },
    Measure {
        name: "btl_bw_p50",
        unit: Dimension::Rate,
        is_windowed: true,
        about: "median BtlBw, of the median flow",
        of: |subject| {
            let of_each = subject.flows().filter_map(|flow| {
                let samples = subject.samples(flow).iter();
                let bws = samples.filter_map(|sample| sample.btl_bw);
                median(bws.map(|bw| bw.bits_per_sec() as f64))
            });
            median(of_each)
        },
    },
    Measure {
        name: "app_limited_rise",
        unit: Dimension::Plain,
        is_windowed: true,
        about: "number of times that BtlBw rose at a sample that the application limited",
        of: |subject| {
            subject.record()?;
            Some(app_limited(subject, |before, after| after > before))
        },
    },
    Measure {
        name: "silence",
        unit: Dimension::Time,
        is_windowed: true,
        about: "longest time in which nothing was delivered",
        of: |subject| {
            let gaps = subject.flows().flat_map(|flow| {
                let samples = subject.samples(flow);
                let mut arrivals: Vec<_> = samples.iter().collect();
                arrivals.dedup_by_key(|sample| sample.delivered);
                let pairs = arrivals.iter().zip(arrivals.iter().skip(1));
                let gap =
                    |(one, next): (&&FlowSample, &&FlowSample)| next.at.saturating_sub(one.at);
                pairs.map(gap).collect::<Vec<_>>()
            });
            Some(gaps.max()?.as_millis_f64())
        },
    },
];

fn btl_bw(subject: &Subject<'_>, choose: fn(f64, f64) -> f64) -> Option<f64> {
    let limit = subject.path()?.limit_bps? as f64;
    let bws = subject.flows().flat_map(|flow| {
        let samples = subject.samples(flow).iter();
        samples.filter_map(|sample| Some(sample.btl_bw?.bits_per_sec() as f64))
    });
    Some(bws.reduce(choose)? / limit)
}

/// The number of app-limited samples at which BtlBw changed so.
fn app_limited(subject: &Subject<'_>, is_so: fn(u64, u64) -> bool) -> f64 {
    let flows = subject.flows().map(|flow| {
        let samples = subject.samples(flow);
        let pairs = samples.iter().zip(samples.iter().skip(1));
        pairs
            .filter(|(before, after)| {
                let bws = before.btl_bw.zip(after.btl_bw);
                after.is_app_limited == Some(true)
                    && bws.is_some_and(|(one, next)| is_so(one.bits_per_sec(), next.bits_per_sec()))
            })
            .count()
    });
    flows.sum::<usize>() as f64
}
