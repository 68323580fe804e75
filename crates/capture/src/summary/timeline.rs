//! Connections over time.

use units::{Bytes, Time};

use crate::connection::{Connection, Flow, Sample};
use crate::packet::Endpoint;

/// A connection over time: what is left of it for pictures and for tables of samples.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// When its first packet passed.
    pub first: Time,
    /// The directions that had data, in the summary's order.
    pub flows: Vec<FlowTimeline>,
}

/// A direction over time.
#[derive(Debug, Clone)]
pub struct FlowTimeline {
    /// Who sends.
    pub from: Endpoint,
    /// What the pipe holds, if that is known.
    pub bdp: Option<Bytes>,
    /// The samples in their order.
    pub samples: Vec<Sample>,
}

impl Timeline {
    /// Of a connection whose numbers are known.
    pub(super) fn of(connection: Connection) -> Timeline {
        let first = connection.first;
        let sides = connection.sides.into_iter().zip(connection.ends);
        let flows = sides.filter_map(|(side, from)| Some((from, side.flow?)));
        let mut flows: Vec<(Endpoint, Box<Flow>)> = flows.collect();
        flows.sort_by_key(|(_, flow)| u64::MAX - flow.totals.bytes);
        let flows = flows.into_iter().map(|(from, flow)| FlowTimeline {
            from,
            bdp: flow.model.bdp(),
            samples: flow.into_samples(),
        });
        Timeline {
            first,
            flows: flows.collect(),
        }
    }
}
