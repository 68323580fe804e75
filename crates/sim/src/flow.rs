//! The common state of a flow's connections.

use congestion::{Bytes, Controller, Time};
use path::Ecn;
use transport::app::{self, App, Arrival};
use transport::receiver::Receiver;
use transport::scheduler::Pacing;
use transport::sender::{FastOpen, Sender};
use units::ConfigError;

use crate::config::{BufferChange, FlowConfig, Route};
use crate::connection::Connection;
use crate::index::{FlowIndex, HostIndex, Slot, Way};
use crate::network::Network;
use crate::observer::Id;
use crate::seed::{Part, application_seed, derive};

/// A flow of the configuration, with its ways through the network.
#[derive(Debug)]
pub(crate) struct Flow<C> {
    index: FlowIndex,
    config: FlowConfig<C>,
    seed: u64,
    data: Ways,
    requests: Ways,
    /// The host that sends the requests.
    requests_host: HostIndex,
    /// The application that opens a connection for each of its objects, once it has started.
    opener: Option<App>,
    /// Whether its client has a cookie of its server (RFC 7413).
    has_cookie: bool,
    /// The largest buffer of its receivers, after the changes so far.
    pub(crate) max_buffer: Bytes,
}

/// The two ways of a connection: for its sender's packets, and for the acknowledgements.
#[derive(Debug, Clone, Copy)]
struct Ways {
    forward: Way,
    backward: Way,
}

impl<C: Controller> Flow<C> {
    /// Creates a flow. Requests are sent from `requests_host`, which has no network card; the flow's own host must be
    /// one of the `hosts` before it.
    ///
    /// # Errors
    /// The first invalid value.
    pub(crate) fn new(
        index: FlowIndex,
        mut config: FlowConfig<C>,
        seed: u64,
        requests_host: HostIndex,
        network: &mut Network,
    ) -> Result<Flow<C>, ConfigError> {
        let hosts = usize::from(requests_host);
        let wrong = |error: ConfigError| error.within(format_args!("flows[{}]", index.0));
        if config.host >= hosts {
            let problem = format!(
                "is {}, but there are {hosts}; give an index below that",
                config.host
            );
            return Err(wrong(ConfigError::new("host", problem)));
        }
        let receiver = config.receiver.validate();
        receiver.map_err(|error| wrong(error.within("receiver")))?;
        for (place, change) in config.buffer_changes.iter().enumerate() {
            let changed = config.receiver.with_max_buffer(change.max_buffer);
            changed.validate().map_err(|error| {
                let error = error.of("max_buffer");
                wrong(error.within(format_args!("buffer_changes[{place}]")))
            })?;
        }
        config.sender.has_selective_acks &= config.receiver.max_sack_blocks > 0;
        let app = config.app.validate();
        app.map_err(|error| wrong(error.within("app")))?;
        let mut way = |host: Option<HostIndex>, route: &Route, name: &str| {
            let way = network.way(host, route);
            way.map_err(|error| wrong(error.within(name)))
        };
        let data = Ways {
            forward: way(Some(config.host.into()), &config.forward, "forward")?,
            backward: way(None, &config.backward, "backward")?,
        };
        let requests_forward = data.backward;
        let requests_backward = way(None, &config.forward, "forward")?;
        if !network.takes_time(data.forward) && !network.takes_time(data.backward) {
            let problem = "and the way back take no time at all, so that time would stand still; give one of their \
                           links a delay or a rate";
            return Err(wrong(ConfigError::new("forward", problem)));
        }
        let requests = Ways {
            forward: requests_forward,
            backward: requests_backward,
        };
        Ok(Flow {
            has_cookie: config.sender.fast_open == FastOpen::Known,
            max_buffer: config.receiver.max_buffer,
            index,
            config,
            seed,
            data,
            requests,
            requests_host,
            opener: None,
        })
    }

    /// The flow's own application, starting now.
    pub(crate) fn app(&self, now: Time) -> App {
        let seed = application_seed(self.seed, self.index.into());
        App::new(&self.config.app, seed, now).expect("checked when the flow was created")
    }

    /// The next object that has arrived by now and has a connection of its own.
    pub(crate) fn poll_connection(&mut self, now: Time) -> Option<Arrival> {
        if self.opener.is_none() {
            self.opener = Some(self.app(now));
        }
        self.opener.as_mut()?.poll_connection(now)
    }

    /// The time of the next such arrival; [`Time::MAX`] for never.
    pub(crate) fn next_connection(&self) -> Time {
        let next = self.opener.as_ref().and_then(App::next_timer);
        next.unwrap_or(Time::MAX)
    }

    /// Whether each object has a connection of its own.
    pub(crate) fn opens_for_each(&self) -> bool {
        matches!(
            &self.config.app,
            app::Config::Poisson(app::Poisson {
                connections: app::Connections::New,
                ..
            })
        )
    }

    /// The index of the sending host.
    pub(crate) fn host(&self) -> usize {
        self.config.host
    }

    /// The kind of pacing.
    pub(crate) fn pacing(&self) -> Pacing {
        self.config.sender.pacing
    }

    /// Whether its application never ends.
    pub(crate) fn is_endless(&self) -> bool {
        match &self.config.app {
            app::Config::Bulk | app::Config::RateLimited(_) => true,
            app::Config::Transfer { .. } => false,
            app::Config::Requests(requests) => requests.count.is_none(),
            app::Config::Poisson(poisson) => poisson.count.is_none(),
            app::Config::Video(video) => video.length.is_none(),
        }
    }

    /// Whether its application makes requests.
    pub(crate) fn has_requests(&self) -> bool {
        self.config.app.has_requests()
    }

    /// Handles a connection's SYN-ACK: it brought a cookie if the flow requests one.
    pub(crate) fn on_answer(&mut self) {
        self.has_cookie |= self.config.sender.fast_open == FastOpen::On;
    }

    /// The changes of its receivers' largest buffer.
    pub(crate) fn buffer_changes(&self) -> &[BufferChange] {
        &self.config.buffer_changes
    }

    /// Creates a connection and starts its handshake; without `app` it carries requests. If a SYN may carry a
    /// request, the connection for the data waits for that SYN: in reality, both are the same connection.
    pub(crate) fn connect(
        &self,
        now: Time,
        slot: Slot,
        serial: u32,
        app: Option<App>,
    ) -> Connection<C> {
        let config = &self.config;
        let (host, ways) = match app {
            Some(_) => (config.host.into(), self.data),
            None => (self.requests_host, self.requests),
        };
        let mut receiver = config.receiver.with_max_buffer(self.max_buffer);
        let seed = derive(self.seed, Part::Connection(u64::from(serial)));
        let make = |connection| config.controller.make(connection);
        let mut sender = Sender::new(now, slot.0, &config.sender, make, seed);
        let is_scalable = sender.controller().is_scalable();
        receiver.accurate_ecn |= is_scalable;
        match self.has_cookie {
            true if self.has_requests() && app.is_some() => {}
            true => sender.open_fast(),
            false => sender.open(now),
        }
        Connection {
            id: Id {
                flow: self.index.into(),
                connection: serial,
            },
            host,
            forward: ways.forward,
            backward: ways.backward,
            ecn: match config.sender.ecn {
                _ if is_scalable => Ecn::L4s,
                true => Ecn::Capable,
                false => Ecn::NotCapable,
            },
            sender,
            receiver: Receiver::new(slot.0, &receiver),
            app,
            peer: None,
            queued: 0,
        }
    }
}
