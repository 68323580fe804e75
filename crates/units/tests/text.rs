//! Numbers with units, as text.

use proptest::prelude::*;
use units::{Bytes, Duration, Rate, Ratio};

#[test]
fn tc_units() {
    assert_eq!("20mbit".parse(), Ok(Rate::from_bits_per_sec(20_000_000)));
    assert_eq!(
        "1.5Gbit".parse(),
        Ok(Rate::from_bits_per_sec(1_500_000_000))
    );
    assert_eq!("128 kbit".parse(), Ok(Rate::from_bits_per_sec(128_000)));
    assert_eq!(
        "2.5tbit".parse(),
        Ok(Rate::from_bits_per_sec(2_500_000_000_000))
    );
    assert_eq!("40ms".parse(), Ok(Duration::from_millis(40)));
    assert_eq!("1.5h".parse(), Ok(Duration::from_secs(5_400)));
    assert_eq!("7d".parse(), Ok(Duration::from_secs(7 * 86_400)));
    for micro in ["5us", "5\u{b5}s", "5 \u{3bc}s"] {
        assert_eq!(micro.parse(), Ok(Duration::from_micros(5)), "{micro}");
    }
    assert_eq!("0".parse(), Ok(Duration::ZERO));
    assert_eq!(".5s".parse(), Ok(Duration::from_millis(500)));
    assert_eq!("250kb".parse(), Ok(Bytes::new(250_000)));
    assert_eq!("8mib".parse(), Ok(Bytes::new(8 << 20)));
    assert_eq!("3tb".parse(), Ok(Bytes::new(3_000_000_000_000)));
    assert_eq!("1tib".parse(), Ok(Bytes::new(1 << 40)));
    assert_eq!("1%".parse(), Ok(Ratio::new(1, 100)));
    assert_eq!("0.001%".parse(), Ok(Ratio::new(1, 100_000)));
    assert_eq!("0.05".parse(), Ok(Ratio::new(1, 20)));
}

#[test]
fn rates_as_reports_and_other_programs_have_them() {
    for (text, bits) in [
        ("20Mbit/s", 20_000_000),
        ("20 Mbit/s", 20_000_000),
        ("1.5 gbit/s", 1_500_000_000),
        ("128kbit/s", 128_000),
        ("800 bit/s", 800),
        ("1Tbit/s", 1_000_000_000_000),
        ("2.5MB/s", 20_000_000),
        ("1 kB/s", 8_000),
        ("1MiB/s", 8 << 20),
        ("16 B/s", 128),
    ] {
        assert_eq!(text.parse(), Ok(Rate::from_bits_per_sec(bits)), "{text}");
    }
    for text in ["20mbps", "20 Mbps", "20Mb/s", "20mb/s", "5 kbps", "9GBps"] {
        let error = text.parse::<Rate>().unwrap_err().to_string();
        assert_eq!(
            error,
            "bits or bytes per second? give bits as 20mbit or 20Mbit/s, and bytes as 2.5MB/s",
            "{text}"
        );
    }
    for text in ["mbps", "20fps", "20/s", "20mbit/h"] {
        let error = text.parse::<Rate>().unwrap_err().to_string();
        assert!(error.starts_with("expected a rate"), "{text}: {error}");
    }
}

#[test]
fn nonsense_is_refused() {
    for text in [
        "",
        "mbit",
        "20",
        "20mb",
        "-1mbit",
        "1.2.3mbit",
        "1e9bit",
        "∞",
        "99999999999gbit",
    ] {
        assert!(text.parse::<Rate>().is_err(), "{text}");
    }
    for text in ["40", "ms", "4 0ms", "40msx"] {
        assert!(text.parse::<Duration>().is_err(), "{text}");
    }
    assert!("500%".parse::<Ratio>().is_err());
    assert_eq!(
        "x".parse::<Rate>().unwrap_err().to_string(),
        "expected a rate such as 20mbit or 1.5gbit; units: bit kbit mbit gbit tbit"
    );
    let time = "40".parse::<Duration>().unwrap_err().to_string();
    assert_eq!(
        time,
        "expected a time such as 40ms or 1.5s; units: ns us ms s min h d"
    );
    let size = "8mbit".parse::<Bytes>().unwrap_err().to_string();
    assert_eq!(
        size,
        "expected a size such as 250kb or 8mib; units: b kb mb gb tb kib mib gib tib"
    );
    let share = "x".parse::<Ratio>().unwrap_err().to_string();
    assert_eq!(share, "expected a share such as 1% or 0.01; units: %");
}

#[test]
fn what_does_not_fit_is_too_large() {
    let rate = |text: &str| text.parse::<Rate>().map_err(|error| error.to_string());
    let answer = "too large; give a rate such as 20mbit or 1.5gbit".to_string();
    for text in ["18446745tbit", "99999999999gbit", "99999999999999999999bit"] {
        assert_eq!(rate(text), Err(answer.clone()), "{text}");
    }
    assert!(rate("18446744tbit").is_ok());
    assert!("5124095h".parse::<Duration>().is_ok());
    assert!("5124096h".parse::<Duration>().unwrap_err().is_too_large());
    assert!("16777216tib".parse::<Bytes>().unwrap_err().is_too_large());
    assert!("500%".parse::<Ratio>().unwrap_err().is_too_large());
    // An error for a number without a known unit does not say that it is too large.
    assert!(
        !"99999999999999999999m"
            .parse::<Rate>()
            .unwrap_err()
            .is_too_large()
    );
}

#[test]
fn printed_in_the_unit_that_suits() {
    let rate = |rate| Rate::from_bits_per_sec(rate).to_string();
    assert_eq!([0, 8, 128_000].map(rate), ["0bit", "8bit", "128kbit"]);
    assert_eq!(
        [1_500_000_000, 2_000_000_000_000].map(rate),
        ["1.5gbit", "2000gbit"]
    );
    let bytes = |bytes| Bytes::new(bytes).to_string();
    assert_eq!(
        [0, 999, 1_500, 8 << 20].map(bytes),
        ["0b", "999b", "1.5kb", "8.388608mb"]
    );
    let span = |nanos| Duration::from_nanos(nanos).to_string();
    assert_eq!(
        [0, 1, 41_000_050, 60_000_000_000].map(span),
        ["0s", "1ns", "41.00005ms", "60s"]
    );
    assert_eq!(Ratio::new(1, 8).to_string(), "12.5%");
}

proptest! {
    #[test]
    fn what_is_printed_parses_back(value: u64, shift in 0u32..64, parts: u32) {
        let value = value >> shift;
        let rate = Rate::from_bytes_per_sec(value / 8);
        prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        let bytes = Bytes::new(value);
        prop_assert_eq!(bytes.to_string().parse(), Ok(bytes));
        let span = Duration::from_nanos(value);
        prop_assert_eq!(span.to_string().parse(), Ok(span));
        // Shares are read with this precision.
        let share = Ratio::new(parts, 1_000_000_000);
        prop_assert_eq!(share.to_string().parse(), Ok(share));
    }
}
