//! Connections over time.

use capture::packet::Endpoint;
use connection::{Connection, Flow, Sample};
use units::{Bytes, Time};

use super::CapturePoint;

/// A connection over time, for plots and tables of samples.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// When its first packet passed.
    pub first: Time,
    /// The directions with data, in the summary's order.
    pub flows: Vec<FlowTimeline>,
}

/// A direction over time.
#[derive(Debug, Clone)]
pub struct FlowTimeline {
    /// The sender.
    pub from: Endpoint,
    /// The BDP, if it is known.
    pub bdp: Option<Bytes>,
    /// The samples in order. Empty if nothing tells what the sender knew.
    pub samples: Vec<Sample>,
}

impl Timeline {
    /// The timeline of a connection whose summary is complete.
    pub(super) fn of(connection: Connection) -> Timeline {
        let first = connection.first;
        let is_blind = [0, 1].map(|side| {
            let place = CapturePoint::of(&connection, side);
            connection.is_blind(side, place == CapturePoint::Sender)
        });
        let sides = connection.sides.into_iter().zip(connection.ends);
        let flows = sides.zip(is_blind);
        let flows = flows.filter_map(|((side, from), is_blind)| Some((from, side.flow?, is_blind)));
        let mut flows: Vec<(Endpoint, Box<Flow>, bool)> = flows.collect();
        flows.sort_by_key(|(_, flow, _)| u64::MAX - flow.totals.bytes);
        let flows = flows
            .into_iter()
            .map(|(from, flow, is_blind)| FlowTimeline {
                from,
                bdp: flow.model.bdp().filter(|_| !is_blind),
                samples: if is_blind {
                    Vec::new()
                } else {
                    flow.into_samples()
                },
            });
        Timeline {
            first,
            flows: flows.collect(),
        }
    }
}
