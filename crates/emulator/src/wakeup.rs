//! Waking on time.

use rustix::event::Timespec;
use units::Duration;

/// How old what observers see of a queue may be. Between two arrivals a queue drains, and nothing else would tell them.
pub(crate) const FRESHNESS: Duration = Duration::from_millis(5);

/// A timeout for the system.
pub(crate) fn timespec(span: Duration) -> Timespec {
    let span = std::time::Duration::from(span);
    span.try_into().expect("less than 600 years")
}

/// Asks the system to wake this thread on time, as far as it grants that.
pub(crate) fn ask_for_precise_wakeups() {
    #[cfg(target_os = "linux")]
    {
        use thread_priority::{
            RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
            set_thread_priority_and_policy, thread_native_id,
        };
        // To save energy, Linux joins timers that are up to 50 us apart (`prctl(2)`, `PR_SET_TIMERSLACK`).
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        // Of this thread alone, and before all normal ones (`sched(7)`, `SCHED_FIFO`); takes CAP_SYS_NICE. It sleeps
        // whenever it has nothing to do, and that is as soon as those that give it something to do cannot run.
        let first_come = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        if set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, first_come)
            .is_err()
        {
            // The most of a normal thread's share, where that is allowed (`RLIMIT_NICE`).
            let _ = rustix::process::setpriority_process(None, -20);
        }
    }
}
