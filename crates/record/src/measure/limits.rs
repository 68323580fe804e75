//! Measures of what limits flows.

use super::{Measure, Subject};
use crate::LimitShares;
use crate::dimension::Dimension;
use tables::statistics;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "limited_application",
        unit: Dimension::Share,
        is_windowed: false,
        about: "time in which the application had nothing to send, as a share of the time that connections were open, mean of the flows",
        of: |subject| mean_of(subject, |shares| shares.application),
    },
    Measure {
        name: "limited_receiver",
        unit: Dimension::Share,
        is_windowed: false,
        about: "the same of the time in which the receive window was full",
        of: |subject| mean_of(subject, |shares| shares.receiver),
    },
    Measure {
        name: "limited_send_buffer",
        unit: Dimension::Share,
        is_windowed: false,
        about: "the same of the time in which the send buffer was too small: full, with everything in it sent",
        of: |subject| mean_of(subject, |shares| shares.send_buffer),
    },
    Measure {
        name: "limited_congestion",
        unit: Dimension::Share,
        is_windowed: false,
        about: "the same of the time in which the congestion window was full, or pacing did not yet allow more",
        of: |subject| mean_of(subject, |shares| shares.congestion),
    },
    Measure {
        name: "receiver_limited_flows",
        unit: Dimension::Share,
        is_windowed: false,
        about: "flows that the receive window limits for longer than congestion control does, as a share of the flows",
        of: |subject| {
            mean_of(subject, |shares| {
                f64::from(u8::from(shares.receiver > shares.congestion))
            })
        },
    },
];

/// The mean of the flows, if all of them have the value.
fn mean_of(subject: &Subject<'_>, of: impl Fn(&LimitShares) -> f64) -> Option<f64> {
    let values: Option<Vec<f64>> = subject
        .summaries()
        .map(|flow| flow.limited_by.as_ref().map(&of))
        .collect();
    statistics::mean(&values?)
}
