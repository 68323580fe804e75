//! Fullpipe's own controllers in the kernel, `kernel:fullpipe_bbr1` and others: if one is not loaded, it is for as long as the run
//! takes, however that ends.

use std::os::fd::OwnedFd;

use kernel::{Algorithm, Loaded, Settings};
use scenario::Scenario;

use crate::error::EngineError;

/// Whose they are, to anybody who looks.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Those that a scenario asks for.
pub(super) struct Ours {
    /// Those that this run has loaded.
    loaded: Option<Loaded>,
    /// Those that were there.
    found: Vec<Algorithm>,
}

impl Ours {
    /// Sees to it that the kernel offers them.
    ///
    /// # Errors
    ///
    /// If one is not loaded, and cannot be.
    pub fn offer(scenario: &Scenario) -> Result<Ours, EngineError> {
        let is_asked_for = |ours: &&Algorithm| {
            let flows = &scenario.flows;
            flows
                .iter()
                .any(|flow| flow.controller.kernel_name() == ours.kernel_name())
        };
        let mut asked = Algorithm::ALL
            .iter()
            .filter(is_asked_for)
            .copied()
            .peekable();
        if asked.peek().is_none() {
            return Ok(Ours {
                loaded: None,
                found: Vec::new(),
            });
        }
        let offered = linux::controllers_here()?;
        let is_offered = |ours: &Algorithm| offered.iter().any(|name| name == ours.kernel_name());
        let (found, missing): (Vec<_>, Vec<_>) = asked.partition(is_offered);
        let missing: Vec<Settings> = missing.into_iter().map(Settings::new).collect();
        let loaded = if missing.is_empty() {
            None
        } else {
            Some(kernel::load(&missing, VERSION)?)
        };
        Ok(Ours { loaded, found })
    }

    /// The maps of what their connections keep. Of one that another process has loaded for itself alone, nothing is known.
    ///
    /// # Errors
    ///
    /// If this process may not look at them.
    pub fn maps(&self) -> Result<Vec<OwnedFd>, EngineError> {
        let mut maps = match &self.loaded {
            Some(loaded) => loaded.flows()?,
            None => Vec::new(),
        };
        for &algorithm in &self.found {
            maps.extend(kernel::flows(algorithm)?);
        }
        Ok(maps)
    }
}
