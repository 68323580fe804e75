//! The captures of a run at its sending and its receiving ends, and at links.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use files::{NewFile, Readers};
use lab::{Cancel, EngineKind, Linux, Progress, Sim};
use program::directory::{self, MadeDirectory};
use program::failure::Failure;
use record::Record;
use scenario::{Crossing, Scenario};

/// The file names of those at the ends.
const NAMES: [&str; 2] = ["sender.pcapng", "receiver.pcapng"];

/// A file whose errors have its name. An engine writes several.
struct Named<'f>(&'f NewFile);

impl Write for Named<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write_all(bytes);
        let named = written.map_err(|error| {
            let (path, source) = (error.path.display(), &error.source);
            io::Error::new(source.kind(), format!("{path}: {source}"))
        });
        named.map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Captures that are being written. They get their names when they are complete. A run that fails leaves nothing behind.
pub struct Captures {
    engine: EngineKind,
    ends: [NewFile; 2],
    links: Vec<(Crossing, NewFile)>,
    _made: MadeDirectory,
}

impl Captures {
    /// Captures in this directory, which is made if necessary: at both ends, and at the entrances of the links `at`.
    ///
    /// # Errors
    ///
    /// The engine has no such captures, there is no such link, or files cannot be made there.
    pub fn create(
        directory: &Path,
        engine: EngineKind,
        scenario: &Scenario,
        at: &[String],
    ) -> Result<Captures, Failure> {
        if engine == EngineKind::Quic {
            return Err(Failure::usage(format_args!(
                "--pcap: engine {engine} cannot; use --engine sim or linux"
            )));
        }
        if engine != EngineKind::Sim && !at.is_empty() {
            return Err(Failure::usage(format_args!(
                "--pcap-at: engine {engine} cannot; leave it out, or use --engine sim"
            )));
        }
        let network = scenario.network_within(0..0);
        let mut crossings: Vec<(Crossing, String)> = Vec::new();
        for name in at {
            if name.is_empty() {
                return Err(Failure::usage(format_args!(
                    "--pcap-at: a name is empty; give the name of a link, or leave the option out"
                )));
            }
            let crossing = network.crossing(name);
            let crossing = crossing
                .map_err(|reason| Failure::usage(format_args!("--pcap-at {name}: {reason}")))?;
            if crossings.iter().all(|(other, _)| *other != crossing) {
                crossings.push((crossing, format!("link-{name}.pcapng")));
            }
        }
        let made = directory::make("--pcap", directory)?;
        let create = |name: &str| {
            NewFile::create(&directory.join(name), Readers::Everybody).map_err(|error| {
                Failure::usage(format_args!(
                    "--pcap {}: {}",
                    error.path.display(),
                    error.source
                ))
            })
        };
        let links = crossings.into_iter();
        let links = links.map(|(crossing, name)| Ok((crossing, create(&name)?)));
        Ok(Captures {
            engine,
            links: links.collect::<Result<_, Failure>>()?,
            ends: [create(NAMES[0])?, create(NAMES[1])?],
            _made: made,
        })
    }

    /// Runs the scenario and completes the captures.
    ///
    /// # Errors
    ///
    /// The run failed, or its packets could not be written.
    pub fn run(
        self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, Failure> {
        let ends = self.ends.each_ref();
        let ends = ends.map(|file| BufWriter::new(Named(file)));
        let record = if self.engine == EngineKind::Linux {
            let run = Linux::new().run_captured(scenario, watch, cancel, ends);
            run.map(|(record, _)| record)
        } else {
            let links = self.links.iter();
            let links = links.map(|(crossing, file)| (*crossing, BufWriter::new(Named(file))));
            let run = Sim::new().run_captured_at(scenario, watch, cancel, ends, links.collect());
            run.map(|(record, ..)| record)
        };
        let record = record.map_err(Failure::failed)?;
        for file in self
            .ends
            .into_iter()
            .chain(self.links.into_iter().map(|(_, file)| file))
        {
            file.commit().map_err(Failure::failed)?;
        }
        Ok(record)
    }
}
