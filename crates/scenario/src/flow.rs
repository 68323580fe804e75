//! The flows: `[[flow]]`.

use congestion::{ControllerKind, Settings};
use document::ser::is_default;
use serde::{Deserialize, Deserializer, Serialize};
use transport::app::{self, Connections};
use transport::scheduler::SmallQueues;
use units::bounds::{positive, short, whole};
use units::{Bytes, Duration};

use super::bbr1::{self, Bbr1Spec};
use super::bbr3::Bbr3Spec;
use super::controller::Controller;
use super::cubic::{self, CubicSpec};
use super::hops::Hops;
use super::host::HostSpec;
use super::name::Name;

/// A group of flows that differ only in their start.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as [[flow]] with controller = \"bbr1\""
)]
pub struct FlowSpec {
    /// `controller`: their congestion control.
    pub controller: Controller,
    /// `count`: the number of flows; one by default.
    #[serde(
        default = "one",
        deserialize_with = "some",
        serialize_with = "document::ser::whole",
        skip_serializing_if = "is_one"
    )]
    pub count: u64,
    /// `start`: the start of the first one.
    #[serde(default, skip_serializing_if = "is_default")]
    pub start: Duration,
    /// `stagger`: the time between their starts.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stagger: Duration,
    /// `bytes`: the bytes that each of them transfers; without it, bulk data until the end of the run.
    #[serde(default, deserialize_with = "positive")]
    pub bytes: Option<Bytes>,
    /// `app`: the application of each of them; without it, and without `bytes`, bulk data.
    #[serde(default, with = "super::app", skip_serializing_if = "is_default")]
    pub app: app::Config,
    /// `rtt`: the RTprop of each of them; by default, the path's.
    pub rtt: Option<Duration>,
    /// `bbr1`: the differences of their BBR from the kernel's, if that is their controller.
    #[serde(default, deserialize_with = "short::<_, bbr1::Variant, _>")]
    pub bbr1: Option<Bbr1Spec>,
    /// `cubic`: the differences of their CUBIC from the kernel's, if that is their controller.
    #[serde(default, deserialize_with = "short::<_, cubic::Variant, _>")]
    pub cubic: Option<CubicSpec>,
    /// `bbr3`: the differences of their BBRv3 from the draft's, if that is their controller.
    pub bbr3: Option<Bbr3Spec>,
    /// `reverse`: true if they send in the opposite direction, their data over the uplinks and their ACKs over the
    /// bottlenecks.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reverse: bool,
    /// `hops`: the hops of a chain of bottlenecks that they cross; all by default.
    pub hops: Option<Hops>,
    /// `from`: the site that sends, in a network of `[[link]]`.
    pub from: Option<Name>,
    /// `to`: the site that receives.
    pub to: Option<Name>,
    /// `route`: the links that their data cross, in this order; by default, the fewest that lead from `from` to `to`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub route: Vec<Name>,
    /// `back`: the links that their ACKs cross, in this order; by default, those of data.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub back: Vec<Name>,
    /// `host`: the differences of their hosts. A group with its own `scheduler` or `nic` has its own sending host.
    #[serde(default, skip_serializing_if = "is_default")]
    pub host: HostSpec,
}

const fn one() -> u64 {
    1
}

fn is_one(count: &u64) -> bool {
    *count == 1
}

fn some<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    whole(
        deserializer,
        1..=u64::MAX,
        "flows send nothing; give 1 or more",
    )
}

impl FlowSpec {
    /// Returns one bulk flow from the start of the run.
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
            from: None,
            to: None,
            route: Vec::new(),
            back: Vec::new(),
            bbr1: None,
            cubic: None,
            bbr3: None,
            host: HostSpec::UNSET,
        }
    }

    /// The settings of a controller of this kind in this group.
    pub fn settings(&self, kind: ControllerKind) -> Settings {
        match kind {
            ControllerKind::Bbr1 => self.bbr1.map(|it| Settings::Bbr1(it.config())),
            ControllerKind::Cubic => self.cubic.map(|it| Settings::Cubic(it.config())),
            ControllerKind::Bbr3 => self.bbr3.map(|it| Settings::Bbr3(it.config())),
            _ => None,
        }
        .unwrap_or(kind.into())
    }

    /// True if a controller of this kind has other settings in this group than in present Linux.
    pub fn has_own(&self, kind: ControllerKind) -> bool {
        self.settings(kind) != kind.into()
    }

    /// The small queues of their host, `host`. Those that are not given are of the year of the group's BBR.
    pub fn small_queues(&self, host: &HostSpec) -> SmallQueues {
        let is_of_4_19 = self.controller == Controller::Ours(ControllerKind::Bbr1)
            && (self.bbr1).is_some_and(|it| it.variant == bbr1::Variant::Linux419);
        let usual = if is_of_4_19 {
            SmallQueues::Linux419
        } else {
            SmallQueues::Linux
        };
        host.small_queues.unwrap_or(usual)
    }

    /// The kinds of this group's settings for other controllers than its own: they have no effect. A sweep over
    /// controllers keeps them.
    pub fn idle_settings(&self) -> impl Iterator<Item = ControllerKind> {
        let given = [
            (ControllerKind::Bbr1, self.bbr1.is_some()),
            (ControllerKind::Cubic, self.cubic.is_some()),
            (ControllerKind::Bbr3, self.bbr3.is_some()),
        ];
        let own = self.controller;
        given
            .into_iter()
            .filter(move |(kind, is_given)| *is_given && own != Controller::Ours(*kind))
            .map(|(kind, _)| kind)
    }

    /// True if each of them sends until the end of the run.
    pub fn is_endless(&self) -> bool {
        self.bytes.is_none() && super::app::is_endless(&self.app)
    }

    /// The name of their application; `None` for bulk data and transfers of `bytes`.
    pub fn app_kind(&self) -> Option<&'static str> {
        super::app::kind(&self.app)
    }

    /// The application of each of them. `bytes` are one, too.
    pub fn application(&self) -> app::Config {
        match self.bytes {
            Some(bytes) => app::Config::Transfer { bytes },
            None => self.app.clone(),
        }
    }

    /// The number of objects that the application of one such flow delivers, if it is finite.
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

    /// True if each object has a connection of its own.
    pub fn opens_many(&self) -> bool {
        matches!(&self.app, app::Config::Poisson(poisson) if poisson.connections == Connections::New)
    }

    /// The start of each flow of the group.
    pub fn starts(&self) -> impl Iterator<Item = Duration> + use<> {
        let (start, stagger, count) = (self.start, self.stagger, self.count);
        (0..count).map(move |index| start + stagger * index)
    }
}
