//! `--as` and `--region`: files that name the networks of clients.

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::Args;
use files::regular;
use fleet::{Regions, Systems, SystemsError};
use program::failure::Failure;
use rollout::study::Lookup;

#[derive(Debug, Args)]
#[group(skip)]
pub struct Names {
    /// Name the networks of clients from a file: .mmdb, or a table of MaxMind, IPinfo, iptoasn or pyasn; also with gzip
    #[arg(long = "as", value_name = "FILE")]
    systems: Option<PathBuf>,
    /// Name the regions of clients from a file of your own, with a network and a name in each line
    #[arg(long = "region", value_name = "FILE")]
    regions: Option<PathBuf>,
}

impl Names {
    /// Reads the files.
    pub fn lookup(&self) -> Result<Lookup, Failure> {
        Ok(Lookup {
            systems: networks_in("--as", self.systems.as_deref(), Systems::read)?,
            regions: networks_in("--region", self.regions.as_deref(), Regions::read)?,
        })
    }
}

/// Reads the networks from the file of an option.
fn networks_in<T>(
    option: &str,
    file: Option<&Path>,
    read: impl Fn(File) -> Result<T, SystemsError>,
) -> Result<Option<T>, Failure> {
    let read = file.map(|path| {
        let read = regular::open(path).map_err(Into::into).and_then(&read);
        read.map_err(|error| Failure::usage(format_args!("{option} {}: {error}", path.display())))
    });
    read.transpose()
}
