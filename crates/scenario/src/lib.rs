//! What the path is and who sends over it, as plain data.
//!
//! A scenario is read from TOML ([`Scenario::from_str`], [`Scenario::load`]), with overrides such as `path.loss=2%`
//! ([`Draft`]), or built field by field. Whatever the way, a value is read by the same code and answered with the
//! same [`ScenarioError`].
//!
//! ```
//! use scenario::{Draft, Scenario};
//!
//! let text = r#"
//!     name = "light-loss"
//!     duration = "5s"
//!     path = { rate = "10mbit", rtt = "40ms", buffer = "4bdp", loss = "1%" }
//!     flow = [{ controller = "bbr1" }]
//! "#;
//! let mut draft = Draft::parse(text, ".".as_ref())?;
//! draft.set("path.rate", "20mbit")?;
//! let scenario: Scenario = draft.read()?;
//! assert_eq!(scenario.path.data.rate, Some("20mbit".parse()?));
//! // What makes no sense is answered with the line, the field and the reason.
//! let error = text.replace("1%", "101%").parse::<Scenario>().unwrap_err();
//! assert_eq!(error.field, "path.loss");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod app;
mod bbr1;
mod bounded;
pub mod bounds;
mod buffer;
mod change;
mod controller;
pub mod de;
mod draft;
mod error;
mod flow;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
mod hops;
mod host;
mod limit;
mod link_spec;
mod loss;
mod path_spec;
mod propagation;
mod queue;
pub mod regular;
mod ser;
mod to_path;
pub mod tree;

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use transport::segment::HEADERS;
use units::{Bytes, Duration};

pub use bbr1::{Bbr1Spec, Variant};
pub use buffer::{BufferError, BufferSpec};
pub use change::ChangeSpec;
pub use controller::{Controller, ControllerError, KernelController};
pub use draft::Draft;
pub use error::ScenarioError;
pub use error::nearest;

pub use flow::FlowSpec;
pub use hops::Hops;
pub use host::HostSpec;
pub use link_spec::LinkSpec;
pub use path_spec::PathSpec;
pub use queue::queue_kind;

use bounds::{is_default, positive};
use propagation::hop_name;
use tree::Entry;

/// Beyond it, memory is what a run measures.
const MAX_FLOWS: u64 = 100_000;

/// Beyond it there is no such chain.
const MAX_HOPS: usize = 64;

/// The most objects and frames that the applications of a group of flows begin: more take hours and are a mistake in a unit.
const MAX_APP_EVENTS: u64 = 100_000_000;

/// What the path is and who sends over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// `name`: what people call it.
    #[serde(default)]
    pub name: String,
    /// `duration`: when it ends at the latest; if not given, when every flow's `bytes` have arrived.
    #[serde(default, deserialize_with = "positive")]
    pub duration: Option<Duration>,
    /// `warmup`: how much of its beginning is left out of the summary.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warmup: Duration,
    /// `seed`: what every random choice of path and controllers derives from.
    #[serde(default = "one", serialize_with = "ser::whole")]
    pub seed: u64,
    /// `[path]`: the path, or the first hop of a chain.
    #[serde(default)]
    pub path: PathSpec,
    /// `[[path.next]]`: the hops behind it.
    #[serde(rename = "path.next", default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<PathSpec>,
    /// `[host]`: the hosts at both ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: HostSpec,
    /// `[[flow]]`: the flows, group by group.
    #[serde(rename = "flow", default)]
    pub flows: Vec<FlowSpec>,
}

impl Scenario {
    /// Reads the scenario in `file`. A trace's name is relative to the file's directory.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or what it says makes no sense.
    pub fn load(file: &Path) -> Result<Scenario, ScenarioError> {
        Draft::load(file)?.read()
    }

    /// Overrides the field `field` (`duration`, `path.loss`, `flow.0.bytes`) with an option's text, as [`Draft::set`]
    /// does. To override several that make sense only together, use a [`Draft`].
    ///
    /// # Errors
    ///
    /// There is no such field, or with this value the scenario makes no sense. It has not changed then.
    pub fn set(&mut self, field: &str, text: &str) -> Result<(), ScenarioError> {
        let overridden = || {
            let mut draft = Draft::parse(&self.to_string(), Path::new(""))?;
            draft.set(field, text)?;
            draft.read()
        };
        // A line would be one of a text that nobody has seen.
        *self = overridden().map_err(|error| ScenarioError {
            line: None,
            ..error
        })?;
        Ok(())
    }

    /// Every single flow, group by group, with the time of its start.
    pub fn each_flow(&self) -> impl Iterator<Item = (&FlowSpec, Duration)> {
        let flows = self.flows.iter();
        flows.flat_map(|flow| flow.starts().map(move |start| (flow, start)))
    }

