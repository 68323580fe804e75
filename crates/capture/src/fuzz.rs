//! What any bytes may not do.

use crate::{Summary, Trace};

/// Reads the bytes as a capture: there is an answer or one line, whatever they are.
///
/// # Panics
/// A number of the answer is impossible.
pub fn files(bytes: &[u8]) {
    let mut trace = Trace::new();
    if let Err(error) = trace.read(bytes, &|| true) {
        assert!(!error.to_string().contains('\n'), "{error}");
    }
    let (summary, _) = Summary::of(trace);
    assert!(summary.read.packets <= bytes.len() as u64);
    for flow in summary.connections.iter().flat_map(|one| &one.flows) {
        assert!(flow.spurious <= flow.retransmitted, "{flow:?}");
        if let Some(by) = &flow.limited_by {
            let all = by.application + by.receiver + by.congestion;
            assert!((all - 1.0).abs() < 1e-6, "{by:?}");
        }
    }
}
