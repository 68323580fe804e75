//! Virtual time: an event loop that connects hosts and links.
//!
//! A [`Config`] describes the links, the flows over them and their data; [`dumbbell`] and [`parking_lot`] create the
//! usual ones. A [`Simulation`] runs it, and an [`Observer`] is notified of its events.
//!
//! ```
//! use congestion::{Bytes, Duration, ControllerKind, Rate, Time};
//! use path::{Buffer, Capacity, LinkConfig, PathConfig};
//! use sim::{Config, FlowConfig, Simulation, dumbbell};
//!
//! let path = PathConfig {
//!     forward: LinkConfig {
//!         capacity: Capacity::Rate("10mbit".parse()?),
//!         delay: Duration::from_millis(20),
//!         buffer: Buffer::Bytes(Bytes::new(200_000)),
//!         ..LinkConfig::default()
//!     },
//!     reverse: LinkConfig {
//!         delay: Duration::from_millis(20),
//!         ..LinkConfig::default()
//!     },
//! };
//! let flows = vec![FlowConfig::new(ControllerKind::Bbr1), FlowConfig::new(ControllerKind::Cubic)];
//! let config = Config {
//!     end: Some(Time::ZERO + Duration::from_secs(10)),
//!     ..dumbbell(path, flows)
//! };
//! let mut simulation = Simulation::new(config, ())?;
//! simulation.run();
//! for (id, _, receiver) in simulation.connections() {
//!     println!("flow {}: {} bytes", id.flow, receiver.received());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod connection;
mod connections;
mod flow;
mod host;
mod index;
mod network;
mod observer;
mod room;
mod seed;
mod shapes;
mod simulation;
mod taps;

pub use config::{BufferChange, Config, FlowConfig, HostConfig, MakeController, Route};
pub use observer::{End, Id, Observer, Passing};
pub use room::{Bounds, Excess, Room};
pub use seed::application_seed;
pub use shapes::{dumbbell, parking_lot};
pub use simulation::{LinkView, Simulation};
