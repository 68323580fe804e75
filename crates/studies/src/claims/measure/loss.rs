//! What was lost, and what that cost.

use super::Measure;
use crate::runs::Unit;

pub(super) const MEASURES: &[Measure] = &[
    Measure {
        name: "drops",
        unit: Unit::Plain,
        about: "packets dropped by the buffer, the queue discipline or the policer",
        of: |subject| Some(subject.record.summary.path.drops? as f64),
    },
    Measure {
        name: "resent",
        unit: Unit::Share,
        about: "bytes sent again, as a share of all bytes sent",
        of: |subject| {
            let resent = subject.sum(|flow| Some(flow.retransmitted_bytes? as f64))?;
            Some(resent / subject.sum(|flow| Some(flow.sent_bytes? as f64))?)
        },
    },
    Measure {
        name: "timeouts",
        unit: Unit::Plain,
        about: "retransmission timeouts",
        of: |subject| subject.sum(|flow| Some(flow.timeouts? as f64)),
    },
];
