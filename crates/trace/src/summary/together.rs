//! Flows that fill a bottleneck together: each has only a share of its rate.

use std::collections::BTreeMap;

use units::Rate;

use super::ConnectionSummary;

/// The bits that a group of flows has sent over time. Each flow's bits are spread evenly over its life.
#[derive(Default)]
struct Sent {
    /// The times at which a flow begins or ends, in order. Each has the bits sent by then, and the rate from then on.
    turns: Vec<(f64, f64, f64)>,
}

impl Sent {
    /// The flows, each with its start, its end and its bits.
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

/// Bounds the rate of each flow's path from above. The bound is the sum of the rates of all flows that were captured at the
/// same place at the same time.
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
