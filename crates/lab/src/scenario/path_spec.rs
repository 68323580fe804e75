//! What the path is: `[path]`, and the path options of commands.

use std::path::PathBuf;

use path::{Aggregation, GilbertElliott, Jitter, Loss, Policer, Reorder};
use units::{Bytes, Duration, Rate, Ratio};

use super::buffer::BufferSpec;
use super::error::ScenarioError;
use super::value::{self, Value};

/// The largest packet that a path is asked to carry: its buffer must hold at least one.
pub(crate) const PACKET: Bytes = path::MTU;

/// A path as people describe it: one bottleneck for data, its RTprop, and what else happens to packets.
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
            ack_loss: Ratio::ZERO,
            jitter: None,
            reorder: None,
            duplicate: Ratio::ZERO,
            policer: None,
            aggregation: None,
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
    pub const KEYS: [&str; 13] = [
        "rate",
        "rtt",
        "buffer",
        "loss",
        "ack_loss",
        "jitter",
        "reorder",
        "duplicate",
        "policer",
        "aggregation",
        "change",
        "trace",
        "queue",
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
        self.check_fields().map_err(|error| error.within("path"))
    }

    fn check_fields(&self) -> Result<(), ScenarioError> {
        let wrong = |field: &str, reason: &str| Err(ScenarioError::new(field, reason));
        if self.rate.is_some() && self.trace.is_some() {
            return wrong("trace", "the path has a rate already; give one of the two");
        }
        match (self.buffer, self.buffer_bytes()) {
            (Some(buffer), None) => {
                let reason = format!("{buffer} needs path.rate; give one, or a size such as 250kb");
                return wrong("buffer", &reason);
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
                return wrong("buffer", &reason);
            }
            _ => {}
        }
        for (index, change) in self.changes.iter().enumerate() {
            let field = format!("change[{index}].rate");
            if change.rate.is_some() && self.rate.is_none() {
                return wrong(&field, "there is no path.rate to change; give one");
            }
        }
        Ok(())
    }

    /// The buffer in bytes, if it has a size that can be told: packets count as 1500 bytes, multiples of the BDP and
    /// times need a rate.
    pub fn buffer_bytes(&self) -> Option<Bytes> {
        match self.buffer? {
            BufferSpec::Bytes(bytes) => Some(bytes),
            BufferSpec::Packets(packets) => Some(PACKET * packets),
            BufferSpec::Time(span) => Some(self.rate?.bytes_in(span)),
            BufferSpec::Bdp { thousandths } => {
                let bdp = u128::from(self.rate?.bytes_in(self.rtt).get());
                let bytes = bdp * u128::from(thousandths) / 1000;
                Some(Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX)))
            }
        }
    }

    /// Whether packets cross the path as if it were not there.
    pub fn is_transparent(&self) -> bool {
        *self == PathSpec::default()
    }

    /// Sets the field `key`; the error's field is relative to it.
    pub(crate) fn assign(&mut self, key: &str, value: &Value) -> Result<(), ScenarioError> {
        match key {
            "rate" => self.rate = Some(positive_rate(value)?),
            "rtt" => self.rtt = value.parse()?,
            "buffer" => self.buffer = Some(value.parse()?),
            "loss" => self.loss = loss(value)?,
            "ack_loss" => self.ack_loss = probability(value)?,
            "jitter" => self.jitter = Some(jitter(value)?),
            "reorder" => self.reorder = Some(reorder(value)?),
            "duplicate" => self.duplicate = probability(value)?,
            "policer" => self.policer = Some(policer(value)?),
            "aggregation" => self.aggregation = Some(aggregation(value)?),
            "trace" => self.trace = Some(PathBuf::from(value.text("the name of a file")?)),
            "change" => match value {
                Value::List(changes) => self.changes = value::items(changes, change)?,
                one => self.changes.push(change(one)?),
            },
            "queue" => match value.text("droptail")? {
                "droptail" => {}
                _ => return Err(value.wrong("is no known queue; known: droptail")),
            },
            _ => return Err(ScenarioError::unknown_key(key, &PathSpec::KEYS)),
        }
        Ok(())
    }
}

fn positive_rate(value: &Value) -> Result<Rate, ScenarioError> {
    let rate: Rate = value.parse()?;
    if rate.is_zero() {
        return Err(value.wrong("makes no sense; give a rate such as 20mbit"));
    }
    Ok(rate)
}

