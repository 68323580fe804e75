//! What the path is: `[path]`, and the path options of commands.

use path::{Aggregation, Loss};
use units::{Bytes, Duration, Ratio};

use super::change::ChangeSpec;
use super::error::ScenarioError;
use super::fields;
use super::link_spec::LinkSpec;
use super::value::Value;

/// A path as people describe it: one bottleneck for data, its RTprop, and what else happens to
/// packets, in both directions.
///
/// The default is a path that does nothing at all. Fields are set from text, in a scenario's `[path]` as in a command's
/// options, by [`PathSpec::set`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PathSpec {
    /// `rtt`: RTprop, the two-way propagation delay; half of it each way.
    pub rtt: Duration,
    /// The direction of data, whose fields are `[path]`'s own: `rate`, `buffer`, `loss` and so on, but not `aggregation`:
    /// the path's is of ACKs.
    pub data: LinkSpec,
    /// `ack_loss`: independent loss of ACKs.
    pub ack_loss: Ratio,
    /// `aggregation`: ACKs that are held and released together: `{ interval = "10ms" }`.
    pub aggregation: Option<Aggregation>,
    /// `uplink`: what the direction of ACKs has of its own; its loss may also be given as `ack_loss`, its aggregation as
    /// `aggregation`.
    pub uplink: LinkSpec,
}

impl PathSpec {
    /// The fields of `[path]`; each is also a path option of commands (`--ack-loss` for `ack_loss`).
    pub const KEYS: [&str; 16] = [
        "rate",
        "rtt",
        "buffer",
        "loss",
        "loss_at",
        "ack_loss",
        "jitter",
        "reorder",
        "duplicate",
        "policer",
        "demand",
        "aggregation",
        "change",
        "trace",
        "queue",
        "uplink",
    ];

    /// Sets the field `key` from an option's text, such as `2%` for `loss`. A table is written `key=value,key=value`
    /// (`rate=10mbit,burst=100kb` for `policer`); each text for `change` adds one change.
    ///
    /// Fields that depend on each other are checked by [`PathSpec::check`], when all are set.
    ///
    /// # Errors
    ///
    /// The key is unknown, or the text is not a sensible value for it. The error's field is `path.` and the key.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), ScenarioError> {
        self.assign(key, &Value::from_option(text))
            .map_err(|error| error.within(key).within("path"))
    }

    /// Whether these keys, all that are given of a path, make sense together whatever their values.
    ///
    /// # Errors
    ///
    /// One has no effect without another; the error's field is `path.` and its key.
    pub fn check_given(keys: &[&str]) -> Result<(), ScenarioError> {
        LinkSpec::check_given(keys.iter().copied()).map_err(|error| error.within("path"))
    }

    /// Whether the fields make sense together.
    ///
    /// # Errors
    ///
    /// They do not, or one has no effect without another; the error's field is the one to mend.
    pub fn check(&self) -> Result<(), ScenarioError> {
        self.check_fields("path")
            .map_err(|error| error.within("path"))
    }

    /// As [`PathSpec::check`]; the error's field is relative to the path, and `name` is what the path is called.
    pub fn check_fields(&self, name: &str) -> Result<(), ScenarioError> {
        let wrong = |field: &str, reason: &str| Err(ScenarioError::new(field, reason));
        self.data.check(self.rtt, &format!("{name}.rate"))?;
        let uplink = self.uplink.check(self.rtt, &format!("{name}.uplink.rate"));
        uplink.map_err(|error| error.within("uplink"))?;
        if self.ack_loss != Ratio::ZERO && self.uplink.loss != Loss::None {
            return wrong(
                "uplink.loss",
                "there is an ack_loss already; give one of the two",
            );
        }
        if self.aggregation.is_some() && self.uplink.aggregation.is_some() {
            return wrong(
                "uplink.aggregation",
                "there is an aggregation of ACKs already; give one of the two",
            );
        }
        let has_rtt = |change: &ChangeSpec| change.rtt.is_some();
        if let Some(index) = self.uplink.changes.iter().position(has_rtt) {
            let reason = format!("the RTprop is the whole path's; give {name}.change this rtt");
            return wrong(&format!("uplink.change[{index}].rtt"), &reason);
        }
        if self.data.aggregation.is_some() {
            return wrong("aggregation", "is of ACKs; there is none of data");
        }
        Ok(())
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
            link.loss = Loss::Independent(self.ack_loss);
        }
        link.aggregation = link.aggregation.or(self.aggregation);
        let rtts = self
            .data
            .changes
            .iter()
            .filter(|change| change.rtt.is_some());
        link.changes.extend(rtts.map(|change| ChangeSpec {
            rate: None,
            ..*change
        }));
        link
    }

    /// Reads one `[[path.next]]`; the error's field is relative to it.
    pub fn read(value: &Value) -> Result<PathSpec, ScenarioError> {
        let mut path = PathSpec::default();
        let entries = value.entries("a table such as [[path.next]] with rate = \"50mbit\"")?;
        LinkSpec::check_given(entries.iter().map(|entry| entry.key.as_str()))?;
        for entry in entries {
            let assigned = path.assign(&entry.key, &entry.value);
            assigned.map_err(|error| error.within(&entry.key))?;
        }
        Ok(path)
    }

    /// Whether packets cross the path as if it were not there.
    pub fn is_transparent(&self) -> bool {
        *self == PathSpec::default()
    }

    /// Sets the field `key`; the error's field is relative to it.
    pub fn assign(&mut self, key: &str, value: &Value) -> Result<(), ScenarioError> {
        match key {
            "rtt" => self.rtt = value.parse()?,
            "ack_loss" => self.ack_loss = value.share()?,
            "aggregation" => self.aggregation = Some(fields::aggregation(value)?),
            "uplink" => self.uplink = LinkSpec::read(value)?,
            key if LinkSpec::KEYS.contains(&key) => self.data.assign(key, value)?,
            _ => return Err(ScenarioError::unknown_key(key, &PathSpec::KEYS)),
        }
        Ok(())
    }
}
