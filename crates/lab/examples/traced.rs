//! Compares the parts of congestion control's share that a capture shows with the simulation's. `bench/trace/run`
//! prints the result. The kernel has no statistics of these parts. `cargo run --release -p fullpipe-lab --example
//! traced`

#[path = "../tests/captures/parts.rs"]
mod parts;

use std::error::Error;

use parts::{KINDS, MEGABITS, Parts, RTT_MS, SECONDS};

fn shown(parts: &Parts) -> String {
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let [slow_start, window, beyond] = parts.0.map(percent);
    let buffer = parts.1.map_or("–".to_owned(), percent);
    format!("{slow_start} | {window} | {beyond} | {buffer}")
}

fn main() -> Result<(), Box<dyn Error>> {
    println!(
        "Only the simulation knows these parts; the kernel has no statistics of them. A flow sends over {MEGABITS} Mbit/s and {RTT_MS} ms \
         for {SECONDS} s. The truth divides the time in which congestion control limited the flow: in Startup or slow start; then in rounds \
         in which the bottleneck was idle for more than a tenth of the time (window), or was not (bottleneck and buffer). The part of the \
         latter in a recovery is `buffer`; BBR has no such part. The second column has the buffer, and \
         the share of random losses if there are any. Captured at the sender.\n"
    );
    println!(
        "| controller | sent | | slow start | window | bottleneck and buffer | buffer |\n| --- | --- | --- | --- | --- | --- | --- |"
    );
    let mut worst = [0.0_f64; 3];
    for controller in ["bbr1", "bbr3", "cubic", "reno"] {
        for kind in KINDS {
            let [Some(known), Some(found)] = parts::of(controller, kind)? else {
                continue;
            };
            for (worst, (found, known)) in worst.iter_mut().zip(found.0.into_iter().zip(known.0)) {
                *worst = worst.max((found - known).abs());
            }
            println!("| {controller} | {} | truth | {} |", kind.0, shown(&known));
            println!("| | | trace | {} |", shown(&found));
        }
    }
    let [slow_start, window, beyond] = worst.map(|off| format!("{:.0}", off * 100.0));
    println!(
        "\nThe largest errors are {slow_start} points (slow start), {window} (window) and {beyond} (bottleneck and buffer)."
    );
    Ok(())
}