    /// Whether the fields make sense together. Scenarios that were read are checked already.
    ///
    /// # Errors
    ///
    /// They do not; the error's field is the one to mend.
    pub fn check(&self) -> Result<(), ScenarioError> {
        let wrong = |field: &str, reason: &str| Err(ScenarioError::new(field, reason));
        for (place, hop) in self.hops().enumerate() {
            let name = hop_name(place);
            hop.check_fields(&name)
                .map_err(|error| error.within(&name))?;
        }
        if self.next.len() >= MAX_HOPS {
            return wrong("path.next", &format!("more than {MAX_HOPS} hops in all"));
        }
        if self.flows.is_empty() {
            return wrong(
                "flow",
                "nobody sends; add [[flow]] with controller = \"bbr1\"",
            );
        }
        let count = self
            .flows
            .iter()
            .fold(0, |sum: u64, flow| sum.saturating_add(flow.count));
        if count > MAX_FLOWS {
            return wrong(
                "flow.count",
                &format!("{count} flows are more than {MAX_FLOWS}"),
            );
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if flow.bytes.is_some() && flow.app != transport::app::Config::Bulk {
                let reason = "an application has sizes of its own; give one of bytes and app";
                return Err(self.flow_error(index, "bytes", reason));
            }
        }
        self.check_delays()?;
        self.check_hosts()?;
        let Some(duration) = self.duration else {
            return if self.flows.iter().any(FlowSpec::is_endless) {
                wrong("duration", "is missing; give one, or every flow its bytes")
            } else {
                Ok(())
            };
        };
        if self.warmup >= duration {
            let reason = format!("{} leaves nothing of a run of {duration}", self.warmup);
            return wrong("warmup", &reason);
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if flow.start >= duration {
                let reason = format!(
                    "{} is not before the end of a run of {duration}",
                    flow.start
                );
                return Err(self.flow_error(index, "start", &reason));
            }
            if let Some(last) = flow.starts().last().filter(|last| *last >= duration) {
                let reason = format!(
                    "{} has the last of {} flows start at {last}, which is not before the end of a run of {duration}",
                    flow.stagger, flow.count
                );
                return Err(self.flow_error(index, "stagger", &reason));
            }
            let lives = duration.saturating_sub(flow.start);
            if let Some((field, begun)) = app::begun_within(&flow.app, lives) {
                let events = begun.saturating_mul(flow.count);
                if events > MAX_APP_EVENTS {
                    let reason = format!(
                        "makes {events} objects in a run of {duration}, more than {MAX_APP_EVENTS}; give a larger {field}"
                    );
                    return Err(self.flow_error(index, &format!("app.{field}"), &reason));
                }
            }
        }
        Ok(())
    }

    fn read(entries: &[Entry]) -> Result<Scenario, ScenarioError> {
        if let Some(path) = entries.iter().find(|entry| entry.key == "path") {
            LinkSpec::check_places(&path.value).map_err(|error| error.within("path"))?;
        }
        let scenario: Scenario = de::read_entries(entries)?;
        if scenario.name.is_empty() {
            return Err(ScenarioError::new(
                "name",
                "is missing; give the scenario one",
            ));
        }
        scenario.check()?;
        Ok(scenario)
    }

    /// Whether packets fit where they have to go, and timeouts are in order.
    fn check_hosts(&self) -> Result<(), ScenarioError> {
        for (index, flow) in self.flows.iter().enumerate() {
            let host = flow.host.over(&self.host);
            let wrong = |own: bool, field: &str, reason: String| {
                if own {
                    self.flow_error(index, &format!("host.{field}"), &reason)
                } else {
                    ScenarioError::new(format!("host.{field}"), reason)
                }
            };
            if let (Some(min), Some(max)) = (host.min_rto, host.max_rto)
                && min > max
            {
                let reason = format!("{max} is shorter than min_rto, which is {min}");
                return Err(wrong(flow.host.max_rto.is_some(), "max_rto", reason));
            }
            let Some(mss) = host.mss else { continue };
            let packet = Bytes::new(mss) + HEADERS;
            for (place, hop) in self.crossed(flow) {
                let links = [("", &hop.data), (".uplink", &hop.uplink)];
                let is_small = |link: &LinkSpec| {
                    let bucket = link.policer.map(|policer| policer.burst);
                    let least = [link.buffer_bytes(hop.rtt), bucket].into_iter().flatten();
                    least.min().is_some_and(|least| least < packet)
                };
                if let Some((link, _)) = links.iter().find(|(_, link)| is_small(link)) {
                    let name = hop_name(place);
                    let reason = format!(
                        "{mss} makes packets of {packet}, which {name}{link} has no room for"
                    );
                    return Err(wrong(flow.host.mss.is_some(), "mss", reason));
                }
            }
        }
        Ok(())
    }
}

/// As TOML, such that reading it gives the same scenario.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        ser::table(self).map_err(|_| fmt::Error)?.fmt(f)
    }
}

fn one() -> u64 {
    1
}

impl FromStr for Scenario {
    type Err = ScenarioError;

    fn from_str(text: &str) -> Result<Scenario, ScenarioError> {
        Draft::parse(text, Path::new(""))?.read()
    }
}
