//! One direction of a hop: its bottleneck, and what happens to packets behind it.

use std::path::PathBuf;

use path::{Aggregation, Capacity, Demand, Discipline, Jitter, Loss, LossAt, Policer, Reorder};
use serde::{Deserialize, Deserializer, Serialize};
use units::{Bytes, Duration, Rate, Ratio};

use super::bounds::{is_default, positive, share, short};
use super::buffer::BufferSpec;
use super::change::ChangeSpec;
use super::error::ScenarioError;
use super::queue::queue_kind;
use super::ser;
use super::tree::{self, Node};

/// The largest packet that a path is asked to carry: its buffer must hold at least one.
pub const PACKET: Bytes = path::MTU;

/// One direction of a hop, as `[path]` describes that of data and `[path.uplink]` that of ACKs. The default does nothing to
/// packets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { rate = \"1mbit\", buffer = \"100p\" }"
)]
pub struct LinkSpec {
    /// `rate`: the bottleneck's rate; unlimited if not given.
    #[serde(deserialize_with = "positive")]
    pub rate: Option<Rate>,
    /// `trace`: a file of delivery opportunities in Mahimahi's format, instead of a rate.
    #[serde(serialize_with = "ser::file")]
    pub trace: Option<PathBuf>,
    /// `buffer`: the bottleneck's buffer; unlimited if not given. A BDP is this rate × the path's `rtt`.
    pub buffer: Option<BufferSpec>,
    /// `loss`: random loss, independent (`"1%"`) or in bursts (`{ kind = "gilbert", p = "1%", r = "30%" }`, with
    /// `loss_good` = 0 and `loss_bad` = 1 if not given).
    #[serde(with = "super::loss")]
    pub loss: Loss,
    /// `loss_at`: whether that is before the bottleneck (`"entry"`) or behind it (`"exit"`).
    #[serde(skip_serializing_if = "is_default")]
    pub loss_at: LossAt,
    /// `queue`: who waits, who goes, who is dropped or marked.
    #[serde(with = "super::queue", skip_serializing_if = "is_default")]
    pub queue: Discipline,
    /// `duplicate`: the share of packets that arrive twice.
    #[serde(deserialize_with = "share", skip_serializing_if = "is_default")]
    pub duplicate: Ratio,
    /// `jitter`: delay that varies from one packet to the next: `"5ms"` at most, or with overtaking
    /// `{ up_to = "5ms", reorders = true }`.
    #[serde(deserialize_with = "short::<_, Duration, _>")]
    pub jitter: Option<Jitter>,
    /// `reorder`: packets that are held back, so that later ones overtake them: `{ share = "1%", by = "10ms" }`.
    pub reorder: Option<Reorder>,
    /// `policer`: a token bucket that drops what exceeds it: `{ rate = "10mbit", burst = "100kb" }`.
    pub policer: Option<Policer>,
    /// `demand`: how the bottleneck's rate follows what waits: `{ within = "20ms", least = "500kbit" }`, with an `interval`
    /// of 10 ms if not given.
    pub demand: Option<Demand>,
    /// `aggregation`: packets that are held and released together.
    pub aggregation: Option<Aggregation>,
    /// `change`: what changes, and when; of an uplink its rate, since the path has one `rtt`.
    #[serde(
        rename = "change",
        deserialize_with = "one_or_more",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub changes: Vec<ChangeSpec>,
}

/// A list of changes, or a single one.
fn one_or_more<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ChangeSpec>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename = "change")]
    enum Form {
        #[serde(rename = "{}")]
        One(ChangeSpec),
        #[serde(rename = "[]")]
        Many(Vec<ChangeSpec>),
    }
    Ok(match Form::deserialize(deserializer)? {
        Form::One(change) => vec![change],
        Form::Many(changes) => changes,
    })
}

