//! Arithmetic at its limits.

use units::{Bytes, Duration, Rate, Ratio};

#[test]
fn extremes_saturate() {
    assert_eq!(
        Rate::from_transfer(Bytes::new(1), Duration::ZERO),
        Rate::MAX
    );
    assert_eq!(Rate::MAX.bytes_in(Duration::MAX), Bytes::MAX);
    assert_eq!(Rate::ZERO.time_for(Bytes::new(1)), Duration::MAX);
    assert_eq!(Ratio::new(u32::MAX, 1).of(u64::MAX), u64::MAX);
    assert_eq!(Bytes::new(1) - Bytes::new(2), Bytes::ZERO);
    let rate = Rate::from_bits_per_sec(10_000_000_000);
    assert_eq!(
        rate.bytes_in(Duration::from_millis(100)),
        Bytes::new(125_000_000)
    );
    assert_eq!(
        Rate::from_transfer(Bytes::new(125_000_000), Duration::from_millis(100)),
        rate
    );
    assert_eq!(rate.time_for(Bytes::new(1250)), Duration::from_micros(1));
}
