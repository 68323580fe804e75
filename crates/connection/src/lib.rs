//! A TCP connection as its captured packets show it: what limited it and when, how fast it was, over what path.
//!
//! A [`Connection`] takes in packets one by one, in bounded [`memory`]. Each direction with data is a [`Flow`].

mod account;
mod ack_copies;
mod busy;
mod connection;
mod cues;
mod echoes;
mod ecn;
mod evenly;
mod flow;
mod full;
mod handshake;
mod limit;
mod limits;
mod losses;
pub mod memory;
mod model;
mod numbers;
mod peaks;
mod plateau;
mod ranges;
mod recoveries;
mod repeats;
mod restart;
mod rounds;
mod rtts;
mod scoreboard;
mod sequence;
mod series;
mod unseen;
mod window_scale;

pub use account::Shares;
pub use connection::{Connection, Side, Turn};
pub use flow::{Flow, Recovery, Totals};
pub use handshake::Handshake;
pub use limit::Limit;
pub use limits::Limits;
pub use losses::{Loss, Losses};
pub use ranges::Ranges;
pub use recoveries::Cut;
pub use rounds::{Round, Rounds};
pub use rtts::Rtts;
pub use series::Sample;

/// The number of measurements that are needed to tell where the capture was taken.
const MIN_MEASUREMENTS: u64 = 4;
