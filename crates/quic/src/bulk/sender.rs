//! The sending side of a bulk flow, on the driver's thread.

use std::time::{Duration, Instant};

use noq_proto::{Connection, Dir, Event, StreamEvent, VarInt};
use tokio::sync::oneshot;

use super::lane::Lane;
use super::payload::{Payload, Stripe};
use super::report::Report;
use super::{BulkError, Stats};
use crate::driver::Application;

/// The bytes written at a time: some bursts, so that packets wait neither long for the writing of what follows, nor for
/// data.
const REFILL_BYTES: usize = 256 << 10;

/// The longest time without a report of the receiver, once it has everything or nothing more is sent.
const REPORT_TIMEOUT: Duration = Duration::from_secs(30);

/// The sender's result of a flow.
pub(super) struct Sent {
    pub(super) connected: Instant,
    pub(super) ended: Instant,
    pub(super) reports: Vec<Report>,
    pub(super) stats: Stats,
}

/// A flow that is being sent.
pub(super) struct Sender {
    payload: Payload,
    /// The stripes that have no stream yet, the last one first.
    stripes: Vec<Stripe>,
    lanes: Vec<Lane>,
    /// The lane that is written to until it takes no more, or until the next refill. If all lanes had data at once, noq
    /// would take a packet of each in turn, and both ends would work on another stream with each packet.
    turn: usize,
    deadline: Option<Instant>,
    /// The number of stripes that have not arrived whole.
    unfinished: usize,
    /// The time until which the receiver's reports are waited for.
    last_word: Option<Instant>,
    connected: Option<Instant>,
    /// The receiver of the result; `None` once it has the result.
    end: Option<oneshot::Sender<Result<Sent, BulkError>>>,
}

impl Sender {
    pub(super) fn new(
        payload: Payload,
        deadline: Option<Instant>,
        end: oneshot::Sender<Result<Sent, BulkError>>,
    ) -> Sender {
        let mut stripes = payload.stripes();
        stripes.reverse();
        Sender {
            payload,
            unfinished: stripes.len(),
            stripes,
            lanes: Vec::new(),
            turn: 0,
            deadline,
            last_word: None,
            connected: None,
            end: Some(end),
        }
    }

    /// Opens a stream for each stripe, as far as the receiver allows.
    fn open(&mut self, connection: &mut Connection) {
        while let Some(stripe) = self.stripes.last().copied() {
            let Some(stream) = connection.streams().open(Dir::Bi) else {
                return;
            };
            self.stripes.pop();
            self.lanes.push(Lane::new(stream, stripe));
        }
    }

    /// Passes the result on, and closes the connection.
    fn end(&mut self, connection: &mut Connection, now: Instant, result: Result<Sent, BulkError>) {
        (self.deadline, self.last_word) = (None, None);
        if let Some(end) = self.end.take() {
            // This fails if nobody waits for the result.
            let _ = end.send(result);
        }
        connection.close(now, VarInt::from_u32(0), Default::default());
    }

    /// Ends the flow if the receiver has reported all stripes.
    fn conclude(&mut self, connection: &mut Connection, now: Instant) {
        let is_told = self.lanes.iter().all(|lane| lane.report.is_some());
        let Some(connected) = self
            .connected
            .filter(|_| is_told && self.stripes.is_empty())
        else {
            return;
        };
        let lanes = std::mem::take(&mut self.lanes);
        let sent = Sent {
            connected,
            ended: now,
            reports: lanes.into_iter().filter_map(|lane| lane.report).collect(),
            stats: Stats::of(connection),
        };
        self.end(connection, now, Ok(sent));
    }

    fn read(
        &mut self,
        stream: noq_proto::StreamId,
        connection: &mut Connection,
    ) -> Result<(), BulkError> {
        match self.lanes.iter_mut().find(|lane| lane.is(stream)) {
            Some(lane) => lane.read(connection),
            // Only this side opens streams.
            None => Ok(()),
        }
    }

    fn write(&mut self, connection: &mut Connection) -> Result<usize, BulkError> {
        let (mut written, mut idle) = (0, 0);
        let mut is_any = false;
        self.turn = (self.turn + 1) % self.lanes.len().max(1);
        while written < REFILL_BYTES && idle < self.lanes.len() {
            let Some(lane) = self.lanes.get_mut(self.turn) else {
                break;
            };
            match lane.write(&self.payload, connection)? {
                Some(count) => {
                    (written, idle) = (written + count, 0);
                    is_any = true;
                }
                None => {
                    idle += 1;
                    self.turn = (self.turn + 1) % self.lanes.len();
                }
            }
        }
        Ok(written + usize::from(is_any))
    }
}

