//! What flows send together: each has a share of the bottleneck alone that all of them fill.

use std::collections::BTreeMap;

use super::ConnectionSummary;
use units::Rate;

/// How many bits a group of flows had sent at each time, with each flow's spread evenly over its life.
#[derive(Default)]
struct Sent {
    /// When a flow begins or ends, what had been sent then, and how fast it goes on; in their order.
    turns: Vec<(f64, f64, f64)>,
}

impl Sent {
    /// Of flows with their beginning, their end and their bits.
    fn of(flows: &[(f64, f64, f64)]) -> Sent {
        let lasting = flows.iter().filter(|(from, to, _)| to > from);
        let turns = lasting.flat_map(|(from, to, bits)| {
            let rate = bits / (to - from);
            [(*from, rate), (*to, -rate)]
        });
        let mut turns: Vec<(f64, f64)> = turns.collect();
        turns.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        let (mut last, mut sent, mut rate) = (0.0, 0.0, 0.0);
        let turns = turns.into_iter().map(|(at, change)| {
            sent += rate * (at - last);
            last = at;
            rate += change;
            (at, sent, rate)
        });
        Sent {
            turns: turns.collect(),
        }
    }

    fn until(&self, at: f64) -> f64 {
        let place = self.turns.partition_point(|(turn, ..)| *turn <= at);
        let turn = place.checked_sub(1).and_then(|place| self.turns.get(place));
        turn.map_or(0.0, |(turn, sent, rate)| sent + rate * (at - turn))
    }
}

/// Bounds each flow's path from above by what all flows had together that were captured at the same place at the same time.
pub fn bound(connections: &mut [ConnectionSummary]) {
    let life = |connection: &ConnectionSummary| {
        let from = connection.start_s;
        (from, from + connection.duration_s)
    };
    let mut groups: BTreeMap<&str, Vec<(f64, f64, f64)>> = BTreeMap::new();
    for connection in &*connections {
        let (from, to) = life(connection);
        for flow in &connection.flows {
            let bits = flow.sent_bytes as f64 * 8.0;
            groups.entry(flow.place).or_default().push((from, to, bits));
        }
    }
    let groups: BTreeMap<&str, Sent> = groups
        .into_iter()
        .map(|(place, flows)| (place, Sent::of(&flows)))
        .collect();
    for connection in connections {
        let (from, to) = life(connection);
        for flow in &mut connection.flows {
            let (Some(sent), Some(path)) = (groups.get(flow.place), &mut flow.path) else {
                continue;
            };
            let own = flow.sent_bytes as f64 * 8.0;
            let others = (sent.until(to) - sent.until(from) - own) / (to - from);
            if others > path.rate.bits_per_sec() as f64 / 100.0 {
                let all = path.rate.bits_per_sec().saturating_add(others as u64);
                path.rate_of_all = Rate::from_bits_per_sec(all);
            }
        }
    }
}
