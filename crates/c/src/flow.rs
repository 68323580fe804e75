//! A flow, event by event.

use congestion::{AnyController, Bytes, Controller, Duration, PacketState, RttSample, Time};

use crate::border::{Status, guarded, read, read_grown, write};
use crate::config::Config;

/// A connection's congestion control, in memory of the caller's.
pub struct Flow {
    /// Whether this is one.
    mark: u64,
    flow: congestion::Flow<AnyController>,
}

/// What memory begins with that is a flow.
const MARK: u64 = u64::from_be_bytes(*b"fullpipe");
/// What memory begins with that was one until the library panicked.
const BROKEN: u64 = !MARK;

const _: () = assert!(
    !std::mem::needs_drop::<Flow>(),
    "there is no function that frees a flow"
);

/// What belongs to a packet in flight. The caller keeps it with the packet, and does not look inside.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Packet {
    /// The library's own.
    pub words: [u64; 9],
}

/// Whether there is a flow where a pointer points.
///
/// # Safety
/// The pointer is null, or to so much memory of the caller's that nobody else uses.
#[inline]
unsafe fn check(flow: *const Flow) -> Result<(), Status> {
    if flow.is_null() || !flow.is_aligned() {
        return Err(Status::Invalid);
    }
    // SAFETY: the mark is a number, so that whatever stands there is one.
    match unsafe { (&raw const (*flow).mark).read() } {
        MARK => Ok(()),
        BROKEN => Err(Status::Panicked),
        _ => Err(Status::Invalid),
    }
}

/// Lets `act` happen to the flow. If it panics, what stands there is a flow no more: nobody knows in which state it is.
///
/// # Safety
/// As for [`check`].
#[inline]
unsafe fn with(
    flow: *mut Flow,
    act: impl FnOnce(&mut congestion::Flow<AnyController>) -> Result<(), Status>,
) -> Status {
    // SAFETY: the caller vouches for it.
    if let Err(status) = unsafe { check(flow) } {
        return status;
    }
    // SAFETY: `fullpipe_flow_init` has written it.
    let opened = unsafe { &mut (*flow).flow };
    let status = guarded(|| act(opened));
    if status == Status::Panicked {
        // SAFETY: it has been checked.
        unsafe { (&raw mut (*flow).mark).write(BROKEN) };
    }
    status
}

/// Looks at the flow.
///
/// # Safety
/// As for [`check`], but that others may look, too.
pub(crate) unsafe fn look(
    flow: *const Flow,
    act: impl FnOnce(&congestion::Flow<AnyController>) -> Result<(), Status>,
) -> Status {
    // SAFETY: the caller vouches for it.
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

/// How much memory a flow takes, in bytes.
#[unsafe(no_mangle)]
pub extern "C" fn fullpipe_flow_size() -> usize {
    size_of::<Flow>()
}

/// How that memory has to be aligned, in bytes. What malloc gives is.
#[unsafe(no_mangle)]
pub extern "C" fn fullpipe_flow_align() -> usize {
    align_of::<Flow>()
}

/// Makes a flow in `memory`, which has `size` bytes, and writes the pointer to it to `flow`. The memory may be freed or used
/// for something else whenever the flow is no longer wanted.
///
/// # Safety
/// The pointers are null, or to what is said here.
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
        // SAFETY: the caller vouches for it.
        let config = unsafe { read_grown(config, Config::FIRST) }?;
        let place = memory.cast::<Flow>();
        let made = Flow {
            mark: MARK,
            flow: config.connect()?,
        };
        // SAFETY: the caller vouches for the size of it; the alignment is looked at.
        unsafe { write(place, made) }?;
        // SAFETY: the caller vouches for it.
        unsafe { write(flow, place) }
    })
}

/// Whether a packet of `bytes`, whose data waits, may leave now: 1 or 0. Window and pacer decide. 0 too if the flow is none.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_may_send(flow: *mut Flow, now_ns: u64, bytes: u32) -> i32 {
    let mut may = false;
    // SAFETY: the caller vouches for it.
    let status = unsafe {
        with(flow, |flow| {
            may = flow.may_send(Time::from_nanos(now_ns), Bytes::new(bytes.into()));
            Ok(())
        })
    };
    i32::from(may && status == Status::Ok)
}

/// When to ask `fullpipe_may_send` again, in nanoseconds of the caller's clock: `now_ns` if a packet of `bytes` may leave at once,
/// later if the pacer holds it back, and `UINT64_MAX` if only an ACK or a loss makes room in the window.
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
    // SAFETY: the caller vouches for it.
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

