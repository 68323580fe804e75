//! The effects of a link on packets, apart from its rate and its delay.

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

/// The effects of a link on packets, apart from its rate and its delay. By default, there are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Effects {
    /// Random loss: independent (`"1%"`) or in bursts (`{ kind = "gilbert", p = "1%", r = "30%" }`).
    pub loss: Loss,
    /// Loss before the bottleneck (`"entry"`) or behind it (`"exit"`).
    pub loss_at: LossAt,
    /// The probability that a packet arrives damaged. It uses the link as others do, and its receiver discards it.
    #[serde(deserialize_with = "units::bounds::lost_share")]
    pub corruption: Ratio,
    /// The size of the largest packet that enters the link, in bytes. Larger packets are dropped.
    pub mtu: Option<Mtu>,
    /// The queue discipline: it chooses the packets to send next, to drop and to mark.
    pub queue: Discipline,
    /// The share of packets that arrive twice. The copy follows the original at once.
    #[serde(deserialize_with = "units::bounds::share")]
    pub duplicate: Ratio,
    /// Delay that varies from packet to packet: at most `"5ms"`; with overtaking `{ up_to = "5ms", reorders = true }`;
    /// or not uniform `{ up_to = "5ms", distribution = "pareto" }`.
    #[serde(deserialize_with = "units::bounds::short::<_, units::Duration, _>")]
    pub jitter: Option<Jitter>,
    /// Packets that are delayed, so that later ones overtake them: `{ share = "1%", by = "10ms" }`.
    pub reorder: Option<Reorder>,
    /// A token bucket in front of the buffer that drops the excess: `{ rate = "10mbit", burst = "100kb" }`.
    pub policer: Option<Policer>,
    /// A rate of the bottleneck that follows the queue: `{ within = "20ms", least = "500kbit" }`.
    pub demand: Option<Demand>,
    /// Packets held and released together at the far end: `{ interval = "10ms" }`.
    pub aggregation: Option<Aggregation>,
}

impl Effects {
    /// Checks every field.
    ///
    /// # Errors
    /// The first invalid value, with its field and the fix.
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
