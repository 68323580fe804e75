//! Compares the controllers in C with those in Rust: after each event, the snapshots are equal to the last bit.
//!
//! Both compute with the same integers, so no rounding error is allowed.

mod assignment;
mod event;
mod forward;
#[cfg(feature = "load")]
mod from_kernel;
#[cfg(feature = "load")]
mod heard;
mod hooks;
mod host;
mod random;
mod reconstructed;
mod recorded;
mod resent;
mod rounds;
mod rule;
mod script;
mod translated;
mod twins;

use kernel::{Algorithm, Settings};

use twins::Twins;

/// The number of events of ordinary tests, and of long tests.
const SHORT_TEST_EVENTS: usize = 100_000;
const LONG_TEST_EVENTS: usize = 10_000_000;

#[test]
fn bbr1_equals_its_twin_in_the_simulator() {
    recorded::compare(&Twins::bbr1(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr1_equals_its_twin_at_random() {
    random::compare(&Twins::bbr1(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_equals_its_twin_in_the_simulator() {
    recorded::compare(&Twins::bbr3(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_equals_its_twin_at_random() {
    random::compare(&Twins::bbr3(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_with_ecn_equals_its_twin_in_the_simulator() {
    recorded::compare(&Twins::bbr3_with_ecn(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_with_ecn_equals_its_twin_at_random() {
    random::compare(&Twins::bbr3_with_ecn(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_without_self_limited_equals_its_twin_in_the_simulator() {
    recorded::compare(&Twins::bbr3_without_self_limited(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_without_self_limited_equals_its_twin_at_random() {
    random::compare(&Twins::bbr3_without_self_limited(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_with_bbr1_min_rtt_equals_its_twin_in_the_simulator() {
    recorded::compare(&Twins::bbr3_with_bbr1_min_rtt(), SHORT_TEST_EVENTS);
}

#[test]
fn bbr3_with_bbr1_min_rtt_equals_its_twin_at_random() {
    random::compare(&Twins::bbr3_with_bbr1_min_rtt(), SHORT_TEST_EVENTS);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p fullpipe-kernel -- --ignored"]
fn bbr1_equals_its_twin_ten_million_times() {
    recorded::compare(&Twins::bbr1(), LONG_TEST_EVENTS);
    random::compare(&Twins::bbr1(), LONG_TEST_EVENTS);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p fullpipe-kernel -- --ignored"]
fn bbr3_equals_its_twin_ten_million_times() {
    recorded::compare(&Twins::bbr3(), LONG_TEST_EVENTS);
    random::compare(&Twins::bbr3(), LONG_TEST_EVENTS);
}

#[test]
#[ignore = "takes minutes: cargo test --release -p fullpipe-kernel -- --ignored"]
fn bbr3_with_ecn_equals_its_twin_ten_million_times() {
    recorded::compare(&Twins::bbr3_with_ecn(), LONG_TEST_EVENTS);
    random::compare(&Twins::bbr3_with_ecn(), LONG_TEST_EVENTS);
}

#[test]
fn the_settings_are_the_twins_unless_set() {
    for (algorithm, twins) in [
        (Algorithm::Bbr1, Twins::bbr1()),
        (Algorithm::Bbr3, Twins::bbr3()),
    ] {
        assert_eq!(Settings::new(algorithm).words(), twins.words);
    }
}

/// The events of real connections, of both controllers in the running kernel.
#[cfg(feature = "load")]
#[test]
fn the_twins_are_equal_in_a_kernel() {
    from_kernel::compare("bbr1", &Twins::bbr1());
    from_kernel::compare("bbr3", &Twins::bbr3());
    from_kernel::compare("bbr3", &Twins::bbr3_with_ecn());
}

/// A comparison must notice a difference.
#[test]
#[should_panic(expected = "event")]
fn another_setting_shows() {
    let mut twins = Twins::bbr1();
    let peak_gain = 2;
    twins.words[peak_gain] = 3 << 32 | 4;
    recorded::compare(&twins, SHORT_TEST_EVENTS);
}

/// Only one of the two responds to marks. The comparison must notice it.
#[test]
#[should_panic(expected = "event")]
fn unanswered_marks_show() {
    let mut twins = Twins::bbr3_with_ecn();
    let ecn = twins.words.len() - 4;
    assert_eq!(std::mem::take(&mut twins.words[ecn]), 1);
    recorded::compare(&twins, SHORT_TEST_EVENTS);
}

/// Only one of the two takes a bound from its own slower sending. The comparison must notice it.
#[test]
#[should_panic(expected = "event")]
fn self_limited_samples_that_one_answers_show() {
    let mut twins = Twins::bbr3_without_self_limited();
    let ignored = twins.words.len() - 2;
    assert_eq!(std::mem::take(&mut twins.words[ignored]), 1);
    recorded::compare(&twins, SHORT_TEST_EVENTS);
}

/// Only one of the two has BBRv1's least RTT. The comparison must notice it.
#[test]
#[should_panic(expected = "event")]
fn another_least_rtt_shows() {
    let mut twins = Twins::bbr3_with_bbr1_min_rtt();
    assert_eq!(twins.words.pop(), Some(1));
    twins.words.push(0);
    recorded::compare(&twins, SHORT_TEST_EVENTS);
}
