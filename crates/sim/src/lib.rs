//! Virtual time: an event loop that joins hosts and links.
mod agenda;
mod config;
mod connection;
mod connections;
mod error;
mod flow;
mod host;
mod network;
mod observer;
mod seed;
mod shapes;
mod simulation;

pub use config::{Config, FlowConfig, HostConfig, MakeController, Route};
pub use error::ConfigError;
pub use observer::{Id, Observer};
pub use shapes::{dumbbell, parking_lot};
pub use simulation::{LinkView, Simulation};
