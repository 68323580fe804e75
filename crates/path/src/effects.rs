//! What happens to the packets of a link, whatever its rate and its delay.

use serde::{Deserialize, Serialize};
use units::{ConfigError, Ratio};

use crate::aggregation::Aggregation;
use crate::bounds::share;
use crate::demand::Demand;
use crate::jitter::Jitter;
use crate::loss::{Loss, LossAt};
use crate::mtu::Mtu;
use crate::policer::Policer;
use crate::queue::Discipline;
use crate::reorder::Reorder;

/// What happens to the packets of a link, whatever its rate and its delay. By default, nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Effects {
    /// Random loss: independent (`"1%"`) or in bursts (`{ kind = "gilbert", p = "1%", r = "30%" }`).
    pub loss: Loss,
    /// Whether that is before the bottleneck (`"entry"`) or behind it (`"exit"`).
    pub loss_at: LossAt,
    /// The share of packets that arrive damaged, each with this probability: they take what others take of the link, and their
    /// receiver discards them.
    #[serde(deserialize_with = "units::bounds::lost_share")]
    pub corruption: Ratio,
    /// The largest packet that enters the link, in bytes; larger ones are dropped.
    pub mtu: Option<Mtu>,
    /// Which packet waits, which goes next, and which is dropped or marked.
    pub queue: Discipline,
    /// The share of packets that arrive twice, the copy right behind the original.
    #[serde(deserialize_with = "units::bounds::share")]
    pub duplicate: Ratio,
    /// Delay that varies from one packet to the next: `"5ms"` at most, or with overtaking
    /// `{ up_to = "5ms", reorders = true }`, or not uniform, `{ up_to = "5ms", distribution = "pareto" }`.
    #[serde(deserialize_with = "units::bounds::short::<_, units::Duration, _>")]
    pub jitter: Option<Jitter>,
    /// Packets that are held back, so that later ones overtake them: `{ share = "1%", by = "10ms" }`.
    pub reorder: Option<Reorder>,
    /// A token bucket in front of the buffer that drops what exceeds it: `{ rate = "10mbit", burst = "100kb" }`.
    pub policer: Option<Policer>,
    /// How the bottleneck's rate follows what waits: `{ within = "20ms", least = "500kbit" }`.
    pub demand: Option<Demand>,
    /// Packets held and released together at the far end: `{ interval = "10ms" }`.
    pub aggregation: Option<Aggregation>,
}

impl Effects {
    /// Checks every field.
    ///
    /// # Errors
    /// The first value that makes no sense, with its field and the way to mend it.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.queue.validate()?;
        self.loss.validate()?;
        share("corruption", self.corruption)?;
        share("duplicate", self.duplicate)?;
        self.reorder.as_ref().map_or(Ok(()), Reorder::validate)?;
        self.policer.as_ref().map_or(Ok(()), Policer::validate)?;
        self.demand.as_ref().map_or(Ok(()), Demand::validate)
    }
}
