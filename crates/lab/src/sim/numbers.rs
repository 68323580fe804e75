//! The IP identification of simulated packets. As with Linux, the packets that one end of a connection sends are
//! numbered consecutively (`ip_select_ident_segs`), and a packet has the same number at both ends.

use std::collections::{HashMap, VecDeque};

use ::sim::{End, Passing};
use transport::segment::Body;

/// The most numbers that are kept. Fewer packets than this are in transit at once.
const MAX_NUMBERS: usize = 1 << 20;

/// One end of one connection: the connection's serial number, whether it carries requests, and whether the end has the
/// data.
type Source = (u32, bool, bool);

/// The numbers of packets that may still be in transit.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    next: HashMap<Source, u16>,
    on_the_way: HashMap<(Source, u64), u16>,
    /// The keys of `on_the_way`, oldest first.
    sent: VecDeque<(Source, u64)>,
}

impl Numbers {
    /// The number of a packet that passes an end, or goes there: a new one at the end that sends it.
    pub fn of(&mut self, passing: &Passing<'_>) -> u16 {
        let (is_from_data, identity) = identity(&passing.segment.body);
        let source = (passing.id.connection, passing.is_of_requests, is_from_data);
        if (passing.end == End::Sending) != is_from_data {
            return self
                .on_the_way
                .get(&(source, identity))
                .copied()
                .unwrap_or(0);
        }
        let next = self.next.entry(source).or_insert_with(|| first(source));
        let number = *next;
        *next = next.wrapping_add(1);
        self.on_the_way.insert((source, identity), number);
        self.sent.push_back((source, identity));
        if self.sent.len() > MAX_NUMBERS
            && let Some(oldest) = self.sent.pop_front()
        {
            self.on_the_way.remove(&oldest);
        }
        number
    }
}

/// The first number of a source, chosen so that some sources wrap.
fn first((connection, is_of_requests, is_from_data): Source) -> u16 {
    let sides = u64::from(is_of_requests) << 1 | u64::from(is_from_data);
    let mixed = u64::from(connection) << 2 ^ sides;
    (mixed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u16
}

/// Whether the end with the data sends this segment, and a value that identifies it among the segments of that end:
/// its position and the time it was sent.
fn identity(body: &Body) -> (bool, u64) {
    let (is_from_data, position, sent) = match body {
        Body::Syn { sent } => (true, 0, *sent),
        Body::FastOpen(data) | Body::Data(data) => (true, data.seq, data.sent),
        Body::SynAck { sent, next, .. } => (false, *next, *sent),
        Body::Ack(ack) => (false, ack.next, ack.sent),
    };
    (is_from_data, position ^ sent.as_nanos().rotate_left(20))
}
