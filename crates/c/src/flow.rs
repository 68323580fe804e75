//! A flow, event by event.

use congestion::{AnyController, Bytes, Controller, Duration, PacketState, RttSample, Time};

use crate::border::{Status, guarded, read, read_grown, write};
use crate::config::Config;

/// A connection's congestion control, in memory of the caller's.
pub struct Flow {
    /// Marks an initialised flow.
    mark: u64,
    flow: congestion::Flow<AnyController>,
}

/// The first bytes of an initialised flow.
const MARK: u64 = u64::from_be_bytes(*b"fullpipe");
/// The first bytes of a flow after a panic.
const BROKEN: u64 = !MARK;

const _: () = assert!(
    !std::mem::needs_drop::<Flow>(),
    "there is no function that frees a flow"
);

/// The state of a packet in flight. The caller keeps it with the packet and does not interpret it.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// Internal to the library.
    pub words: [u64; 9],
}

/// Checks that a pointer is to an initialised flow.
///
/// # Safety
/// The pointer is null, or to memory of this size that nobody else uses.
#[inline]
unsafe fn check(flow: *const Flow) -> Result<(), Status> {
    if flow.is_null() || !flow.is_aligned() {
        return Err(Status::Invalid);
    }
    // SAFETY: the mark is a number, so any bits are valid.
    match unsafe { (&raw const (*flow).mark).read() } {
        MARK => Ok(()),
        BROKEN => Err(Status::Panicked),
        _ => Err(Status::Invalid),
    }
}

/// Runs `act` on the flow. If it panics, the flow becomes unusable, as its state is unknown.
///
/// # Safety
/// As for [`check`].
#[inline]
unsafe fn with(
    flow: *mut Flow,
    act: impl FnOnce(&mut congestion::Flow<AnyController>) -> Result<(), Status>,
) -> Status {
    // SAFETY: guaranteed by the caller.
    if let Err(status) = unsafe { check(flow) } {
        return status;
    }
    // SAFETY: `fullpipe_flow_init` has written it.
    let opened = unsafe { &mut (*flow).flow };
    let status = guarded(|| act(opened));
    if status == Status::Panicked {
        // SAFETY: it was checked above.
        unsafe { (&raw mut (*flow).mark).write(BROKEN) };
    }
    status
}

/// Runs `act` on the flow, read-only.
///
/// # Safety
/// As for [`check`], but others may read the flow at the same time.
pub(crate) unsafe fn look(
    flow: *const Flow,
    act: impl FnOnce(&congestion::Flow<AnyController>) -> Result<(), Status>,
) -> Status {
    // SAFETY: guaranteed by the caller.
    if let Err(status) = unsafe { check(flow) } {
        return status;
    }
    // SAFETY: `fullpipe_flow_init` has written it.
    let opened = unsafe { &(*flow).flow };
    guarded(|| act(opened))
}

/// The version of the library, such as "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn fullpipe_version() -> *const std::ffi::c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// The size of a flow in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fullpipe_flow_size() -> usize {
    size_of::<Flow>()
}

/// The alignment of a flow in bytes. Memory from malloc has it.
#[unsafe(no_mangle)]
pub extern "C" fn fullpipe_flow_align() -> usize {
    align_of::<Flow>()
}

/// Initialises a flow in `memory`, which has `size` bytes, and writes the pointer to it to `flow`. The memory may be
/// freed or reused whenever the flow is no longer needed.
///
/// # Safety
/// The pointers are null, or valid as described.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_flow_init(
    memory: *mut std::ffi::c_void,
    size: usize,
    config: *const Config,
    flow: *mut *mut Flow,
) -> Status {
    guarded(|| {
        if size < size_of::<Flow>() {
            return Err(Status::Invalid);
        }
        // SAFETY: guaranteed by the caller.
        let config = unsafe { read_grown(config, Config::FIRST_VERSION_SIZE) }?;
        let place = memory.cast::<Flow>();
        let made = Flow {
            mark: MARK,
            flow: config.connect()?,
        };
        // SAFETY: the caller guarantees the size; the alignment is checked.
        unsafe { write(place, made) }?;
        // SAFETY: guaranteed by the caller.
        unsafe { write(flow, place) }
    })
}

