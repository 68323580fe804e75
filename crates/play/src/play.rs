//! A run under way.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use advise::Measured;
use document::DocumentError;
use record::Record;
use scenario::{Draft, Scenario};
use simulate::{Flows, Hops, NOTHING_SENT, Room, Run, RunError};
#[cfg(not(target_arch = "wasm32"))]
use {congestion::AnyController, simulate::ours};

use crate::binary;
use crate::bounds::{self, BOUNDS, MAX_TEXT_BYTES};
#[cfg(target_arch = "wasm32")]
use crate::javascript::{EitherController as AnyController, controllers as ours};
use crate::path::Path as ScenarioPath;

/// The scenario with this text.
///
/// # Errors
///
/// The text is no scenario, or one that is too large or reads files.
pub fn read(text: &str) -> Result<Scenario, String> {
    let (_, scenario) = read_with(text, None)?;
    Ok(scenario)
}

fn read_with(text: &str, seed: Option<u64>) -> Result<(Draft, Scenario), String> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(format!("the text is longer than {MAX_TEXT_BYTES} bytes"));
    }
    let read = || {
        let mut draft = Draft::parse(text, Path::new(""))?;
        if let Some(seed) = seed {
            draft.set("seed", &seed.to_string())?;
        }
        let scenario = draft.read()?;
        bounds::check(&scenario).map_err(|error| draft.located(error))?;
        Ok((draft, scenario))
    };
    read().map_err(|error: DocumentError| error.to_string())
}

/// A run under way. Errors are one line for people, with the line of the text and the field.
#[derive(Debug)]
pub struct Play {
    scenario: Scenario,
    path: ScenarioPath,
    run: Run<(), AnyController>,
}

impl Play {
    /// Begins a run of the scenario with this text, and with this seed in place of its own.
    ///
    /// # Errors
    ///
    /// The text is no scenario, or one that is too large or reads files.
    pub fn begin(text: &str, seed: Option<u64>) -> Result<Play, String> {
        Play::begin_in(text, seed, Room::new(BOUNDS))
    }

    /// Begins a run as [`Play::begin`] does, whose packets have this room.
    ///
    /// # Errors
    ///
    /// Those of [`Play::begin`].
    pub fn begin_in(text: &str, seed: Option<u64>, room: Arc<Room>) -> Result<Play, String> {
        let (draft, scenario) = read_with(text, seed)?;
        let begun = || {
            let network = scenario.network();
            let (hops, flows) = (Hops::of(&network), Flows::new(&scenario, NOTHING_SENT));
            let controllers = |group| ours(&scenario, group);
            let run = Run::new(&network, &controllers, hops, flows, (), room);
            let run = run.map_err(|error| match error {
                RunError::Scenario(error) => draft.located(error).into(),
                error => error,
            })?;
            Ok(run)
        };
        let run = begun().map_err(|error: RunError| error.to_string())?;
        let path = ScenarioPath::of(&scenario.network());
        Ok(Play {
            scenario,
            path,
            run,
        })
    }

    /// Runs at most so many [steps](Run::step). Returns whether there is more to run.
    ///
    /// # Errors
    ///
    /// Those of [`Run::step`].
    pub fn step(&mut self, most: u32) -> Result<bool, String> {
        for _ in 0..most {
            if !self.run.step().map_err(|error| error.to_string())? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The record: that of the whole run at its end, and of the time until now before. It has the summary (`docs/records.md`),
    /// without the real time, what pictures need of the path, and the tables of the record as columns; `src/binary.rs` says how.
    pub fn record(&self) -> Vec<u8> {
        self.with(|record| binary::of(record, &self.path))
    }

    /// What advice needs of the run so far.
    pub fn measured(&self) -> Measured {
        self.with(Measured::of)
    }

    fn with<T>(&self, of: impl FnOnce(&Record) -> T) -> T {
        let network = self.scenario.network();
        let (outcome, ()) = self.run.so_far(&network, Duration::ZERO);
        of(&outcome.record(&|_| ()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each of the links makes two of each packet.
    #[test]
    fn copies_are_packets() {
        let next = "next=[".to_owned() + &"{duplicate='100%',rtt='40ms'},".repeat(9) + "]";
        let text = format!(
            "name='x'\nduration='9s'\npath={{rate='1mbit',rtt='1ms',buffer='9kb',{next}}}\nflow=[{{controller='reno'}}]"
        );
        let mut play = Play::begin(&text, None).unwrap();
        let most = (0..100).map(|_| {
            play.step(1).unwrap();
            play.run.packets()
        });
        assert!(most.max() > Some(1_000));
    }

    fn end(text: &str) -> Result<Play, String> {
        let mut play = Play::begin(text, None)?;
        while play.step(100)? {}
        Ok(play)
    }

    /// Without delays, they all come at one time.
    #[test]
    fn copies_have_bounds() {
        for delay in ["", ",rtt='40ms'"] {
            let next =
                "next=[".to_owned() + &format!("{{duplicate='100%'{delay}}},").repeat(29) + "]";
            let text = format!(
                "name='x'\nduration='20s'\npath={{rate='10mbit',rtt='1ms',buffer='90kb',{next}}}\nflow=[{{controller='reno'}}]"
            );
            let said = end(&text).expect_err("too many");
            assert!(
                said.contains(" packets are under way or not acknowledged at ")
                    && said.contains(": at most 2000000 here; give lower rates, "),
                "{said}"
            );
        }
    }

    #[test]
    fn held_acks_are_refused() {
        let text = "name='x'\nduration='80s'\npath={rate='10gbit',rtt='1ms',buffer='1mb',uplink={reorder={share='85%',by='1h'}}}\n\
                    host={mss=536,delayed_ack='0s'}\nflow=[{controller='bbr1',count=20}]";
        let said = Play::begin(text, None).expect_err("too much");
        assert!(said.contains("host.send_buffer: "), "{said}");
    }

    #[test]
    fn a_path_without_a_rate_transmits() {
        let text = "name='x'\nduration='9s'\npath={rtt='1ms'}\nhost={send_buffer='90kb'}\nflow=[{controller='reno'}]";
        let mut play = Play::begin(text, None).unwrap();
        play.step(10).unwrap();
        assert!(play.run.transmissions() > 1_000);
    }

    /// A text runs for a moment, or is refused in one line.
    #[test]
    fn any_text() {
        let corpus = [
            "name='x'\nduration='1s'\npath={rate='1mbit',rtt='40ms'}\nflow=[{controller='bbr1'}]",
            "name='y'\nlink=[{name='a',from='b',to='c',rate='9mbit',rtt='1ms'}]\nflow=[{controller='reno',from='b',to='c',bytes='9kb'}]",
        ];
        for text in corpus {
            Play::begin(text, None).unwrap();
        }
        fuzzing::run("play_texts", &corpus.map(|text| text.into()), |bytes| {
            let Ok(text) = str::from_utf8(bytes) else {
                return;
            };
            let run = Play::begin(text, Some(1)).and_then(|mut play| {
                play.step(2)?;
                Ok(play.record())
            });
            if let Err(error) = run {
                assert!(!error.contains(char::is_control), "{error}");
            }
        });
    }
}
