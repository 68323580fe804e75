//! One direction of a hop: its bottleneck, and the effects behind it.

use std::path::PathBuf;

use document::ser::{self, with_kind};
use path::{Effects, LossAt, MTU};
use serde::ser::Error as _;
use serde::{Deserialize, Serialize, Serializer};
use toml::Table;
use units::bounds::positive;
use units::{Bytes, Duration, Rate, Ratio};

use super::buffer::BufferSpec;
use super::change::{ChangeSpec, one_or_more};

/// One direction of a hop: `[path]` for data, or `[path.uplink]` for ACKs. By default, it has no effect on packets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { rate = \"1mbit\", buffer = \"100p\" }"
)]
pub struct LinkSpec {
    /// `rate`: the bottleneck's rate; unlimited by default.
    #[serde(deserialize_with = "positive")]
    pub rate: Option<Rate>,
    /// `trace`: a file of delivery opportunities in Mahimahi's format, instead of a rate.
    #[serde(serialize_with = "ser::file")]
    pub trace: Option<PathBuf>,
    /// `buffer`: the bottleneck's buffer; unlimited by default. A BDP is this rate × the path's `rtt`.
    pub buffer: Option<BufferSpec>,
    /// `loss`, `queue`, `jitter` and so on: the other effects on packets.
    #[serde(rename = "*", serialize_with = "effects")]
    pub effects: Effects,
    /// `change`: changes at given times. Those of an uplink have only a rate and an MTU, since the path has one `rtt`.
    #[serde(
        rename = "change",
        deserialize_with = "one_or_more",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub changes: Vec<ChangeSpec>,
}

/// Writes the effects that differ from the defaults.
fn effects<S: Serializer>(effects: &Effects, serializer: S) -> Result<S::Ok, S::Error> {
    let table = |effects| Table::try_from(effects).map_err(S::Error::custom);
    let usual = Effects::default();
    let usual = table(&usual)?;
    let mut written = table(effects)?;
    // A loss of zero is written only with a place.
    let has_place = effects.loss_at != LossAt::default();
    written.retain(|key, value| usual.get(key) != Some(value) || (key == "loss" && has_place));
    let fields = written.into_iter();
    let table: Table = fields.map(|(key, value)| (key, with_kind(value))).collect();
    table.serialize(serializer)
}

impl LinkSpec {
    /// True if packets may have to wait for others.
    pub(crate) fn has_bottleneck(&self) -> bool {
        self.rate.is_some() || self.trace.is_some()
    }

    /// True if packets may arrive damaged.
    pub fn may_corrupt(&self) -> bool {
        self.effects.corruption != Ratio::ZERO
    }

    /// True if there is an MTU, from the start or after a change.
    pub fn has_mtu(&self) -> bool {
        self.effects.mtu.is_some() || self.changes.iter().any(|change| change.mtu.is_some())
    }

    /// The buffer in bytes on a path with this RTprop, if it can be computed: packets count as 1500 bytes, and
    /// multiples of the BDP and times need a rate.
    pub fn buffer_bytes(&self, rtt: Duration) -> Option<Bytes> {
        match self.buffer? {
            BufferSpec::Bytes(bytes) => Some(bytes),
            BufferSpec::Packets(packets) => Some(MTU * packets),
            BufferSpec::Time(span) => Some(self.rate?.bytes_in(span)),
            BufferSpec::Bdp { thousandths } => {
                let bdp = u128::from(self.rate?.bytes_in(rtt).get());
                let bytes = bdp * u128::from(thousandths) / 1000;
                Some(Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX)))
            }
        }
    }
}
