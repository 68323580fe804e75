//! The running and waiting times of this program's threads.

use std::collections::HashMap;
use std::fs;

use units::Duration;

/// The share of time, running or waiting for a processor, above which a thread is saturated.
const SATURATED_SHARE: f64 = 0.9;

/// The shortest time for which shares are meaningful.
const MIN_SPAN: Duration = Duration::from_millis(100);

/// The times of each thread until now.
pub struct Usage(HashMap<String, Thread>);

/// The time of one thread, in nanoseconds.
#[derive(Debug, Clone, Copy, Default)]
struct Thread {
    ran: u64,
    waited: u64,
}

/// The shares of a span that a thread used.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Share {
    /// The share of the time in which it ran.
    pub ran: f64,
    /// The share of the time in which it could have run and waited for a processor.
    pub waited: f64,
}

impl Usage {
    /// The times until now. Empty if the system does not report them.
    pub fn now() -> Usage {
        let tasks = fs::read_dir("/proc/self/task").into_iter().flatten();
        let threads = tasks.flatten().filter_map(|task| {
            // Linux: Documentation/scheduler/sched-stats.rst, "/proc/<pid>/schedstat".
            let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
            let name = task.file_name().into_string().ok()?;
            Some((name, parse(&text)?))
        });
        Usage(threads.collect())
    }

    /// The busiest thread since then, which was `span` ago.
    pub fn busiest(&self, span: Duration) -> Option<Share> {
        let share = |nanos: u64| nanos as f64 / span.as_nanos() as f64;
        let threads = Usage::now().0;
        let threads = threads.iter().map(|(name, now)| {
            let before = self.0.get(name).copied().unwrap_or_default();
            Share {
                ran: share(now.ran.saturating_sub(before.ran)),
                waited: share(now.waited.saturating_sub(before.waited)),
            }
        });
        let threads = threads.filter(|_| span >= MIN_SPAN);
        threads.max_by(|a, b| a.busy().total_cmp(&b.busy()))
    }
}

impl Share {
    fn busy(&self) -> f64 {
        self.ran + self.waited
    }

    /// True if the thread is saturated.
    pub fn is_full(&self) -> bool {
        self.busy() >= SATURATED_SHARE
    }
}

fn parse(text: &str) -> Option<Thread> {
    let mut numbers = text.split_whitespace().map(str::parse);
    Some(Thread {
        ran: numbers.next()?.ok()?,
        waited: numbers.next()?.ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_runs_is_the_busiest() {
        let before = Usage::now();
        if before.0.is_empty() {
            skipping::skip!("this system does not tell how long threads run");
            return;
        }
        let begin = std::time::Instant::now();
        while begin.elapsed() < std::time::Duration::from_millis(150) {}
        let busiest = before.busiest(begin.elapsed().into());
        assert!(busiest.is_some_and(|share| share.ran > 0.0), "{busiest:?}");
        assert_eq!(before.busiest(Duration::from_millis(1)), None);
    }

    #[test]
    fn shares() {
        let share = Share {
            ran: 0.2,
            waited: 0.75,
        };
        assert!(share.is_full());
        assert!(
            !Share {
                waited: 0.1,
                ..share
            }
            .is_full()
        );
        assert!(parse("131797 67964 2\n").is_some_and(|one| one.waited == 67_964));
        assert!(parse("").is_none());
    }
}
