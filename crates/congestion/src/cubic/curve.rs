//! W_cubic(t) = C (t − K)³ + W_max (RFC 9438, "Window Increase Function"), in integers.
//!
//! Time is counted in units of 2⁻²⁰ s, so that the division by a second cubed is a shift.

use units::{Bytes, Duration, Ratio};

use super::root::cube_root;

/// The fractional bits of C times the packet size.
const SCALE_BITS: u32 = 8;
/// The bits of a second in ticks: 2²⁰ ticks make a second.
const TICK_BITS: u32 = 20;
/// The longest time in ns, more than two hours: later the window has long been capped.
const MAX_ELAPSED_NS: u64 = 1 << 43;
/// The largest window in bytes.
const MAX_WINDOW_BYTES: u64 = 1 << 56;

/// One stage's curve.
#[derive(Debug, Clone, Copy)]
pub struct Curve {
    /// The window at the flat part of the curve.
    w_max: u64,
    /// The time of the flat part, in ticks.
    k: u64,
    /// C in bytes/s³, with `SCALE_BITS` fractional bits.
    scale: u64,
}

impl Curve {
    /// The curve with factor `c` that starts at `cwnd` and returns to `w_max`. If `cwnd` is not below `w_max`, it
    /// replaces `w_max` and K is zero.
    pub fn new(cwnd: Bytes, w_max: Bytes, mss: Bytes, c: Ratio) -> Curve {
        let mss = mss.get().clamp(1, MAX_WINDOW_BYTES >> SCALE_BITS);
        let scale = c.of(mss << SCALE_BITS).clamp(1, MAX_WINDOW_BYTES << 2);
        let distance = (w_max - cwnd).get().min(MAX_WINDOW_BYTES);
        let cube = (u128::from(distance) << (3 * TICK_BITS + SCALE_BITS)) / u128::from(scale);
        Curve {
            w_max: w_max.max(cwnd).get(),
            k: cube_root(cube),
            scale,
        }
    }

    /// The curve's window after `elapsed`.
    pub fn window(&self, elapsed: Duration) -> Bytes {
        let t = ticks(elapsed);
        if t < self.k {
            Bytes::new(self.w_max.saturating_sub(self.rise(self.k - t)))
        } else {
            Bytes::new(self.w_max.saturating_add(self.rise(t - self.k)))
        }
    }

    /// The window in whole packets, if `w_max` is a multiple of them. The distance from `w_max` is rounded down to
    /// packets (Linux `bictcp_update`).
    pub fn packets(&self, elapsed: Duration, mss: Bytes) -> u64 {
        let (window, mss) = (self.window(elapsed).get(), mss.get().max(1));
        if window < self.w_max {
            window.div_ceil(mss)
        } else {
            window / mss
        }
    }

    /// C × `distance`³: the deviation from the flat part at `distance` ticks from K.
    fn rise(&self, distance: u64) -> u64 {
        let d = u128::from(distance.min(MAX_ELAPSED_NS >> (30 - TICK_BITS)));
        // Twenty of the cube's 60 fractional bits are precise to a thousandth of a byte and leave room for the product.
        let cube = (d * d * d) >> (2 * TICK_BITS);
        let rise = (cube * u128::from(self.scale)) >> (TICK_BITS + SCALE_BITS);
        u64::try_from(rise).unwrap_or(u64::MAX)
    }
}

fn ticks(span: Duration) -> u64 {
    (span.as_nanos().min(MAX_ELAPSED_NS) << TICK_BITS) / 1_000_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1500;
    const C: Ratio = Ratio::new(2, 5);

    fn assert_close(actual: Bytes, expected: f64, tolerance: f64) {
        let actual = actual.get() as f64;
        assert!(
            (actual - expected).abs() <= tolerance,
            "{actual}, not {expected}"
        );
    }

    #[test]
    fn agrees_with_the_closed_form() {
        for (cwnd, w_max) in [(7, 10), (70, 100), (700, 1000), (70_000, 100_000)] {
            let curve = Curve::new(
                Bytes::new(cwnd * MSS),
                Bytes::new(w_max * MSS),
                Bytes::new(MSS),
                C,
            );
            let k = ((w_max - cwnd) as f64 / 0.4).cbrt();
            for millis in (0..200_000).step_by(37) {
                let t = millis as f64 / 1e3;
                let expected = (0.4 * (t - k).powi(3) + w_max as f64) * MSS as f64;
                let tolerance = 2.0 + expected.abs() * 1e-5;
                assert_close(
                    curve.window(Duration::from_millis(millis)),
                    expected,
                    tolerance,
                );
            }
        }
    }

    #[test]
    fn starts_at_the_window_and_is_flat_at_w_max() {
        let curve = Curve::new(
            Bytes::new(700_000),
            Bytes::new(1_000_000),
            Bytes::new(MSS),
            C,
        );
        assert_close(curve.window(Duration::ZERO), 700_000.0, 2.0);
        // K³ = 300 000 B / (0.4 × 1500 B/s³) = 500 s³
        let k = Duration::from_nanos((500_f64.cbrt() * 1e9) as u64);
        assert_close(curve.window(k), 1_000_000.0, 1.0);
    }

    #[test]
    fn above_w_max_it_starts_flat_where_it_is() {
        let curve = Curve::new(Bytes::new(900_000), Bytes::new(100_000), Bytes::new(MSS), C);
        assert_eq!(curve.window(Duration::ZERO), Bytes::new(900_000));
        // 0.4 × 1500 × 2³
        assert_close(curve.window(Duration::from_secs(2)), 904_800.0, 2.0);
    }

    #[test]
    fn extremes_saturate() {
        for mss in [0, 1, u64::MAX] {
            for c in [
                Ratio::ZERO,
                Ratio::new(1, u32::MAX),
                C,
                Ratio::new(u32::MAX, 1),
            ] {
                let mss = Bytes::new(mss);
                let curve = Curve::new(Bytes::ZERO, Bytes::MAX, mss, c);
                assert!(curve.window(Duration::ZERO) <= curve.window(Duration::MAX));
                let curve = Curve::new(Bytes::MAX, Bytes::ZERO, mss, c);
                assert_eq!(curve.window(Duration::MAX), Bytes::MAX);
            }
        }
    }
}
