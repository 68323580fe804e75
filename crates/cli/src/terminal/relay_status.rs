//! The status of a relay, on a terminal.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use emulator::{DirectionCounters, Queued, Relay, RelayCounters};
use indicatif::ProgressBar;
use program::bars::Bars;
use program::human;
use tables::numbers;
use tables::numbers::count;
use units::{Bytes, Rate};

/// The span of the present rate.
const RATE_SPAN: Duration = Duration::from_secs(1);

/// Two lines that are redrawn on request.
pub struct RelayStatus {
    // Dropped before the group of the lines, which then clears the rest.
    lines: [ProgressBar; 2],
    seen: VecDeque<(Instant, [u64; 2])>,
    bars: Bars,
}

impl RelayStatus {
    /// The lines, still empty.
    pub fn new() -> RelayStatus {
        let bars = Bars::default();
        RelayStatus {
            lines: [bars.line(), bars.line()],
            seen: VecDeque::new(),
            bars,
        }
    }

    /// Shows the present state.
    pub fn show(&mut self, relay: &Relay, now: Instant) {
        if !Bars::are_visible() {
            return;
        }
        let counters = relay.counters();
        let bytes = [counters.forward, counters.reverse].map(|one| one.delivered_bytes);
        self.seen.push_back((now, bytes));
        while self.seen.len() > 2
            && self
                .seen
                .get(1)
                .is_some_and(|(at, _)| now - *at >= RATE_SPAN)
        {
            self.seen.pop_front();
        }
        let (since, before) = self.seen.front().copied().unwrap_or((now, bytes));
        let rate = |now_at: u64, then: u64| {
            Rate::from_transfer(Bytes::new(now_at - then.min(now_at)), (now - since).into())
        };
        let rates = [rate(bytes[0], before[0]), rate(bytes[1], before[1])];
        for (line, text) in self
            .lines
            .iter()
            .zip(lines(&counters, relay.queued(), rates))
        {
            line.set_message(text);
        }
    }

    pub fn clear(self) {
        drop(self.bars);
    }
}

/// The text of the lines, below 80 columns unless numbers are very large.
fn lines(counters: &RelayCounters, queued: Queued, rates: [Rate; 2]) -> [String; 2] {
    let direction = |name: &str, one: &DirectionCounters, rate| {
        let (packets, bytes) = (one.delivered_packets, Bytes::new(one.delivered_bytes));
        format!(
            "{name:<8}{packets} packets  {}  {}",
            numbers::bytes(bytes),
            human::rate(rate)
        )
    };
    let (forward, reverse) = (&counters.forward, &counters.reverse);
    let clients = count(counters.clients_now, "client");
    [
        format!(
            "{}  queue {}, {}",
            direction("forward", forward, rates[0]),
            numbers::bytes(queued.bytes),
            human::duration(queued.delay)
        ),
        format!(
            "{}  {} dropped  {} lost  {clients}",
            direction("back", reverse, rates[1]),
            dropped(counters),
            lost(counters),
        ),
    ]
}

/// The packets that were dropped, in both directions: by a full buffer, a queue discipline, a policer, an MTU, or the
/// relay itself.
pub fn dropped(counters: &RelayCounters) -> u64 {
    let by_path =
        |one: &DirectionCounters| one.buffer_drops + one.policer_drops + one.too_big_packets;
    by_path(&counters.forward)
        + by_path(&counters.reverse)
        + counters.overload_drops
        + counters.loop_drops
}

/// The packets that the path lost at random or damaged, in both directions.
pub fn lost(counters: &RelayCounters) -> u64 {
    let by_path = |one: &DirectionCounters| one.random_losses + one.corrupted_packets;
    by_path(&counters.forward) + by_path(&counters.reverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_say_how_it_goes() {
        let direction = |packets: u64, drops| DirectionCounters {
            delivered_packets: packets,
            delivered_bytes: packets * 1_228,
            buffer_drops: drops,
            random_losses: 17,
            ..DirectionCounters::default()
        };
        let counters = RelayCounters {
            forward: direction(123_456, 120),
            reverse: direction(120_000, 0),
            clients_now: 12,
            overload_drops: 3,
            ..RelayCounters::default()
        };
        let queued = Queued {
            bytes: Bytes::new(812_000),
            packets: 541,
            delay: units::Duration::from_millis(324),
        };
        let rates = [19_800_000, 1_020_000].map(Rate::from_bits_per_sec);
        let [forward, back] = lines(&counters, queued, rates);
        assert_eq!(
            forward,
            "forward 123456 packets  152 MB  19.8 Mbit/s  queue 812 kB, 324 ms"
        );
        assert_eq!(
            back,
            "back    120000 packets  147 MB  1.02 Mbit/s  123 dropped  34 lost  12 clients"
        );
        assert!(forward.len() < 80 && back.len() < 80);
    }
}
