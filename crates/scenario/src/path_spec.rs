//! The path: `[path]`, and the path options of commands.

use document::de;
use document::ser::{self, is_default};
use document::tree::{Entry, Node};
use document::{DocumentError, Reason};
use path::{Aggregation, Loss};
use serde::{Deserialize, Serialize};
use units::bounds::lost_share;
use units::{Bytes, Duration, Ratio};

use super::change::ChangeSpec;
use super::link_spec::LinkSpec;

/// A path in people's terms: one bottleneck for data, its RTprop, and other effects on packets, in both directions.
///
/// By default, it has no effect. [`PathSpec::set`] sets fields from text, in a scenario's `[path]` as in a command's
/// options.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as [path] with rate = \"50mbit\""
)]
pub struct PathSpec {
    /// The direction of data, whose fields are `[path]`'s own: `rate`, `buffer`, `loss` and so on, but not
    /// `aggregation`, which is of ACKs.
    #[serde(rename = "*")]
    pub data: LinkSpec,
    /// `rtt`: RTprop, the two-way propagation delay; half of it in each direction, unless `forward_delay` differs.
    pub rtt: Duration,
    /// `forward_delay`: the part of `rtt` in the direction of data; half of it by default.
    pub forward_delay: Option<Duration>,
    /// `ack_loss`: independent loss of ACKs.
    #[serde(deserialize_with = "lost_share", skip_serializing_if = "is_default")]
    pub ack_loss: Ratio,
    /// `aggregation`: ACKs that are held and released together: `{ interval = "10ms" }`.
    pub aggregation: Option<Aggregation>,
    /// `uplink`: the settings of the direction of ACKs. Its loss may also be given as `ack_loss`, its aggregation as
    /// `aggregation`.
    #[serde(skip_serializing_if = "is_default")]
    pub uplink: LinkSpec,
}

