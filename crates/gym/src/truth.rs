//! What the path of a flow can carry, which its sender does not know.

use scenario::{Course, Network};
use simulate::ways::payload_share;
use units::{Duration, Rate};

/// The names of the true values, beside an observation.
pub const TRUTH: [&str; 3] = ["at_s", "path_goodput_bps", "path_rtt_ms"];

/// The course of a path's rate and round-trip time.
#[derive(Debug)]
pub struct Truth {
    /// The rates of the links in the direction of data.
    rates: Vec<Course<Option<Rate>>>,
    /// Whether the rate of one of them follows a trace, which has no rate at a time.
    is_traced: bool,
    /// The RTprops of these links.
    rtts: Vec<Course<Duration>>,
    /// The flow's RTprop less those of the links at the start.
    access_ms: f64,
    payload_share: f64,
    packet_bits: f64,
}

impl Truth {
    /// The path of a group of flows.
    pub fn of(network: &Network<'_>, group: usize) -> Truth {
        let route = &network.route(group).there;
        let links = || route.iter().map(|crossing| network.links()[crossing.link]);
        let crossed: f64 = links().map(|link| ms(link.rtt)).sum();
        let payload_share = payload_share(network);
        Truth {
            rates: route
                .iter()
                .map(|crossing| network.direction(*crossing).rates())
                .collect(),
            is_traced: route
                .iter()
                .any(|crossing| network.direction(*crossing).trace.is_some()),
            rtts: links().map(|link| link.rtts()).collect(),
            access_ms: ms(network.rtprop(group)) - crossed,
            payload_share,
            packet_bits: network.mss(group).get() as f64 * 8.0 / payload_share,
        }
    }

    /// The time; the goodput that the slowest link lets through, NaN if no link has a rate or one follows a trace; and the
    /// round-trip time of a full packet that waits nowhere.
    pub fn at(&self, at: Duration) -> [f64; TRUTH.len()] {
        let rates = self.rates.iter().filter_map(|rate| rate.at(at));
        let rate = rates.min().filter(|_| !self.is_traced);
        let rate = rate.map(|rate| rate.bits_per_sec() as f64);
        let crossed: f64 = self.rtts.iter().map(|rtt| ms(rtt.at(at))).sum();
        let transmission = rate.filter(|rate| *rate > 0.0);
        let transmission = transmission.map_or(0.0, |rate| self.packet_bits / rate * 1e3);
        [
            at.as_secs_f64(),
            rate.map_or(f64::NAN, |rate| rate * self.payload_share),
            self.access_ms + crossed + transmission,
        ]
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
