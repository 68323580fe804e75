//! What a link is made of, as plain data, and what makes no sense.
//!
//! The scenario file's `[path]` keys map to it as follows; *data* stands for [`PathConfig::forward`](crate::PathConfig)
//! and *ACKs* for `PathConfig::reverse`:
//!
//! | key | here |
//! | --- | --- |
//! | `rate = "100mbit"` | data: [`LinkConfig::capacity`] = [`Capacity::Rate`]; ACKs: unlimited |
//! | `trace = "cell.trace"` | data: `capacity` = [`Capacity::Trace`], the file's text parsed with [`str::parse`] |
//! | `rtt = "100ms"` | [`LinkConfig::delay`]: half of it for data, the other half for ACKs |
//! | `buffer = "250kb"`, `"100p"` | data: [`LinkConfig::buffer`] = [`Buffer::Bytes`], [`Buffer::Packets`] |
//! | `buffer = "4bdp"` | data: [`Buffer::Bytes`] of 4 × rate × rtt; beside a trace, a buffer is in bytes or packets |
//! | `queue = "droptail"` | data: [`LinkConfig::queue`] = [`Discipline::DropTail`] |
//! | `queue = { kind = "codel", target, interval, ecn }` | data: `queue` = [`Discipline::CoDel`] |
//! | `queue = { kind = "fq_codel", flows, quantum, … }` | data: `queue` = [`Discipline::FqCoDel`] |
//! | `queue = { kind = "red", min, max, probability, … }` | data: `queue` = [`Discipline::Red`] |
//! | `loss = "1%"` | data: [`LinkConfig::loss`] = [`Loss::Independent`] |
//! | `loss = { kind = "gilbert", p, r, loss_good, loss_bad }` | data: `loss` = [`Loss::GilbertElliott`] |
//! | `loss_at = "entry"`, `"exit"` | data: [`LinkConfig::loss_at`] |
//! | `ack_loss = "1%"` | ACKs: `loss` |
//! | `policer = { rate, burst }` | data: [`LinkConfig::policer`] |
//! | `demand = { interval, within, least }` | data: [`LinkConfig::demand`] |
//! | `aggregation = { interval }` | ACKs: [`LinkConfig::aggregation`] |
//! | `jitter = { up_to, reorders }` | data: [`LinkConfig::jitter`] |
//! | `reorder = { share, by }` | data: [`LinkConfig::reorder`] |
//! | `duplicate = "0.1%"` | data: [`LinkConfig::duplicate`] |
//! | `[[path.change]] at, rate, rtt` | data: [`LinkConfig::changes`] with `rate` and half the `rtt`; ACKs: with the other half |

use units::{Bytes, ConfigError, Duration, Ratio};

use crate::aggregation::Aggregation;
use crate::capacity::Capacity;
use crate::change::{self, Change};
use crate::demand::Demand;
use crate::jitter::Jitter;
use crate::loss::{Loss, LossAt};
use crate::policer::Policer;
use crate::queue::{Buffer, Discipline};
use crate::reorder::Reorder;

/// The size of a full packet, the least that a buffer or bucket in bytes must hold.
pub const MTU: Bytes = Bytes::new(1500);

/// One direction of a path. By default nothing happens to a packet: it arrives as it is sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkConfig {
    /// The pace of the bottleneck.
    pub capacity: Capacity,
    /// The propagation delay, from the bottleneck to the other end.
    pub delay: Duration,
    /// How much may wait for the bottleneck.
    pub buffer: Buffer,
    /// Which packet waits, which goes next, and which is dropped.
    pub queue: Discipline,
    /// Random loss.
    pub loss: Loss,
    /// Where that loss happens.
    pub loss_at: LossAt,
    /// Delay that varies.
    pub jitter: Option<Jitter>,
    /// Packets held back, to be overtaken.
    pub reorder: Option<Reorder>,
    /// The share of packets that arrive twice, the copy right behind the original.
    pub duplicate: Ratio,
    /// A policer in front of the buffer.
    pub policer: Option<Policer>,
    /// How the bottleneck's rate follows the queue.
    pub demand: Option<Demand>,
    /// Packets held and released together at the far end.
    pub aggregation: Option<Aggregation>,
    /// Changes of rate and delay, in the order of their times.
    pub changes: Vec<Change>,
}

impl LinkConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first value that makes no sense, with its field and the way to mend it.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.capacity.validate()?;
        self.buffer.validate()?;
        self.queue.validate()?;
        self.loss.validate()?;
        share("duplicate", self.duplicate)?;
        self.reorder.as_ref().map_or(Ok(()), Reorder::validate)?;
        self.policer.as_ref().map_or(Ok(()), Policer::validate)?;
        self.demand
            .map_or(Ok(()), |demand| demand.validate(&self.capacity))?;
        self.aggregation
            .as_ref()
            .map_or(Ok(()), Aggregation::validate)?;
        change::validate(&self.changes, matches!(self.capacity, Capacity::Trace(_)))
    }
}

impl Buffer {
    fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Buffer::Bytes(bytes) if *bytes < MTU => Err(ConfigError::new(
                "buffer",
                format!("of {bytes} is smaller than one packet; give at least {MTU}"),
            )),
            Buffer::Packets(0) => Err(ConfigError::new(
                "buffer",
                "of no packets lets nothing through; give at least 1",
            )),
            _ => Ok(()),
        }
    }
}

/// Checks that a share of packets is one.
pub(crate) fn share(field: &'static str, share: Ratio) -> Result<(), ConfigError> {
    if share > Ratio::ONE {
        return Err(ConfigError::new(
            field,
            format!("of {share} is above 100%; give a share from 0% to 100%"),
        ));
    }
    Ok(())
}
