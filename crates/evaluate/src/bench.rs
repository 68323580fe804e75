//! Virtual time with the subject's controllers beside Fullpipe's.

use congestion::AnyController;
use document::DocumentError;
use lab::{Cancel, Engine, EngineError, EngineKind, MakeController, Progress, Sim};
use record::Record;
use scenario::Scenario;

use crate::subject::Subject;

/// The engine `sim`, which also has the subject's controllers.
pub(crate) struct Bench<'s, C>(pub &'s Subject<C>);

/// A controller of either origin.
#[derive(Debug)]
enum Either<C> {
    Ours(Box<AnyController>),
    Subject(C),
}

congestion::by_variant!(Either<C>: Ours, Subject);

impl<C: congestion::Controller + 'static> Bench<'_, C> {
    fn controllers(
        &self,
        scenario: &Scenario,
        group: usize,
    ) -> Result<MakeController<Either<C>>, DocumentError> {
        let flow = &scenario.flows[group];
        if let Some(make) = self.0.make.clone()
            && flow.controller == self.0.controller()
        {
            return Ok(MakeController::new(move |connection| {
                Either::Subject(make(connection))
            }));
        }
        let settings = scenario.our_controller(group, simulate::ENGINE)?;
        Ok(MakeController::new(move |connection| {
            Either::Ours(Box::new(AnyController::on_host(settings, connection)))
        }))
    }
}

impl<C: congestion::Controller + 'static> Engine for Bench<'_, C> {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn check(&self, scenario: &Scenario) -> Result<(), EngineError> {
        Ok(scenario.check()?)
    }

    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let controllers = |group| self.controllers(scenario, group);
        Sim::new().run_with(scenario, &controllers, watch, cancel)
    }

    fn run_without_samples(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let controllers = |group| self.controllers(scenario, group);
        Sim::new().run_unsampled_with(scenario, &controllers, watch, cancel)
    }
}