/// A packet of `bytes`, more than none, leaves. Writes to `packet` what is kept with it.
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
    // Nothing is in flight of which the caller has no state.
    if packet.is_null() || !packet.is_aligned() || bytes == 0 {
        return Status::Invalid;
    }
    // SAFETY: the caller vouches for both.
    unsafe {
        with(flow, |flow| {
            let state = flow.on_sent(Time::from_nanos(now_ns), Bytes::new(bytes.into()));
            let words = state.to_words();
            write(packet, Packet { words })
        })
    }
}

/// No data waits. Called whenever there is none to send.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_no_data(flow: *mut Flow, now_ns: u64) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe {
        with(flow, |flow| {
            flow.on_no_data(Time::from_nanos(now_ns));
            Ok(())
        })
    }
}

/// An ACK acknowledges this packet, and tells nothing else. The same as `fullpipe_on_acked` and `fullpipe_settle`, in one call.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_ack(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe {
        with_packet(flow, now_ns, packet, |flow, now, packet| {
            flow.on_acked(now, packet);
            flow.settle(now);
        })
    }
}

/// A packet was acknowledged. `fullpipe_settle` ends the ACK.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`; `packet` is null, or from `fullpipe_on_sent`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_acked(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe { with_packet(flow, now_ns, packet, congestion::Flow::on_acked) }
}

/// A packet was acknowledged that had been declared lost.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_acked_late(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe { with_packet(flow, now_ns, packet, congestion::Flow::on_acked_late) }
}

/// A packet was declared lost, by an ACK or a timer; once. `fullpipe_settle` or `fullpipe_on_timeout` follows.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_lost(
    flow: *mut Flow,
    now_ns: u64,
    packet: *const Packet,
) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe { with_packet(flow, now_ns, packet, congestion::Flow::on_lost) }
}

/// A packet is neither acknowledged nor lost, and not waited for any more: in QUIC, of a number space that is discarded.
///
/// # Safety
/// As for `fullpipe_on_acked`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_forgotten(flow: *mut Flow, packet: *const Packet) -> Status {
    // SAFETY: the caller vouches for it.
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
    // SAFETY: the caller vouches for both.
    unsafe {
        with(flow, |flow| {
            let state = PacketState::from_words(read(packet)?.words);
            // No packet is empty: where all is zero, nothing was written yet.
            if state.bytes.is_zero() || !flow.has_sent(&state) {
                return Err(Status::Invalid);
            }
            tell(flow, Time::from_nanos(now_ns), &state);
            Ok(())
        })
    }
}

/// The caller has measured the round-trip time of the ACK in progress itself; or, with zero, it knows that there is none to be
/// had, because what is acknowledged was sent more than once under the same name. `is_ack_delayed` is not 0 if the receiver may have
/// held the ACK back. Without this call, the newest packet's counts.
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
    // SAFETY: the caller vouches for it.
    unsafe {
        with(flow, |flow| {
            flow.on_rtt(rtt);
            Ok(())
        })
    }
}

/// The ACK in progress reports `bytes` more as marked "congestion experienced" (ECN).
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_marked(flow: *mut Flow, bytes: u64) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe {
        with(flow, |flow| {
            flow.on_marked(Bytes::new(bytes));
            Ok(())
        })
    }
}

/// An ACK or the loss timer has been processed: all that it acknowledged, marked and lost has been told.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_settle(flow: *mut Flow, now_ns: u64) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe {
        with(flow, |flow| {
            flow.settle(Time::from_nanos(now_ns));
            Ok(())
        })
    }
}

/// A retransmission timeout, after the losses that it declared; or persistent congestion in QUIC, after `fullpipe_settle` of the
/// ACK that shows it. A probe timeout is none.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_timeout(flow: *mut Flow, now_ns: u64) -> Status {
    // SAFETY: the caller vouches for it.
    unsafe {
        with(flow, |flow| {
            flow.on_timeout(Time::from_nanos(now_ns));
            Ok(())
        })
    }
}

/// Whether the controller answers marks (ECN), so that packets may be sent as capable of them: 1 or 0.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_responds_to_ecn(flow: *const Flow) -> i32 {
    let mut responds = false;
    // SAFETY: the caller vouches for it.
    unsafe {
        look(flow, |flow| {
            responds = flow.controller().responds_to_ecn();
            Ok(())
        });
    }
    responds.into()
}

/// The largest packet now has `mss` bytes.
///
/// # Safety
/// `flow` is null, or from `fullpipe_flow_init`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fullpipe_on_mtu_change(flow: *mut Flow, mss: u32) -> Status {
    if mss == 0 {
        return Status::Invalid;
    }
    // SAFETY: the caller vouches for it.
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
        // SAFETY: all of these are what the functions ask for.
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
