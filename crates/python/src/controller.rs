//! Controllers written in Python, beside those in Rust.

use std::fmt;
use std::sync::{Arc, Mutex};

use congestion::pacing::{NOMINAL_RTT, send_quantum};
use congestion::{
    Ack, AnyController, Bytes, Cause, Connection, Controller, ControllerKind, Duration, Lost, Rate,
    Recovery, Sent, Snapshot, State, Time, loss_based,
};
use lab::Cancel;
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyInt, PyString, PyType};

use crate::arguments::{no_value, wrong_type};
use crate::events;
use crate::nesting;
use crate::scalar::{answer, length};

/// The first exception of a run's controllers. It ends the run.
#[derive(Debug, Clone)]
pub struct Raised {
    first: Arc<Mutex<Option<PyErr>>>,
    cancel: Cancel,
}

impl Raised {
    /// Starts without an exception; `cancel` ends the run.
    pub fn new(cancel: &Cancel) -> Raised {
        Raised {
            first: Arc::default(),
            cancel: cancel.clone(),
        }
    }

    /// Takes the exception.
    pub fn take(&self) -> Option<PyErr> {
        self.first.lock().map_or(None, |mut first| first.take())
    }

    /// Keeps an exception, if it is the first, and ends the run.
    pub fn note(&self, error: PyErr) {
        self.cancel.cancel();
        if let Ok(mut first) = self.first.lock() {
            first.get_or_insert(error);
        }
    }
}

/// Calls Python from the thread of the run.
fn attached<T>(work: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    Python::attach(|py| nesting::ask(py, "controller", work))
}

/// A controller in either language.
#[derive(Debug)]
pub enum EitherController {
    Rust(Box<AnyController>),
    Python(Box<PythonController>),
}

/// A controller that is a Python object. Its values are cached here, so that a transport can read them at any time.
pub struct PythonController {
    /// Nothing after an exception, since later events do not matter.
    object: Option<Py<PyAny>>,
    has: Handlers,
    mss: Bytes,
    cwnd: Bytes,
    pacing_rate: Rate,
    state: State,
    ssthresh: Option<Bytes>,
    wants_prr: bool,
    needs_pacing: bool,
    responds_to_ecn: bool,
    raised: Raised,
}

/// The optional handlers that it has. Python is not called for the others.
#[derive(Debug, Clone, Copy, Default)]
struct Handlers {
    sent: bool,
    loss: bool,
    recovery: bool,
    timeout: bool,
    idle_restart: bool,
    handshake: bool,
}

impl fmt::Debug for PythonController {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PythonController")
            .field("cwnd", &self.cwnd)
            .field("pacing_rate", &self.pacing_rate)
            .finish_non_exhaustive()
    }
}

impl PythonController {
    /// The controller that `class` makes for a new connection. Initially it has the initial window, and paces twice
    /// that in a millisecond, as Linux does.
    pub fn new(class: &Py<PyAny>, connection: Connection, raised: &Raised) -> PythonController {
        let cwnd = connection.initial_cwnd.max(connection.mss);
        let mut controller = PythonController {
            object: None,
            has: Handlers::default(),
            mss: connection.mss,
            cwnd,
            pacing_rate: Rate::from_transfer(cwnd * 2, NOMINAL_RTT),
            state: loss_based::states::CONGESTION_AVOIDANCE,
            ssthresh: None,
            wants_prr: false,
            needs_pacing: false,
            responds_to_ecn: false,
            raised: raised.clone(),
        };
        let made = attached(|py| {
            let class = class.bind(py);
            let object = if takes_nothing(class)? {
                class.call0()?
            } else {
                class.call1((events::Connection::from(connection),))?
            };
            controller.begin(&object)?;
            Ok(object.unbind())
        });
        match made {
            Ok(object) => controller.object = Some(object),
            Err(error) => raised.note(error),
        }
        controller
    }