impl PathSpec {
    /// Sets the field `key` from an option's text, such as `2%` for `loss`. A table is written `key=value,key=value`
    /// (`rate=10mbit,burst=100kb` for `policer`); each text for `change` adds one change.
    ///
    /// [`PathSpec::check`] checks dependent fields after all are set.
    ///
    /// # Errors
    ///
    /// The key is unknown, or the text is not a valid value. The error's field is `path.` and the key.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), DocumentError> {
        self.set_to(key, Node::from_option(text))
    }

    /// Does as [`PathSpec::set`] with a value. A list adds all its changes.
    ///
    /// # Errors
    ///
    /// Those of [`PathSpec::set`].
    pub fn set_to(&mut self, key: &str, given: Node) -> Result<(), DocumentError> {
        let overridden = || {
            LinkSpec::check_places(&given).map_err(|error| error.within(key))?;
            let mut entries = Node::from_toml(&ser::table(self).unwrap_or_default().to_string())?;
            let entry = entries.iter_mut().find(|entry| entry.key == key);
            match (entry.map(|entry| &mut entry.value), given) {
                (Some(Node::List(changes)), Node::List(more)) => changes.extend(more),
                (Some(Node::List(changes)), change) => changes.push(change),
                (Some(value), given) => *value = given,
                (None, given) => entries.push(Entry::new(key, given)),
            }
            de::read(&Node::Table(entries))
        };
        *self = overridden().map_err(|error| error.within("path"))?;
        Ok(())
    }

    /// Checks that these keys, all that are given of a path, are consistent whatever their values.
    ///
    /// # Errors
    ///
    /// One has no effect without another; the error's field is `path.` and its key.
    pub fn check_given(keys: &[&str]) -> Result<(), DocumentError> {
        LinkSpec::check_given(keys.iter().copied()).map_err(|error| error.within("path"))
    }

    /// Checks that the fields are consistent.
    ///
    /// # Errors
    ///
    /// They are not, or one has no effect without another. The error names the field to change.
    pub fn check(&self) -> Result<(), DocumentError> {
        self.check_fields("path")
            .map_err(|error| error.within("path"))
    }

    /// Does as [`PathSpec::check`]. The error's field is relative to the path, and `name` is the path's name.
    pub(crate) fn check_fields(&self, name: &str) -> Result<(), DocumentError> {
        let wrong = |field: &str, reason: &str| Err(DocumentError::new(field, reason));
        if let Some(forward) = self.forward_delay.filter(|forward| *forward > self.rtt) {
            let reason = Reason::of(forward).words(" is more than the whole of ");
            let reason = reason.field(format!("{name}.rtt"));
            let reason = reason.words(format!(", which is {}; give a part of it", self.rtt));
            return Err(DocumentError::new("forward_delay", reason));
        }
        self.data.check(self.rtt, &format!("{name}.rate"))?;
        let uplink = self.uplink.check(self.rtt, &format!("{name}.uplink.rate"));
        uplink.map_err(|error| error.within("uplink"))?;
        if self.ack_loss != Ratio::ZERO && self.uplink.effects.loss != Loss::NONE {
            return wrong(
                "uplink.loss",
                "there is an ack_loss already; give one of the two",
            );
        }
        if self.aggregation.is_some() && self.uplink.effects.aggregation.is_some() {
            return wrong(
                "uplink.aggregation",
                "there is an aggregation of ACKs already; give one of the two",
            );
        }
        let has_rtt = |change: &ChangeSpec| change.rtt.is_some();
        if let Some(index) = self.uplink.changes.iter().position(has_rtt) {
            let reason = Reason::from("the RTprop is the whole path's; give ");
            let reason = reason.field(format!("{name}.change")).words(" this rtt");
            let field = format!("uplink.change[{index}].rtt");
            return Err(DocumentError::new(field, reason));
        }
        if self.data.effects.aggregation.is_some() {
            return wrong("aggregation", "is of ACKs; there is none of data");
        }
        Ok(())
    }

    /// Checks that packets can pass in both directions.
    ///
    /// # Errors
    ///
    /// All are lost at random or corrupted. The error's field is the loss or the corruption.
    pub fn check_open(&self) -> Result<(), DocumentError> {
        let [data, acks] = [&self.data, &self.uplink].map(|link| &link.effects);
        let losses = [
            ("path.loss", data.loss),
            ("path.corruption", Loss::Independent(data.corruption)),
            ("path.ack_loss", Loss::Independent(self.ack_loss)),
            ("path.uplink.loss", acks.loss),
            ("path.uplink.corruption", Loss::Independent(acks.corruption)),
        ];
        match losses.iter().find(|(_, loss)| loss.mean() >= 1.0) {
            Some((field, _)) => {
                let reason = "at a share of 100% nothing arrives; give less, such as 1%";
                Err(DocumentError::new(*field, reason))
            }
            None => Ok(()),
        }
    }

    /// The buffer in bytes, if it can be computed: packets count as 1500 bytes, and multiples of the BDP and times need
    /// a rate.
    pub fn buffer_bytes(&self) -> Option<Bytes> {
        self.data.buffer_bytes(self.rtt)
    }

    /// The direction of ACKs, with the path's settings for it.
    pub fn acks(&self) -> LinkSpec {
        let mut link = self.uplink.clone();
        if self.ack_loss != Ratio::ZERO {
            link.effects.loss = Loss::Independent(self.ack_loss);
        }
        link.effects.aggregation = link.effects.aggregation.or(self.aggregation);
        let rtts = self
            .data
            .changes
            .iter()
            .filter(|change| change.rtt.is_some());
        link.changes.extend(rtts.map(|change| ChangeSpec {
            at: change.at,
            rtt: change.rtt,
            ..ChangeSpec::default()
        }));
        link
    }

    /// The propagation delay of the direction of data, for this round-trip time; that of ACKs is the rest. When the
    /// round-trip time changes, both directions keep their shares of it.
    pub fn forward(&self, rtt: Duration) -> Duration {
        match self.forward_delay {
            Some(forward) if !self.rtt.is_zero() => {
                let nanos = u128::from(rtt.as_nanos()) * u128::from(forward.as_nanos());
                let nanos = nanos / u128::from(self.rtt.as_nanos());
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(rtt)
            }
            _ => rtt / 2,
        }
    }

    /// True if the path has no effect on packets.
    pub fn is_transparent(&self) -> bool {
        *self == PathSpec::default()
    }
}