/// Whether a waiting packet of `bytes` may leave now: 1 or 0. Window and pacer decide. Also 0 if the flow is invalid.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_may_send(flow: *mut Flow, now_ns: u64, bytes: u32) -> i32 {
    let mut may = false;
    // SAFETY: guaranteed by the caller.
    let status = unsafe {
        with(flow, |flow| {
            may = flow.may_send(Time::from_nanos(now_ns), Bytes::new(bytes.into()));
            Ok(())
        })
    };
    i32::from(may && status == Status::Ok)
}

/// The time at which to call `fullpipe_may_send` again, in nanoseconds of the caller's clock: `now_ns` if a packet of
/// `bytes` may leave at once, later if the pacer holds it back, and `UINT64_MAX` if only an ACK or a loss makes room in
/// the window.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_next_departure(
    flow: *const Flow,
    now_ns: u64,
    bytes: u32,
) -> u64 {
    let mut at = u64::MAX;
    // SAFETY: guaranteed by the caller.
    unsafe {
        look(flow, |flow| {
            if flow.fits(Bytes::new(bytes.into())) {
                at = flow.next_departure(Time::from_nanos(now_ns)).as_nanos();
            }
            Ok(())
        });
    }
    at
}

/// Reports that a packet of `bytes` leaves; `bytes` is not 0. Writes the packet's state to `packet`.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`; `packet` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_sent(
    flow: *mut Flow,
    now_ns: u64,
    bytes: u32,
    packet: *mut Packet,
) -> Status {
    // Nothing may be in flight without a state at the caller's.
    if packet.is_null() || !packet.is_aligned() || bytes == 0 {
        return Status::Invalid;
    }
    // SAFETY: the caller guarantees both.
    unsafe {
        with(flow, |flow| {
            let state = flow.on_sent(Time::from_nanos(now_ns), Bytes::new(bytes.into()));
            let words = state.to_words();
            write(packet, Packet { words })
        })
    }
}

/// Reports that no data waits. Called whenever there is none to send.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_no_data(flow: *mut Flow, now_ns: u64) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        with(flow, |flow| {
            flow.on_no_data(Time::from_nanos(now_ns));
            Ok(())
        })
    }
}

/// Reports an ACK of only this packet. The same as `fullpipe_on_acked` and `fullpipe_settle`, in one call.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_ack(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        with_packet(flow, now_ns, packet, |flow, now, packet| {
            flow.on_acked(now, packet);
            flow.settle(now);
        })
    }
}

/// Reports that a packet was acknowledged. `fullpipe_settle` ends the ACK.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`; `packet` is null, or from `fullpipe_on_sent`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_acked(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { with_packet(flow, now_ns, packet, congestion::Flow::on_acked) }
}

/// Reports that a packet was acknowledged after it had been declared lost.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_acked_late(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { with_packet(flow, now_ns, packet, congestion::Flow::on_acked_late) }
}

/// Reports that a packet was declared lost, by an ACK or a timer; once. `fullpipe_settle` or `fullpipe_on_timeout`
/// follows.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_lost(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { with_packet(flow, now_ns, packet, congestion::Flow::on_lost) }
}

/// Reports that a packet is neither acknowledged nor lost, and no longer awaited: in QUIC, of a discarded number space.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_forgotten(flow: *mut Flow, packet: *const Packet) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe { with_packet(flow, 0, packet, |flow, _, packet| flow.on_forgotten(packet)) }
}

/// # Safety
/// As for `fullpipe_on_acked`.
#[inline]
unsafe fn with_packet(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
    tell: impl FnOnce(&mut congestion::Flow<AnyController>, Time, &PacketState),
) -> Status {
    // SAFETY: the caller guarantees both.
    unsafe {
        with(flow, |flow| {
            let state = PacketState::from_words(read(packet)?.words);
            // No packet is empty. All zero means that nothing was written yet.
            if state.bytes.is_zero() || !flow.has_sent(&state) {
                return Err(Status::Invalid);
            }
            tell(flow, Time::from_nanos(now_ns), &state);
            Ok(())
        })
    }
}

