//! The load of the machine: other work affects a measurement in real time.

use std::fs;

/// The load average over one minute: the number of processes that ran or were ready to. `None` if the system does not
/// report it.
pub fn load() -> Option<f64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

/// The time of all processors since the machine was started, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Processors {
    busy: u64,
    all: u64,
}

impl Processors {
    /// The times until now; `None` if the system does not report them.
    pub fn now() -> Option<Processors> {
        Processors::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses the first line of `/proc/stat` (proc_stat(5)): user, nice, system, idle, iowait, irq, softirq, steal.
    /// Time taken by another machine on the same hardware counts as busy. The time of guests is part of the first two.
    fn parse(text: &str) -> Option<Processors> {
        let mut words = text.lines().next()?.split_whitespace();
        if words.next()? != "cpu" {
            return None;
        }
        let ticks: Result<Vec<u64>, _> = words.take(8).map(str::parse).collect();
        let ticks = ticks.ok()?;
        let all = ticks.iter().sum();
        let idle: u64 = ticks.get(3..5)?.iter().sum();
        Some(Processors {
            busy: all - idle,
            all,
        })
    }

    /// The share of the time since `then` in which the processors were busy; `None` if no time has passed.
    pub fn busy_since(self, then: Processors) -> Option<f64> {
        let all = self.all.checked_sub(then.all).filter(|all| *all > 0)?;
        // The kernel's idle time may decrease a little.
        Some(self.busy.saturating_sub(then.busy) as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_idle_is_busy() {
        let of = |line: &str| Processors::parse(&format!("{line}\ncpu0 1 1 1 1\n"));
        let then = of("cpu  100 0 50 800 50 0 0 0 70 0").unwrap();
        let now = of("cpu  150 10 70 820 50 5 10 5 90 0").unwrap();
        // 100 of 120 ticks.
        let busy = now.busy_since(then).unwrap();
        assert!((busy - 100.0 / 120.0).abs() < 1e-9, "{busy}");
        assert_eq!(then.busy_since(then), None);
        for broken in [
            "",
            "cpu",
            "cpu  1 2 3",
            "intr 1 2 3 4 5 6 7 8",
            "cpu a b c d e f g h",
        ] {
            assert_eq!(of(broken), None, "{broken}");
        }
    }

    #[test]
    fn this_machine_tells() {
        assert!(load().is_some_and(|load| load >= 0.0));
        assert!(Processors::now().is_some_and(|now| now.all > 0));
    }
}
