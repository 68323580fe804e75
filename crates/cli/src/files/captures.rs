//! The captures of a run at its sending and its receiving ends.

use std::io::BufWriter;
use std::path::Path;

use files::{NewFile, Readers};
use lab::{Cancel, EngineKind, Linux, Progress, Sim};
use program::failure::Failure;
use program::whole;
use record::Record;
use scenario::Scenario;

/// Their file names.
const NAMES: [&str; 2] = ["sender.pcapng", "receiver.pcapng"];

/// Two captures that are being written. They get their names when they are complete.
pub struct Captures {
    engine: EngineKind,
    files: [NewFile; 2],
}

impl Captures {
    /// Captures in this directory, which is made if necessary.
    ///
    /// # Errors
    ///
    /// The engine has no captures, or files cannot be made there.
    pub fn create(directory: &Path, engine: EngineKind) -> Result<Captures, Failure> {
        if engine == EngineKind::Quic {
            return Err(Failure::usage(format_args!(
                "--pcap: engine {engine} cannot; use --engine sim or linux"
            )));
        }
        whole::make_directory("--pcap", directory)?;
        let create = |name| {
            NewFile::create(&directory.join(name), Readers::Everybody).map_err(|error| {
                Failure::usage(format_args!(
                    "--pcap {}: {}",
                    directory.display(),
                    error.source
                ))
            })
        };
        let files = [create(NAMES[0])?, create(NAMES[1])?];
        Ok(Captures { engine, files })
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
        let to = self
            .files
            .each_ref()
            .map(|file| BufWriter::new(file.file()));
        let record = if self.engine == EngineKind::Linux {
            let run = Linux::new().run_captured(scenario, watch, cancel, to);
            run.map(|(record, _)| record)
        } else {
            let run = Sim::new().run_captured(scenario, watch, cancel, to);
            run.map(|(record, _)| record)
        };
        let record = record.map_err(Failure::failed)?;
        for file in self.files {
            file.commit().map_err(Failure::failed)?;
        }
        Ok(record)
    }
}
