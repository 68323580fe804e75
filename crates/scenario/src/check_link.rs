//! Checks of a link.

use document::tree::{self, Node};
use document::{DocumentError, Reason};
use path::{Capacity, Discipline, MTU};
use units::Duration;

use super::buffer::BufferSpec;
use super::change::ChangeSpec;
use super::link_spec::LinkSpec;

impl LinkSpec {
    /// Checks that these keys, all that are given of a link, are consistent whatever their values. With a `loss` of 0
    /// %, which may be one of several values of a sweep, `loss_at` is no mistake.
    pub(crate) fn check_given<'k>(
        mut keys: impl Iterator<Item = &'k str> + Clone,
    ) -> Result<(), DocumentError> {
        let has_place = keys.clone().any(|key| key == "loss_at");
        if has_place && !keys.any(|key| key == "loss") {
            Err(DocumentError::new(
                "loss_at",
                "has no effect without loss; give a loss such as 1%",
            ))
        } else {
            Ok(())
        }
    }

    /// Does as [`LinkSpec::check_given`] for every table in the value.
    pub(crate) fn check_places(value: &Node) -> Result<(), DocumentError> {
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

    /// Checks that the fields are consistent, on a path with this RTprop; `name` is the name of `rate` in errors.
    pub(crate) fn check(&self, rtt: Duration, name: &str) -> Result<(), DocumentError> {
        self.effects.validate()?;
        if self.rate.is_some() && self.trace.is_some() {
            let reason = "the path has a rate already; give one of the two";
            return Err(DocumentError::new("trace", reason));
        }
        self.check_demand(name)?;
        self.check_changes(name)?;
        self.check_effect(name)?;
        self.check_queue(rtt)?;
        self.check_buffer(rtt, name)?;
        let capacity = self.rate.map_or(Capacity::Unlimited, Capacity::Rate);
        self.settings(rtt, |rtt| rtt, capacity).map(drop)
    }

    /// Checks that there is a rate for the cell to grant.
    fn check_demand(&self, name: &str) -> Result<(), DocumentError> {
        let Some(demand) = self.effects.demand else {
            return Ok(());
        };
        let (field, reason) = match self.rate {
            Some(rate) if rate < demand.least => {
                let reason = Reason::of(demand.least).words(" is above ").field(name);
                let fix = format!(" of {rate}; give a lower one");
                ("demand.least", reason.words(fix))
            }
            Some(_) => return Ok(()),
            None if self.trace.is_some() => {
                let reason = "a trace sets the rate; leave one of the two out";
                ("demand", reason.into())
            }
            None => {
                let reason = Reason::from("needs ").field(name);
                let fix = ", the most that the cell can give; give one";
                ("demand", reason.words(fix))
            }
        };
        Err(DocumentError::new(field, reason))
    }

    /// Checks that each change applies to a setting of the link.
    fn check_changes(&self, name: &str) -> Result<(), DocumentError> {
        let place = |is: fn(&ChangeSpec) -> bool| self.changes.iter().position(is);
        let is_none = |change: &ChangeSpec| {
            change.rate.is_none() && change.rtt.is_none() && change.mtu.is_none()
        };
        if let Some(index) = place(is_none) {
            let reason = "changes nothing; give rate, rtt or mtu";
            return Err(DocumentError::new(format!("change[{index}]"), reason));
        }
        let is_rate_changed = place(|change| change.rate.is_some());
        if let (None, Some(index)) = (self.rate, is_rate_changed) {
            let reason = Reason::from("there is no ").field(name);
            let reason = reason.words(" to change; give one");
            return Err(DocumentError::new(format!("change[{index}].rate"), reason));
        }
        Ok(())
    }

    /// Checks that there is a bottleneck for each setting that needs one.
    fn check_effect(&self, name: &str) -> Result<(), DocumentError> {
        if self.has_bottleneck() {
            return Ok(());
        }
        let queue = self.effects.queue;
        let (field, value) = match self.buffer {
            Some(buffer) => ("buffer", buffer.to_string()),
            None if queue != Discipline::DropTail => ("queue", queue.name().to_string()),
            None => return Ok(()),
        };
        let reason = Reason::of(value).words(" has no effect without ");
        let fix = " or a trace; give one of the two";
        Err(DocumentError::new(field, reason.field(name).words(fix)))
    }

    /// Checks that the queue's thresholds are within the buffer.
    fn check_queue(&self, rtt: Duration) -> Result<(), DocumentError> {
        let queue = self.effects.queue;
        match (queue, self.buffer_bytes(rtt)) {
            (Discipline::Red(red), Some(buffer)) if red.min > buffer => {
                let reason = format!(
                    " begins at {}, beyond the buffer of {buffer}; give a smaller size, or a larger buffer",
                    red.min
                );
                let reason = Reason::of(queue.name()).words(reason);
                Err(DocumentError::new("queue", reason))
            }
            _ => Ok(()),
        }
    }

    /// Checks that the buffer has a size, and room for a packet.
    fn check_buffer(&self, rtt: Duration, name: &str) -> Result<(), DocumentError> {
        let Some(buffer) = self.buffer else {
            return Ok(());
        };
        let value = Reason::of(buffer);
        let reason = match self.buffer_bytes(rtt) {
            None => {
                let needed = value.words(" needs ").field(name);
                needed.words("; give one, or a size such as 250kb")
            }
            Some(bytes) if bytes < MTU => {
                let size = match (buffer, self.rate) {
                    (BufferSpec::Bytes(_), _) => String::new(),
                    (BufferSpec::Bdp { .. }, Some(rate)) => {
                        format!(" at {rate} and {rtt} is {bytes}, which")
                    }
                    (BufferSpec::Time(_), Some(rate)) => format!(" at {rate} is {bytes}, which"),
                    _ => format!(" is {bytes}, which"),
                };
                value.words(format!(
                    "{size} is smaller than one packet ({} bytes); give a larger one such as 100p",
                    MTU.get()
                ))
            }
            Some(_) => return Ok(()),
        };
        Err(DocumentError::new("buffer", reason))
    }
}
