//! Measures of loss and its cost.

use tables::statistics::median;
use transport::segment::{HEADERS, MSS};

use super::{Measure, Subject};
use crate::FlowSummary;
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
        name: "sent_rate",
        unit: Dimension::Rate,
        is_windowed: false,
        about: "bytes sent per second, with headers and what is sent again, by the flows together",
        of: |subject| Some(subject.sum(|flow| flow.sent_bytes)? * 8.0 / subject.measured_s()?),
    },
    Measure {
        name: "over_tcp",
        unit: Dimension::Plain,
        is_windowed: false,
        about: "rate sent, as a multiple of what TCP would send with the same share of loss and the same round-trip time (RFC 8083, section 4.3), of the median flow",
        of: |subject| {
            median(
                subject
                    .summaries()
                    .filter_map(|flow| over_tcp(flow, subject)),
            )
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

/// The simplified equation of RFC 8083, section 4.3: s / (T √(2p/3)), with a packet for each ACK. What is sent again
/// stands for what is lost, as the share of loss in a receiver's reports does there.
fn over_tcp(flow: &FlowSummary, subject: &Subject<'_>) -> Option<f64> {
    let rtt_s = flow.rtt_ms.p50? / 1e3;
    let loss = flow.retransmitted_share()?;
    let tcp = (MSS + HEADERS).get() as f64 / (rtt_s * (loss * 2.0 / 3.0).sqrt());
    Some(flow.sent_bytes? as f64 / subject.measured_s()? / tcp)
}
