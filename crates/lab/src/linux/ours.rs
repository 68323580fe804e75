//! Fullpipe's own controllers in the kernel, `kernel:fullpipe_bbr1` and others. A controller that is not loaded is
//! loaded for the duration of the run, however the run ends.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kernel::{Algorithm, Loaded, Settings};
use scenario::{FlowSpec, Scenario};

use crate::error::EngineError;

/// The version under which controllers are registered.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The controllers loaded by runs of this process. Concurrent runs share them; the last one to end unloads them.
static SHARED: Mutex<BTreeMap<Algorithm, Weak<Loaded>>> = Mutex::new(BTreeMap::new());

/// Fails if another version has loaded this controller: its state may have another layout, and its algorithm may
/// differ.
fn is_of_this_version(algorithm: Algorithm) -> Result<(), EngineError> {
    let found = kernel::Registered::find(algorithm)?;
    match found.filter(|found| found.version != VERSION) {
        None => Ok(()),
        Some(found) => Err(kernel::Error::Lacking(format!(
            "fullpipe {} has loaded {}: `fullpipe kernel unload` comes first",
            found.version,
            algorithm.kernel_name()
        ))
        .into()),
    }
}

/// The controllers of Fullpipe that a scenario names.
#[derive(Default)]
pub(super) struct OwnControllers {
    /// Controllers loaded by runs of this process.
    loaded: Vec<Arc<Loaded>>,
    /// Controllers that were loaded before.
    found: Vec<Algorithm>,
}

impl OwnControllers {
    /// Loads the controllers that are missing.
    ///
    /// # Errors
    ///
    /// A controller is not loaded and cannot be.
    pub fn offer(scenario: &Scenario) -> Result<OwnControllers, EngineError> {
        let mut ours = OwnControllers::default();
        // A panic elsewhere cannot leave the map inconsistent.
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        for &algorithm in Algorithm::ALL {
            let name = algorithm.kernel_name();
            let flows = &scenario.flows;
            let is_asked_for = |flow: &FlowSpec| flow.controller.kernel_name() == name;
            if !flows.iter().any(is_asked_for) {
                continue;
            }
            if let Some(loaded) = shared.get(&algorithm).and_then(Weak::upgrade) {
                ours.loaded.push(loaded);
            } else if linux::controllers_here()?.iter().any(|here| here == name) {
                is_of_this_version(algorithm)?;
                ours.found.push(algorithm);
            } else {
                let loaded = Arc::new(kernel::load(&[Settings::new(algorithm)], VERSION)?);
                shared.insert(algorithm, Arc::downgrade(&loaded));
                ours.loaded.push(loaded);
            }
        }
        Ok(ours)
    }

    /// The maps with the state of their connections. The map of a controller that another process has loaded for
    /// itself alone is not available.
    ///
    /// # Errors
    ///
    /// This process may not open the maps.
    pub fn maps(&self) -> Result<Vec<OwnedFd>, EngineError> {
        let mut maps = Vec::new();
        for loaded in &self.loaded {
            maps.extend(loaded.flows()?);
        }
        for &algorithm in &self.found {
            maps.extend(kernel::flows(algorithm)?);
        }
        Ok(maps)
    }
}

impl Drop for OwnControllers {
    /// Unloads under the lock; else a run that begins meanwhile would find a controller that is about to go.
    fn drop(&mut self) {
        let _shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        self.loaded.clear();
    }
}
