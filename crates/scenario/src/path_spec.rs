//! What the path is: `[path]`, and the path options of commands.

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

/// A path as people describe it: one bottleneck for data, its RTprop, and what else happens to
/// packets, in both directions.
///
/// The default is a path that does nothing at all. Fields are set from text, in a scenario's `[path]` as in a command's
/// options, by [`PathSpec::set`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as [path] with rate = \"50mbit\""
)]
pub struct PathSpec {
    /// The direction of data, whose fields are `[path]`'s own: `rate`, `buffer`, `loss` and so on, but not `aggregation`:
    /// the path's is of ACKs.
    #[serde(rename = "*")]
    pub data: LinkSpec,
    /// `rtt`: RTprop, the two-way propagation delay; half of it each way, unless `forward_delay` says otherwise.
    pub rtt: Duration,
    /// `forward_delay`: the part of `rtt` that is on the way of data; half of it if not given.
    pub forward_delay: Option<Duration>,
    /// `ack_loss`: independent loss of ACKs.
    #[serde(deserialize_with = "lost_share", skip_serializing_if = "is_default")]
    pub ack_loss: Ratio,
    /// `aggregation`: ACKs that are held and released together: `{ interval = "10ms" }`.
    pub aggregation: Option<Aggregation>,
    /// `uplink`: what the direction of ACKs has of its own; its loss may also be given as `ack_loss`, its aggregation as
    /// `aggregation`.
    #[serde(skip_serializing_if = "is_default")]
    pub uplink: LinkSpec,
}

impl PathSpec {
    /// Sets the field `key` from an option's text, such as `2%` for `loss`. A table is written `key=value,key=value`
    /// (`rate=10mbit,burst=100kb` for `policer`); each text for `change` adds one change.
    ///
    /// Fields that depend on each other are checked by [`PathSpec::check`], when all are set.
    ///
    /// # Errors
    ///
    /// The key is unknown, or the text is not a sensible value for it. The error's field is `path.` and the key.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), DocumentError> {
        self.set_to(key, Node::from_option(text))
    }

    /// As [`PathSpec::set`], with a value; a list adds all its changes.
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

    /// Whether these keys, all that are given of a path, make sense together whatever their values.
    ///
    /// # Errors
    ///
    /// One has no effect without another; the error's field is `path.` and its key.
    pub fn check_given(keys: &[&str]) -> Result<(), DocumentError> {
        LinkSpec::check_given(keys.iter().copied()).map_err(|error| error.within("path"))
    }

    /// Whether the fields make sense together.
    ///
    /// # Errors
    ///
    /// They do not, or one has no effect without another; the error's field is the one to mend.
    pub fn check(&self) -> Result<(), DocumentError> {
        self.check_fields("path")
            .map_err(|error| error.within("path"))
    }

    /// As [`PathSpec::check`]; the error's field is relative to the path, and `name` is what the path is called.
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

    /// Whether anything passes, in both directions.
    ///
    /// # Errors
    ///
    /// All is lost at random or corrupted; the error's field is the loss or the corruption.
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

    /// The buffer in bytes, if it has a size that can be told: packets count as 1500 bytes, multiples of the BDP and
    /// times need a rate.
    pub fn buffer_bytes(&self) -> Option<Bytes> {
        self.data.buffer_bytes(self.rtt)
    }

    /// The direction of ACKs, with what the path says of it.
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

    /// The propagation delay of the direction of data, of so long a round trip; that of ACKs is the rest. When the round trip
    /// changes, both directions keep their shares of it.
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

    /// True if packets cross the path as if it were not there.
    pub fn is_transparent(&self) -> bool {
        *self == PathSpec::default()
    }
}
