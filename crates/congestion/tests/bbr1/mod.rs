//! BBRv1 in virtual time: the promises of the paper and of Linux, on the paths that they are made for.

mod app_limited;
mod loss;
mod policer;
mod probe_rtt;
mod startup;
mod state_table;
mod steady_state;

use crate::support::{Flow, connection};
use congestion::bbr1::{Bbr1, Config};

fn bbr1() -> Bbr1 {
    Bbr1::new(connection(1), Config::default())
}

fn bulk(path: path::PathConfig) -> Flow<Bbr1> {
    Flow::bulk(bbr1(), path)
}
