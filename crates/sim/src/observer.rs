//! Observers of a simulation.

use congestion::{Ack, AnyController, Controller, Time};
use path::Ecn;
use transport::app::{App, Transfer};
use transport::burst::Burst;
use transport::receiver::Receiver;
use transport::segment::{Body, Segment};
use transport::sender::Sender;

/// The identity of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Id {
    /// Its flow: an index into [`Config::flows`](crate::Config::flows).
    pub flow: usize,
    /// Its serial number, unique in the simulation and in the order of starts.
    pub connection: u32,
}

/// An end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The end that sends data.
    Sending,
    /// The end that acknowledges data.
    Receiving,
}

impl End {
    /// The end that receives segments of this kind.
    pub(crate) fn that_receives(body: &Body) -> End {
        match body {
            Body::Syn { .. } | Body::FastOpen(_) | Body::Data(_) => End::Receiving,
            Body::SynAck { .. } | Body::Ack(_) => End::Sending,
        }
    }
}

/// A segment that leaves or reaches an end of a connection, or is on its way there.
#[derive(Debug, Clone, Copy)]
pub struct Passing<'s> {
    /// The connection.
    pub id: Id,
    /// Whether the connection carries an application's requests, and not its data.
    pub is_of_requests: bool,
    /// The end that it leaves or reaches, as the segment's kind shows; on its way, the end that is to receive it.
    pub end: End,
    /// The segment.
    pub segment: &'s Segment,
    /// The ECN field of its packet.
    pub ecn: Ecn,
}

/// Receives the events of a simulation as they happen. Methods that are not implemented do nothing. The calls are
/// resolved at compile time, so an event that nobody watches costs nothing. `()` watches nothing.
///
/// Only connections that carry an application's data are reported; those that carry its requests appear only in
/// [`Observer::on_segment`].
pub trait Observer<C: Controller = AnyController> {
    /// Whether to detect the events of [`Observer::on_losses`] and the methods below it. That takes a comparison of
    /// counters for each event of a sender.
    const WATCHES_RECOVERY: bool = true;

    /// Whether to report every segment.
    const WATCHES_SEGMENTS: bool = false;

    /// A segment leaves an end of a connection, or arrives there; also on connections that carry requests.
    fn on_segment(&mut self, now: Time, passing: &Passing<'_>) {
        let _ = (now, passing);
    }

    /// A segment passes a [tap](crate::Simulation::tap), given its number. Called only if
    /// [`Observer::WATCHES_SEGMENTS`].
    fn on_crossing(&mut self, now: Time, tap: usize, passing: &Passing<'_>) {
        let _ = (now, tap, passing);
    }

    /// A connection starts its handshake.
    fn on_start(&mut self, now: Time, id: Id) {
        let _ = (now, id);
    }

    /// The sender has handed a burst to the packet scheduler.
    fn on_sent(&mut self, now: Time, id: Id, burst: &Burst, sender: &Sender<C>) {
        let _ = (now, id, burst, sender);
    }

    /// The last packet of a burst has left the host.
    fn on_departed(&mut self, now: Time, id: Id, burst: &Burst) {
        let _ = (now, id, burst);
    }

    /// An acknowledgement has delivered data.
    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, sender: &Sender<C>) {
        let _ = (now, id, ack, sender);
    }

    /// The receiver has `received` bytes of payload in order.
    fn on_received(&mut self, now: Time, id: Id, received: u64) {
        let _ = (now, id, received);
    }

    /// The sender has declared `packets` more packets lost.
    fn on_losses(&mut self, now: Time, id: Id, packets: u64, sender: &Sender<C>) {
        let _ = (now, id, packets, sender);
    }

    /// The sender has entered recovery.
    fn on_recovery(&mut self, now: Time, id: Id, sender: &Sender<C>) {
        let _ = (now, id, sender);
    }

    /// The sender has found that a recovery or a timeout was spurious, and has undone it.
    fn on_undo(&mut self, now: Time, id: Id, sender: &Sender<C>) {
        let _ = (now, id, sender);
    }

    /// A retransmission timeout.
    fn on_timeout(&mut self, now: Time, id: Id, sender: &Sender<C>) {
        let _ = (now, id, sender);
    }

    /// An object of the application has been delivered completely.
    fn on_transfer(&mut self, id: Id, transfer: &Transfer) {
        let _ = (id, transfer);
    }

    /// The application of a connection that is over; called before [`Observer::on_end`].
    fn on_app_end(&mut self, id: Id, app: &App) {
        let _ = (id, app);
    }

    /// A connection is over: its application has finished and all its data are acknowledged, or it could not be
    /// opened ([`Sender::has_failed`]).
    fn on_end(&mut self, now: Time, id: Id, sender: &Sender<C>, receiver: &Receiver) {
        let _ = (now, id, sender, receiver);
    }
}

impl<C: Controller> Observer<C> for () {
    const WATCHES_RECOVERY: bool = false;
}
