//! The measurements of the tests.

use congestion::{
    Ack, Bytes, Connection, Controller, Duration, Lost, Rate, Ratio, Recovery, Sent, Snapshot, Time,
};
use path::{Buffer, Capacity, LinkConfig, Loss, PathConfig};
use sim::{Config, Id, Observer, Simulation};
use tables::statistics::nearest_rank;
use transport::receiver::Receiver;
use transport::sender::{Sender, Stats};

/// The payload of a full packet, and its share of the packet.
pub const MSS: u64 = 1448;
const PAYLOAD_SHARE: f64 = 1448.0 / 1500.0;

pub const fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

pub fn at_millis(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

pub fn mbit(mbit: u64) -> Rate {
    Rate::from_bits_per_sec(mbit * 1_000_000)
}

/// A bottleneck of `rate` in the direction of the data, and half of `rtt` in each direction.
pub fn path(rate: Rate, rtt: Duration, buffer: Bytes) -> PathConfig {
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(rate),
            delay: rtt / 2,
            buffer: Buffer::Bytes(buffer),
            ..LinkConfig::default()
        },
        reverse: LinkConfig {
            delay: rtt / 2,
            ..LinkConfig::default()
        },
    }
}

/// The same path, with loss of data packets.
pub fn lossy(mut path: PathConfig, percent: u32) -> PathConfig {
    if percent > 0 {
        path.forward.effects.loss = Loss::Independent(Ratio::new(percent, 100));
    }
    path
}

/// Bits per second of payload that a path of `rate` can carry: rate × (1 − loss) × payload share.
pub fn limit(rate: Rate, loss_percent: u32) -> f64 {
    rate.bits_per_sec() as f64 * (1.0 - f64::from(loss_percent) / 100.0) * PAYLOAD_SHARE
}

/// Jain's index of fairness (Jain, Chiu and Hawe, 1984): 1 if all are equal, 1/n if one has everything.
pub fn jain(rates: &[f64]) -> f64 {
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    sum * sum / (rates.len() as f64 * squares)
}

/// The value that this share of the values does not exceed; zero if there are none.
pub fn quantile(values: &[Duration], share: f64) -> Duration {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    nearest_rank(&sorted, share).unwrap_or_default()
}

/// The activity of one flow from a given time on.
#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// Payload delivered in order, in all and before that time.
    pub received: u64,
    pub received_before: u64,
    /// The times at which payload arrived, and the bytes that had arrived then.
    pub arrivals: Vec<(Time, u64)>,
    pub rtts: Vec<Duration>,
    /// The final counters.
    pub stats: Stats,
    pub ended: Option<Time>,
}

/// Watches every flow.
#[derive(Debug, Default)]
pub struct Watch {
    pub from: Time,
    pub keeps_arrivals: bool,
    pub flows: Vec<Seen>,
}

impl Watch {
    /// Creates an observer that counts from `from` on.
    pub fn from(from: Time) -> Watch {
        Watch {
            from,
            ..Watch::default()
        }
    }

    fn flow(&mut self, id: Id) -> &mut Seen {
        if self.flows.len() <= id.flow {
            self.flows.resize(id.flow + 1, Seen::default());
        }
        &mut self.flows[id.flow]
    }

    /// The bits per second that a flow delivered from that time until `end`.
    pub fn goodput(&self, flow: usize, end: Time) -> f64 {
        let seen = &self.flows[flow];
        (seen.received - seen.received_before) as f64 * 8.0 / end.since(self.from).as_secs_f64()
    }
}

impl<C: Controller> Observer<C> for Watch {
    fn on_ack(&mut self, now: Time, id: Id, ack: &Ack, _: &Sender<C>) {
        if now >= self.from
            && let Some(sample) = &ack.rtt
        {
            self.flow(id).rtts.push(sample.rtt);
        }
    }

    fn on_received(&mut self, now: Time, id: Id, received: u64) {
        let (is_before, keeps) = (now < self.from, self.keeps_arrivals);
        let seen = self.flow(id);
        seen.received = received;
        if is_before {
            seen.received_before = received;
        }
        if keeps {
            seen.arrivals.push((now, received));
        }
    }

    fn on_end(&mut self, now: Time, id: Id, sender: &Sender<C>, receiver: &Receiver) {
        assert_eq!(receiver.received(), sender.stats().delivered.get());
        let seen = self.flow(id);
        seen.stats = sender.stats();
        seen.ended = Some(now);
    }
}

/// Runs to `end`; returns the observations from `from` on.
pub fn run<C: Controller>(mut config: Config<C>, from: Time, end: Time) -> Watch {
    config.end = Some(end);
    let mut simulation = Simulation::new(config, Watch::from(from)).unwrap();
    simulation.run();
    let stats: Vec<(Id, Stats)> = simulation
        .connections()
        .map(|(id, sender, _)| (id, sender.stats()))
        .collect();
    let mut watch = simulation.into_observer();
    for (id, stats) in stats {
        watch.flow(id).stats = stats;
    }
    watch
}

/// A controller with a constant window, without pacing.
#[derive(Debug)]
pub struct Fixed(pub Bytes);

impl Fixed {
    /// Creates windows of `packets` packets.
    pub fn packets(packets: u64) -> sim::MakeController<Fixed> {
        sim::MakeController::new(move |connection: Connection| Fixed(connection.mss * packets))
    }
}

impl Controller for Fixed {
    fn on_idle_restart(&mut self, _: Time) {}
    fn on_packet_sent(&mut self, _: &Sent) {}
    fn on_packet_lost(&mut self, _: &Lost) {}
    fn on_recovery(&mut self, _: Time, _: Recovery, _: Bytes) {}
    fn on_ack(&mut self, _: &Ack) {}
    fn on_timeout(&mut self, _: Time, _: Bytes) {}
    fn on_mtu_change(&mut self, _: Bytes) {}
    fn cwnd(&self) -> Bytes {
        self.0
    }
    fn pacing_rate(&self) -> Rate {
        Rate::MAX
    }
    fn send_quantum(&self) -> Bytes {
        Bytes::new(MSS)
    }
    fn snapshot(&self) -> Snapshot {
        let state = congestion::State {
            name: "Fixed",
            phase: congestion::Phase::Avoidance,
        };
        Snapshot::new("fixed", state, self.0, Rate::MAX)
    }
}
