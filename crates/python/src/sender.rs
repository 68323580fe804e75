//! A sender without a network, to drive a controller event by event. The caller decides what arrives and when.

use std::collections::BTreeMap;

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, AnyController, Bytes, Cause, Controller, ControllerKind, Duration, Lost, PacketState,
    Recovery, RttSample, Sent, Time,
};
use lab::Cancel;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arguments::{Asked, flag, items, one_of, text, whole, wrong_type};
use crate::controller::{EitherController, PythonController, Raised};
use crate::{error, events};

/// A sender without a network: it drives a controller event by event, for tests and teaching.
///
/// ``controller`` is ``"bbr1"``, ``"bbr3"``, ``"cubic"``, ``"reno"``, or a class of yours. The caller says when packets
/// leave, and which of them arrive or are lost. The sender counts packets, samples the delivery rate and calls the
/// controller in the same order as the simulator. Times are in ns and never run backwards, sizes are in bytes.
///
/// >>> sender = fullpipe.Sender("bbr1")
/// >>> first = sender.send(0)
/// >>> sender.ack(40_000_000, [first]).rtt_ns
/// 40000000
///
/// A sender must be used by one thread at a time, and its controller must not use it.
///
/// A recovery begins with the first loss, and ends when a packet that was sent after that arrives (RFC 9002, "Recovery").
#[pyclass(module = "fullpipe")]
pub struct Sender {
    controller: EitherController,
    raised: Raised,
    cancel: Cancel,
    sampler: Sampler,
    in_flight: BTreeMap<u64, PacketState>,
    inflight: Bytes,
    mss: Bytes,
    now: Time,
    next: u64,
    min_rtt: Duration,
    /// The first packet sent after the latest recovery began.
    recovery: u64,
    is_recovering: bool,
    is_window_full: bool,
}

#[pymethods]
impl Sender {
    #[new]
    #[pyo3(signature = (controller, connection = None))]
    fn new(controller: &Bound<'_, PyAny>, connection: Asked<'_, '_>) -> PyResult<Sender> {
        let connection = match connection {
            Some(said) => {
                let connection = said.cast::<events::Connection>();
                let fix = "give a fullpipe.Connection";
                let connection = connection.map_err(|_| wrong_type("connection", said, fix))?;
                connection.get().to_rust()?
            }
            None => events::Connection::default().to_rust()?,
        };
        let cancel = Cancel::new();
        let raised = Raised::new(&cancel);
        let controller = if let Ok(name) = controller.cast::<PyString>() {
            let kind: ControllerKind = one_of("controller", &text("controller", name, "")?)?;
            EitherController::Rust(Box::new(AnyController::new(kind, connection)))
        } else if controller.is_callable() {
            let class = controller.clone().unbind();
            EitherController::Python(Box::new(PythonController::new(&class, connection, &raised)))
        } else {
            let fix = "give a name such as \"bbr1\", or a class";
            return Err(wrong_type("controller", controller, fix));
        };
        let sender = Sender {
            controller,
            raised,
            cancel,
            sampler: Sampler::new(connection.now),
            in_flight: BTreeMap::new(),
            inflight: Bytes::ZERO,
            mss: connection.mss,
            now: connection.now,
            next: 0,
            min_rtt: Duration::MAX,
            recovery: 0,
            is_recovering: false,
            is_window_full: false,
        };
        sender.check()?;
        Ok(sender)
    }

    /// The congestion window, in bytes.
    #[getter]
    fn cwnd(&self) -> u64 {
        self.controller.cwnd().get()
    }

    /// The rate at which packets should leave, in bit/s.
    #[getter]
    fn pacing_rate_bps(&self) -> u64 {
        self.controller.pacing_rate().bits_per_sec()
    }

    /// The most that should leave in one burst, in bytes.
    #[getter]
    fn send_quantum(&self) -> u64 {
        self.controller.send_quantum().get()
    }