fn positive_time(value: &Value) -> Result<Duration, ScenarioError> {
    let span: Duration = value.parse()?;
    if span.is_zero() {
        return Err(value.wrong("makes no sense; give a time such as 10ms"));
    }
    Ok(span)
}

fn probability(value: &Value) -> Result<Ratio, ScenarioError> {
    let text = value.text("a share such as 1%")?;
    // More than 100 % deserves a better answer than "not a share", however much it is.
    let percent = text.trim().strip_suffix('%').map(str::trim_end);
    let number = percent.unwrap_or(text).parse::<f64>().unwrap_or(0.0);
    if number > if percent.is_some() { 100.0 } else { 1.0 } {
        return Err(value.wrong("is more than 100%"));
    }
    value.parse()
}

fn loss(value: &Value) -> Result<Loss, ScenarioError> {
    if let Value::Scalar(_) = value {
        return probability(value).map(independent);
    }
    let example = "{ kind = \"gilbert\", p = \"1%\", r = \"30%\" }";
    let fields = value.fields(example, &["kind", "p", "r", "loss_good", "loss_bad"])?;
    fields.required("kind", |kind| match kind.text("gilbert")? {
        "gilbert" => Ok(()),
        _ => Err(kind.wrong("is no known kind of loss; known: gilbert")),
    })?;
    Ok(Loss::GilbertElliott(GilbertElliott {
        p: fields.required("p", probability)?,
        r: fields.required("r", probability)?,
        loss_good: fields
            .optional("loss_good", probability)?
            .unwrap_or(Ratio::ZERO),
        loss_bad: fields
            .optional("loss_bad", probability)?
            .unwrap_or(Ratio::ONE),
    }))
}

/// Loss with one probability for all packets; none if it is zero.
pub(crate) fn independent(loss: Ratio) -> Loss {
    match loss == Ratio::ZERO {
        true => Loss::None,
        false => Loss::Independent(loss),
    }
}

fn jitter(value: &Value) -> Result<Jitter, ScenarioError> {
    if let Value::Scalar(_) = value {
        let up_to = positive_time(value)?;
        return Ok(Jitter {
            up_to,
            reorders: false,
        });
    }
    let example = "{ up_to = \"5ms\", reorders = true }";
    let fields = value.fields(example, &["up_to", "reorders"])?;
    Ok(Jitter {
        up_to: fields.required("up_to", positive_time)?,
        reorders: fields.optional("reorders", Value::parse)?.unwrap_or(false),
    })
}

fn reorder(value: &Value) -> Result<Reorder, ScenarioError> {
    let example = "{ share = \"1%\", by = \"10ms\" }";
    let fields = value.fields(example, &["share", "by"])?;
    Ok(Reorder {
        share: fields.required("share", probability)?,
        by: fields.required("by", positive_time)?,
    })
}

fn policer(value: &Value) -> Result<Policer, ScenarioError> {
    let example = "{ rate = \"10mbit\", burst = \"100kb\" }";
    let fields = value.fields(example, &["rate", "burst"])?;
    Ok(Policer {
        rate: fields.required("rate", positive_rate)?,
        burst: fields.required("burst", |value| {
            let burst: Bytes = value.parse()?;
            match burst < PACKET {
                true => Err(value.wrong("is smaller than one packet (1500 bytes)")),
                false => Ok(burst),
            }
        })?,
    })
}

fn aggregation(value: &Value) -> Result<Aggregation, ScenarioError> {
    let fields = value.fields("{ interval = \"10ms\" }", &["interval"])?;
    Ok(Aggregation {
        interval: fields.required("interval", positive_time)?,
    })
}

fn change(value: &Value) -> Result<ChangeSpec, ScenarioError> {
    let example = "{ at = \"20s\", rate = \"20mbit\" }";
    let fields = value.fields(example, &["at", "rate", "rtt"])?;
    let change = ChangeSpec {
        at: fields.required("at", Value::parse)?,
        rate: fields.optional("rate", positive_rate)?,
        rtt: fields.optional("rtt", Value::parse)?,
    };
    if change.rate.is_none() && change.rtt.is_none() {
        return Err(ScenarioError::new("", "changes nothing; give rate or rtt"));
    }
    Ok(change)
}
