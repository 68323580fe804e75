//! Precise wake-ups.

use rustix::event::Timespec;
use units::Duration;

/// The maximum age of a queue's state for observers. A queue drains between arrivals, without another event.
pub(crate) const MAX_VIEW_AGE: Duration = Duration::from_millis(5);

/// Converts a timeout for the system.
pub(crate) fn timespec(span: Duration) -> Timespec {
    let span = std::time::Duration::from(span);
    span.try_into().expect("less than 600 years")
}

/// Asks the system to wake this thread on time, as far as it allows that.
pub(crate) fn ask_for_precise_wakeups() {
    #[cfg(target_os = "linux")]
    {
        use thread_priority::{
            RealtimeThreadSchedulePolicy, ThreadPriority, ThreadSchedulePolicy,
            set_thread_priority_and_policy, thread_native_id,
        };
        // To save energy, Linux joins timers that are up to 50 us apart (`prctl(2)`, `PR_SET_TIMERSLACK`).
        let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
        // This applies to this thread only, gives it priority over normal ones (`sched(7)`, `SCHED_FIFO`), and needs
        // CAP_SYS_NICE. The thread sleeps whenever it has nothing to do, which comes soon when the threads that give it
        // work cannot run.
        let first_come = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        if set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, first_come)
            .is_err()
        {
            // This is the largest share of a normal thread, where it is allowed (`RLIMIT_NICE`).
            let _ = rustix::process::setpriority_process(None, -20);
        }
    }
}
