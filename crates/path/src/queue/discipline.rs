//! The queue disciplines.

use serde::{Deserialize, Serialize};
use units::ConfigError;

use super::codel::CoDel;
use super::dualpi2::DualPi2;
use super::fq_codel::FqCoDel;
use super::red::Red;

/// The queue discipline of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Named", rename_all = "lowercase")]
pub enum Discipline {
    /// First in, first out. A packet that finds no room is dropped.
    #[default]
    DropTail,
    /// First in, first out, with drops that keep the delay low.
    CoDel(CoDel),
    /// A queue for each flow, served in turn, each under CoDel.
    #[serde(rename = "fq_codel")]
    FqCoDel(FqCoDel),
    /// First in, first out, with random drops whose probability grows with the average queue; or with a threshold.
    Red(Red),
    /// A queue for classic flows and one of low latency for L4S, with coupled signals.
    DualPi2(DualPi2),
}

/// The disciplines by their names in scenarios. A threshold is a case of [`Red`].
#[derive(Deserialize)]
#[serde(rename = "queue", rename_all = "lowercase", deny_unknown_fields)]
enum Named {
    DropTail,
    CoDel(CoDel),
    #[serde(rename = "fq_codel")]
    FqCoDel(FqCoDel),
    Red(Red),
    DualPi2(DualPi2),
    Threshold {
        #[serde(deserialize_with = "units::bounds::positive")]
        at: units::Bytes,
    },
}

impl From<Named> for Discipline {
    fn from(named: Named) -> Discipline {
        match named {
            Named::DropTail => Discipline::DropTail,
            Named::CoDel(codel) => Discipline::CoDel(codel),
            Named::FqCoDel(fq_codel) => Discipline::FqCoDel(fq_codel),
            Named::Red(red) => Discipline::Red(red),
            Named::DualPi2(dualpi2) => Discipline::DualPi2(dualpi2),
            Named::Threshold { at } => Discipline::Red(Red::threshold(at)),
        }
    }
}

impl Discipline {
    /// The name in scenarios.
    pub fn name(&self) -> &'static str {
        match self {
            Discipline::DropTail => "droptail",
            Discipline::CoDel(_) => "codel",
            Discipline::FqCoDel(_) => "fq_codel",
            Discipline::Red(red) if red.is_threshold() => "threshold",
            Discipline::Red(_) => "red",
            Discipline::DualPi2(_) => "dualpi2",
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Discipline::DropTail => Ok(()),
            Discipline::CoDel(codel) => codel.validate(),
            Discipline::FqCoDel(fq_codel) => fq_codel.validate(),
            Discipline::Red(red) => red.validate(),
            Discipline::DualPi2(dualpi2) => dualpi2.validate(),
        }
    }
}
