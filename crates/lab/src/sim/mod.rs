//! Packets in virtual time: the same scenario and seed give the same record on any machine, except for the elapsed
//! real time.

mod cgroups;
mod memory;
mod numbers;
mod pcap;

use std::io::Write;
use std::sync::Arc;
use std::time::{Duration as RealTime, Instant};

use congestion::Controller;
use record::Record;
use scenario::{Crossing, Network, Scenario};
use simulate::{
    Bounds, Flows, Hops, MakeControllers, NOTHING_SENT, Progress, Room, Run, RunError, Tap, ours,
};

use crate::engine::{Cancel, Engine};
use crate::engine_kind::EngineKind;
use crate::error::EngineError;
use memory::ROOM;
use pcap::Pcap;

/// The interval at which progress is reported, in real time.
const PROGRESS_INTERVAL: RealTime = RealTime::from_millis(50);

/// The engine `sim`: hosts like Linux, and paths, in virtual time.
///
/// A flow that opens a connection for each of its objects is one flow of the record. Its counters are sums over its
/// connections, its RTTs are those of all of them, and its samples are those of any connection that had an ACK.
///
/// The packets of all runs at a time take most of the free memory at most. A run that would take more ends with an error.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sim {
    /// Further bounds, of each run.
    bounds: Option<Bounds>,
}

impl Sim {
    /// Creates the engine.
    pub fn new() -> Sim {
        Sim::default()
    }

    /// Creates the engine with further bounds, of each run.
    pub fn within(bounds: Bounds) -> Sim {
        Sim {
            bounds: Some(bounds),
        }
    }

    /// The room of a run.
    pub fn room(&self) -> Arc<Room> {
        self.bounds
            .map_or_else(|| Arc::clone(&ROOM), |bounds| ROOM.part(bounds))
    }
}

impl Engine for Sim {
    fn kind(&self) -> EngineKind {
        EngineKind::Sim
    }

    fn check(&self, scenario: &Scenario) -> Result<(), EngineError> {
        Ok(simulate::check(scenario)?)
    }

    fn run(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let controllers = |group| ours(scenario, group);
        self.run_with(scenario, &controllers, watch, cancel)
    }

    fn run_without_samples(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let controllers = |group| ours(scenario, group);
        self.run_unsampled_with(scenario, &controllers, watch, cancel)
    }
}

impl Sim {
    /// Runs a scenario as [`Engine::run`] does, with controllers of any type: `controllers` makes those of a group of
    /// flows, given its index.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`], or `controllers` returns one for a group.
    pub fn run_with<C: Controller>(
        &self,
        scenario: &Scenario,
        controllers: MakeControllers<'_, C>,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let begin = Instant::now();
        let network = scenario.network();
        let (hops, flows) = (Hops::of(&network), Flows::new(scenario, NOTHING_SENT));
        let run = Run::new(&network, controllers, hops, flows, (), self.room())?;
        let (record, ()) = record(run, &network, begin, watch, cancel)?;
        Ok(record)
    }

    /// Runs a scenario as [`Sim::run_with`] does, but records no samples over time.
    ///
    /// # Errors
    ///
    /// Those of [`Sim::run_with`].
    pub fn run_unsampled_with<C: Controller>(
        &self,
        scenario: &Scenario,
        controllers: MakeControllers<'_, C>,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
    ) -> Result<Record, EngineError> {
        let begin = Instant::now();
        let network = scenario.network();
        let run = self.begin(&network, controllers)?;
        let (record, ()) = record(run, &network, begin, watch, cancel)?;
        Ok(record)
    }

    /// Begins a run that records no samples over time, for whoever steps it.
    ///
    /// # Errors
    ///
    /// The scenario is invalid, or asks for something impossible; or `controllers` returns an error for a group.
    pub fn begin<C: Controller>(
        &self,
        network: &Network<'_>,
        controllers: MakeControllers<'_, C>,
    ) -> Result<Run<(), C>, RunError> {
        let (hops, flows) = (
            Hops::of(network).without_samples(),
            Flows::new(network.scenario(), NOTHING_SENT).without_samples(),
        );
        Run::new(network, controllers, hops, flows, (), self.room())
    }

    /// Runs a scenario as [`Engine::run`] does, and writes captures (pcapng) of what each flow's sending end and
    /// receiving end sent and received: headers as on a real network, without payload. Returns the writers.
    ///
    /// # Errors
    ///
    /// Those of [`Engine::run`], or a capture could not be written.
    pub fn run_captured<W: Write>(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
        to: [W; 2],
    ) -> Result<(Record, [W; 2]), EngineError> {
        let (record, ends, _) =
            self.run_captured_at(scenario, watch, cancel, to, Vec::<(Crossing, W)>::new())?;
        Ok((record, ends))
    }

    /// Runs a scenario as [`Sim::run_captured`] does, and also writes captures at the entrances of links. Such a capture
    /// has what one at an end of a real link has: the packets that enter the link in the direction of the crossing, and
    /// those that leave it in the opposite direction. Returns the writers.
    ///
    /// # Errors
    ///
    /// Those of [`Sim::run_captured`].
    pub fn run_captured_at<W: Write>(
        &self,
        scenario: &Scenario,
        watch: &(dyn Fn(Progress) + Sync),
        cancel: &Cancel,
        to: [W; 2],
        links: Vec<(Crossing, W)>,
    ) -> Result<(Record, [W; 2], Vec<W>), EngineError> {
        let begin = Instant::now();
        let network = scenario.network();
        let crossings: Vec<Crossing> = links.iter().map(|(crossing, _)| *crossing).collect();
        let links = links.into_iter().map(|(crossing, to)| {
            let name = network.name(crossing);
            (name.unwrap_or_default(), to)
        });
        let sizes = simulate::segment_sizes(&network);
        let pcap = Pcap::new(to, links.collect(), sizes).map_err(EngineError::Capture)?;
        let (hops, flows) = (Hops::of(&network), Flows::new(scenario, NOTHING_SENT));
        let controllers = |group| ours(scenario, group);
        let mut run = Run::new(&network, &controllers, hops, flows, pcap, self.room())?;
        for crossing in crossings {
            run.tap(crossing);
        }
        let (record, pcap) = record(run, &network, begin, watch, cancel)?;
        let (ends, links) = pcap.finish().map_err(EngineError::Capture)?;
        Ok((record, ends, links))
    }
}

/// Runs to the end, or until cancelled, and returns the record.
fn record<T: Tap, C: Controller>(
    mut run: Run<T, C>,
    network: &Network<'_>,
    begin: Instant,
    watch: &(dyn Fn(Progress) + Sync),
    cancel: &Cancel,
) -> Result<(Record, T), EngineError> {
    let mut last_report = begin;
    while !cancel.is_cancelled() && run.step()? {
        if last_report.elapsed() >= PROGRESS_INTERVAL {
            last_report = Instant::now();
            run.flows().report_progress(run.at(), watch);
        }
    }
    let (outcome, tap) = run.finish(network, begin.elapsed());
    Ok((outcome.record(watch), tap))
}
