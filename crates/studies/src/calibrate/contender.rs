//! What runs the cases on one side, and how far the two sides may be from each other.

use congestion::ControllerKind;
use lab::EngineKind;
use scenario::{Controller, Scenario};

use super::quantity::Quantity;

/// The simulator runs a case so many times as often if a controller takes the place of the case's. BBRv3 draws the times of
/// its probes, and draws others in the kernel. The remaining chance is that of the kernel's runs.
const VIRTUAL_REPEATS: u64 = 5;

/// What runs the cases on one side: an engine, which may put one controller in another's place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// What people call it.
    pub name: String,
    /// The engine.
    pub engine: EngineKind,
    /// The controller that takes the place of another in every case.
    pub(super) replaced: Option<(ControllerKind, Controller)>,
}

impl From<EngineKind> for Contender {
    fn from(engine: EngineKind) -> Contender {
        Contender {
            name: engine.to_string(),
            engine,
            replaced: None,
        }
    }
}

impl Contender {
    /// An engine that runs `by` wherever a case has BBRv1.
    fn with(engine: EngineKind, by: Controller) -> Contender {
        Contender {
            name: format!("{engine} {}", by.kernel_name()),
            engine,
            replaced: Some((ControllerKind::Bbr1, by)),
        }
    }

    /// Whether it has something to run in a case: the controller that it replaces.
    pub(super) fn takes(&self, scenario: &Scenario) -> bool {
        let has =
            |of: ControllerKind| (scenario.flows.iter()).any(|flow| flow.controller == of.into());
        self.replaced.is_none_or(|(of, _)| has(of))
    }

    /// The scenario as it runs it.
    pub(super) fn of(&self, scenario: &Scenario) -> Scenario {
        let mut scenario = scenario.clone();
        if let Some((of, by)) = self.replaced {
            let flows = scenario.flows.iter_mut();
            for flow in flows.filter(|flow| flow.controller == of.into()) {
                flow.controller = by;
            }
        }
        scenario
    }

    /// How many runs it has for one of the other. With the same seed, `sim` and `linux` lose the same packets, so one is
    /// enough.
    pub(super) fn often(&self) -> u64 {
        match self.replaced {
            Some(_) if !self.engine.is_real_time() => VIRTUAL_REPEATS,
            _ => 1,
        }
    }

    /// What tells its runs from those of the engine with what the cases themselves say.
    pub(super) fn tag(&self) -> String {
        let text = |(of, by)| format!("{of}={by}");
        self.replaced.map(text).unwrap_or_default()
    }
}

/// Two contenders, and how far apart they may be.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The contenders; the second is judged by the first.
    pub contenders: [Contender; 2],
    /// How far apart they may be.
    pub tolerance: Tolerance,
    /// Which of Fullpipe's own directories has the cases.
    pub shelf: &'static str,
}

/// How far the second contender's medians may be from the first one's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// Of goodput, as a share of the first one's.
    pub goodput: f64,
    /// Of the median RTT, as a share of RTprop.
    pub rtt: f64,
}

impl Pair {
    /// Two engines.
    pub fn of_engines(engines: [EngineKind; 2]) -> Pair {
        Pair {
            contenders: engines.map(Contender::from),
            tolerance: Tolerance {
                goodput: 0.05,
                rtt: 0.1,
            },
            shelf: "calibration",
        }
    }

    /// Linux's own BBR, and Fullpipe's BBRv1 in the kernel.
    pub fn bbr1_in_kernel() -> Pair {
        let engine = EngineKind::Linux;
        Pair {
            contenders: [ControllerKind::Bbr1.into(), loaded("fullpipe_bbr1")]
                .map(|by| Contender::with(engine, by)),
            tolerance: Tolerance {
                goodput: 0.03,
                rtt: 0.05,
            },
            shelf: "kernel",
        }
    }

    /// The simulator's BBRv3, and Fullpipe's in the kernel, in the cases that BBRv1 has.
    pub fn bbr3_in_kernel() -> Pair {
        let sim = Contender::with(EngineKind::Sim, ControllerKind::Bbr3.into());
        let linux = Contender::with(EngineKind::Linux, loaded("fullpipe_bbr3"));
        Pair {
            contenders: [sim, linux],
            ..Pair::of_engines([EngineKind::Sim, EngineKind::Linux])
        }
    }

    /// The name of a case for this pair: BBRv1's cases are those of what takes its place.
    pub(super) fn name(&self, name: String) -> String {
        let by = self.contenders[0].replaced;
        by.map_or(name.clone(), |(of, by)| name.replace(of.name(), by.name()))
    }
}

fn loaded(name: &str) -> Controller {
    let controller = format!("kernel:{name}").parse();
    controller.expect("the name of a controller in the kernel")
}

impl Tolerance {
    /// The tolerance of a quantity, if it is judged.
    pub(super) fn of(self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::GOODPUT | Quantity::FIRST_GROUP => Some(self.goodput),
            Quantity::RTT => Some(self.rtt),
            _ => None,
        }
    }
}
