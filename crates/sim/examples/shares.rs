//! The evenness of bulk BBRv3 flows on a path: how much of it they use, how often each probes for bandwidth once all
//! have started, and how many of these probes raise the long-term bound by a tenth; the median, minimum and maximum
//! over some seeds. `bench/bbr3/run` runs it with parts of the algorithm changed. The arguments are rate, RTT, buffer
//! in BDP, loss, flows, time between their starts, start and end of the measurement, and seeds: `cargo run --release
//! -p fullpipe-sim --example shares 50mbit 100ms 1 0% 5 2s 28s 38s 8`

use congestion::bbr3::states::UP;
use congestion::{Ack, AnyController, Controller, ControllerKind};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss, PathConfig};
use sim::{Config, FlowConfig, Id, Observer, Simulation, dumbbell};
use transport::sender::Sender;
use units::{Bytes, Duration, Rate, Ratio, Time};

/// The payload of a full packet, as a share of it.
const PAYLOAD: f64 = 1448.0 / 1500.0;

type Failure = Box<dyn std::error::Error>;

/// The activity of a flow.
#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    /// The bytes received at the start of the measurement, and at the latest event.
    before: u64,
    last: u64,
    /// The long-term bound at the start of its current probe for bandwidth, if there is one.
    bound: Option<Bytes>,
    probes: u32,
    raised: u32,
}

struct Watch {
    /// The start of the last flow, and the start of the measurement.
    started: Time,
    from: Time,
    flows: Vec<Seen>,
}

impl Observer<AnyController> for Watch {
    fn on_ack(&mut self, now: Time, id: Id, _: &Ack, sender: &Sender<AnyController>) {
        let seen = &mut self.flows[id.flow];
        let snapshot = sender.controller().snapshot();
        let (bound, is_probe) = (snapshot.long_term_inflight, snapshot.state == UP);
        match (seen.bound, is_probe) {
            (None, true) if now > self.started => {
                seen.bound = bound;
                seen.probes += u32::from(bound.is_some());
            }
            (Some(before), false) => {
                let is_raised = bound > Some(Ratio::new(11, 10).of_bytes(before));
                seen.raised += u32::from(is_raised);
                seen.bound = None;
            }
            _ => {}
        }
    }

    fn on_received(&mut self, now: Time, id: Id, received: u64) {
        let seen = &mut self.flows[id.flow];
        seen.last = received;
        if now < self.from {
            seen.before = received;
        }
    }
}

/// Jain's index, the share of the path's limit, probes of each flow, and the share of them that raised the bound.
type Answer = [f64; 4];

/// The parameters of a run, without the seed.
struct Question {
    rate: Rate,
    path: PathConfig,
    flows: u64,
    apart: Duration,
    from: Time,
    until: Time,
}

impl Question {
    fn answer(&self, seed: u64) -> Result<Answer, Failure> {
        let flow =
            |index| FlowConfig::new(ControllerKind::Bbr3).starting(Time::ZERO + self.apart * index);
        let flows: Vec<_> = (0..self.flows).map(flow).collect();
        let watch = Watch {
            started: Time::ZERO + self.apart * self.flows.saturating_sub(1),
            from: self.from,
            flows: vec![Seen::default(); flows.len()],
        };
        let config = Config {
            seed,
            end: Some(self.until),
            ..dumbbell(self.path.clone(), flows)
        };
        let mut simulation = Simulation::new(config, watch)?;
        simulation.run();
        let flows = simulation.into_observer().flows;
        let count = flows.len() as f64;
        let received = flows.iter().map(|seen| (seen.last - seen.before) as f64);
        let sum: f64 = received.clone().sum();
        let squares: f64 = received.map(|bytes| bytes * bytes).sum();
        let probes = f64::from(flows.iter().map(|seen| seen.probes).sum::<u32>());
        let raised = f64::from(flows.iter().map(|seen| seen.raised).sum::<u32>());
        let most = self.rate.bytes_in(self.until.since(self.from)).get() as f64 * PAYLOAD;
        let arrives = match self.path.forward.effects.loss {
            Loss::Independent(lost) => 1.0 - lost.as_f64(),
            _ => 1.0,
        };
        Ok([
            sum * sum / (count * squares),
            sum / (most * arrives),
            probes / count,
            raised / probes.max(1.0),
        ])
    }
}

fn main() -> Result<(), Failure> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let [rate, rtt, buffer, loss, flows, apart, from, until, seeds] = &given[..] else {
        return Err("nine values are needed; the head of this file says which".into());
    };
    let rate: Rate = rate.parse()?;
    let rtt: Duration = rtt.parse()?;
    let loss: Ratio = loss.parse()?;
    let buffer = rate.bytes_in(rtt).get() as f64 * buffer.parse::<f64>()?;
    let link = |capacity, buffer, loss| LinkConfig {
        capacity,
        delay: rtt / 2,
        buffer,
        effects: Effects {
            loss: Loss::Independent(loss),
            ..Effects::default()
        },
        ..LinkConfig::default()
    };
    let usual = LinkConfig::default();
    let question = Question {
        rate,
        path: PathConfig {
            forward: link(
                Capacity::Rate(rate),
                Buffer::Bytes(Bytes::new(buffer as u64)),
                loss,
            ),
            reverse: link(usual.capacity, usual.buffer, Ratio::ZERO),
        },
        flows: flows.parse()?,
        apart: apart.parse()?,
        from: Time::ZERO + from.parse()?,
        until: Time::ZERO + until.parse()?,
    };
    let mut answers = Vec::new();
    for seed in 1..=seeds.parse::<u64>()? {
        answers.push(question.answer(seed)?);
    }
    let spread = |of: usize| {
        let mut values: Vec<f64> = answers.iter().map(|answer| answer[of]).collect();
        values.sort_by(f64::total_cmp);
        let middle = values.get(values.len() / 2).copied().unwrap_or(f64::NAN);
        let ends = [values.first(), values.last()].map(|end| end.copied().unwrap_or(f64::NAN));
        format!("{middle:.3} ({:.3} to {:.3})", ends[0], ends[1])
    };
    println!(
        "Jain {}, share {}, probes {}, of which raise the bound {}",
        spread(0),
        spread(1),
        spread(2),
        spread(3)
    );
    Ok(())
}
