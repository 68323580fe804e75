//! Keeps processors awake while packets move in real time.

use clap::Args;
use lab::{Awake, EngineKind};

use crate::failure::Failure;

/// An option of every command that measures in real time.
#[derive(Debug, Args)]
pub struct AwakeOption {
    /// Let processors sleep while packets move in real time. By default, they are kept awake, because a sleeping
    /// processor wakes up late
    #[arg(long)]
    allow_sleep: bool,
}

impl AwakeOption {
    /// Checks that the engines can run on this machine. If one of them runs in real time, keeps the machine awake until
    /// the returned value is dropped.
    pub fn prepare(&self, engines: &[EngineKind]) -> Result<Option<Awake>, Failure> {
        for engine in engines {
            engine.prepare().map_err(Failure::failed)?;
        }
        let is_real_time = engines.iter().any(|engine| engine.is_real_time());
        Ok(is_real_time.then(|| self.keep()).flatten())
    }

    /// Keeps the machine awake until the returned value is dropped.
    pub fn keep(&self) -> Option<Awake> {
        (!self.allow_sleep).then(Awake::keep)
    }
}
