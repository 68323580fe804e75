//! TCP connections through the path, as reported by the kernel.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use linux::Network;
use linux::diag::{ControllerName, Diag, Filter, SocketState};
use units::{Bytes, Duration};

use super::summary::ConnectionSummary;
use record::{Distribution, RttMillis};

/// The most senders that are tracked. Later ones are ignored.
const MAX_SENDERS: usize = 10_000;

/// Observes the connections at both ends.
pub(super) struct FlowWatch {
    ends: Vec<End>,
}

/// The connections at one end that have sent something.
struct End {
    direction: &'static str,
    diag: Diag,
    senders: BTreeMap<u64, Sender>,
}

/// The observations of a socket that has sent something.
struct Sender {
    from: SocketAddr,
    to: SocketAddr,
    controller: ControllerName,
    start: Duration,
    end: Duration,
    /// The bytes acknowledged at `start`.
    acked_before: Bytes,
    acked: Bytes,
    sent: Bytes,
    retransmitted: Bytes,
    min_rtt: Option<Duration>,
    rtt: Distribution,
}

impl FlowWatch {
    /// Starts observing both ends of the network.
    ///
    /// # Errors
    ///
    /// The kernel does not report its sockets.
    pub fn new(network: &Network) -> Result<FlowWatch, linux::Error> {
        let end = |direction, host| {
            Ok(End {
                direction,
                diag: Diag::open(host)?,
                senders: BTreeMap::new(),
            })
        };
        Ok(FlowWatch {
            ends: vec![end("down", &network.far)?, end("up", &network.near)?],
        })
    }

    /// Takes a sample at the time `at`.
    pub fn look(&mut self, at: Duration) {
        for end in &mut self.ends {
            let senders = &mut end.senders;
            // A kernel that does not answer any more has nothing to add.
            let _ = end
                .diag
                .sockets(&Filter::default(), |socket| note(senders, at, socket));
        }
    }

    /// The connections, those with the most data first.
    pub fn finish(self) -> Vec<ConnectionSummary> {
        let of_end = |end: End| {
            let senders = end.senders.into_values();
            senders.map(move |sender| sender.summary(end.direction))
        };
        let mut flows: Vec<ConnectionSummary> = self.ends.into_iter().flat_map(of_end).collect();
        flows.sort_by_key(|flow| std::cmp::Reverse(flow.acked_bytes));
        flows
    }
}

fn note(senders: &mut BTreeMap<u64, Sender>, at: Duration, socket: &SocketState) {
    // A connection to the host itself does not cross the path.
    if socket.info.bytes_sent.is_zero() || socket.local.ip() == socket.remote.ip() {
        return;
    }
    let has_room = senders.len() < MAX_SENDERS;
    let sender = match senders.entry(socket.cookie) {
        std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
        std::collections::btree_map::Entry::Vacant(entry) if has_room => entry.insert(Sender {
            from: socket.local,
            to: socket.remote,
            controller: socket.controller,
            start: at,
            end: at,
            acked_before: socket.info.bytes_acked,
            acked: socket.info.bytes_acked,
            sent: Bytes::ZERO,
            retransmitted: Bytes::ZERO,
            min_rtt: None,
            rtt: Distribution::coarse(),
        }),
        std::collections::btree_map::Entry::Vacant(_) => return,
    };
    let info = &socket.info;
    if info.bytes_acked > sender.acked {
        sender.acked = info.bytes_acked;
        sender.end = at;
        sender.rtt.record(info.rtt);
    }
    // A closing socket has no controller any more.
    if !socket.controller.as_str().is_empty() {
        sender.controller = socket.controller;
    }
    sender.sent = info.bytes_sent;
    sender.retransmitted = info.bytes_retrans;
    sender.min_rtt = info.min_rtt.or(sender.min_rtt);
}

impl Sender {
    fn summary(self, direction: &'static str) -> ConnectionSummary {
        let span = self.end.saturating_sub(self.start).as_secs_f64();
        let between = (self.acked - self.acked_before).get();
        ConnectionSummary {
            direction,
            from: self.from,
            to: self.to,
            controller: self.controller.as_str().to_string(),
            start_s: self.start.as_secs_f64(),
            end_s: self.end.as_secs_f64(),
            acked_bytes: self.acked.get(),
            goodput_bps: (span > 0.0).then(|| (between as f64 * 8.0 / span) as u64),
            rtt_ms: RttMillis {
                min: self.min_rtt.map(Duration::as_millis_f64),
                ..(&self.rtt).into()
            },
            sent_bytes: Some(self.sent.get()),
            retransmitted_bytes: Some(self.retransmitted.get()),
        }
    }
}
