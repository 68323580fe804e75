//! Divides the kernel's clock ticks among the holders of a connection.
//!
//! The kernel counts the busy time of a connection in ticks of 1 to 10 ms (`tcp_chrono_set`, `tcp_jiffies32`). An
//! application that writes at a round interval may always write in the same part of a tick. Samples just after ticks
//! would then see it too often or too seldom. So each tick is divided among all samples since the previous tick.

use units::Duration;

/// The reason why a busy connection whose receiver has room does not send.
#[derive(Debug, Clone, Copy)]
pub(super) enum Holder {
    Application,
    SendBuffer,
    Congestion,
}

/// The time of each holder.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Held {
    pub application: Duration,
    pub send_buffer: Duration,
    pub congestion: Duration,
}

impl Held {
    fn of(&mut self, holder: Holder) -> &mut Duration {
        match holder {
            Holder::Application => &mut self.application,
            Holder::SendBuffer => &mut self.send_buffer,
            Holder::Congestion => &mut self.congestion,
        }
    }

    fn total(&self) -> Duration {
        self.application + self.send_buffer + self.congestion
    }
}

/// Divides the time that the kernel counts.
#[derive(Debug, Default)]
pub(super) struct Ticks {
    /// The time that the kernel has counted.
    pub counted: Held,
    /// The time of samples since the last tick.
    seen: Held,
}

impl Ticks {
    /// Adds a sample of this holder, `span` after the previous sample.
    pub fn add_sample(&mut self, holder: Holder, span: Duration) {
        let place = self.seen.of(holder);
        *place = *place + span;
    }

    /// Adds a tick: the kernel has counted `until` for all holders so far.
    pub fn tick(&mut self, until: Duration) {
        let ticked = until.saturating_sub(self.counted.total());
        let seen = std::mem::take(&mut self.seen);
        let total = seen.total().as_nanos().max(1) as f64;
        let part = |of: Duration| {
            let share = of.as_nanos() as f64 / total;
            Duration::from_nanos((ticked.as_nanos() as f64 * share) as u64)
        };
        let (application, send_buffer) = (part(seen.application), part(seen.send_buffer));
        let counted = &mut self.counted;
        counted.application = counted.application + application;
        counted.send_buffer = counted.send_buffer + send_buffer;
        let rest = ticked.saturating_sub(application + send_buffer);
        counted.congestion = counted.congestion + rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write every 20 ms takes 2.5 ms to be sent. The kernel's clock ticks every 4 ms, always `phase` microseconds
    /// after a write has begun.
    fn share_of_congestion(phase: u64) -> f64 {
        let (look, tick) = (1_930, 4_000);
        let mut ticks = Ticks::default();
        let mut before = 0;
        for at in (0..10_000).map(|number| number * look) {
            let holder = match at % 20_000 {
                ..2_500 => Holder::Congestion,
                _ => Holder::Application,
            };
            ticks.add_sample(holder, Duration::from_micros(look));
            let now = (at + tick - phase) / tick;
            if now > before {
                before = now;
                ticks.tick(Duration::from_micros(now * tick));
            }
        }
        let Held { congestion, .. } = ticks.counted;
        congestion.as_secs_f64() / ticks.counted.total().as_secs_f64()
    }

    #[test]
    fn shares_do_not_depend_on_when_the_clock_ticks() {
        for phase in (0..4_000).step_by(250) {
            let share = share_of_congestion(phase);
            assert!((share - 0.125).abs() < 0.01, "{phase} µs: {share}");
        }
    }

    #[test]
    fn a_tick_that_no_look_has_seen_is_congestion_controls() {
        let mut ticks = Ticks::default();
        ticks.tick(Duration::from_millis(4));
        assert_eq!(ticks.counted.congestion, Duration::from_millis(4));
    }
}
