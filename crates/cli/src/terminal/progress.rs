//! The progress of a file transfer: a bar on a terminal, plain lines elsewhere.

use std::fmt::Display;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressState};
use program::bars::Bars;
use program::bars::lock;
use program::failure::Failure;
use program::human;
use program::output;
use quic::connection::Connection;
use quic::observer::{Observer, Sample};
use serde::Serialize;
use tables::numbers;
use transfer::{Event, Status, Transferred};
use units::{Bytes, Duration, Rate};

use crate::terminal::processor::{Share, Usage};

/// The interval of lines in percent, if there is no bar.
const STEP_PERCENT: u64 = 10;

/// The most files that are listed one by one, with their hashes.
const FILES_NAMED: usize = 5;

/// The progress of one transfer over any number of connections.
pub struct Progress {
    // The bar is dropped before its group, which then clears the rest.
    attempt: Mutex<Option<Attempt>>,
    bars: Bars,
    flow: Arc<Flow>,
    /// Only errors are printed.
    is_quiet: bool,
    /// The result is printed as JSON on stdout.
    is_json: bool,
    /// The bar is visible.
    has_bar: bool,
    notes: Mutex<Notes>,
}

/// Data for the JSON result.
#[derive(Default)]
struct Notes {
    skipped: Vec<Named>,
    renamed: Vec<Named>,
    /// The sender's connection, and the bytes that earlier connections have retransmitted.
    connection: Option<Connection>,
    resent: u64,
}

impl Notes {
    /// Adds the retransmissions of the latest connection, and drops it.
    fn settle(&mut self) {
        if let Some(connection) = self.connection.take() {
            self.resent += connection.path_stats().lost_bytes;
        }
    }
}

/// A path and its result.
#[derive(Serialize)]
struct Named {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
}

/// The result of a transfer, for programs. docs/transfer.md describes its fields.
#[derive(Serialize)]
struct Outcome<'a> {
    files: u64,
    directories: u64,
    bytes: u64,
    data_bytes: u64,
    resumed_bytes: u64,
    seconds: f64,
    goodput_bps: Option<u64>,
    resent_bytes: Option<u64>,
    busiest_thread: Option<Share>,
    skipped: &'a [Named],
    renamed: &'a [Named],
}

/// The part of a transfer that one connection carries.
struct Attempt {
    began: Instant,
    bar: ProgressBar,
    usage: Usage,
    directories: u64,
    /// Bytes to transfer, including verified ones but not holes.
    total: u64,
    /// Bytes from earlier attempts.
    resumed: u64,
    /// The files and directories that are complete.
    complete: u64,
    /// The next percentage at which a line is printed.
    next_step: u64,
    /// The time at which the latest file was complete. After the last one, the two sides only close the connection.
    latest: Option<Instant>,
}

impl Progress {
    /// A new transfer. `is_quiet`: only errors are printed; `is_json`: the result is printed as JSON on stdout.
    pub fn new(is_quiet: bool, is_json: bool) -> Progress {
        Progress {
            attempt: Mutex::default(),
            bars: Bars::default(),
            flow: Arc::default(),
            is_quiet,
            is_json,
            has_bar: !is_quiet && Bars::are_visible(),
            notes: Mutex::default(),
        }
    }