    /// For the garbage collector.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.object)
    }

    /// For the garbage collector: stops calling Python.
    pub fn clear(&mut self) {
        self.object = None;
    }

    fn begin(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_method = |name: &str, handler: &Bound<'_, PyAny>| {
            if handler.is_callable() {
                return Ok(true);
            }
            let fix = "make it a method";
            Err(wrong_type(name, handler, fix))
        };
        let Some(on_ack) = object.getattr_opt("on_ack")? else {
            let kind = object.get_type();
            return Err(PyAttributeError::new_err(format!(
                "on_ack: {kind} has none; add on_ack(self, ack), which returns (cwnd in bytes, pacing rate in bit/s)"
            )));
        };
        is_method("on_ack", &on_ack)?;
        let has = |name: &str| match object.getattr_opt(name)? {
            Some(handler) if !handler.is_none() => is_method(name, &handler),
            _ => Ok(false),
        };
        self.has = Handlers {
            sent: has("on_sent")?,
            loss: has("on_loss")?,
            recovery: has("on_recovery")?,
            timeout: has("on_timeout")?,
            idle_restart: has("on_idle_restart")?,
            handshake: has("on_handshake")?,
        };
        let flag = |name: &str| match object.getattr_opt(name)? {
            Some(flag) => flag.is_truthy(),
            None => Ok(false),
        };
        self.wants_prr = flag("wants_prr")?;
        self.needs_pacing = flag("needs_pacing")?;
        self.responds_to_ecn = flag("responds_to_ecn")?;
        self.look(object)
    }

    /// Passes an event to Python, and takes over the result.
    fn tell<A>(&mut self, handler: &str, arguments: A)
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        let Some(object) = self.object.take() else {
            return;
        };
        // The simulator ends soon; Python code must not delay it.
        if self.raised.cancel.is_cancelled() {
            return;
        }
        let told = attached(|py| {
            // A handler that is not Python code checks no signals.
            py.check_signals()?;
            let object = object.bind(py);
            let said = object.call_method1(handler, arguments)?;
            if !said.is_none() {
                self.learn(handler, &said)?;
            } else if handler == "on_ack" {
                return Err(wrong(handler, &said));
            }
            self.look(object)
        });
        match told {
            Ok(()) => self.object = Some(object),
            Err(error) => self.raised.note(error),
        }
    }

    /// Takes over a window in bytes and a pacing rate in bits per second.
    fn learn(&mut self, handler: &str, said: &Bound<'_, PyAny>) -> PyResult<()> {
        if length(said)? != Some(2) {
            return Err(wrong(handler, said));
        }
        let [cwnd, rate] = [0, 1].map(|place| {
            let item = answer(said.py(), said.get_item(place))?;
            let item = item.ok_or_else(|| wrong(handler, said))?;
            match number(&item)? {
                Number::Is(number) => Ok(number),
                Number::OutOfRange => Err(PyValueError::new_err(format!(
                    "{handler}: {said} is out of range; return numbers from 0 to 2^64"
                ))),
                Number::None => Err(wrong(handler, said)),
            }
        });
        let (cwnd, rate) = (cwnd?, rate?);
        if cwnd < self.mss.get() {
            return Err(PyValueError::new_err(format!(
                "{handler}: a window of {cwnd} bytes is less than a packet; give at least {}",
                self.mss.get()
            )));
        }
        if rate < 8 {
            return Err(PyValueError::new_err(format!(
                "{handler}: at {rate} bit/s nothing would ever leave; give a pacing rate of 8 or more"
            )));
        }
        self.cwnd = Bytes::new(cwnd);
        self.pacing_rate = Rate::from_bits_per_sec(rate);
        Ok(())
    }

    /// Takes over the values that only records need.
    fn look(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Some(said) = object.getattr_opt("state")? {
            let name = said.cast::<PyString>();
            let name = name.map_err(|_| wrong_type("state", &said, "give a str"))?;
            let name = name
                .to_str()
                .map_err(|raised| no_value("state", &said, raised))?;
            if name != self.state.name {
                self.state = state(name)?;
            }
        }
        if let Some(said) = object.getattr_opt("ssthresh")?.filter(|it| !it.is_none()) {
            self.ssthresh = match number(&said)? {
                Number::Is(bytes) => Some(Bytes::new(bytes)),
                Number::OutOfRange => {
                    return Err(PyValueError::new_err(format!(
                        "ssthresh: {said} is out of range; give bytes from 0 to 2^64, or None"
                    )));
                }
                Number::None => return Err(wrong_type("ssthresh", &said, "give bytes, or None")),
            };
        } else {
            self.ssthresh = None;
        }
        Ok(())
    }
}

