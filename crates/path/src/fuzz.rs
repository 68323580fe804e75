//! Properties of any text that is given as a trace: a fuzz target, which `fuzz/fuzz_targets` and the test below call.

use units::{Bytes, Duration, Time};

use crate::capacity::Capacity;
use crate::pace::Pace;
use crate::trace::Trace;
use crate::trace_error::TraceReason;

/// A trace is read, or refused with the faulty line. In a trace that is read, time never goes back, and advances.
pub fn traces(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else {
        return;
    };
    let trace = match text.parse::<Trace>() {
        Ok(trace) => trace,
        Err(error) => {
            assert!(error.line <= text.lines().count());
            return assert!(!error.to_string().contains('\n'));
        }
    };
    assert!((1..=text.lines().count()).contains(&trace.steps()));
    assert!(!trace.period().is_zero());
    let _ = trace.mean_rate();
    rewritten(&trace);
    let mut pace = Pace::new(Capacity::Trace(trace), None);
    let (mut now, mut last) = (Time::ZERO, Time::ZERO);
    for byte in bytes.iter().take(1_000) {
        if byte % 4 == 0 {
            now = now.max(last) + Duration::from_millis(u64::from(*byte) << (byte % 64));
            assert!(pace.start_after_idle(now) >= now);
            pace.wake(now);
            last = now;
        }
        let size = Bytes::new(u64::from(*byte) * 40);
        let (start, behind) = (pace.start(), pace.start_behind(size));
        let mut taken = pace.carry(size);
        assert!(last <= taken && start <= taken);
        // Follows the link until the packet is through or that takes long.
        for _ in 0..100 {
            let Some(look) = pace.next_look().filter(|look| *look < taken) else {
                break;
            };
            pace.look(size.max(Bytes::new(1)));
            taken = pace.start();
            assert!(look <= taken && taken >= last);
        }
        assert!(behind >= last);
        last = taken;
    }
}

/// The text of a written trace is read as the same trace, or as one of the same length and volume, except for rounding.
fn rewritten(trace: &Trace) {
    const MAX_LINES: u64 = 1_000;
    if let Ok(text) = trace.table_within(None, MAX_LINES) {
        // At less than a byte per second, nothing may be left.
        match text.parse::<Trace>() {
            Ok(again) => assert_eq!(again.period(), trace.period()),
            Err(error) => assert_eq!(error.reason, TraceReason::NoRate),
        }
    }
    if let Ok(text) = trace.opportunities_within(MAX_LINES) {
        let again: Trace = text.parse().expect("opportunities");
        let period = trace.period().as_nanos().div_ceil(1_000_000);
        assert_eq!(again.period().as_nanos(), period * 1_000_000);
    }
    let outages = trace.outages().into_iter();
    assert!(outages.fold(Duration::ZERO, |sum, it| sum + it) <= trace.period());
}

#[cfg(test)]
mod tests {
    #[test]
    fn any_traces() {
        let corpus = [
            "0\n1\n1\n\n4\r\n",
            "10\n20\n30\n",
            "5\n\n4\n",
            " 7 \n18446744073709\n",
            "0,1.5\n0.5,0\n1,3e2\n",
            "\u{feff}time;DL (kbps)\n2024-02-29T23:59:59Z;5,5\n2024-03-01T00:00:00.5+01:00;-\n",
            "ms\tmbit/s\n7\t1\n9\t2\n",
        ];
        let corpus = corpus.map(|text| text.as_bytes().to_vec());
        fuzzing::run("path_traces", &corpus, super::traces);
    }
}
