//! The events that Python controllers receive: plain numbers, with their units in their names.

use congestion::{Bytes, Duration, Time};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::arguments::{flag, whole};
use crate::error;

/// Declares a class of plain fields with defaults, which Python can create and read.
macro_rules! told {
    (
        $(#[$class:meta])*
        $name:ident { $($(#[$about:meta])* $field:ident: $kind:ty = $default:expr,)* }
    ) => {
        $(#[$class])*
        #[pyclass(frozen, get_all, module = "fullpipe")]
        pub struct $name {
            $($(#[$about])* pub $field: $kind,)*
        }

        impl Default for $name {
            fn default() -> $name {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            const FIELDS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// The defaults with the given keywords.
            fn read(given: Option<&Bound<'_, PyDict>>) -> PyResult<$name> {
                let mut read = $name::default();
                for (field, said) in given.into_iter().flatten() {
                    match field.extract()? {
                        $(stringify!($field) => read.$field = Field::read(stringify!($field), &said)?,)*
                        other => return Err(unknown(other, $name::FIELDS)),
                    }
                }
                Ok(read)
            }
        }
    };
}

/// The type of a field.
trait Field: Sized {
    /// # Errors
    ///
    /// The value has a wrong type (`TypeError`), or is out of range (`ScenarioError`).
    fn read(name: &str, said: &Bound<'_, PyAny>) -> PyResult<Self>;
}

impl Field for u64 {
    fn read(name: &str, said: &Bound<'_, PyAny>) -> PyResult<u64> {
        whole(name, said, "give a whole number of 0 or more, below 2^64")
    }
}

impl Field for Option<u64> {
    fn read(name: &str, said: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        let given = Some(said).filter(|said| !said.is_none());
        given.map(|said| u64::read(name, said)).transpose()
    }
}

impl Field for bool {
    fn read(name: &str, said: &Bound<'_, PyAny>) -> PyResult<bool> {
        flag(name, said)
    }
}

fn unknown(field: &str, fields: &[&str]) -> PyErr {
    let fields = fields.join(", ");
    PyTypeError::new_err(format!("{field}: there is no such field; give {fields}"))
}

told! {
    /// The parameters of a new connection.
    Connection {
        /// The current time, in ns.
        now_ns: u64 = 0,
        /// The payload of a full packet, in bytes.
        mss: u64 = 1448,
        /// The initial window, in bytes.
        initial_cwnd: u64 = 14480,
        /// The seed of the controller's random choices.
        seed: u64 = 1,
    }
}

#[pymethods]
impl Connection {
    /// Creates a connection for tests of a controller. The defaults are those of Linux over Ethernet.
    #[new]
    #[pyo3(
        signature = (**fields),
        text_signature = "(*, now_ns=0, mss=1448, initial_cwnd=14480, seed=1)"
    )]
    fn new(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Connection> {
        Connection::read(fields)
    }

    fn __repr__(of: &Bound<'_, Connection>) -> PyResult<String> {
        code(of.as_any(), Connection::FIELDS)
    }

    /// Supports pickle and copy.
    fn __getnewargs_ex__<'py>(of: &Bound<'py, Connection>) -> PyResult<NewArguments<'py>> {
        new_arguments(of.as_any(), Connection::FIELDS)
    }
}

impl Connection {
    /// The connection for a controller in Rust.
    ///
    /// # Errors
    ///
    /// The packet size or window is invalid (`ScenarioError`).
    pub fn to_rust(&self) -> PyResult<congestion::Connection> {
        let wrong =
            |field: &str, fix: &str| Err(error::of_field(&format!("{field}: {fix}"), field, None));
        if !(1..=65_535).contains(&self.mss) {
            return wrong("mss", "no packet has that size; give 1 to 65535 bytes");
        }
        if !(self.mss..=1 << 32).contains(&self.initial_cwnd) {
            return wrong(
                "initial_cwnd",
                "give at least a packet, and at most 2^32 bytes",
            );
        }
        let now = Time::ZERO + Duration::from_nanos(self.now_ns);
        let (mss, cwnd) = (Bytes::new(self.mss), Bytes::new(self.initial_cwnd));
        let mut connection = congestion::Connection::new(now, mss, cwnd);
        connection.seed = self.seed;
        Ok(connection)
    }
}

impl From<congestion::Connection> for Connection {
    fn from(connection: congestion::Connection) -> Connection {
        Connection {
            now_ns: connection.now.since(Time::ZERO).as_nanos(),
            mss: connection.mss.get(),
            initial_cwnd: connection.initial_cwnd.get(),
            seed: connection.seed,
        }
    }
}

told! {
    /// The deliveries of one ACK.
    Ack {
        /// The time of processing, in ns from the start of the run.
        now_ns: u64 = 0,
        /// The bytes newly acknowledged.
        newly_acked: u64 = 1448,
        /// The bytes in flight before the ACK and its losses.
        prior_inflight: u64 = 1448,
        /// The bytes in flight now.
        inflight: u64 = 0,
        /// The round-trip time of the newest acknowledged packet, in ns. None if that was sent more than once.
        rtt_ns: Option<u64> = None,
        /// The delivery rate, in bit/s. None if the ACK gives no sample.
        delivery_rate_bps: Option<u64> = None,
        /// The bytes delivered on the connection so far.
        delivered: u64 = 1448,
        /// The bytes delivered when the newest acknowledged packet was sent. A round trip ends when this reaches the
        /// value of ``delivered`` at its start.
        prior_delivered: u64 = 0,
        /// The bytes lost on the connection so far.
        lost: u64 = 0,
        /// The bytes newly reported as marked (ECN).
        ce_marked: u64 = 0,
        /// Whether the application had too little to send when the newest acknowledged packet left.
        is_app_limited: bool = false,
        /// Whether the whole window was used since the previous ACK. Otherwise a window must not grow.
        is_cwnd_limited: bool = true,
        /// Whether the window itself held the sender back since the previous ACK.
        is_window_full: bool = false,
        /// Whether the ACK advanced the cumulative acknowledgement.
        is_progress: bool = true,
    }
}

impl From<&congestion::Ack> for Ack {
    fn from(ack: &congestion::Ack) -> Ack {
        Ack {
            now_ns: ack.now.since(Time::ZERO).as_nanos(),
            newly_acked: ack.newly_acked.get(),
            prior_inflight: ack.prior_inflight.get(),
            inflight: ack.inflight.get(),
            rtt_ns: ack.rtt.map(|sample| sample.rtt.as_nanos()),
            delivery_rate_bps: ack.rate.delivery_rate.map(|rate| rate.bits_per_sec()),
            delivered: ack.rate.total_delivered.get(),
            prior_delivered: ack.rate.prior_delivered.get(),
            lost: ack.rate.total_lost.get(),
            ce_marked: ack.ce_marked.get(),
            is_app_limited: ack.rate.is_app_limited,
            is_cwnd_limited: ack.is_cwnd_limited,
            is_window_full: ack.is_window_full,
            is_progress: ack.is_progress,
        }
    }
}

#[pymethods]
impl Ack {
    /// Creates an ACK for tests of a controller.
    #[new]
    #[pyo3(
        signature = (**fields),
        text_signature = "(*, now_ns=0, newly_acked=1448, prior_inflight=1448, inflight=0, rtt_ns=None, \
            delivery_rate_bps=None, delivered=1448, prior_delivered=0, lost=0, ce_marked=0, \
            is_app_limited=False, is_cwnd_limited=True, is_window_full=False, is_progress=True)"
    )]
    fn new(fields: Option<&Bound<'_, PyDict>>) -> PyResult<Ack> {
        Ack::read(fields)
    }

    fn __repr__(of: &Bound<'_, Ack>) -> PyResult<String> {
        code(of.as_any(), Ack::FIELDS)
    }

    /// Supports pickle and copy.
    fn __getnewargs_ex__<'py>(of: &Bound<'py, Ack>) -> PyResult<NewArguments<'py>> {
        new_arguments(of.as_any(), Ack::FIELDS)
    }
}

/// The positional and keyword arguments of a class.
type NewArguments<'py> = (Bound<'py, PyTuple>, Bound<'py, PyDict>);

/// The arguments that create an equal object.
fn new_arguments<'py>(of: &Bound<'py, PyAny>, fields: &[&str]) -> PyResult<NewArguments<'py>> {
    let given = PyDict::new(of.py());
    for field in fields {
        given.set_item(field, of.getattr(*field)?)?;
    }
    Ok((PyTuple::empty(of.py()), given))
}

/// The code that creates an equal object.
fn code(of: &Bound<'_, PyAny>, fields: &[&str]) -> PyResult<String> {
    let field = |name: &&str| Ok(format!("{name}={}", of.getattr(*name)?.repr()?));
    let fields: PyResult<Vec<String>> = fields.iter().map(field).collect();
    Ok(format!(
        "fullpipe.{}({})",
        of.get_type().name()?,
        fields?.join(", ")
    ))
}
