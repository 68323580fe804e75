//! Polls repeatedly, and records and exports each result.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration as StdDuration, Instant, SystemTime, UNIX_EPOCH};

use fleet::{Connection, Exporter, Filter, GroupBy, Metrics, Moment, Pusher, Recorder, Watcher};
use program::failure::Failure;
use program::output;
use units::Duration;

use super::Options;
use crate::terminal::live;

/// The longest time until a thread notices that the command has to end.
const CHECK_INTERVAL: StdDuration = StdDuration::from_millis(50);

/// The watcher, and the consumers of its data.
pub struct Watching {
    /// Reads the connections.
    pub watcher: Watcher,
    /// Selects the connections to watch.
    pub filter: Filter,
    /// Serves metrics.
    pub exporter: Option<Exporter>,
    pusher: Option<Pusher>,
    metrics: Option<Metrics>,
    recorder: Option<Recorder>,
    began: Instant,
    /// The duration of the last poll, recording and exporting included.
    pub took: Duration,
    /// The number of polls.
    pub looks: u64,
    /// The error in the last poll.
    pub trouble: Option<String>,
    is_told: bool,
}

impl Watching {
    /// Sets up everything that the options ask for.
    pub fn new(options: &Options) -> Result<Watching, Failure> {
        let filter = options.filter()?;
        let systems = options.systems()?;
        let recorder = options.record.as_deref();
        let recorder = recorder.map(|directory| {
            Recorder::new(directory, options.keep).map_err(|error| match error {
                fleet::RecordError::Little => Failure::usage(format_args!("--keep: {error}")),
                error => Failure::usage(format_args!("--record: {error}")),
            })
        });
        let exporter = options.prometheus.map(|address| {
            Exporter::start(address).map_err(|error| {
                Failure::failed(format_args!(
                    "--prometheus: cannot listen on {address}: {error}"
                ))
            })
        });
        let pusher = options.destination()?.map(Pusher::start).transpose();
        let pusher = pusher.map_err(|error| {
            Failure::failed(format_args!("--otlp: cannot start a thread: {error}"))
        })?;
        let is_measured = exporter.is_some() || pusher.is_some();
        let by = options.group.unwrap_or(GroupBy::Prefix);
        let watcher = Watcher::new(&options.namespaces()?, filter.of_kernel(), systems);
        Ok(Watching {
            watcher: watcher.map_err(Failure::failed)?,
            filter,
            exporter: exporter.transpose()?,
            pusher,
            metrics: is_measured.then(|| Metrics::new(by, options.labels.get())),
            recorder: recorder.transpose()?,
            began: Instant::now(),
            took: Duration::ZERO,
            looks: 0,
            trouble: None,
            is_told: false,
        })
    }

    /// Polls, records and exports. The first poll must succeed. Later errors may be temporary.
    pub fn look(&mut self) -> Result<(), Failure> {
        let begin = Instant::now();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let when = Moment {
            at: begin.duration_since(self.began).into(),
            unix_s: now.unwrap_or_default().as_secs_f64(),
        };
        let seen = self.watcher.look(when).map_err(|error| error.to_string());
        if self.looks == 0 {
            seen.clone().map_err(Failure::failed)?;
        }
        self.looks += 1;
        let Watching {
            watcher,
            filter,
            metrics,
            recorder,
            exporter,
            pusher,
            ..
        } = self;
        let table = watcher.table();
        let passing = || table.all().iter().filter(|one| filter.passes(&one.seen));
        let recorded = match recorder {
            Some(recorder) => recorder
                .look(when, passing())
                .map_err(|error| error.to_string()),
            None => Ok(()),
        };
        if let Some(metrics) = metrics {
            let lost = recorder.as_ref().map_or(0, Recorder::lost);
            metrics.look(
                when,
                passing(),
                [table.all().len() as u64, table.left_out(), lost],
            );
            if let Some(exporter) = exporter {
                exporter.show(metrics.snapshot().text());
            }
            if let Some(pusher) = pusher {
                pusher.offer(&metrics.snapshot());
            }
        }
        let pushed = pusher.as_ref().and_then(Pusher::trouble);
        let trouble = seen.and(recorded).err().or(pushed.map(of_collector));
        self.is_told &= trouble.is_some() && trouble == self.trouble;
        self.trouble = trouble;
        self.took = begin.elapsed().into();
        Ok(())
    }

