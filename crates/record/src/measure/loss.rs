//! Measures of loss and its cost.

use super::Measure;
use crate::dimension::Dimension;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "drops",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "packets dropped by the buffer, the queue discipline or the policer",
        of: |subject| Some(subject.path()?.drops? as f64),
    },
    Measure {
        name: "late_packets",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "packets that a machine in real time delivered more than a millisecond late",
        of: |subject| Some(subject.path()?.late_packets? as f64),
    },
    Measure {
        name: "resent_share",
        unit: Dimension::Share,
        is_windowed: false,
        about: "bytes sent again, as a share of all bytes sent",
        of: |subject| {
            let resent = subject.sum(|flow| flow.retransmitted_bytes)?;
            Some(resent / subject.sum(|flow| flow.sent_bytes)?)
        },
    },
    Measure {
        name: "timeouts",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "retransmission timeouts",
        of: |subject| subject.sum(|flow| flow.timeouts),
    },
];
