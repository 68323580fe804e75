//! The captures of a run at its sending and its receiving ends.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use files::{PART, beside};
use lab::{Cancel, EngineKind, Linux, Progress, Sim};
use record::Record;
use scenario::Scenario;

use crate::failure::Failure;
use crate::files::whole;

/// Their file names.
const NAMES: [&str; 2] = ["sender.pcapng", "receiver.pcapng"];

/// Two captures that are being written, under temporary names until they are complete.
pub struct Captures {
    engine: EngineKind,
    paths: [PathBuf; 2],
    parts: [PathBuf; 2],
    files: [File; 2],
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
        let paths = NAMES.map(|name| directory.join(name));
        let parts = [0, 1].map(|end| beside(&paths[end], PART));
        let create = |part: &Path| {
            File::create(part).map_err(|error| {
                Failure::usage(format_args!("--pcap {}: {error}", directory.display()))
            })
        };
        let files = [create(&parts[0])?, create(&parts[1])?];
        Ok(Captures {
            engine,
            paths,
            parts,
            files,
        })
    }

    /// Runs the scenario and completes the captures.
    ///
    /// # Errors
    ///
    /// The run failed, or its packets could not be written.
    pub fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, Failure> {
        let to = [0, 1].map(|end| BufWriter::new(&self.files[end]));
        let record = if self.engine == EngineKind::Linux {
            let run = Linux::new().run_captured(scenario, watch, cancel, to);
            run.map(|(record, _)| record)
        } else {
            let run = Sim::new().run_captured(scenario, watch, cancel, to);
            run.map(|(record, _)| record)
        };
        let record = record.map_err(Failure::failed)?;
        for (part, path) in self.parts.iter().zip(&self.paths) {
            fs::rename(part, path).map_err(|error| {
                Failure::failed(format_args!("cannot write {}: {error}", path.display()))
            })?;
        }
        Ok(record)
    }
}

impl Drop for Captures {
    fn drop(&mut self) {
        for part in &self.parts {
            // Completed captures are no longer there.
            let _ = fs::remove_file(part);
        }
    }
}
