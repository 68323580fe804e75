//! What the path is: `[path]`, and the path options of commands.

use std::path::PathBuf;

use path::{Aggregation, Discipline, Jitter, Loss, LossAt, Policer, Reorder};
use units::{Bytes, Duration, Rate, Ratio};

use super::buffer::BufferSpec;
use super::error::ScenarioError;
use super::fields;
use super::link_spec::LinkSpec;
use super::value::{self, Value};

/// A path as people describe it: one bottleneck for data, its RTprop, and what else happens to
/// packets, in both directions.
///
/// The default is a path that does nothing at all. Fields are set from text, in a scenario's `[path]` as in a command's
/// options, by [`PathSpec::set`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathSpec {
    /// `rate`: the bottleneck's rate; unlimited if not given.
    pub rate: Option<Rate>,
    /// `trace`: a file of delivery opportunities in Mahimahi's format, instead of a rate.
    pub trace: Option<PathBuf>,
    /// `rtt`: RTprop, the two-way propagation delay; half of it each way.
    pub rtt: Duration,
    /// `buffer`: the bottleneck's buffer; unlimited if not given.
    pub buffer: Option<BufferSpec>,
    /// `loss`: random loss of data packets, independent (`"1%"`) or in bursts
    /// (`{ kind = "gilbert", p = "1%", r = "30%" }`, with `loss_good` = 0 and `loss_bad` = 1 if not given).
    pub loss: Loss,
    /// `loss_at`: whether that is before the bottleneck (`"entry"`) or behind it (`"exit"`).
    pub loss_at: LossAt,
    /// `ack_loss`: independent loss of ACKs.
    pub ack_loss: Ratio,
    /// `jitter`: delay that varies from one data packet to the next: `"5ms"` at most, or with overtaking
    /// `{ up_to = "5ms", reorders = true }`.
    pub jitter: Option<Jitter>,
    /// `reorder`: data packets that are held back, so that later ones overtake them: `{ share = "1%", by = "10ms" }`.
    pub reorder: Option<Reorder>,
    /// `duplicate`: the share of data packets that arrive twice.
    pub duplicate: Ratio,
    /// `policer`: a token bucket that drops what exceeds it: `{ rate = "10mbit", burst = "100kb" }`.
    pub policer: Option<Policer>,
    /// `aggregation`: ACKs that are held and released together: `{ interval = "10ms" }`.
    pub aggregation: Option<Aggregation>,
    /// `queue`: who waits at the bottleneck, who goes, who is dropped or marked.
    pub queue: Discipline,
    /// `uplink`: what the direction of ACKs has of its own; its loss may also be given as `ack_loss`, its aggregation as
    /// `aggregation`.
    pub uplink: LinkSpec,
    /// `change`: what changes, and when.
    pub changes: Vec<ChangeSpec>,
}

impl Default for PathSpec {
    fn default() -> PathSpec {
        PathSpec {
            rate: None,
            trace: None,
            rtt: Duration::ZERO,
            buffer: None,
            loss: Loss::None,
            loss_at: LossAt::default(),
            ack_loss: Ratio::ZERO,
            jitter: None,
            reorder: None,
            duplicate: Ratio::ZERO,
            policer: None,
            aggregation: None,
            queue: Discipline::default(),
            uplink: LinkSpec::default(),
            changes: Vec::new(),
        }
    }
}

/// A change of the path: `[[path.change]]` with `at`, and `rate`, `rtt` or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangeSpec {
    /// `at`: when, from the start of the run.
    pub at: Duration,
    /// `rate`: the bottleneck's new rate.
    pub rate: Option<Rate>,
    /// `rtt`: the new RTprop.
    pub rtt: Option<Duration>,
}

