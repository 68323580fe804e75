//! The queue over time, as a share of the buffer.

use super::{Measure, Subject};
use crate::dimension::Dimension;
use tables::statistics::quantile;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "queue_p5",
        unit: Dimension::Share,
        is_windowed: true,
        about: "queue length that is exceeded for 95 % of the time, as a share of the buffer",
        of: |subject| queue_share(subject, 0.05),
    },
    Measure {
        name: "queue_max",
        unit: Dimension::Share,
        is_windowed: true,
        about: "longest queue, as a share of the buffer",
        of: |subject| queue_share(subject, 1.0),
    },
];

fn queue_share(subject: &Subject<'_>, share: f64) -> Option<f64> {
    let buffer = subject.path()?.buffer_bytes? as f64;
    let queues = subject
        .queue()
        .iter()
        .map(|sample| sample.queue.get() as f64);
    Some(quantile(queues, share)? / buffer)
}
