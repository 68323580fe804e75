//! The common options of the commands that run studies: engines, length, and work.

use std::path::PathBuf;

use clap::Args;
use program::awake_option::AwakeOption;
use proof::study::{Length, Shelf};

use crate::options::engines::Engines;
use crate::options::work_options::WorkOptions;

/// How studies are run.
#[derive(Debug, Args)]
pub struct StudyOptions {
    /// Engines: sim, quic, linux, or all; each runs only what it can show
    #[arg(
        long,
        value_name = "ENGINE",
        value_delimiter = ',',
        default_value = "sim"
    )]
    engine: Vec<Engines>,
    /// Run fewer points for a shorter time; do not cite the result
    #[arg(long)]
    pub quick: bool,
    /// Directory with the scenarios [default: the built-in scenarios]
    #[arg(long, value_name = "DIR")]
    pub scenarios: Option<PathBuf>,
    #[command(flatten)]
    pub work: WorkOptions,
    #[command(flatten)]
    pub awake: AwakeOption,
    /// List the names and the engines that can show each; run nothing
    #[arg(long)]
    pub list: bool,
}

impl StudyOptions {
    /// The requested engines, each once, in the order in which they run.
    pub fn engines(&self) -> Vec<lab::EngineKind> {
        Engines::united(&self.engine)
    }

    /// The length of the studies.
    pub fn length(&self) -> Length {
        if self.quick {
            Length::Quick
        } else {
            Length::Whole
        }
    }

    /// The place of the studies, which Fullpipe has under this name.
    pub fn shelf(&self, name: &'static str) -> Shelf {
        Shelf::or_built_in(self.scenarios.as_deref(), name)
    }
}
