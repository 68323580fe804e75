//! The jobs of pages: runs, checks and advice, each on a thread.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use lab::Sim;
use play::Play;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::advice;

/// The least time between two records of a run: pictures do not change faster.
const RECORD_INTERVAL: Duration = Duration::from_millis(16);

/// A record so far costs at most this share of the time: it has all samples, so that later ones cost more.
const MAX_SHARE: u32 = 4;

/// What a page asks for.
#[derive(Debug)]
pub enum Job {
    /// A run, with this seed in place of the scenario's own.
    Run(Option<u64>),
    /// Whether a scenario can run.
    Check,
    /// Which controller suits the path.
    Advise,
}

/// A part of the answer.
#[derive(Debug)]
pub struct Message {
    pub kind: Kind,
    pub bytes: Vec<u8>,
}

/// The kinds of messages, which `web/native.js` knows by their numbers.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    /// The record so far, or how far it is.
    SoFar,
    /// The whole answer.
    Whole,
    /// One line that says why there is none.
    Error,
}

/// Runs as many jobs at a time as there are processors. At most one is advice, whose runs use all processors. Further jobs wait.
#[derive(Debug)]
pub struct Runs {
    places: Arc<Semaphore>,
    advice: Arc<Semaphore>,
}

impl Runs {
    pub fn new() -> Runs {
        let places = thread::available_parallelism().map_or(1, usize::from);
        Runs {
            places: Arc::new(Semaphore::new(places)),
            advice: Arc::new(Semaphore::new(1)),
        }
    }

    /// Starts a job as soon as there is room. It ends when nobody receives its messages any more.
    pub async fn start(&self, job: Job, text: String) -> Receiver<Message> {
        // The page gets the next record only after it has taken the one before.
        let (sender, receiver) = channel(1);
        let advice = match job {
            Job::Advise => Some(Arc::clone(&self.advice).acquire_owned().await),
            Job::Run(_) | Job::Check => None,
        };
        let place = Arc::clone(&self.places).acquire_owned().await;
        let refused = sender.clone();
        let work = move || {
            let done = match job {
                Job::Run(seed) => run(&text, seed, &sender),
                Job::Check => Play::begin(&text, None).map(|_| Some(Vec::new())),
                Job::Advise => advise(&text, &sender),
            };
            drop((place, advice));
            let message = match done {
                Ok(Some(bytes)) => Message {
                    kind: Kind::Whole,
                    bytes,
                },
                Ok(None) => return,
                Err(error) => Message {
                    kind: Kind::Error,
                    bytes: error.into_bytes(),
                },
            };
            let _ = sender.blocking_send(message);
        };
        let started = thread::Builder::new().name("play".to_owned()).spawn(work);
        if let Err(error) = started {
            let _ = refused.try_send(Message {
                kind: Kind::Error,
                bytes: format!("fullpipe play starts no thread for this: {error}").into(),
            });
        }
        receiver
    }
}

/// Advice for the path of the scenario; `None` if nobody wants it any more. A page that has not yet heard how far it is hears of a later
/// run.
fn advise(text: &str, sender: &Sender<Message>) -> Result<Option<Vec<u8>>, String> {
    let tell = |bytes| {
        let _ = sender.try_send(Message {
            kind: Kind::SoFar,
            bytes,
        });
    };
    advice::of(text, &|| sender.is_closed(), &tell)
}

/// The record of the whole run; `None` if nobody wants it any more.
fn run(text: &str, seed: Option<u64>, sender: &Sender<Message>) -> Result<Option<Vec<u8>>, String> {
    let mut play = Play::begin_in(text, seed, Sim::within(play::BOUNDS).room())?;
    let (mut shown, mut cost) = (Instant::now(), Duration::ZERO);
    while play.step(1)? {
        if sender.is_closed() {
            return Ok(None);
        }
        if shown.elapsed() < RECORD_INTERVAL.max(cost * MAX_SHARE) {
            continue;
        }
        if let Ok(permit) = sender.try_reserve() {
            let began = Instant::now();
            let bytes = play.record();
            permit.send(Message {
                kind: Kind::SoFar,
                bytes,
            });
            shown = Instant::now();
            cost = shown - began;
        }
    }
    Ok(Some(play.record()))
}
