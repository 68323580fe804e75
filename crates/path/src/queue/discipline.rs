//! The disciplines that there are.

use serde::{Deserialize, Serialize};
use units::ConfigError;

use super::codel::CoDel;
use super::fq_codel::FqCoDel;
use super::red::Red;

/// How the queue chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "Named", rename_all = "lowercase")]
pub enum Discipline {
    /// First in, first out; a packet that finds no room is dropped.
    #[default]
    DropTail,
    /// First in, first out, with drops that keep the delay low.
    CoDel(CoDel),
    /// A queue for each flow, in turn; each under CoDel.
    #[serde(rename = "fq_codel")]
    FqCoDel(FqCoDel),
    /// First in, first out, with random drops whose probability grows with the average queue; or a threshold.
    Red(Red),
}

/// As people call them. A threshold is one of [`Red`]'s.
#[derive(Deserialize)]
#[serde(rename = "queue", rename_all = "lowercase", deny_unknown_fields)]
enum Named {
    DropTail,
    CoDel(CoDel),
    #[serde(rename = "fq_codel")]
    FqCoDel(FqCoDel),
    Red(Red),
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
            Named::Threshold { at } => Discipline::Red(Red::threshold(at)),
        }
    }
}

impl Discipline {
    /// What people call it.
    pub fn name(&self) -> &'static str {
        match self {
            Discipline::DropTail => "droptail",
            Discipline::CoDel(_) => "codel",
            Discipline::FqCoDel(_) => "fq_codel",
            Discipline::Red(red) if red.is_threshold() => "threshold",
            Discipline::Red(_) => "red",
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Discipline::DropTail => Ok(()),
            Discipline::CoDel(codel) => codel.validate(),
            Discipline::FqCoDel(fq_codel) => fq_codel.validate(),
            Discipline::Red(red) => red.validate(),
        }
    }
}
