//! Objects, and how long each took.

use super::{Measure, Subject};
use crate::dimension::Dimension;
use crate::statistics::median;
use crate::transfer::{SIZE_CLASSES, Transfer};

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "time",
        unit: Dimension::Seconds,
        about: "time of the median completed transfer",
        of: |subject| {
            let flows = subject.summaries();
            median(flows.filter_map(|flow| Some(flow.completed_s? - flow.start_s)))
        },
    },
    Measure {
        name: "connect",
        unit: Dimension::Time,
        about: "time from the first SYN to its answer, of the median flow that got one",
        of: |subject| median(subject.summaries().filter_map(|flow| flow.connect_ms)),
    },
    Measure {
        name: "failed_opens",
        unit: Dimension::Plain,
        about: "connections that could not be opened",
        of: |subject| subject.sum(|flow| flow.failed_opens),
    },
    Measure {
        name: "initial_p50",
        unit: Dimension::Time,
        about: "median time of objects that fit the initial window of ten packets",
        of: |subject| took(subject, 0, SIZE_CLASSES[0]),
    },
    Measure {
        name: "small_p50",
        unit: Dimension::Time,
        about: "median time of objects of up to 100 kB",
        of: |subject| took(subject, 0, SIZE_CLASSES[1]),
    },
    Measure {
        name: "large_p50",
        unit: Dimension::Time,
        about: "median time of objects of more than 1 MB",
        of: |subject| took(subject, SIZE_CLASSES[2], u64::MAX),
    },
    Measure {
        name: "transfer_goodput",
        unit: Dimension::Rate,
        about: "size of an object divided by its time, of the median object",
        of: |subject| goodput(subject, 0),
    },
    Measure {
        name: "large_goodput",
        unit: Dimension::Rate,
        about: "the same, of objects of more than 1 MB",
        of: |subject| goodput(subject, SIZE_CLASSES[2]),
    },
];

/// The transfers of the flows that began in the window.
fn chosen<'s>(subject: &'s Subject<'_>) -> impl Iterator<Item = &'s Transfer> {
    let rows = subject.record().into_iter();
    let rows = rows.flat_map(|record| &record.transfers.rows);
    let is_of = |transfer: &&Transfer| subject.flows().any(|flow| flow.id == transfer.flow);
    rows.filter(|one| subject.from <= one.start && one.start < subject.to)
        .filter(is_of)
}

/// Sizes and milliseconds of those larger than `over` and not larger than `up_to` that arrived.
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

fn took(subject: &Subject<'_>, over: u64, up_to: u64) -> Option<f64> {
    let times = arrived(subject, over, up_to).map(|(_, took)| took);
    median(times)
}

fn goodput(subject: &Subject<'_>, over: u64) -> Option<f64> {
    let rates = arrived(subject, over, u64::MAX).map(|(bytes, took)| bytes * 8e3 / took);
    median(rates)
}