impl LinkSpec {
    /// Whether these keys, all that are given of a link, make sense together whatever their values: with a `loss` of 0 %,
    /// which may be one of several that are tried, `loss_at` is no mistake.
    pub fn check_given<'k>(
        mut keys: impl Iterator<Item = &'k str> + Clone,
    ) -> Result<(), ScenarioError> {
        let has_place = keys.clone().any(|key| key == "loss_at");
        if has_place && !keys.any(|key| key == "loss") {
            Err(ScenarioError::new(
                "loss_at",
                "has no effect without loss; give a loss such as 1%",
            ))
        } else {
            Ok(())
        }
    }

    /// As [`LinkSpec::check_given`], of every table in the value.
    pub fn check_places(value: &Node) -> Result<(), ScenarioError> {
        match value {
            Node::Scalar(_) => Ok(()),
            Node::List(items) => tree::items(items, LinkSpec::check_places).map(drop),
            Node::Table(entries) => {
                LinkSpec::check_given(entries.iter().map(|entry| entry.key.as_str()))?;
                entries.iter().try_for_each(|entry| {
                    LinkSpec::check_places(&entry.value).map_err(|error| error.within(&entry.key))
                })
            }
        }
    }

    /// Whether the fields make sense together, on a path with this RTprop; `name` is what `rate` is called in errors.
    pub fn check(&self, rtt: Duration, name: &str) -> Result<(), ScenarioError> {
        let wrong = |field: &str, reason: &str| Err(ScenarioError::new(field, reason));
        if self.rate.is_some() && self.trace.is_some() {
            return wrong("trace", "the path has a rate already; give one of the two");
        }
        if let Some(demand) = self.demand {
            match self.rate {
                None if self.trace.is_some() => {
                    return wrong("demand", "a trace sets the rate; leave one of the two out");
                }
                None => {
                    let reason = format!("needs {name}, the most that the cell can give; give one");
                    return wrong("demand", &reason);
                }
                Some(rate) if rate < demand.least => {
                    let reason = format!(
                        "{} is above {name} of {rate}; give a lower one",
                        demand.least
                    );
                    return wrong("demand.least", &reason);
                }
                Some(_) => {}
            }
        }
        let changes_nothing = |change: &ChangeSpec| change.rate.is_none() && change.rtt.is_none();
        if let Some(index) = self.changes.iter().position(changes_nothing) {
            return wrong(
                &format!("change[{index}]"),
                "changes nothing; give rate or rtt",
            );
        }
        let changes_rate = |change: &ChangeSpec| change.rate.is_some();
        if let (None, Some(index)) = (self.rate, self.changes.iter().position(changes_rate)) {
            let reason = format!("there is no {name} to change; give one");
            return wrong(&format!("change[{index}].rate"), &reason);
        }
        let has_bottleneck = self.rate.is_some() || self.trace.is_some();
        if let (false, Some(buffer)) = (has_bottleneck, self.buffer) {
            let reason =
                format!("{buffer} has no effect without {name} or a trace; give one of the two");
            return wrong("buffer", &reason);
        }
        if !has_bottleneck && self.queue != Discipline::DropTail {
            let kind = queue_kind(self.queue);
            let reason =
                format!("{kind} has no effect without {name} or a trace; give one of the two");
            return wrong("queue", &reason);
        }
        if let (Discipline::Red(red), Some(buffer)) = (self.queue, self.buffer_bytes(rtt))
            && red.min > buffer
        {
            let reason = format!(
                "{} begins at {}, beyond the buffer of {buffer}; give a smaller size, or a larger buffer",
                queue_kind(self.queue),
                red.min
            );
            return wrong("queue", &reason);
        }
        if self.jitter.is_some_and(|jitter| jitter.up_to.is_zero()) {
            return wrong("jitter", "0ms makes no sense; give a time such as 10ms");
        }
        match (self.buffer, self.buffer_bytes(rtt)) {
            (Some(buffer), None) => {
                let reason = format!("{buffer} needs {name}; give one, or a size such as 250kb");
                wrong("buffer", &reason)
            }
            (Some(buffer), Some(bytes)) if bytes < PACKET => {
                let size = match buffer {
                    BufferSpec::Bytes(_) => buffer.to_string(),
                    _ => format!("{buffer} is {bytes}, which"),
                };
                let reason = format!(
                    "{size} is smaller than one packet ({} bytes); give a larger one such as 100p",
                    PACKET.get()
                );
                wrong("buffer", &reason)
            }
            _ => {
                let capacity = self.rate.map_or(Capacity::Unlimited, Capacity::Rate);
                self.settings(rtt, |rtt| rtt, capacity).map(drop)
            }
        }
    }

    /// The buffer in bytes on a path with this RTprop, if it has a size that can be told: packets count as 1500 bytes,
    /// multiples of the BDP and times need a rate.
    pub fn buffer_bytes(&self, rtt: Duration) -> Option<Bytes> {
        match self.buffer? {
            BufferSpec::Bytes(bytes) => Some(bytes),
            BufferSpec::Packets(packets) => Some(PACKET * packets),
            BufferSpec::Time(span) => Some(self.rate?.bytes_in(span)),
            BufferSpec::Bdp { thousandths } => {
                let bdp = u128::from(self.rate?.bytes_in(rtt).get());
                let bytes = bdp * u128::from(thousandths) / 1000;
                Some(Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX)))
            }
        }
    }
}
