//! The window of an application that sends little at a time.

use congestion::{AnyController, Controller, ControllerKind, Duration};
use transport::sender::Config;

use crate::wire::{Fate, MSS, Wire};

/// The windows after requests of `packets`, one each 400 ms, over a round trip of 100 ms.
fn windows(kind: ControllerKind, packets: u64, idle: Duration) -> [u64; 6] {
    let make = move |c| AnyController::on_host(kind, c);
    let mut wire = Wire::new(&Config::default(), make, |_, _| Fate::Pass);
    [(); 6].map(|()| {
        wire.write(packets);
        wire.run_until(wire.now + idle);
        wire.sender.controller().cwnd().get() / MSS
    })
}

/// Requests of eight packets within an initial window of ten: in slow start the window grows to twice the bytes in
/// flight (Linux `tcp_is_cwnd_limited`). A request of four packets shows less than the current window.
#[test]
fn in_slow_start_a_window_that_is_used_in_part_grows_to_twice_that() {
    let pause = Duration::from_millis(400);
    for kind in [ControllerKind::Cubic, ControllerKind::Reno] {
        assert_eq!(windows(kind, 8, pause)[1..], [16; 5], "{kind}");
        assert_eq!(windows(kind, 4, pause), [10; 6], "{kind}");
    }
}
