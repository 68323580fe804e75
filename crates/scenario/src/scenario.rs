//! A scenario: the path or the network, and the flows over it.

use std::fmt;

use congestion::{ControllerKind, Settings};
use document::ser::{self, is_default};
use document::{DocumentError, Reason};
use serde::{Deserialize, Serialize};
use units::Duration;
use units::bounds::positive;

use super::controller::Controller;
use super::flow::FlowSpec;
use super::host::HostSpec;
use super::named_link::NamedLink;
use super::path_spec::PathSpec;

/// The path or the network, and the flows over it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// `name`: its name for people.
    #[serde(default)]
    pub name: String,
    /// `duration`: the maximum length of the run; by default, the run ends when every flow's `bytes` have arrived.
    #[serde(default, deserialize_with = "positive")]
    pub duration: Option<Duration>,
    /// `warmup`: the part of the beginning that is excluded from the summary.
    #[serde(default, skip_serializing_if = "is_default")]
    pub warmup: Duration,
    /// `seed`: the seed of all random choices of path and controllers.
    #[serde(default = "one", serialize_with = "ser::whole")]
    pub seed: u64,
    /// `[path]`: the path, or the first hop of a chain.
    #[serde(default)]
    pub path: PathSpec,
    /// `[[path.next]]`: the hops behind it.
    #[serde(rename = "path.next", default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<PathSpec>,
    /// `[[link]]`: the links of a network, in place of `[path]`.
    #[serde(rename = "link", default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<NamedLink>,
    /// `[host]`: the hosts at both ends.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: HostSpec,
    /// `[[flow]]`: the flows, group by group.
    #[serde(rename = "flow", default)]
    pub flows: Vec<FlowSpec>,
}

fn one() -> u64 {
    1
}

impl Scenario {
    /// Every single flow, group by group, with the time of its start.
    pub fn each_flow(&self) -> impl Iterator<Item = (&FlowSpec, Duration)> {
        let flows = self.flows.iter();
        flows.flat_map(|flow| flow.starts().map(move |start| (flow, start)))
    }

    /// The links: every `[[link]]`, or else `[path]` and every `[[path.next]]`.
    pub fn hops(&self) -> impl Iterator<Item = &PathSpec> + Clone {
        let links = self.links.iter().map(|link| &link.path);
        let first = self.links.is_empty().then_some(&self.path);
        links.chain(first).chain(&self.next)
    }

    /// The links, as [`Scenario::hops`] has them.
    pub fn hops_mut(&mut self) -> impl Iterator<Item = &mut PathSpec> {
        let first = self.links.is_empty().then_some(&mut self.path);
        let links = self.links.iter_mut().map(|link| &mut link.path);
        links.chain(first).chain(&mut self.next)
    }

    /// The name of a link in errors, such as `path` or `link[2]`.
    pub fn hop_name(&self, place: usize) -> String {
        match (self.links.len(), place.checked_sub(1)) {
            (0, None) => "path".to_string(),
            (0, Some(next)) => format!("path.next[{next}]"),
            (1, _) => "link".to_string(),
            _ => format!("link[{place}]"),
        }
    }

    /// The controller of each group of flows, for an engine without the kernel's controllers.
    ///
    /// # Errors
    ///
    /// A group has one that only a kernel, Python or a page has.
    pub fn our_controllers(&self, engine: &str) -> Result<Vec<Settings>, DocumentError> {
        let groups = 0..self.flows.len();
        groups
            .map(|group| self.our_controller(group, engine))
            .collect()
    }

    /// The controller of one of the groups.
    ///
    /// # Errors
    ///
    /// See [`Scenario::our_controllers`].
    pub fn our_controller(&self, group: usize, engine: &str) -> Result<Settings, DocumentError> {
        let flow = &self.flows[group];
        let reason = match flow.controller {
            Controller::Ours(kind) => return Ok(flow.settings(kind)),
            Controller::Kernel(_) => {
                let names: Vec<_> = ControllerKind::ALL.iter().map(|kind| kind.name()).collect();
                format!(
                    " is a kernel's, which engine {engine} has not; give one of {}, or use engine linux",
                    names.join(", ")
                )
            }
            Controller::Python(_) => {
                " is a class of Python's; give the class itself to fullpipe.run in Python, with engine sim"
                    .to_string()
            }
            Controller::JavaScript(_) => {
                " is a class in JavaScript, which only the page with that class runs (fullpipe play)"
                    .to_string()
            }
            Controller::Rust(_) => {
                " is a type of a program in Rust, which only that program runs".to_string()
            }
        };
        let reason = Reason::of(flow.controller).words(reason);
        Err(self.flow_error(group, "controller", reason))
    }

    /// The settings without effect, a line each: settings of controllers that no flow has.
    pub fn idle(&self) -> impl Iterator<Item = DocumentError> {
        self.flows.iter().enumerate().flat_map(move |(index, flow)| {
            let own = flow.controller;
            flow.idle_settings().map(move |kind| {
                let reason = format!(
                    "has no effect on flows with controller {own}; leave it out, or give controller = \"{kind}\""
                );
                self.flow_error(index, kind.name(), reason)
            })
        })
    }

    /// Returns the error that `field` of a group of flows has `reason`.
    pub fn flow_error(
        &self,
        index: usize,
        field: &str,
        reason: impl Into<Reason>,
    ) -> DocumentError {
        self.of_flow(index, DocumentError::new(field, reason))
    }

    /// Returns the error with its field relative to the scenario, for this group of flows.
    pub fn of_flow(&self, index: usize, error: DocumentError) -> DocumentError {
        match self.flows.len() {
            1 => error.within("flow"),
            _ => error.item(index).within("flow"),
        }
    }
}

/// Writes TOML that is read as the same scenario.
impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut table = ser::table(self).map_err(|_| fmt::Error)?;
        if !self.links.is_empty() {
            table.remove("path");
        }
        table.fmt(f)
    }
}