    /// The observer of the connection's packets for the bar; only a sender has data to observe.
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.flow.clone()
    }

    /// The sender's connection, whose losses are counted.
    pub fn count_losses(&self, event: &Event<'_>) {
        if let Event::Connected(connection) = event {
            let mut notes = lock(&self.notes);
            notes.settle();
            notes.connection = Some((*connection).clone());
        }
    }

    /// Handles an event of [`transfer`].
    pub fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::Connected(_) => self.say("connected"),
            Event::Skipped { path, why } => {
                self.say(format_args!("warning: {} is not sent: {why}", shown(path)));
                lock(&self.notes).skipped.push(Named {
                    path: path.display().to_string(),
                    why: Some(why.to_string()),
                    to: None,
                });
            }
            // The following error repeats it.
            Event::Unsendable { path, why } => {
                self.bars
                    .say(format_args!("cannot send {}: {why}", shown(path)));
            }
            Event::Renamed { from, to } => {
                let [from_shown, to_shown] = [from, to].map(|name| output::word(name));
                self.say(format_args!("{from_shown} gets the name {to_shown}"));
                lock(&self.notes).renamed.push(Named {
                    path: (*from).to_owned(),
                    why: None,
                    to: Some((*to).to_owned()),
                });
            }
            Event::Begun(status) => self.begin(status),
            Event::Verified { bytes } => self.advance(*bytes),
            Event::Complete { files } => {
                if let Some(attempt) = self.attempt().as_mut()
                    && attempt.complete < *files
                {
                    attempt.complete = *files;
                    attempt.latest = Some(Instant::now());
                }
            }
            Event::Received(files) => {
                // A closed stdout does not get the next transfer's result either.
                let _ = self.conclude("received", files);
                self.say("waiting for the next transfer");
            }
            Event::Reconnecting => self.say("the receiver does not answer; connecting again"),
            Event::TurnedAway {
                peer,
                error,
                others,
            } => {
                let more = match others {
                    0 => String::new(),
                    others => format!(" (and {others} more since the last such line)"),
                };
                self.say(format_args!("turned away {peer}: {error}{more}"));
            }
            Event::Interrupted(error) => {
                if let Some(attempt) = self.attempt().take() {
                    attempt.bar.finish_and_clear();
                }
                lock(&self.notes).renamed.clear();
                self.say(format_args!("{error}; waiting for the sender to come back"));
            }
        }
    }

    fn say(&self, line: impl Display) {
        if !self.is_quiet {
            self.bars.say(line);
        }
    }

    /// Prints the result after the last event. `verb` is `sent` or `received`.
    pub fn conclude(&self, verb: &str, files: &[Transferred]) -> Result<(), Failure> {
        let attempt = self.attempt().take();
        let mut notes = std::mem::take(&mut *lock(&self.notes));
        if let Some(attempt) = &attempt {
            attempt.bar.finish_and_clear();
        }
        self.name(verb, files);
        let Some(attempt) = attempt else {
            return Ok(());
        };
        let end = attempt.latest.unwrap_or_else(Instant::now);
        let span = Duration::from(end.duration_since(attempt.began));
        let bytes = Bytes::new(attempt.total) - Bytes::new(attempt.resumed);
        let rate = Rate::from_transfer(bytes, span);
        // Bytes from an earlier attempt took no time.
        self.say(match bytes {
            Bytes::ZERO if attempt.resumed > 0 => "nothing was missing".to_owned(),
            Bytes::ZERO => format!("0 B in {}", human::duration(span)),
            bytes => format!(
                "{} in {}: {}",
                numbers::bytes(bytes),
                human::duration(span),
                human::rate(rate),
            ),
        });
        let busiest = attempt.usage.busiest(span);
        if let Some(share) = busiest.filter(Share::is_full) {
            self.say(format_args!(
                "limited by the processor: the busiest thread ran for {} of the time, and waited for a processor for {}",
                numbers::percent(share.ran),
                numbers::percent(share.waited)
            ));
        }
        if !self.is_json {
            return Ok(());
        }
        let is_sender = notes.connection.is_some();
        notes.settle();
        output::json(&Outcome {
            files: files.len() as u64,
            directories: attempt.directories,
            bytes: total(files),
            data_bytes: attempt.total,
            resumed_bytes: attempt.resumed,
            seconds: span.as_nanos() as f64 / 1e9,
            goodput_bps: (!span.is_zero()).then(|| rate.bits_per_sec()),
            resent_bytes: is_sender.then_some(notes.resent),
            busiest_thread: busiest,
            skipped: &notes.skipped,
            renamed: &notes.renamed,
        })
    }

    /// Lists the files, if they are few.
    fn name(&self, verb: &str, files: &[Transferred]) {
        if files.len() > FILES_NAMED {
            let bytes = Bytes::new(total(files));
            let count = numbers::count(files.len() as u64, "file");
            return self.say(format_args!("{verb} {count}: {}", numbers::bytes(bytes)));
        }
        for file in files {
            let path = shown(&file.path);
            let size = sizes(file.size, file.data);
            // A file with holes has no such hash.
            let hash = file.hash.iter().flatten();
            let hash: String = hash.map(|byte| format!("{byte:02x}")).collect();
            let hash = if hash.is_empty() {
                "verified by blocks".to_owned()
            } else {
                format!("BLAKE3 {hash}")
            };
            self.say(format_args!("{verb} {path}: {size}, {hash}"));
        }
    }

    fn begin(&self, status: &Status) {
        let (total, resumed) = (status.data, status.verified);
        let name = match &status.name {
            Some(name) => name.clone(),
            None => numbers::count(status.files - status.directories, "file"),
        };
        let size = sizes(status.size, total);
        match resumed {
            0 => self.say(format_args!("{name}: {size}")),
            _ => self.say(format_args!(
                "{name}: {size}, continuing at {} % ({resumed} of {total} bytes are verified)",
                percent(resumed, total)
            )),
        }
        let flow = self.flow.clone();
        let bar = if self.has_bar {
            self.bars.add(&name, total, move |state| flow.parts(state))
        } else {
            ProgressBar::hidden()
        };
        bar.set_position(resumed);
        // Bytes from earlier attempts must not count in the estimate of the remaining time.
        bar.reset_eta();
        *self.attempt() = Some(Attempt {
            began: Instant::now(),
            usage: Usage::now(),
            directories: status.directories,
            bar,
            total,
            resumed,
            complete: status.complete,
            next_step: percent(resumed, total) / STEP_PERCENT * STEP_PERCENT + STEP_PERCENT,
            latest: None,
        });
    }

    fn advance(&self, verified: u64) {
        let mut attempt = self.attempt();
        let Some(attempt) = attempt.as_mut() else {
            return;
        };
        attempt.bar.set_position(verified);
        let percent = percent(verified, attempt.total);
        if !self.has_bar && !self.is_quiet && percent >= attempt.next_step {
            attempt.next_step = percent / STEP_PERCENT * STEP_PERCENT + STEP_PERCENT;
            let span = Duration::from(attempt.began.elapsed());
            let bytes = Bytes::new(verified) - Bytes::new(attempt.resumed);
            let rate = human::rate(Rate::from_transfer(bytes, span));
            output::note(format_args!(
                "{percent} % ({verified} of {} bytes), {rate}",
                attempt.total
            ));
        }
    }

    fn attempt(&self) -> MutexGuard<'_, Option<Attempt>> {
        lock(&self.attempt)
    }
}

