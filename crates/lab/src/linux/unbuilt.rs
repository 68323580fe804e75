//! Fullpipe's own controllers in the kernel, in a build that has no programs for the kernel.

use std::os::fd::OwnedFd;

use kernel::{Algorithm, Error};
use scenario::{FlowSpec, Scenario};

use crate::error::EngineError;

/// None.
pub(super) struct OwnControllers;

impl OwnControllers {
    /// Offers nothing.
    ///
    /// # Errors
    ///
    /// The scenario names one of Fullpipe's controllers.
    pub fn offer(scenario: &Scenario) -> Result<OwnControllers, EngineError> {
        let is_ours = |flow: &FlowSpec| {
            let mut all = Algorithm::ALL.iter();
            all.any(|ours| flow.controller.kernel_name() == ours.kernel_name())
        };
        if scenario.flows.iter().any(is_ours) {
            return Err(Error::NotBuilt.into());
        }
        Ok(OwnControllers)
    }

    /// The maps with the state of their connections: there are none.
    ///
    /// # Errors
    ///
    /// Never.
    pub fn maps(&self) -> Result<Vec<OwnedFd>, EngineError> {
        Ok(Vec::new())
    }
}
