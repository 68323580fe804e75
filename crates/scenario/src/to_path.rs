//! A path as people describe it, turned into what `path` runs; and what it allows.

use std::fmt;
use std::io::Read;
use std::path::Path;

use path::{Buffer, Capacity, Change, LinkConfig, PathConfig, Trace};
use units::{Bytes, Duration, Rate, Time};

use super::buffer::BufferSpec;
use super::error::ScenarioError;
use super::link_spec::LinkSpec;
use super::path_spec::PathSpec;
use super::scenario::hop_name;
use crate::regular;

/// An hour at 100 Mbit/s is about 240 MB of text; what is larger is probably no trace.
const MAX_TRACE: u64 = 1 << 28;

impl PathSpec {
    /// The path for an engine: half of the RTprop on each direction, the bottleneck and its like on the direction of
    /// data, ACK loss and aggregation on the other. Reads the trace, if there is one.
    ///
    /// # Errors
    ///
    /// The fields make no sense together, or the trace cannot be read.
    pub fn config(&self) -> Result<PathConfig, ScenarioError> {
        self.config_at(0)
    }

    /// As [`PathSpec::config`], of the hop at this place of a chain.
    pub fn config_at(&self, place: usize) -> Result<PathConfig, ScenarioError> {
        let name = hop_name(place);
        self.config_of(&name).map_err(|error| error.within(&name))
    }

    fn config_of(&self, name: &str) -> Result<PathConfig, ScenarioError> {
        self.check_fields(name)?;
        let data = self.data.config(self.rtt, there)?;
        let acks = self.acks().config(self.rtt, back);
        Ok(PathConfig {
            forward: data,
            reverse: acks.map_err(|error| error.within("uplink"))?,
        })
    }

    /// The RTprop at a time.
    pub fn rtt_at(&self, at: Duration) -> Duration {
        let latest = self
            .data
            .changes
            .iter()
            .filter(|change| change.at <= at && change.rtt.is_some())
            .max_by_key(|change| change.at);
        latest.and_then(|change| change.rtt).unwrap_or(self.rtt)
    }
}

impl LinkSpec {
    /// The rate at a time, if the link has one.
    pub fn rate_at(&self, at: Duration) -> Option<Rate> {
        let latest = self
            .changes
            .iter()
            .filter(|change| change.at <= at && change.rate.is_some())
            .max_by_key(|change| change.at);
        latest.map_or(self.rate, |change| change.rate)
    }

    /// What can be transmitted between two times, if the link has a rate.
    pub fn capacity(&self, from: Duration, to: Duration) -> Option<Bytes> {
        let mut changes: Vec<_> = self.changes.iter().collect();
        changes.sort_by_key(|change| change.at);
        let (mut rate, mut start, mut sum) = (self.rate, from, Bytes::ZERO);
        for change in changes.into_iter().take_while(|change| change.at < to) {
            if from < change.at {
                sum += rate?.bytes_in(change.at.saturating_sub(start));
                start = change.at;
            }
            rate = change.rate.or(rate);
        }
        Some(sum + rate?.bytes_in(to.saturating_sub(start)))
    }

    /// The most that policer and rate let through between two times, if the link has either. The policer's bucket
    /// counts as full at the first.
    pub fn admitted(&self, from: Duration, to: Duration) -> Option<Bytes> {
        let policed = self
            .effects
            .policer
            .map(|policer| policer.burst + policer.rate.bytes_in(to.saturating_sub(from)));
        let limits = [self.capacity(from, to), policed];
        limits.into_iter().flatten().min()
    }

    /// The link for an engine, on a path with this RTprop, of which its delay is a `part`. Reads the trace, if there is
    /// one.
    fn config(
        &self,
        rtt: Duration,
        part: fn(Duration) -> Duration,
    ) -> Result<LinkConfig, ScenarioError> {
        let capacity = match (&self.trace, self.rate) {
            (Some(file), _) => Capacity::Trace(read_trace(file)?),
            (None, Some(rate)) => Capacity::Rate(rate),
            (None, None) => Capacity::Unlimited,
        };
        self.settings(rtt, part, capacity)
    }

    /// As [`LinkSpec::config`], with this capacity.
    pub(super) fn settings(
        &self,
        rtt: Duration,
        part: fn(Duration) -> Duration,
        capacity: Capacity,
    ) -> Result<LinkConfig, ScenarioError> {
        let mut changes = self.changes.clone();
        changes.sort_by_key(|change| change.at);
        let changes = changes.iter().map(|change| Change {
            at: Time::ZERO + change.at,
            rate: change.rate,
            delay: change.rtt.map(part),
        });
        let link = LinkConfig {
            delay: part(rtt),
            capacity,
            buffer: match (self.buffer, self.buffer_bytes(rtt)) {
                (Some(BufferSpec::Packets(packets)), _) => Buffer::Packets(packets),
                (Some(_), Some(bytes)) => Buffer::Bytes(bytes),
                _ => Buffer::Unlimited,
            },
            effects: self.effects,
            changes: changes.collect(),
        };
        link.validate()?;
        Ok(link)
    }
}

/// Half of a round trip.
fn there(rtt: Duration) -> Duration {
    rtt / 2
}

/// The other half: together exactly the whole.
fn back(rtt: Duration) -> Duration {
    rtt.saturating_sub(there(rtt))
}

fn read_trace(file: &Path) -> Result<Trace, ScenarioError> {
    let wrong = |reason: &dyn fmt::Display| {
        ScenarioError::new("trace", format!("{}: {reason}", file.display()))
    };
    let mut text = String::new();
    let opened = regular::open(file).map_err(|error| wrong(&error))?;
    // One byte more than allowed tells a file that is too large from one that just fits, whatever it is.
    opened
        .take(MAX_TRACE + 1)
        .read_to_string(&mut text)
        .map_err(|error| wrong(&error))?;
    if text.len() as u64 > MAX_TRACE {
        return Err(wrong(&"larger than 256 MiB; give a shorter trace"));
    }
    text.parse()
        .map_err(|error: path::TraceError| wrong(&error))
}
