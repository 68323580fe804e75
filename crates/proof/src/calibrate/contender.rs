//! The contenders of a comparison, and the tolerance between them.

use congestion::ControllerKind;
use lab::EngineKind;
use scenario::{Controller, Scenario};

use super::quantity::Quantity;

/// The factor by which the simulator repeats a case whose controller is replaced. BBRv3 draws the times of its probes,
/// and the kernel draws others. More repeats leave only the randomness of the kernel's runs.
const VIRTUAL_REPEATS: u64 = 5;

/// One side of a comparison: an engine, which may replace a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contender {
    /// The displayed name.
    pub name: String,
    /// The engine.
    pub engine: EngineKind,
    /// A controller, and its replacement in every case.
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

    /// True if the case has the controller that the contender replaces.
    pub(super) fn takes(&self, scenario: &Scenario) -> bool {
        let has =
            |of: ControllerKind| (scenario.flows.iter()).any(|flow| flow.controller == of.into());
        self.replaced.is_none_or(|(of, _)| has(of))
    }

    /// The scenario with the controller replaced.
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

    /// The number of runs for each repeat. With the same seed, `sim` and `linux` lose the same packets, so one is
    /// enough.
    pub(super) fn often(&self) -> u64 {
        match self.replaced {
            Some(_) if !self.engine.is_real_time() => VIRTUAL_REPEATS,
            _ => 1,
        }
    }

    /// A tag that distinguishes its runs from those with the case's own controllers.
    pub(super) fn tag(&self) -> String {
        let text = |(of, by)| format!("{of}={by}");
        self.replaced.map(text).unwrap_or_default()
    }
}

/// Two contenders and their tolerance.
#[derive(Debug, Clone)]
pub struct Pair {
    /// The contenders. The first is the reference.
    pub contenders: [Contender; 2],
    /// The largest allowed differences.
    pub tolerance: Tolerance,
    /// The built-in directory with the cases.
    pub shelf: &'static str,
}

/// The largest allowed differences between the contenders' medians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// For goodput, as a share of the first contender's.
    pub goodput: f64,
    /// For the median RTT, as a share of RTprop.
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

    /// The simulator's BBRv3 and Fullpipe's BBRv3 in the kernel, in the cases of BBRv1.
    pub fn bbr3_in_kernel() -> Pair {
        let sim = Contender::with(EngineKind::Sim, ControllerKind::Bbr3.into());
        let linux = Contender::with(EngineKind::Linux, loaded("fullpipe_bbr3"));
        Pair {
            contenders: [sim, linux],
            ..Pair::of_engines([EngineKind::Sim, EngineKind::Linux])
        }
    }

    /// The name of a case for this pair, with the replacement's name in place of BBRv1's.
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
