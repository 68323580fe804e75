//! The controller under evaluation.

use std::sync::Arc;

use congestion::{AnyController, Connection};
use lab::EngineKind;
use scenario::{Controller, ControllerError, FlowSpec};

/// Makes a controller of a caller's type.
pub(crate) type Make<C> = Arc<dyn Fn(Connection) -> C + Send + Sync>;

/// The controller under evaluation: one of Fullpipe's, or the type `C` of the caller.
pub struct Subject<C> {
    /// A flow with this controller and its settings.
    pub(crate) flow: FlowSpec,
    /// Nothing for Fullpipe's own.
    pub(crate) make: Option<Make<C>>,
}

impl Subject<AnyController> {
    /// The controller of this flow, with the flow's settings for it, or one of the kernel. Other fields of the flow do not
    /// matter.
    pub fn built_in(flow: FlowSpec) -> Subject<AnyController> {
        Subject { flow, make: None }
    }
}

impl<C> Subject<C> {
    /// Controllers that `make` makes for new connections. In scenarios and results they are `rust:NAME`.
    ///
    /// # Errors
    ///
    /// The name has other characters than letters, digits and `_`, or more than 17.
    pub fn new(
        name: &str,
        make: impl Fn(Connection) -> C + Send + Sync + 'static,
    ) -> Result<Subject<C>, ControllerError> {
        Subject::named(&format!("rust:{name}"), make)
    }

    /// The same with a whole name in scenarios, such as `python:Gentle`.
    ///
    /// # Errors
    ///
    /// The text is no name of a controller.
    pub fn named(
        name: &str,
        make: impl Fn(Connection) -> C + Send + Sync + 'static,
    ) -> Result<Subject<C>, ControllerError> {
        Ok(Subject {
            flow: FlowSpec::new(name.parse()?),
            make: Some(Arc::new(make)),
        })
    }

    /// The engine that runs it: the simulator, or the kernel for one of the kernel's.
    pub fn engine(&self) -> EngineKind {
        match self.flow.controller {
            Controller::Kernel(_) => EngineKind::Linux,
            _ => EngineKind::Sim,
        }
    }

    /// Its controller in scenarios.
    pub fn controller(&self) -> Controller {
        self.flow.controller
    }
}
