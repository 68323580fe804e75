//! What a flow's connections have in common.

use congestion::{Controller, Time};
use path::Ecn;
use transport::receiver::Receiver;
use transport::sender::Sender;

use crate::config::FlowConfig;
use crate::connection::Connection;
use crate::error::ConfigError;
use crate::network::{Network, Way};
use crate::observer::Id;
use crate::seed::{Part, derive};

/// A flow of the configuration, its ways found.
#[derive(Debug)]
pub(crate) struct Flow<C> {
    index: usize,
    config: FlowConfig<C>,
    forward: Way,
    backward: Way,
}

impl<C: Controller> Flow<C> {
    /// # Errors
    /// The first value that makes no sense.
    pub(crate) fn new(
        index: usize,
        config: FlowConfig<C>,
        hosts: usize,
        network: &mut Network,
    ) -> Result<Flow<C>, ConfigError> {
        let place = |field: &str| format!("flows[{index}].{field}");
        if config.host >= hosts {
            let problem = format!("is {}, but there are {hosts} hosts", config.host);
            return Err(ConfigError::new(place("host"), problem));
        }
        config.receiver.validate().map_err(|error| {
            let field = format!("receiver.{}", error.field());
            ConfigError::new(place(&field), error.problem())
        })?;
        let forward = network
            .way(Some(config.host), &config.forward)
            .map_err(|error| error.inside(&place("forward")))?;
        let backward = network
            .way(None, &config.backward)
            .map_err(|error| error.inside(&place("backward")))?;
        Ok(Flow {
            index,
            config,
            forward,
            backward,
        })
    }

    /// A new connection, its handshake begun.
    pub(crate) fn connect(&self, now: Time, slot: u32, serial: u32, seed: u64) -> Connection<C> {
        let config = &self.config;
        let seed = derive(seed, Part::Connection(u64::from(serial)));
        let make = |connection| config.controller.make(connection);
        let mut sender = Sender::new(now, slot, &config.sender, make, seed);
        sender.open();
        Connection {
            id: Id {
                flow: self.index,
                connection: serial,
            },
            host: config.host,
            forward: self.forward,
            backward: self.backward,
            ecn: if config.sender.ecn {
                Ecn::Capable
            } else {
                Ecn::NotCapable
            },
            sender,
            receiver: Receiver::new(slot, &config.receiver),
            queued: 0,
        }
    }
}