impl PathSpec {
    /// The fields of `[path]`; each is also a path option of commands (`--ack-loss` for `ack_loss`).
    pub const KEYS: [&str; 15] = [
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

    /// Whether the fields make sense together.
    ///
    /// # Errors
    ///
    /// They do not; the error's field is the one to mend.
    pub fn check(&self) -> Result<(), ScenarioError> {
        self.check_fields("path")
            .map_err(|error| error.within("path"))
    }

    /// As [`PathSpec::check`]; the error's field is relative to the path, and `name` is what the path is called.
    pub(crate) fn check_fields(&self, name: &str) -> Result<(), ScenarioError> {
        let wrong = |field: &str, reason: &str| Err(ScenarioError::new(field, reason));
        self.data().check(self.rtt, &format!("{name}.rate"))?;
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
        for (index, change) in self.changes.iter().enumerate() {
            let field = format!("change[{index}].rate");
            if change.rate.is_some() && self.rate.is_none() {
                let reason = format!("there is no {name}.rate to change; give one");
                return wrong(&field, &reason);
            }
        }
        Ok(())
    }

    /// The buffer in bytes, if it has a size that can be told: packets count as 1500 bytes, multiples of the BDP and
    /// times need a rate.
    pub fn buffer_bytes(&self) -> Option<Bytes> {
        self.data().buffer_bytes(self.rtt)
    }

    /// The direction of data.
    pub(crate) fn data(&self) -> LinkSpec {
        LinkSpec {
            rate: self.rate,
            trace: self.trace.clone(),
            buffer: self.buffer,
            queue: self.queue,
            loss: self.loss,
            loss_at: self.loss_at,
            jitter: self.jitter,
            reorder: self.reorder,
            duplicate: self.duplicate,
            policer: self.policer,
            aggregation: None,
        }
    }

    /// The direction of ACKs.
    pub(crate) fn acks(&self) -> LinkSpec {
        let mut link = self.uplink.clone();
        if self.ack_loss != Ratio::ZERO {
            link.loss = Loss::Independent(self.ack_loss);
        }
        link.aggregation = link.aggregation.or(self.aggregation);
        link
    }

    /// Reads one `[[path.next]]`; the error's field is relative to it.
    pub(crate) fn read(value: &Value) -> Result<PathSpec, ScenarioError> {
        let mut path = PathSpec::default();
        for entry in value.entries("a table such as [[path.next]] with rate = \"50mbit\"")? {
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
    pub(crate) fn assign(&mut self, key: &str, value: &Value) -> Result<(), ScenarioError> {
        match key {
            "rate" => self.rate = Some(value.positive_rate()?),
            "rtt" => self.rtt = value.parse()?,
            "buffer" => self.buffer = Some(value.parse()?),
            "loss" => self.loss = fields::loss(value)?,
            "loss_at" => self.loss_at = fields::loss_at(value)?,
            "ack_loss" => self.ack_loss = value.share()?,
            "jitter" => self.jitter = Some(fields::jitter(value)?),
            "reorder" => self.reorder = Some(fields::reorder(value)?),
            "duplicate" => self.duplicate = value.share()?,
            "policer" => self.policer = Some(fields::policer(value)?),
            "aggregation" => self.aggregation = Some(fields::aggregation(value)?),
            "trace" => self.trace = Some(PathBuf::from(value.text("the name of a file")?)),
            "change" => match value {
                Value::List(changes) => self.changes = value::items(changes, change)?,
                one => self.changes.push(change(one)?),
            },
            "queue" => self.queue = fields::queue(value)?,
            "uplink" => self.uplink = LinkSpec::read(value)?,
            _ => return Err(ScenarioError::unknown_key(key, &PathSpec::KEYS)),
        }
        Ok(())
    }
}

pub(crate) const CHANGE: [&str; 3] = ["at", "rate", "rtt"];

fn change(value: &Value) -> Result<ChangeSpec, ScenarioError> {
    let example = "{ at = \"20s\", rate = \"20mbit\" }";
    let fields = value.fields(example, &CHANGE)?;
    let change = ChangeSpec {
        at: fields.required("at", Value::parse)?,
        rate: fields.optional("rate", Value::positive_rate)?,
        rtt: fields.optional("rtt", Value::parse)?,
    };
    if change.rate.is_none() && change.rtt.is_none() {
        return Err(ScenarioError::new("", "changes nothing; give rate or rtt"));
    }
    Ok(change)
}
