//! Measures of objects and their times.

use super::{Measure, Subject};
use crate::dimension::Dimension;
use crate::transfer::{SIZE_CLASSES, Transfer};
use tables::statistics::{deviation, mean, median, quantile};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "time",
        unit: Dimension::Seconds,
        is_windowed: false,
        about: "time of the median completed transfer",
        of: |subject| {
            let flows = subject.summaries();
            median(flows.filter_map(|flow| Some(flow.completed_s? - flow.start_s)))
        },
    },
    Measure {
        name: "slowest",
        unit: Dimension::Time,
        is_windowed: false,
        about: "time from the first start until all transfers had arrived; none if one did not arrive",
        of: |subject| {
            let starts = subject.summaries().map(|flow| flow.start_s);
            let ends = subject.summaries().map(|flow| flow.completed_s);
            let end = ends.reduce(|one, next| Some(one?.max(next?)))??;
            Some((end - starts.reduce(f64::min)?) * 1e3)
        },
    },
    Measure {
        name: "connect",
        unit: Dimension::Time,
        is_windowed: false,
        about: "time from the first SYN to its answer, of the median flow that got one",
        of: |subject| median(subject.summaries().filter_map(|flow| flow.connect_ms)),
    },
    Measure {
        name: "failed_opens",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "connections that could not be opened",
        of: |subject| subject.sum(|flow| flow.failed_opens),
    },
    Measure {
        name: "initial_p50",
        unit: Dimension::Time,
        is_windowed: true,
        about: "median time of objects that fit the initial window of ten packets",
        of: |subject| median(took(subject, 0, SIZE_CLASSES[0])),
    },
    Measure {
        name: "small_p50",
        unit: Dimension::Time,
        is_windowed: true,
        about: "median time of objects of up to 3 MB",
        of: |subject| quantile(took(subject, 0, LARGE_BYTES), 0.5),
    },
    Measure {
        name: "small_p10",
        unit: Dimension::Time,
        is_windowed: true,
        about: "10th percentile of the time of objects of up to 3 MB",
        of: |subject| quantile(took(subject, 0, LARGE_BYTES), 0.1),
    },
    Measure {
        name: "small_p90",
        unit: Dimension::Time,
        is_windowed: true,
        about: "90th percentile of the time of objects of up to 3 MB",
        of: |subject| quantile(took(subject, 0, LARGE_BYTES), 0.9),
    },
    Measure {
        name: "large_p50",
        unit: Dimension::Time,
        is_windowed: true,
        about: "median time of objects of more than 3 MB",
        of: |subject| median(took(subject, LARGE_BYTES, u64::MAX)),
    },
    Measure {
        name: "object_mean",
        unit: Dimension::Time,
        is_windowed: true,
        about: "mean time of objects",
        of: |subject| mean(&took(subject, 0, u64::MAX).collect::<Vec<_>>()),
    },
    Measure {
        name: "object_deviation",
        unit: Dimension::Time,
        is_windowed: true,
        about: "standard deviation of the times of objects",
        of: |subject| deviation(&took(subject, 0, u64::MAX).collect::<Vec<_>>()),
    },
    Measure {
        name: "transfer_goodput",
        unit: Dimension::Rate,
        is_windowed: true,
        about: "size of an object divided by its time, of the median object",
        of: |subject| median(goodputs(subject, 0)),
    },
    Measure {
        name: "large_goodput",
        unit: Dimension::Rate,
        is_windowed: true,
        about: "the same, of objects of more than 3 MB",
        of: |subject| median(goodputs(subject, LARGE_BYTES)),
    },
    Measure {
        name: "large_goodput_p5",
        unit: Dimension::Rate,
        is_windowed: true,
        about: "5th percentile of the goodput of objects of more than 3 MB",
        of: |subject| quantile(goodputs(subject, LARGE_BYTES), 0.05),
    },
];

/// The size above which a CDN calls an object large, in bytes. It judges larger objects by their throughput, and
/// others by their time, since the throughput of small ones is noise (Shah, "BBR Evaluation at a Large CDN", 2019).
const LARGE_BYTES: u64 = 3_000_000;

/// The transfers of the flows that began in the window.
fn chosen<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = &'s Transfer> {
    let rows = subject.record().into_iter();
    let rows = rows.flat_map(|record| &record.transfers.rows);
    let is_of = |transfer: &&Transfer| subject.flows().any(|flow| flow.id == transfer.flow);
    rows.filter(|one| subject.from <= one.start && one.start < subject.to)
        .filter(is_of)
}

/// Sizes and milliseconds of the completed transfers larger than `over` and not larger than `up_to`.
fn arrived<'s>(
    subject: &'s Subject<'_>,
    over: u64,
    up_to: u64,
) -> impl Iterator<Item = (f64, f64)> + 's {
    chosen(subject)
        .filter(move |one| over < one.bytes.get() && one.bytes.get() <= up_to)
        .filter_map(|one| {
            let took = one.completed?.saturating_sub(one.start);
            Some((one.bytes.get() as f64, took.as_millis_f64()))
        })
}

fn took<'s>(subject: &'s Subject<'_>, over: u64, up_to: u64) -> impl Iterator<Item = f64> + 's {
    arrived(subject, over, up_to).map(|(_, took)| took)
}

fn goodputs<'s>(subject: &'s Subject<'_>, over: u64) -> impl Iterator<Item = f64> + 's {
    arrived(subject, over, u64::MAX).map(|(bytes, took)| bytes * 8e3 / took)
}