/// The path for one line: its name may contain line ends.
fn shown(path: &Path) -> String {
    output::word(&path.display().to_string())
}

/// The sizes of all files. Holes allow a sender to make them arbitrarily large.
fn total(files: &[Transferred]) -> u64 {
    let sizes = files.iter().map(|file| file.size);
    sizes.fold(0, u64::saturating_add)
}

/// `1.10 TB`, or with holes `1.10 TB, 31.0 MB of it data`.
fn sizes(size: u64, data: u64) -> String {
    let all = numbers::bytes(Bytes::new(size));
    if size == data {
        return all;
    }
    format!("{all}, {} of it data", numbers::bytes(Bytes::new(data)))
}

/// `part` of `total` in percent, rounded down; nothing is complete.
fn percent(part: u64, total: u64) -> u64 {
    let percent = (u128::from(part) * 100).checked_div(u128::from(total));
    percent.map_or(100, |percent| u64::try_from(percent).unwrap_or(100))
}

/// The sender's latest sample.
#[derive(Default)]
struct Flow {
    latest: Mutex<Option<Sample>>,
}

impl Observer for Flow {
    fn on_sample(&self, sample: &Sample) {
        *lock(&self.latest) = Some(*sample);
    }
}

impl Flow {
    /// `18.6 Mbit/s`, `4 s left`, `RTT 41.2 ms`, `ProbeBW`.
    fn parts(&self, state: &ProgressState) -> Vec<String> {
        let rate = Rate::from_bytes_per_sec(state.per_sec() as u64);
        let mut parts = vec![human::rate(rate)];
        if !rate.is_zero() {
            parts.push(human::time_left(state.eta().into()) + " left");
        }
        if let Some(sample) = *lock(&self.latest) {
            let rtt = sample.srtt.or(sample.rtt);
            parts.extend(rtt.map(|rtt| format!("RTT {}", human::duration(rtt))));
            parts.push(sample.snapshot.state.to_string());
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn percentages() {
        assert_eq!(percent(0, 8), 0);
        assert_eq!(percent(7, 8), 87);
        assert_eq!(percent(8, 8), 100);
        assert_eq!(percent(0, 0), 100);
        assert_eq!(percent(u64::MAX, u64::MAX), 100);
    }
}
