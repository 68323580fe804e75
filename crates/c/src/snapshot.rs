//! The state of a flow, for logs and plots.

use congestion::{AnyController, Controller, Duration, Rate};

use crate::border::{Status, write_grown};
use crate::flow::{Flow, look};

/// The state of a flow. Unknown values are 0.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Snapshot {
    /// `sizeof(struct fullpipe_snapshot)`, set by the caller.
    pub size: u32,
    /// Whether the flow is recovering from losses.
    pub is_recovering: u32,
    /// The congestion window, in bytes.
    pub cwnd: u64,
    /// Bytes in flight.
    pub inflight: u64,
    /// The pacing rate, in bytes a second.
    pub pacing_rate: u64,
    /// The longest burst, in bytes.
    pub send_quantum: u64,
    /// The estimate of the bottleneck bandwidth, in bytes a second.
    pub btl_bw: u64,
    /// The least round-trip time, in nanoseconds.
    pub min_rtt_ns: u64,
    /// Bytes delivered so far.
    pub delivered: u64,
    /// Bytes declared lost so far.
    pub lost: u64,
    /// The name of the controller's state, as a zero-terminated string.
    pub state: [u8; 32],
}

/// The size of the first version.
const FIRST_VERSION_SIZE: usize = 104;

/// Writes the state of `flow` to `snapshot`, whose `size` the caller has set.
///
/// # Safety
/// The pointers are null, or valid for their types.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_snapshot_of(
    flow: *const Flow,
    snapshot: *mut Snapshot,
) -> Status {
    let tell = |flow: &congestion::Flow<AnyController>| {
        let of = flow.controller().snapshot();
        let mut state = [0; 32];
        for (to, from) in state.iter_mut().take(31).zip(of.state.name.bytes()) {
            *to = from;
        }
        let told = Snapshot {
            size: 0,
            is_recovering: flow.is_recovering().into(),
            cwnd: of.cwnd.get(),
            inflight: flow.inflight().get(),
            pacing_rate: of.pacing_rate.bytes_per_sec(),
            send_quantum: flow.controller().send_quantum().get(),
            btl_bw: of.btl_bw.map_or(0, Rate::bytes_per_sec),
            min_rtt_ns: flow.min_rtt().map_or(0, Duration::as_nanos),
            delivered: flow.sampler().delivered().get(),
            lost: flow.sampler().lost().get(),
            state,
        };
        // SAFETY: guaranteed by the caller.
        unsafe { write_grown(snapshot, FIRST_VERSION_SIZE, &told) }
    };
    // SAFETY: guaranteed by the caller.
    unsafe { look(flow, tell) }
}
