//! What must hold for any text that is given as a trace: a fuzz target, which `fuzz/fuzz_targets` and the test below call.

use units::{Bytes, Duration, Time};

use crate::trace::{Opportunities, Trace};

/// A trace is read or refused, with the line at fault; time in one that is read never runs backwards, and goes on.
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
    assert!((1..=text.lines().count()).contains(&trace.opportunities()));
    assert!(!trace.period().is_zero());
    let _ = trace.mean_rate();
    let mut opportunities = Opportunities::new(trace.clone());
    let mut last = Time::ZERO;
    for byte in bytes {
        let start = opportunities.start();
        let taken = opportunities.take(Bytes::new(u64::from(*byte) * 40));
        assert!(last <= taken && start <= taken);
        last = taken;
        if byte % 4 == 0 {
            last += Duration::from_millis(u64::from(*byte) << (byte % 64));
            opportunities.skip_to(last);
            assert!(opportunities.start() > last || last == Time::MAX);
        }
    }
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
        ];
        let corpus = corpus.map(|text| text.as_bytes().to_vec());
        fuzzing::run("path_traces", &corpus, super::traces);
    }
}
