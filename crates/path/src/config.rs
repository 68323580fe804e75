//! The settings of a link, as plain data, and their checks.
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
//! | `queue = "droptail"` | data: [`Effects::queue`] = [`Discipline::DropTail`] |
//! | `queue = { kind = "codel", target, interval, ecn }` | data: `queue` = [`Discipline::CoDel`] |
//! | `queue = { kind = "fq_codel", flows, quantum, … }` | data: `queue` = [`Discipline::FqCoDel`] |
//! | `queue = { kind = "red", min, max, probability, … }` | data: `queue` = [`Discipline::Red`] |
//! | `queue = { kind = "dualpi2", target, tupdate, … }` | data: `queue` = [`Discipline::DualPi2`] |
//! | `loss = "1%"` | data: [`Effects::loss`] = [`Loss::Independent`] |
//! | `loss = { kind = "gilbert", p, r, loss_good, loss_bad }` | data: `loss` = [`Loss::GilbertElliott`] |
//! | `loss_at = "entry"`, `"exit"` | data: [`Effects::loss_at`] |
//! | `corruption = "0.1%"` | data: [`Effects::corruption`] |
//! | `mtu = 1400` | data: [`Effects::mtu`] |
//! | `ack_loss = "1%"` | ACKs: `loss` |
//! | `policer = { rate, burst }` | data: [`Effects::policer`] |
//! | `demand = { interval, within, least }` | data: [`Effects::demand`] |
//! | `aggregation = { interval }` | ACKs: [`Effects::aggregation`] |
//! | `jitter = { up_to, reorders }` | data: [`Effects::jitter`] |
//! | `reorder = { share, by }` | data: [`Effects::reorder`] |
//! | `duplicate = "0.1%"` | data: [`Effects::duplicate`] |
//! | `[[path.change]] at, rate, rtt, mtu` | data: [`LinkConfig::changes`] with `rate`, `mtu` and half the `rtt`; ACKs: with the other half |

use units::{ConfigError, Duration};

use crate::capacity::Capacity;
use crate::change::{self, Change};
use crate::effects::Effects;
use crate::queue::Buffer;

/// One direction of a path. By default, packets arrive unchanged and at once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkConfig {
    /// The pace of the bottleneck.
    pub capacity: Capacity,
    /// The propagation delay, from the bottleneck to the other end.
    pub delay: Duration,
    /// The buffer in front of the bottleneck.
    pub buffer: Buffer,
    /// The other effects on packets.
    pub effects: Effects,
    /// Changes of rate, delay and MTU, in the order of their times.
    pub changes: Vec<Change>,
}

impl LinkConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first invalid value, with its field and the fix.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.capacity.validate()?;
        self.buffer.validate()?;
        self.effects.validate()?;
        if let Some(demand) = self.effects.demand {
            demand.validate_on(&self.capacity)?;
        }
        change::validate(&self.changes, matches!(self.capacity, Capacity::Trace(_)))
    }
}