impl Application for Sender {
    fn on_event(&mut self, event: Event, connection: &mut Connection, now: Instant) {
        if self.end.is_none() {
            return;
        }
        let heard = match event {
            Event::Connected => {
                self.connected = Some(now);
                self.open(connection);
                Ok(())
            }
            Event::Stream(StreamEvent::Available { .. }) if self.connected.is_some() => {
                self.open(connection);
                Ok(())
            }
            Event::Stream(StreamEvent::Writable { id }) => {
                let lane = self.lanes.iter_mut().find(|lane| lane.is(id));
                lane.into_iter().for_each(Lane::unblock);
                Ok(())
            }
            Event::Stream(StreamEvent::Readable { id }) => self.read(id, connection),
            Event::Stream(StreamEvent::Finished { .. }) => {
                self.unfinished = self.unfinished.saturating_sub(1);
                if self.unfinished == 0 {
                    self.last_word = now.checked_add(REPORT_TIMEOUT);
                }
                Ok(())
            }
            Event::ConnectionLost { reason } => Err(reason.into()),
            _ => Ok(()),
        };
        match heard {
            Ok(()) => self.conclude(connection, now),
            Err(error) => self.end(connection, now, Err(error)),
        }
    }

    fn refill(&mut self, connection: &mut Connection) -> bool {
        if self.end.is_none() {
            return false;
        }
        match self.write(connection) {
            Ok(written) => written > 0,
            Err(error) => {
                self.end(connection, Instant::now(), Err(error));
                true
            }
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline.into_iter().chain(self.last_word).min()
    }

    fn on_deadline(&mut self, connection: &mut Connection, now: Instant) {
        if self.last_word.is_some_and(|at| at <= now) {
            self.end(connection, now, Err(BulkError::Silent));
            return;
        }
        self.deadline = None;
        if self.connected.is_none() {
            self.end(connection, now, Err(BulkError::NoHandshake));
            return;
        }
        self.last_word = now.checked_add(REPORT_TIMEOUT);
        for lane in &mut self.lanes {
            lane.cut_off(connection);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;

    use noq_proto::{Endpoint, EndpointConfig, Side, StreamId};

    use super::*;
    use crate::controller::factory;
    use crate::endpoint::{self, Identity, SERVER_NAME};

    /// A connection without a peer.
    pub(in super::super) fn connection(now: Instant) -> Connection {
        let identity = Identity::generate().unwrap();
        let controllers = factory(congestion::ControllerKind::Bbr1, 1, None);
        let transport = Arc::new(endpoint::transport(controllers));
        let config = endpoint::client_config(identity.fingerprint(), b"test", transport);
        let mut endpoint = Endpoint::new(Arc::new(EndpointConfig::default()), None, true);
        let to = (Ipv4Addr::LOCALHOST, 1).into();
        let connected = endpoint.connect(now, config.unwrap(), to, SERVER_NAME);
        connected.unwrap().1
    }

    /// Tests the time after the deadline, and the time after everything has arrived.
    #[test]
    fn a_receiver_that_never_reports_is_not_waited_for() {
        let now = Instant::now();
        for deadline in [None, Some(now)] {
            let mut connection = connection(now);
            let (told, mut end) = oneshot::channel();
            let payload = Payload::Synthetic {
                seed: 1,
                bytes: Some(1),
            };
            let mut sender = Sender::new(payload, deadline, told);
            sender.connected = Some(now);
            match deadline {
                Some(_) => sender.on_deadline(&mut connection, now),
                None => {
                    for index in 0..sender.unfinished as u64 {
                        assert_eq!(sender.deadline(), None);
                        let id = StreamId::new(Side::Client, Dir::Bi, index);
                        let event = Event::Stream(StreamEvent::Finished { id });
                        sender.on_event(event, &mut connection, now);
                    }
                }
            }
            assert!(end.try_recv().is_err());
            let last = sender.deadline().unwrap();
            assert!(last > now);
            sender.on_deadline(&mut connection, last);
            assert_eq!(sender.deadline(), None);
            let result = end.try_recv().unwrap();
            assert!(matches!(result, Err(BulkError::Silent)));
        }
    }
}
