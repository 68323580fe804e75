//! Fullpipe's own controllers in the kernel, `kernel:fullpipe_bbr1` and others: if one is not loaded, it is for as long as the run
//! takes, however that ends.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use kernel::{Algorithm, Loaded, Settings};
use scenario::{FlowSpec, Scenario};

use crate::error::EngineError;

/// Whose they are, to anybody who looks.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Those that runs of this process have loaded. Runs at the same time share them: whichever ends last takes them away.
static SHARED: Mutex<BTreeMap<Algorithm, Weak<Loaded>>> = Mutex::new(BTreeMap::new());

/// What another version has loaded may tell of itself in another form, and be another algorithm.
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

/// Those that a scenario asks for.
#[derive(Default)]
pub(super) struct Ours {
    /// Those that runs of this process have loaded.
    loaded: Vec<Arc<Loaded>>,
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
        let mut ours = Ours::default();
        // A panic elsewhere leaves the map as whole as it was.
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

    /// The maps of what their connections keep. Of one that another process has loaded for itself alone, nothing is known.
    ///
    /// # Errors
    ///
    /// If this process may not look at them.
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

impl Drop for Ours {
    /// Under the lock: else a run that begins meanwhile would find in the kernel what is about to go.
    fn drop(&mut self) {
        let _shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        self.loaded.clear();
    }
}