/// Whether it is a class whose constructor needs no arguments, as `object`'s.
fn takes_nothing(class: &Bound<'_, PyAny>) -> PyResult<bool> {
    if !class.is_instance_of::<PyType>() {
        return Ok(false);
    }
    let plain = class.py().get_type::<PyAny>();
    let is_plain = |name| Ok::<_, PyErr>(class.getattr(name)?.is(plain.getattr(name)?));
    Ok(is_plain("__init__")? && is_plain("__new__")?)
}

/// A Python value where a number is expected.
enum Number {
    /// A whole number, or one that was rounded down.
    Is(u64),
    /// A number that is negative, too large, or not real.
    OutOfRange,
    None,
}

fn number(said: &Bound<'_, PyAny>) -> PyResult<Number> {
    if let Some(whole) = answer(said.py(), said.extract())? {
        return Ok(Number::Is(whole));
    }
    Ok(match answer(said.py(), said.extract::<f64>())? {
        Some(real) if (0.0..u64::MAX as f64).contains(&real) => Number::Is(real as u64),
        None if !said.is_instance_of::<PyInt>() => Number::None,
        _ => Number::OutOfRange,
    })
}

fn wrong(handler: &str, said: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{handler}: {said} is not a window with a pacing rate; return (cwnd in bytes, pacing rate in bit/s)"
    ))
}

/// The state with this name, of any controller.
fn state(name: &str) -> PyResult<State> {
    let mut states = ControllerKind::ALL.iter().flat_map(|kind| kind.states());
    states
        .find(|state| state.name == name)
        .copied()
        .ok_or_else(|| {
            let mut known: Vec<&str> = Vec::new();
            for state in ControllerKind::ALL.iter().flat_map(|kind| kind.states()) {
                if !known.contains(&state.name) {
                    known.push(state.name);
                }
            }
            let known = known.join(", ");
            PyValueError::new_err(format!(
                "state: {name} is not a state of a controller; give one of {known}"
            ))
        })
}

/// The Python name of a change of recovery.
fn change(recovery: Recovery) -> &'static str {
    match recovery {
        Recovery::Entered(Cause::Ecn) => "ecn",
        Recovery::Entered(Cause::RepairedLoss) => "repaired",
        Recovery::Entered(_) => "loss",
        Recovery::Left => "left",
        Recovery::Undone => "undone",
    }
}

fn nanos(time: Time) -> u64 {
    time.since(Time::ZERO).as_nanos()
}

congestion::by_variant!(EitherController: Rust, Python);

impl Controller for PythonController {
    fn on_idle_restart(&mut self, now: Time) {
        if self.has.idle_restart {
            self.tell("on_idle_restart", (nanos(now),));
        }
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        if self.has.sent {
            let (bytes, inflight) = (sent.bytes.get(), sent.inflight.get());
            self.tell("on_sent", (nanos(sent.now), bytes, inflight));
        }
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        if self.has.loss {
            let (bytes, inflight) = (lost.packet.bytes.get(), lost.inflight.get());
            self.tell("on_loss", (nanos(lost.now), bytes, inflight));
        }
    }

    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes) {
        if self.has.recovery {
            self.tell(
                "on_recovery",
                (nanos(now), change(recovery), inflight.get()),
            );
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.tell("on_ack", (events::Ack::from(ack),));
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        if self.has.timeout {
            self.tell("on_timeout", (nanos(now), inflight.get()));
        }
    }

    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        if self.has.handshake {
            self.tell("on_handshake", (nanos(now), rtt.as_nanos()));
        }
    }

    /// Packets in the simulator keep their size.
    fn on_mtu_change(&mut self, mss: Bytes) {
        self.mss = mss;
        self.cwnd = self.cwnd.max(mss);
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn pacing_rate(&self) -> Rate {
        self.pacing_rate
    }

    fn send_quantum(&self) -> Bytes {
        send_quantum(self.pacing_rate, self.mss)
    }

    fn wants_prr(&self) -> bool {
        self.wants_prr
    }

    fn needs_pacing(&self) -> bool {
        self.needs_pacing
    }

    fn responds_to_ecn(&self) -> bool {
        self.responds_to_ecn
    }

    fn snapshot(&self) -> Snapshot {
        let mut snapshot = Snapshot::new("python", self.state, self.cwnd, self.pacing_rate);
        snapshot.send_quantum = self.send_quantum();
        snapshot.ssthresh = self.ssthresh;
        snapshot
    }
}
