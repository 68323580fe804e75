//! How a file transfer goes: a bar on a terminal, plain lines elsewhere.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressState};
use quic::observer::{Observer, Sample};
use transfer::{Event, Status, Transferred};
use units::{Bytes, Duration, Rate};

use crate::terminal::bars::Bars;
use crate::terminal::{human, lock, output};

/// Without a bar, a line is said at each so many percent.
const STEP_PERCENT: u64 = 10;

/// Up to so many files are named one by one.
const FILES_NAMED: usize = 20;

/// Follows one transfer, through as many connections as it takes.
#[derive(Default)]
pub struct Progress {
    // Its bar is dropped before the group that it is in, which then clears what is left of it.
    attempt: Mutex<Option<Attempt>>,
    bars: Bars,
    flow: Arc<Flow>,
}

/// The part of a transfer that one connection carries.
struct Attempt {
    began: Instant,
    bar: ProgressBar,
    /// Bytes to transfer, verified ones included.
    total: u64,
    /// Bytes that earlier attempts had brought.
    resumed: u64,
    /// The files and directories that are complete.
    complete: u64,
    /// The next percentage that is worth a line.
    next_step: u64,
    /// When the latest file was complete: what comes after the last one is the two sides taking leave.
    latest: Option<Instant>,
}

impl Progress {
    /// What watches the connection's packets for the bar; only a sender has something to watch.
    pub fn observer(&self) -> Arc<dyn Observer> {
        self.flow.clone()
    }

    /// What [`transfer`] tells.
    pub fn on_event(&self, event: &Event<'_>) {
        match event {
            Event::Connected(_) => self.bars.say("connected"),
            Event::Skipped { path, why } => self.bars.say(format_args!(
                "warning: {} is not sent: {why}",
                path.display()
            )),
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
                self.conclude("received", files);
                self.bars.say("waiting for the next transfer");
            }
            Event::Reconnecting => self
                .bars
                .say("the receiver does not answer; connecting again"),
            Event::TurnedAway {
                peer,
                error,
                others,
            } => {
                let more = match others {
                    0 => String::new(),
                    others => format!(" (and {others} more since the last such line)"),
                };
                self.bars
                    .say(format_args!("turned away {peer}: {error}{more}"));
            }
            Event::Interrupted(error) => {
                if let Some(attempt) = self.attempt().take() {
                    attempt.bar.finish_and_clear();
                }
                self.bars
                    .say(format_args!("{error}; waiting for the sender to come back"));
            }
        }
    }

    /// Says what was transferred, after its last event. `verb` is what was done: `sent`, `received`.
    pub fn conclude(&self, verb: &str, files: &[Transferred]) {
        let attempt = self.attempt().take();
        if let Some(attempt) = &attempt {
            attempt.bar.finish_and_clear();
        }
        for file in files.iter().take(FILES_NAMED) {
            let hash: String = file.hash.iter().map(|byte| format!("{byte:02x}")).collect();
            let (path, size) = (file.path.display(), report::bytes(Bytes::new(file.size)));
            self.bars
                .say(format_args!("{verb} {path}: {size}, BLAKE3 {hash}"));
        }
        if let Some(more @ 1..) = files.len().checked_sub(FILES_NAMED) {
            self.bars.say(format_args!(
                "{verb} {}",
                report::count(more as u64, "more file")
            ));
        }
        let Some(attempt) = attempt else { return };
        let end = attempt.latest.unwrap_or_else(Instant::now);
        let span = Duration::from(end.duration_since(attempt.began));
        let bytes = Bytes::new(attempt.total) - Bytes::new(attempt.resumed);
        // What an earlier attempt had brought took no time.
        let line = match bytes {
            Bytes::ZERO if attempt.resumed > 0 => "nothing was missing".to_owned(),
            Bytes::ZERO => format!("0 B in {}", human::duration(span)),
            bytes => format!(
                "{} in {}: {}",
                report::bytes(bytes),
                human::duration(span),
                human::rate(Rate::from_transfer(bytes, span)),
            ),
        };
        self.bars.say(line);
    }

    fn begin(&self, status: &Status) {
        let (total, resumed) = (status.size, status.verified);
        let name = match &status.name {
            Some(name) => name.clone(),
            None => report::count(status.files - status.directories, "file"),
        };
        let size = report::bytes(Bytes::new(total));
        match resumed {
            0 => self.bars.say(format_args!("{name}: {size}")),
            _ => self.bars.say(format_args!(
                "{name}: {size}, continuing at {}% ({resumed} of {total} bytes are verified)",
                percent(resumed, total)
            )),
        }
        let flow = self.flow.clone();
        let bar = self.bars.add(&name, total, move |state| flow.parts(state));
        bar.set_position(resumed);
        // What was there already says nothing about how fast the rest will come.
        bar.reset_eta();
        *self.attempt() = Some(Attempt {
            began: Instant::now(),
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
        if !Bars::are_visible() && percent >= attempt.next_step {
            attempt.next_step = percent / STEP_PERCENT * STEP_PERCENT + STEP_PERCENT;
            let span = Duration::from(attempt.began.elapsed());
            let bytes = Bytes::new(verified) - Bytes::new(attempt.resumed);
            let rate = human::rate(Rate::from_transfer(bytes, span));
            output::note(format_args!(
                "{percent}% ({verified} of {} bytes), {rate}",
                attempt.total
            ));
        }
    }

    fn attempt(&self) -> MutexGuard<'_, Option<Attempt>> {
        lock(&self.attempt)
    }
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
