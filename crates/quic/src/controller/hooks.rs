//! noq's trait over an [`Adapter`].
//!
//! noq reports an ACK before its losses, and our controllers need the losses first. So the adapter holds an ACK back
//! until another hook shows that noq has processed the ACK. That hook may be a query, which has only a shared
//! reference: hence the lock. It is never contended, since a connection does one thing at a time.

use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use congestion::Controller;
use noq_proto::RttEstimator;
use noq_proto::congestion::ControllerMetrics;

use super::adapter::Adapter;
use crate::driver::{Flow, UNPACED};
use crate::lock::lock;

/// An adapter with noq's trait.
#[derive(Debug)]
pub(super) struct Hooks<C: Controller> {
    adapter: Mutex<Adapter<C>>,
    /// The link to our driver, if it paces the connection.
    flow: Option<Arc<Flow>>,
}

impl<C: Controller> Hooks<C> {
    pub(super) fn new(adapter: Adapter<C>, flow: Option<Arc<Flow>>) -> Hooks<C> {
        Hooks {
            adapter: Mutex::new(adapter),
            flow,
        }
    }

    /// True if our driver has shut the window to get a probe of the path MTU.
    fn is_shut(&self) -> bool {
        self.flow.as_ref().is_some_and(|flow| flow.is_shut())
    }

    /// Returns the adapter for a query.
    fn ask(&self) -> MutexGuard<'_, Adapter<C>> {
        lock(&self.adapter)
    }

    /// Returns the adapter for an event, without locking. It first learns of an application limit since the last event.
    fn tell(&mut self) -> &mut Adapter<C> {
        let adapter = self
            .adapter
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if self.flow.as_ref().is_some_and(|flow| flow.take_dry()) {
            adapter.on_application_limit();
        }
        adapter
    }
}

impl<C> noq_proto::congestion::Controller for Hooks<C>
where
    C: Controller + Clone + 'static,
{
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, pn: u64) {
        if let Some(flow) = &self.flow {
            flow.send(bytes);
        }
        self.tell().on_packet_sent(now, bytes, pn);
    }

    fn on_cwnd_limited(&mut self) {
        if let Some(flow) = &self.flow {
            flow.block();
        }
        if !self.is_shut() {
            self.tell().on_cwnd_limited();
        }
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        pn: u64,
        _app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.tell().on_ack(now, sent, bytes, pn, rtt);
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        // For noq, an application limit also begins when only a probe is left to send.
        let app_limited = self.flow.as_ref().map_or(app_limited, |flow| flow.is_dry());
        self.tell().on_end_acks(now, in_flight, app_limited);
    }

    fn on_packet_lost(&mut self, lost_bytes: u16, pn: u64, now: Instant) {
        self.tell().on_packet_lost(lost_bytes, pn, now);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        is_ecn: bool,
        _lost_bytes: u64,
        _largest_lost_pn: u64,
    ) {
        self.tell()
            .on_congestion_event(now, is_persistent_congestion, is_ecn);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.tell().on_spurious_congestion_event();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.tell().on_mtu_update(new_mtu);
    }

    fn window(&self) -> u64 {
        if self.is_shut() {
            0
        } else {
            self.ask().window()
        }
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = self.ask().metrics();
        if let Some(flow) = &self.flow {
            flow.set_rate(metrics.pacing_rate.unwrap_or(UNPACED));
            metrics.pacing_rate = Some(UNPACED);
        }
        metrics
    }

    fn clone_box(&self) -> Box<dyn noq_proto::congestion::Controller> {
        Box::new(Hooks::new(self.ask().for_new_path(), self.flow.clone()))
    }

    fn initial_window(&self) -> u64 {
        self.ask().initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
