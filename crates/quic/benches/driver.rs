//! Our driver against noq's endpoint, in one process and in turns, so that whatever else the machine does meets both.
//!
//! `cargo bench -p fullpipe-quic --bench driver [-- bulk|paced [RUNS [KBIT]]]`
//!
//! - `bulk`: one connection over loopback, as fast as it goes: goodput, and processor time for each gigabyte, both sides together.
//! - `paced`: a thousand connections over one socket, 1 Mbit/s each or what is given: the rate of each, how late packets leave, processor time.

#[path = "driver/bulk.rs"]
mod bulk;
#[path = "driver/paced.rs"]
mod paced;

use std::error::Error;
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name| arguments.iter().any(|argument| argument == name);
    let mut numbers = arguments
        .iter()
        .filter_map(|argument| argument.parse().ok());
    let (runs, kbit) = (numbers.next(), numbers.next());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    if !has("paced") {
        runtime.block_on(bulk::race(runs.unwrap_or(7)))?;
    }
    if !has("bulk") {
        runtime.block_on(paced::race(runs.unwrap_or(3), kbit.unwrap_or(1000)))?;
    }
    Ok(())
}

/// The processor time that this process has used.
fn processor_time() -> Duration {
    let Ok(usage) = getrusage(UsageWho::RUSAGE_SELF) else {
        return Duration::ZERO;
    };
    let span = |time: nix::sys::time::TimeVal| {
        Duration::from_secs(time.tv_sec().unsigned_abs())
            + Duration::from_micros(time.tv_usec().unsigned_abs())
    };
    span(usage.user_time()) + span(usage.system_time())
}

/// The median, the least and the most.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_by(f64::total_cmp);
    let at = |place: usize| values.get(place).copied().unwrap_or(f64::NAN);
    (
        at(values.len() / 2),
        at(0),
        at(values.len().saturating_sub(1)),
    )
}
