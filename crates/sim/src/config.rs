//! The configuration of a simulation, as plain data.

use std::fmt;
use std::sync::Arc;

use congestion::{AnyController, Bytes, Connection, Duration, Rate, Settings, Time};
use path::LinkConfig;
use transport::scheduler::SchedulerConfig;
use transport::{app, receiver, sender};

/// A whole simulation. The same configuration gives the identical run on any machine.
#[derive(Debug, Clone)]
pub struct Config<C = AnyController> {
    /// The seed of every random choice.
    pub seed: u64,
    /// The links, each in one direction; routes refer to them by index.
    pub links: Vec<LinkConfig>,
    /// The sending hosts; flows refer to them by index.
    pub hosts: Vec<HostConfig>,
    /// The flows over the links.
    pub flows: Vec<FlowConfig<C>>,
    /// The latest end of the simulation. Without it, the simulation ends when every flow is done. A flow without an
    /// end, such as a bulk transfer, is then an error.
    pub end: Option<Time>,
}

/// A host that sends: flows on one host share its packet scheduler and its network card.
#[derive(Debug, Clone, Default)]
pub struct HostConfig {
    /// The queue in front of the network card.
    pub scheduler: SchedulerConfig,
    /// The network card's rate. Without one, the card takes no time: a burst enters its first link at once.
    pub nic: Option<Rate>,
}

/// One flow: its ends, its data and its links. It is one connection, or a group of many short connections if its
/// application opens one for each transfer.
#[derive(Debug, Clone)]
pub struct FlowConfig<C = AnyController> {
    /// Makes the congestion controller of each of its connections.
    pub controller: MakeController<C>,
    /// The time of its start.
    pub start: Time,
    /// The application.
    pub app: app::Config,
    /// The sending end.
    pub sender: sender::Config,
    /// The receiving end.
    pub receiver: receiver::Config,
    /// Changes of the receiving end's largest buffer, in any order.
    pub buffer_changes: Vec<BufferChange>,
    /// The sending host, by its index in [`Config::hosts`].
    pub host: usize,
    /// The route of the data.
    pub forward: Route,
    /// The route of the acknowledgements, and of the requests if the application has any.
    pub backward: Route,
}

/// A new [`receiver::Config::max_buffer`], for connections that are open and for those that open later. If it is below
/// the initial buffer, connections that open later begin with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferChange {
    /// The time of the change.
    pub at: Time,
    /// The new largest buffer.
    pub max_buffer: Bytes,
}

impl FlowConfig {
    /// A bulk transfer from time zero on, from host 0, over link 0 and back over link 1, with defaults for everything
    /// else.
    ///
    /// Its controller is one of this kind as in Linux, or one with these settings.
    pub fn new(settings: impl Into<Settings>) -> FlowConfig {
        let settings = settings.into();
        FlowConfig::with_controller(MakeController::new(move |connection| {
            AnyController::on_host(settings, connection)
        }))
    }
}

impl<C> FlowConfig<C> {
    /// As [`FlowConfig::new`], but with a controller of any type.
    pub fn with_controller(controller: MakeController<C>) -> FlowConfig<C> {
        FlowConfig {
            controller,
            start: Time::ZERO,
            app: app::Config::default(),
            sender: sender::Config::default(),
            receiver: receiver::Config::default(),
            buffer_changes: Vec::new(),
            host: 0,
            forward: Route::over([0]),
            backward: Route::over([1]),
        }
    }

    /// The same flow in the other direction: data and acknowledgements exchange their routes.
    #[must_use]
    pub fn reversed(mut self) -> FlowConfig<C> {
        std::mem::swap(&mut self.forward, &mut self.backward);
        self
    }
}

/// The links that a packet crosses, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Route {
    /// Indices into [`Config::links`], in the order of crossing.
    pub links: Vec<usize>,
    /// This flow's own propagation delay, before the first link.
    pub access: Duration,
}

impl Route {
    /// A route over these links, without a delay of its own.
    pub fn over(links: impl IntoIterator<Item = usize>) -> Route {
        Route {
            links: links.into_iter().collect(),
            access: Duration::ZERO,
        }
    }
}

/// Makes a congestion controller for each new connection.
pub struct MakeController<C>(Arc<dyn Fn(Connection) -> C + Send + Sync>);

impl<C> MakeController<C> {
    /// Creates controllers by calling `make`.
    pub fn new(make: impl Fn(Connection) -> C + Send + Sync + 'static) -> MakeController<C> {
        MakeController(Arc::new(make))
    }

    pub(crate) fn make(&self, connection: Connection) -> C {
        (self.0)(connection)
    }
}

impl<C> Clone for MakeController<C> {
    fn clone(&self) -> MakeController<C> {
        MakeController(Arc::clone(&self.0))
    }
}

impl<C> fmt::Debug for MakeController<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("MakeController")
    }
}
