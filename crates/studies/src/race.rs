//! Races of controllers: the same payload over the same path, once with each.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::thread;

use congestion::ControllerKind;
use units::{Bytes, Duration, Rate, Ratio};

use files::regular;
use lab::Cancel;
use lab::Engine;
use lab::EngineError;
use lab::Progress;
use lab::Quic;
use record::Record;
use scenario::{BufferSpec, FlowSpec, HostSpec, LinkSpec, PathSpec, Scenario};

/// A race: one lane for each controller, all at the same time.
#[derive(Debug, Clone)]
pub struct Race {
    /// The path, the same for all lanes.
    pub path: PathSpec,
    /// The controllers, one lane each, in this order.
    pub controllers: Vec<ControllerKind>,
    /// The payload of each lane.
    pub payload: Payload,
    /// The latest end. By default the race ends when everything has arrived.
    pub duration: Option<Duration>,
    /// The time at the beginning that summaries leave out.
    pub warmup: Duration,
    /// The seed from which all random choices derive. Lanes on separate paths have the same.
    pub seed: u64,
    /// Whether the lanes share one bottleneck, instead of a separate path each.
    pub share: bool,
}

/// The payload of a lane.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Payload {
    /// Noise of this size, generated on the fly.
    Noise(Bytes),
    /// A file, kept in memory during the race.
    File(PathBuf),
    /// Noise until the end; the race then needs a duration.
    Endless,
}

impl Default for Race {
    /// 8 MiB over 20 Mbit/s with an RTprop of 40 ms, a buffer of 8 BDP and 1 % of random loss, by `bbr3`, `bbr1` and
    /// `cubic`.
    fn default() -> Race {
        Race {
            path: PathSpec {
                rtt: Duration::from_millis(40),
                data: LinkSpec {
                    rate: Some(Rate::from_bits_per_sec(20_000_000)),
                    buffer: Some(BufferSpec::Bdp { thousandths: 8_000 }),
                    effects: path::Effects {
                        loss: path::Loss::Independent(Ratio::new(1, 100)),
                        ..path::Effects::default()
                    },
                    ..LinkSpec::default()
                },
                ..PathSpec::default()
            },
            controllers: vec![
                ControllerKind::Bbr3,
                ControllerKind::Bbr1,
                ControllerKind::Cubic,
            ],
            payload: Payload::Noise(Bytes::new(8 << 20)),
            duration: None,
            warmup: Duration::ZERO,
            seed: 1,
            share: false,
        }
    }
}

/// The reasons for which a race fails.
#[derive(Debug, thiserror::Error)]
pub enum RaceError {
    /// The file cannot be read.
    #[error("cannot read {}: {source}", .file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is empty, or too large to be kept in memory.
    #[error("{} is {reason}", .file.display())]
    Unsuitable {
        /// The file.
        file: PathBuf,
        /// The reason.
        reason: &'static str,
    },
    /// A lane failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// The largest file, in bytes.
const MAX_FILE_LEN: u64 = 1 << 30;

impl Race {
    /// Runs the race, and blocks until it ends. `watch` is called for every lane about twenty times a second
    /// ([`Progress::flow`] is the lane), from threads of the engine. When cancelled, returns the records so far.
    ///
    /// Returns one record for each lane, or one record with all lanes as its flows if they share the path.
    ///
    /// # Errors
    ///
    /// The file cannot be used, the path or the race is invalid, or a lane failed. A failed lane ends the others.
    pub fn run(
        &self,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Vec<Record>, RaceError> {
        let (engine, bytes) = match &self.payload {
            Payload::Noise(bytes) => (Quic::new(), Some(*bytes)),
            Payload::Endless => (Quic::new(), None),
            Payload::File(file) => {
                let data = read(file)?;
                let bytes = Bytes::new(data.len() as u64);
                (Quic::carrying(data.into()), Some(bytes))
            }
        };
        let scenarios = self.scenarios(bytes);
        // Checks all lanes together, before the first one starts.
        engine.check(&self.scenario(self.flows(bytes)))?;
        // An error in one lane ends the others, but nothing else under the caller's token.
        let cancel = cancel.child_token();
        let results = thread::scope(|scope| {
            let lanes: Vec<_> = (0..)
                .zip(&scenarios)
                .map(|(lane, scenario)| {
                    let (engine, cancel) = (&engine, &cancel);
                    let lane = move || {
                        let place = |progress: Progress| {
                            watch(Progress {
                                flow: lane + progress.flow,
                                ..progress
                            });
                        };
                        let record = engine.run(scenario, &place, cancel);
                        if record.is_err() {
                            cancel.cancel();
                        }
                        record
                    };
                    let started = thread::Builder::new().spawn_scoped(scope, lane);
                    // The system may refuse a thread.
                    started.inspect_err(|_| cancel.cancel())
                })
                .collect();
            let joined = lanes.into_iter().map(|lane| match lane?.join() {
                Ok(record) => record,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            joined.collect::<Vec<_>>()
        });
        let records: Result<Vec<Record>, EngineError> = results.into_iter().collect();
        Ok(records?)
    }

    /// The scenarios of the race: one for each lane, or one for all.
    fn scenarios(&self, bytes: Option<Bytes>) -> Vec<Scenario> {
        let flows = self.flows(bytes);
        if self.share {
            return vec![self.scenario(flows)];
        }
        let lanes = flows.into_iter();
        lanes.map(|flow| self.scenario(vec![flow])).collect()
    }

    fn flows(&self, bytes: Option<Bytes>) -> Vec<FlowSpec> {
        let flows = self.controllers.iter().map(|controller| FlowSpec {
            bytes,
            ..FlowSpec::new((*controller).into())
        });
        flows.collect()
    }

    fn scenario(&self, flows: Vec<FlowSpec>) -> Scenario {
        Scenario {
            name: "race".to_string(),
            duration: self.duration,
            warmup: self.warmup,
            seed: self.seed,
            path: self.path.clone(),
            next: Vec::new(),
            links: Vec::new(),
            host: HostSpec::UNSET,
            flows,
        }
    }
}

fn read(file: &Path) -> Result<Vec<u8>, RaceError> {
    let failed = |source| RaceError::File {
        file: file.to_owned(),
        source,
    };
    let unsuitable = |reason| RaceError::Unsuitable {
        file: file.to_owned(),
        reason,
    };
    let mut data = Vec::new();
    let opened = regular::open(file).map_err(failed)?;
    // One byte more than allowed distinguishes a file that is too large from one that just fits, even while it grows.
    opened
        .take(MAX_FILE_LEN + 1)
        .read_to_end(&mut data)
        .map_err(failed)?;
    match data.len() as u64 {
        0 => Err(unsuitable("empty; there is nothing to race with")),
        size if size > MAX_FILE_LEN => Err(unsuitable(
            "larger than 1 GiB, the most that a race keeps in memory",
        )),
        _ => Ok(data),
    }
}