    /// The controller's state, as in records.
    #[getter]
    fn state(&self) -> &'static str {
        self.controller.snapshot().state.name
    }

    /// The slow-start threshold, in bytes; None if there is none.
    #[getter]
    fn ssthresh(&self) -> Option<u64> {
        self.controller.snapshot().ssthresh.map(Bytes::get)
    }

    /// The bytes in flight.
    #[getter]
    fn inflight(&self) -> u64 {
        self.inflight.get()
    }

    /// The numbers of the packets in flight, the oldest first.
    #[getter]
    fn packets(&self) -> Vec<u64> {
        self.in_flight.keys().copied().collect()
    }

    /// Sends a packet, and returns its number. By default ``size`` is a full packet. With ``is_last``, the application
    /// has nothing more to send for now.
    #[pyo3(
        signature = (now_ns, size = None, *, is_last = None),
        text_signature = "($self, now_ns, size=None, *, is_last=False)"
    )]
    fn send(
        &mut self,
        now_ns: &Bound<'_, PyAny>,
        size: Asked<'_, '_>,
        is_last: Asked<'_, '_>,
    ) -> PyResult<u64> {
        let is_last = is_last.map(|said| flag("is_last", said)).transpose()?;
        let is_last = is_last.unwrap_or_default();
        let fix = "give bytes, 1 or more and at most 2^32";
        let size = match size {
            Some(said) => match whole("size", said, fix)? {
                size @ 1..=0x1_0000_0000 => Bytes::new(size),
                _ => return Err(error::of_field(&format!("size: {fix}"), "size", None)),
            },
            None => self.mss,
        };
        self.go_to(now_ns)?;
        if self.inflight.is_zero() && self.sampler.is_app_limited() {
            self.controller.on_idle_restart(self.now);
        }
        let out = Outstanding::without_lost(self.inflight);
        let packet = self.sampler.on_packet_sent(self.now, size, out);
        self.inflight += size;
        let sent = Sent::new(self.now, size, self.inflight);
        self.controller.on_packet_sent(&sent);
        let number = self.next;
        self.in_flight.insert(number, packet);
        self.next += 1;
        self.is_window_full |= !is_last && self.inflight + size > self.controller.cwnd();
        if is_last {
            self.sampler.mark_app_limited(self.inflight);
        }
        self.check()?;
        Ok(number)
    }

    /// Processes an ACK of these packets, and returns the event for the controller.
    fn ack(
        &mut self,
        now_ns: &Bound<'_, PyAny>,
        packets: &Bound<'_, PyAny>,
    ) -> PyResult<events::Ack> {
        let packets = self.known(packets)?;
        self.go_to(now_ns)?;
        let (prior, mut acked, mut newest) = (self.inflight, Bytes::ZERO, None);
        for number in packets {
            if let Some(packet) = self.in_flight.remove(&number) {
                self.sampler.on_packet_acked(self.now, &packet);
                self.inflight -= packet.bytes;
                acked += packet.bytes;
                newest = newest.max(Some((number, packet.sent_time)));
            }
        }
        if let Some((newest, sent)) = newest {
            self.min_rtt = self.min_rtt.min(self.now.since(sent));
            if self.is_recovering && newest >= self.recovery {
                self.is_recovering = false;
                self.controller
                    .on_recovery(self.now, Recovery::Left, self.inflight);
            }
        }
        let rate = self.sampler.sample(self.now, self.min_rtt);
        let mut ack = Ack::new(self.now, acked, prior, self.inflight, rate);
        ack.rtt = newest.map(|(_, sent)| RttSample::exact(self.now.since(sent)));
        ack.is_window_full = std::mem::take(&mut self.is_window_full);
        self.controller.on_ack(&ack);
        self.check()?;
        Ok(events::Ack::from(&ack))
    }

    /// Declares these packets lost.
    fn lose(&mut self, now_ns: &Bound<'_, PyAny>, packets: &Bound<'_, PyAny>) -> PyResult<()> {
        let packets = self.known(packets)?;
        self.go_to(now_ns)?;
        let newest = packets.iter().max().copied();
        self.declare_lost(packets);
        if newest.is_some_and(|lost| lost >= self.recovery) {
            (self.recovery, self.is_recovering) = (self.next, true);
            let entered = Recovery::Entered(Cause::Loss);
            self.controller
                .on_recovery(self.now, entered, self.inflight);
        }
        self.check()
    }

    /// Expires the retransmission timer: everything in flight counts as lost.
    fn timeout(&mut self, now_ns: &Bound<'_, PyAny>) -> PyResult<()> {
        self.go_to(now_ns)?;
        let packets = self.packets();
        self.declare_lost(packets);
        (self.recovery, self.is_recovering) = (self.next, true);
        self.controller.on_timeout(self.now, self.inflight);
        self.check()
    }

    /// For the garbage collector, since a controller may refer to its sender.
    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.controller {
            EitherController::Python(controller) => controller.traverse(&visit),
            EitherController::Rust(_) => Ok(()),
        }
    }

    fn __clear__(&mut self) {
        if let EitherController::Python(controller) = &mut self.controller {
            controller.clear();
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<fullpipe.Sender in {}: window {} bytes, {} bytes in flight, {} bit/s>",
            self.state(),
            self.cwnd(),
            self.inflight.get(),
            self.pacing_rate_bps()
        )
    }
}

impl Sender {
    /// Raises the controller's exception, if there is one.
    fn check(&self) -> PyResult<()> {
        self.raised.take().map_or(Ok(()), Err)
    }

    fn go_to(&mut self, now_ns: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.cancel.is_cancelled() {
            return Err(error::of_run(
                "the controller has raised an exception; make another Sender",
            ));
        }
        let now = whole("now_ns", now_ns, "give a time in ns")?;
        let now = Time::ZERO + Duration::from_nanos(now);
        if now < self.now {
            let latest = self.now.since(Time::ZERO).as_nanos();
            return Err(PyValueError::new_err(format!(
                "now_ns: time does not run backwards; give {latest} or more"
            )));
        }
        self.now = now;
        Ok(())
    }

    /// The sorted, distinct numbers of packets in flight.
    fn known(&self, packets: &Bound<'_, PyAny>) -> PyResult<Vec<u64>> {
        let fix = "give a list of one or more numbers that send() gave";
        let mut known = Vec::new();
        for number in items("packets", packets, fix)? {
            let number = whole("packets", &number, fix)?;
            if !self.in_flight.contains_key(&number) {
                let message = format!("packets: {number} is not in flight; {fix}");
                return Err(error::of_field(&message, "packets", None));
            }
            known.push(number);
        }
        if known.is_empty() {
            let message = format!("packets: the list is empty; {fix}");
            return Err(error::of_field(&message, "packets", None));
        }
        known.sort_unstable();
        known.dedup();
        Ok(known)
    }

    fn declare_lost(&mut self, packets: Vec<u64>) {
        for number in packets {
            if let Some(packet) = self.in_flight.remove(&number) {
                self.inflight -= packet.bytes;
                self.sampler.on_packet_lost(&packet);
                let lost = Lost::new(self.now, packet, self.inflight, &self.sampler);
                self.controller.on_packet_lost(&lost);
            }
        }
    }
}
