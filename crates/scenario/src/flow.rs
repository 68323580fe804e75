//! Who sends: `[[flow]]`.

use transport::app::{self, Connections};
use units::{Bytes, Duration};

use super::bbr1::Bbr1Spec;
use super::controller::Controller;
use super::error::ScenarioError;
use super::hops::Hops;
use super::host::HostSpec;
use super::value::Value;

/// A group of flows that differ in nothing but their start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowSpec {
    /// `controller`: their congestion control.
    pub controller: Controller,
    /// `count`: how many they are; one if not given.
    pub count: u64,
    /// `start`: when the first one starts.
    pub start: Duration,
    /// `stagger`: the time between their starts.
    pub stagger: Duration,
    /// `bytes`: what each of them transfers; without it, bulk until the end of the run.
    pub bytes: Option<Bytes>,
    /// `app`: what each of them sends, and when; without it, and without `bytes`, as much as goes.
    pub app: app::Config,
    /// `rtt`: the RTprop of each of them; that of the path if not given.
    pub rtt: Option<Duration>,
    /// `reverse`: whether they send against the others, their data over the uplinks and their ACKs over the bottlenecks.
    pub reverse: bool,
    /// `hops`: which of a chain of bottlenecks they cross; all if not given.
    pub hops: Option<Hops>,
    /// `bbr1`: how their BBR is different from the kernel's, if that is their controller.
    pub bbr1: Option<Bbr1Spec>,
    /// `host`: what is different at their hosts. A group with its own `scheduler` or `nic` has a sending host to itself.
    pub host: HostSpec,
}

impl FlowSpec {
    /// The fields of `[[flow]]`.
    pub const KEYS: [&str; 11] = [
        "controller",
        "count",
        "start",
        "stagger",
        "bytes",
        "app",
        "rtt",
        "reverse",
        "hops",
        "bbr1",
        "host",
    ];

    /// One bulk flow from the start.
    pub const fn new(controller: Controller) -> FlowSpec {
        FlowSpec {
            controller,
            count: 1,
            start: Duration::ZERO,
            stagger: Duration::ZERO,
            bytes: None,
            app: app::Config::Bulk,
            rtt: None,
            reverse: false,
            hops: None,
            bbr1: None,
            host: HostSpec::UNSET,
        }
    }

    /// Whether each of them sends until the end of the run.
    pub fn is_endless(&self) -> bool {
        self.bytes.is_none() && super::app::is_endless(&self.app)
    }

    /// What their application is called; nothing for bulk data and transfers of `bytes`.
    pub fn app_kind(&self) -> Option<&'static str> {
        super::app::kind(&self.app)
    }

    /// The application of each of them; `bytes` are one too.
    pub fn application(&self) -> app::Config {
        match self.bytes {
            Some(bytes) => app::Config::Transfer { bytes },
            None => self.app.clone(),
        }
    }

    /// How many objects the application of one such flow delivers, if there is an end to them.
    pub fn objects(&self) -> Option<u64> {
        match self.application() {
            app::Config::Bulk | app::Config::RateLimited(_) => None,
            app::Config::Transfer { .. } => Some(1),
            app::Config::Requests(requests) => requests.count,
            app::Config::Poisson(poisson) => poisson.count,
            app::Config::Video(video) => {
                let chunk = video.chunk.as_nanos().max(1);
                Some(video.length?.as_nanos().div_ceil(chunk))
            }
        }
    }

    /// Whether each object has a connection of its own.
    pub fn opens_many(&self) -> bool {
        matches!(&self.app, app::Config::Poisson(poisson) if poisson.connections == Connections::New)
    }

    /// When each flow of the group starts.
    pub fn starts(&self) -> impl Iterator<Item = Duration> + use<> {
        let (start, stagger, count) = (self.start, self.stagger, self.count);
        (0..count).map(move |index| start + stagger * index)
    }

    /// Reads one `[[flow]]`; the error's field is relative to it.
    pub fn read(value: &Value) -> Result<FlowSpec, ScenarioError> {
        let known = FlowSpec::KEYS;
        let fields = value.fields("[[flow]] with controller = \"bbr1\"", &known)?;
        let controller = fields.required("controller", Value::parse)?;
        let mut flow = FlowSpec::new(controller);
        for key in known {
            fields
                .optional(key, |value| Ok(value.clone()))?
                .map_or(Ok(()), |value| {
                    flow.assign(key, &value).map_err(|error| error.within(key))
                })?;
        }
        Ok(flow)
    }

    /// Sets the field `key`; the error's field is relative to it.
    fn assign(&mut self, key: &str, value: &Value) -> Result<(), ScenarioError> {
        match key {
            "controller" => self.controller = value.parse()?,
            "count" => {
                self.count = value.whole()?;
                if self.count == 0 {
                    return Err(value.wrong("flows send nothing; give 1 or more"));
                }
            }
            "start" => self.start = value.parse()?,
            "stagger" => self.stagger = value.parse()?,
            "bytes" => self.bytes = Some(value.positive_size()?),
            "app" => self.app = super::app::read(value)?,
            "rtt" => self.rtt = Some(value.parse()?),
            "reverse" => self.reverse = value.yes_or_no()?,
            "hops" => self.hops = Some(value.parse()?),
            "bbr1" => self.bbr1 = Some(Bbr1Spec::read(value)?),
            "host" => self.host = HostSpec::read(value)?,
            _ => return Err(ScenarioError::unknown_key(key, &FlowSpec::KEYS)),
        }
        Ok(())
    }
}