    /// Prints each error on stderr once.
    pub fn tell(&mut self) {
        if let Some(trouble) = &self.trouble
            && !self.is_told
        {
            output::note(format_args!("fullpipe: {trouble}"));
            self.is_told = true;
        }
    }

    /// The connections that match the filter.
    pub fn passing(&self) -> impl Iterator<Item = &Connection> {
        let all = self.watcher.connections().iter();
        all.filter(|one| self.filter.passes(&one.seen))
    }

    /// Writes the rest of the record, and sends the last metrics.
    pub fn finish(self) -> Result<(), Failure> {
        let recorded = self.recorder.map_or(Ok(()), Recorder::finish);
        let pushed = self
            .pusher
            .zip(self.metrics)
            .map_or(Ok(()), |(pusher, metrics)| {
                pusher.finish(&metrics.snapshot()).map_err(of_collector)
            });
        Failure::all([
            recorded.map_err(Failure::failed),
            pushed.map_err(Failure::failed),
        ])
    }
}

fn of_collector(trouble: String) -> String {
    format!("--otlp: {trouble}")
}

/// Calls `look` once an interval until the command has to end. A poll that takes longer delays the next one.
pub fn each(
    interval: Duration,
    ended: &AtomicBool,
    mut look: impl FnMut() -> Result<(), Failure>,
) -> Result<(), Failure> {
    let interval = StdDuration::from(interval);
    let mut next = Instant::now();
    while !ended.load(Ordering::Relaxed) {
        let now = Instant::now();
        if now < next {
            thread::sleep((next - now).min(CHECK_INTERVAL));
            continue;
        }
        next = now + interval;
        look()?;
    }
    Ok(())
}

/// Polls once an interval on a thread of its own, so that a blocked terminal does not delay the record and metrics.
pub fn keep_looking(
    watching: &Arc<Mutex<Watching>>,
    interval: Duration,
    ended: &Arc<AtomicBool>,
) -> Result<(), Failure> {
    let (watching, ended) = (Arc::clone(watching), Arc::clone(ended));
    // The first poll is done here: if it fails, nothing is drawn.
    lock(&watching).look()?;
    let look = move || each(interval, &ended, || lock(&watching).look());
    let thread = thread::Builder::new().name("looks".to_owned());
    let started = thread.spawn(look);
    started
        .map(drop)
        .map_err(|error| Failure::failed(format_args!("cannot start a thread: {error}")))
}

/// Writes the rest of the record. The polling thread has ended, or is about to.
pub fn end(watching: Arc<Mutex<Watching>>) -> Result<(), Failure> {
    let mut shared = watching;
    let patience = Instant::now() + StdDuration::from_secs(10);
    loop {
        match Arc::try_unwrap(shared) {
            Ok(alone) => {
                return alone
                    .into_inner()
                    .unwrap_or_else(PoisonError::into_inner)
                    .finish();
            }
            Err(still) if Instant::now() < patience => shared = still,
            Err(_) => return Ok(()),
        }
        thread::sleep(CHECK_INTERVAL);
    }
}

/// Locks it, even if a thread that held the lock has panicked.
pub fn lock(watching: &Mutex<Watching>) -> std::sync::MutexGuard<'_, Watching> {
    watching.lock().unwrap_or_else(PoisonError::into_inner)
}

impl live::Source for Arc<Mutex<Watching>> {
    fn show<R>(&self, to: impl FnOnce(live::View<'_>) -> R) -> R {
        let watching = lock(self);
        to(live::View {
            table: watching.watcher.table(),
            filter: &watching.filter,
            looks: watching.looks,
            took: watching.took,
            trouble: watching.trouble.as_deref(),
        })
    }
}
