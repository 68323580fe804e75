//! The path's clock: what a machine that comes late owes.

use units::{Duration, Time};

use crate::clock::Clock;

/// Lateness that every machine has: timers, a wake-up, a batch of packets. What was due meanwhile leaves at once.
const TOLERANCE: Duration = Duration::from_micros(200);

/// While the path's clock makes up for a stop, it is faster than the machine's by one part in so many: 0.8 %. A sender that
/// keeps the maximum of its delivery-rate samples, and paces 1 % below it as BBR does, does not notice.
const CATCH_UP: u64 = 128;

/// So far the clock may be behind, and no further: what a machine owes beyond that is let go at once. It bounds what a
/// machine that is late all the time takes from the path's capacity.
const FARTHEST: Duration = Duration::from_millis(50);

/// The time of the path, as one thread keeps it. A late thread cannot give back the time at which a packet was due. If it
/// let go of everything at once, senders would take the burst for bandwidth; if it spaced packets by a timer each, every
/// late wake-up would cost capacity. So the whole path stops while the machine does, and then runs a little faster until
/// it has caught up: no window of time sees more of the path than the machine's clock allows, but for [`TOLERANCE`] and
/// [`CATCH_UP`], and in the long run nothing is lost. Packets that enter while the clock is behind enter by the same
/// clock, so being behind by itself delays nobody.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PathClock {
    machine: Clock,
    /// When the clock was last set, and by how much it was behind the machine's from then on.
    set_at: Time,
    behind: Duration,
    /// By how much it had been behind until then, and what it showed then.
    behind_before: Duration,
    shown: Time,
    /// What it showed when the thread last looked, and the machine's time then.
    looked: Time,
    looked_at: Time,
}

impl PathClock {
    /// One that starts with the machine's clock.
    pub(crate) fn new(machine: Clock) -> PathClock {
        PathClock {
            machine,
            set_at: Time::ZERO,
            behind: Duration::ZERO,
            behind_before: Duration::ZERO,
            shown: Time::ZERO,
            looked: Time::ZERO,
            looked_at: Time::ZERO,
        }
    }

    /// The machine's clock.
    pub(crate) fn machine(&self) -> Clock {
        self.machine
    }

    /// By how much it is behind the machine's clock at that time of the machine.
    pub(crate) fn behind(&self, machine: Time) -> Duration {
        let made_up = Duration::from_nanos(machine.since(self.set_at).as_nanos() / CATCH_UP);
        self.behind.saturating_sub(made_up)
    }

    /// By how much it is behind where it shows `time`, which it did at the last look.
    pub(crate) fn behind_at(&self, time: Time) -> Duration {
        self.looked_at.since(time)
    }

    /// What it shows, or showed lately, at that time of the machine.
    pub(crate) fn at(&self, machine: Time) -> Time {
        if machine < self.set_at {
            return (machine - self.behind_before).min(self.shown);
        }
        (machine - self.behind(machine)).max(self.shown)
    }

    /// What it shows now, after the thread has been away and should have done something when it showed `due`. If that is
    /// longer ago than every machine's lateness, then the clock has stood still since.
    pub(crate) fn look(&mut self, due: Option<Time>) -> Time {
        self.look_at(self.machine.now(), due)
    }

    fn look_at(&mut self, machine: Time, due: Option<Time>) -> Time {
        let runs = self.at(machine);
        self.looked_at = machine;
        let Some(due) = due.filter(|due| runs.since(*due) > TOLERANCE) else {
            self.looked = runs;
            return runs;
        };
        let stands = (due + TOLERANCE).max(self.looked);
        let behind = machine.since(stands).min(FARTHEST);
        self.behind_before = self.behind(machine);
        self.set_at = machine;
        self.behind = behind;
        self.shown = machine - behind;
        self.looked = self.shown;
        self.shown
    }

    /// How long from now until it shows `time`.
    pub(crate) fn until(&self, time: Time) -> Duration {
        let machine = self.machine.now();
        let left = time.since(self.at(machine));
        let made_up = Duration::from_nanos(left.as_nanos() / (CATCH_UP + 1));
        // Whatever it still has to make up comes off the wait.
        left.saturating_sub(made_up.min(self.behind(machine)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    #[test]
    fn it_stops_with_the_machine_and_catches_up() {
        let mut clock = PathClock::new(Clock::start());
        assert_eq!(clock.look_at(ms(10), Some(ms(10))), ms(10));
        // As late as every machine.
        assert_eq!(
            clock.look_at(ms(20) + micros(150), Some(ms(20))),
            ms(20) + micros(150)
        );
        // Four milliseconds away.
        assert_eq!(clock.look_at(ms(34), Some(ms(30))), ms(30) + TOLERANCE);
        // What came meanwhile came when the clock had run, or stood.
        assert_eq!(clock.at(ms(29)), ms(29));
        assert_eq!(clock.at(ms(32)), ms(30) + TOLERANCE);
        assert_eq!(clock.behind(ms(34)), micros(3_800));
        let caught_up = ms(34) + micros(3_800) * CATCH_UP;
        assert_eq!(clock.look_at(caught_up, None), caught_up);
        assert_eq!(clock.behind(caught_up), Duration::ZERO);
    }

    #[test]
    fn nothing_was_due_so_nothing_is_owed() {
        let mut clock = PathClock::new(Clock::start());
        assert_eq!(clock.look_at(ms(500), None), ms(500));
        assert_eq!(clock.look_at(ms(900), Some(ms(901))), ms(900));
    }

    /// However late the thread is, and however often: no window shows more of the path than the law allows, no time is
    /// shown twice in a wrong order, and the clock is never far behind.
    #[test]
    fn no_window_shows_more_than_the_law_allows() {
        let mut clock = PathClock::new(Clock::start());
        let mut seen: Vec<(Time, Time)> = vec![(Time::ZERO, Time::ZERO)];
        let (mut machine, mut draw) = (Time::ZERO, 1_u64);
        while machine < ms(3_000) {
            draw = draw.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            // Something is due every 0.3 ms; one time of 300, the thread is up to 2 ms late.
            let due = clock.at(machine) + micros(300);
            let late = match (draw >> 33) % 300 {
                0 => micros((draw >> 45) % 2_000),
                _ => micros(20),
            };
            machine = machine + micros(300) + late;
            let shown = clock.look_at(machine, Some(due));
            assert!(shown <= machine && machine.since(shown) <= FARTHEST);
            assert!(shown >= seen.last().unwrap().1);
            seen.push((machine, shown));
        }
        for (number, (from, began)) in seen.iter().enumerate() {
            for (to, ended) in &seen[number + 1..] {
                let (real, path) = (to.since(*from), ended.since(*began));
                if real > Duration::from_millis(100) {
                    break;
                }
                let most = real + Duration::from_nanos(real.as_nanos() / CATCH_UP) + TOLERANCE;
                assert!(path <= most + micros(1), "{path:?} in {real:?}");
            }
        }
    }

    #[test]
    fn what_a_machine_owes_is_bounded() {
        let mut clock = PathClock::new(Clock::start());
        assert_eq!(clock.look_at(ms(10_000), Some(ms(10))), ms(9_950));
    }
}
