//! Sends metrics to a collector by OTLP over HTTP, on a thread of its own, so that a slow or faulty collector delays no
//! sample. Sums start at the beginning, so the next request includes what the collector missed.

mod destination;

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use ureq::http::header::RETRY_AFTER;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Error};

use crate::metrics::Snapshot;
pub use destination::{Destination, DestinationError};

/// The maximum time that a collector may ask to pause.
const MAX_PAUSE: Duration = Duration::from_secs(600);

/// The maximum length of an answer in bytes.
const MAX_ANSWER_BYTES: u64 = 64 * 1024;

/// The maximum time to wait for the last request at the end.
const FINISH_TIMEOUT: Duration = Duration::from_secs(3);

/// Sends metrics to a collector.
#[derive(Debug)]
pub struct Pusher {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    waiting: Option<Arc<Snapshot>>,
    /// The number of the last sample that was taken to be sent.
    taken_ns: Option<u64>,
    /// The time when the next request is due.
    next: Instant,
    trouble: Option<String>,
    is_closing: bool,
    is_done: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pusher {
    /// Starts to send.
    ///
    /// # Errors
    ///
    /// No further thread can be created.
    pub fn start(destination: Destination) -> std::io::Result<Pusher> {
        let state = State {
            waiting: None,
            taken_ns: None,
            next: Instant::now(),
            trouble: None,
            is_closing: false,
            is_done: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            changed: Condvar::new(),
        });
        let pusher = Pusher {
            shared: Arc::clone(&shared),
        };
        thread::Builder::new()
            .name("otlp".to_owned())
            .spawn(move || run(&shared, &destination))?;
        Ok(pusher)
    }

    /// Takes the state after a sample if a request is due.
    pub fn offer(&self, snapshot: &Arc<Snapshot>) {
        let mut state = self.shared.lock();
        if Instant::now() >= state.next && state.waiting.is_none() {
            state.waiting = Some(Arc::clone(snapshot));
            self.shared.changed.notify_all();
        }
    }

    /// The error of the last request.
    pub fn trouble(&self) -> Option<String> {
        self.shared.lock().trouble.clone()
    }

    /// Sends the final state, and waits a moment for it.
    ///
    /// # Errors
    ///
    /// The last request failed, or takes too long.
    pub fn finish(self, snapshot: &Arc<Snapshot>) -> Result<(), String> {
        let mut state = self.shared.lock();
        if state.taken_ns != Some(snapshot.at_ns()) {
            state.waiting = Some(Arc::clone(snapshot));
        }
        state.is_closing = true;
        self.shared.changed.notify_all();
        let is_going_on = |state: &mut State| !state.is_done;
        let changed = &self.shared.changed;
        let (state, _) = changed
            .wait_timeout_while(state, FINISH_TIMEOUT, is_going_on)
            .unwrap_or_else(PoisonError::into_inner);
        match (&state.trouble, state.is_done) {
            (Some(trouble), _) => Err(trouble.clone()),
            (None, true) => Ok(()),
            (None, false) => Err("the collector did not take the last metrics in time".to_owned()),
        }
    }
}

fn run(shared: &Shared, destination: &Destination) {
    let agent = agent(destination);
    let mut state = shared.lock();
    loop {
        if let Some(snapshot) = state.waiting.take() {
            state.taken_ns = Some(snapshot.at_ns());
            state.next = Instant::now() + destination.interval;
            drop(state);
            let sent = send(&agent, destination, &snapshot);
            state = shared.lock();
            let pause = sent
                .as_ref()
                .err()
                .map_or(Duration::ZERO, |trouble| trouble.pause);
            state.next = state.next.max(Instant::now() + pause);
            state.trouble = sent.err().map(|trouble| trouble.what);
        } else if state.is_closing {
            break;
        } else {
            let changed = shared.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
    }
    state.is_done = true;
    shared.changed.notify_all();
}

fn agent(destination: &Destination) -> Agent {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .unversioned_rustls_crypto_provider(provider);
    // Headers go to the named collector, not to redirects.
    Agent::config_builder()
        .max_redirects(0)
        .max_redirects_will_error(false)
        .http_status_as_error(false)
        .timeout_global(Some(destination.timeout))
        .user_agent(concat!("fullpipe/", env!("CARGO_PKG_VERSION")))
        .tls_config(tls.build())
        .build()
        .new_agent()
}

/// The reason of a failed request, without the collector's text, which may repeat a secret.
struct Trouble {
    what: String,
    /// The time that the collector asks to pause.
    pause: Duration,
}

impl From<String> for Trouble {
    fn from(what: String) -> Trouble {
        Trouble {
            what,
            pause: Duration::ZERO,
        }
    }
}

fn send(agent: &Agent, destination: &Destination, snapshot: &Snapshot) -> Result<(), Trouble> {
    let mut request = agent
        .post(&destination.url)
        .content_type("application/json");
    for (name, value) in &destination.headers {
        request = request.header(name, value);
    }
    let body = snapshot.otlp(&destination.resource);
    let mut answer = request
        .send(body)
        .map_err(|error| told(&error, destination.timeout))?;
    let status = answer.status();
    if status.is_success() {
        return accepted(answer.body_mut(), destination.timeout);
    }
    let after = answer.headers().get(RETRY_AFTER);
    let after = after.and_then(|value| value.to_str().ok()?.parse().ok());
    let what = match status.as_u16() {
        300..=399 => format!("the collector answered {status}; give the URL that it is moved to"),
        401 | 403 => format!(
            "the collector answered {status}; it takes the headers of {}",
            destination::HEADERS
        ),
        404 | 405 => format!("the collector answered {status}; does it take OTLP over HTTP there?"),
        _ => format!("the collector answered {status}"),
    };
    Err(Trouble {
        what,
        pause: Duration::from_secs(after.unwrap_or(0)).min(MAX_PAUSE),
    })
}

/// Fails unless all data were accepted ("partial success" of the OTLP specification).
fn accepted(body: &mut Body, timeout: Duration) -> Result<(), Trouble> {
    let text = body.with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
    let text = match text {
        Ok(text) => text,
        // A successful answer accepts all data, however long its text is.
        Err(Error::BodyExceedsLimit(_)) => return Ok(()),
        Err(error) => return Err(told(&error, timeout).into()),
    };
    let answer: Value = serde_json::from_slice(&text).unwrap_or_default();
    let rejected = &answer["partialSuccess"]["rejectedDataPoints"];
    let rejected = rejected
        .as_str()
        .map_or(rejected.as_u64(), |text| text.parse().ok());
    match rejected {
        Some(points) if points > 0 => {
            Err(format!("the collector took all but {points} data points").into())
        }
        _ => Ok(()),
    }
}

fn told(error: &Error, timeout: Duration) -> String {
    match error {
        Error::Timeout(_) => format!(
            "the collector did not answer within {} ms",
            timeout.as_millis()
        ),
        Error::HostNotFound => "the collector's name is not known".to_owned(),
        Error::Io(error) => format!("the collector cannot be reached: {error}"),
        Error::Rustls(error) => format!("the collector's TLS is not accepted: {error}"),
        error => {
            let text = error.to_string();
            let line: String = text.chars().filter(|c| !c.is_control()).take(200).collect();
            format!("the collector cannot be reached: {line}")
        }
    }
}

#[cfg(test)]
mod tests;