/// Reports the caller's own measurement of the round-trip time of the ACK in progress. Zero means that there is none,
/// because the acknowledged data was sent more than once under the same name. `is_ack_delayed` is not 0 if the receiver
/// may have held the ACK back. Without this call, the newest packet's time is used.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_rtt(
    flow: *mut Flow,
    rtt_ns: u64,
    is_ack_delayed: u32,
) -> Status {
    let rtt = (rtt_ns > 0).then(|| RttSample {
        is_ack_delayed: is_ack_delayed != 0,
        ..RttSample::exact(Duration::from_nanos(rtt_ns))
    });
    // SAFETY: guaranteed by the caller.
    unsafe {
        with(flow, |flow| {
            flow.on_rtt(rtt);
            Ok(())
        })
    }
}

/// Reports `bytes` more as marked "congestion experienced" (ECN) by the ACK in progress.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_marked(flow: *mut Flow, bytes: u64) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        with(flow, |flow| {
            flow.on_marked(Bytes::new(bytes));
            Ok(())
        })
    }
}

/// Ends an ACK or a check of the loss timer, after all its acknowledgements, marks and losses are reported.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_settle(flow: *mut Flow, now_ns: u64) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        with(flow, |flow| {
            flow.settle(Time::from_nanos(now_ns));
            Ok(())
        })
    }
}

/// Reports a retransmission timeout, after the losses that it declared; or persistent congestion in QUIC, after
/// `fullpipe_settle` of the ACK that shows it. A probe timeout is not one.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_timeout(flow: *mut Flow, now_ns: u64) -> Status {
    // SAFETY: guaranteed by the caller.
    unsafe {
        with(flow, |flow| {
            flow.on_timeout(Time::from_nanos(now_ns));
            Ok(())
        })
    }
}

/// Whether the controller responds to marks (ECN), so that packets may be sent as ECN-capable: 1 or 0.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_responds_to_ecn(flow: *const Flow) -> i32 {
    let mut responds = false;
    // SAFETY: guaranteed by the caller.
    unsafe {
        look(flow, |flow| {
            responds = flow.controller().responds_to_ecn();
            Ok(())
        });
    }
    responds.into()
}

/// Reports that the largest packet now has `mss` bytes.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_mtu_change(flow: *mut Flow, mss: u32) -> Status {
    if mss == 0 {
        return Status::Invalid;
    }
    // SAFETY: guaranteed by the caller.
    unsafe {
        with(flow, |flow| {
            flow.on_mtu_change(Bytes::new(mss.into()));
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Kind;

    #[test]
    fn a_flow_that_panicked_refuses_every_later_call() {
        let config = Config {
            size: size_of::<Config>() as u32,
            controller: Kind::Bbr1 as u32,
            now_ns: 1,
            seed: 1,
            timer_slack_ns: 0,
            mss: 1_200,
            initial_cwnd: 0,
        };
        let mut memory = vec![0_u128; fullpipe_flow_size().div_ceil(16)];
        let size = size_of_val(&memory[..]);
        let place = memory.as_mut_ptr().cast();
        let mut flow = std::ptr::null_mut();
        // SAFETY: all arguments are as the functions require.
        unsafe {
            let made = fullpipe_flow_init(place, size, &config, &mut flow);
            assert_eq!(made, Status::Ok);
            assert_eq!(fullpipe_may_send(flow, 1, 1_200), 1);
            let status = with(flow, |_| panic!("of the test's own"));
            assert_eq!(status, Status::Panicked);
            assert_eq!(fullpipe_may_send(flow, 1, 1_200), 0);
            assert_eq!(fullpipe_next_departure(flow, 1, 1_200), u64::MAX);
            assert_eq!(fullpipe_settle(flow, 1), Status::Panicked);
            let made = fullpipe_flow_init(place, size, &config, &mut flow);
            assert_eq!(made, Status::Ok);
            assert_eq!(fullpipe_settle(flow, 1), Status::Ok);
        }
    }
}
