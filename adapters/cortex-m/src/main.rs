//! How large a flow is on a Cortex-M4: `adapters/cortex-m/size`
//!
//! A program that does nothing but hand a flow every event. Its text is the code of the controller that the feature names,
//! with sampler, pacer and recoveries; `STATE` is the state, and `PACKET` what is kept with each packet in flight.

#![no_std]
#![no_main]

use core::alloc::{GlobalAlloc, Layout};
use core::hint::black_box;
use core::panic::PanicInfo;

#[cfg(feature = "bbr1")]
use congestion::bbr1::Bbr1 as Controller;
#[cfg(feature = "bbr3")]
use congestion::bbr3::Bbr3 as Controller;
#[cfg(feature = "cubic")]
use congestion::cubic::Cubic as Controller;
#[cfg(feature = "reno")]
use congestion::reno::Reno as Controller;
use congestion::{Bytes, Connection, Duration, Flow, PacketState, Time};

/// The names of controllers are text, whose errors can allocate; a flow does not, and there is nothing to allocate from.
struct None;

unsafe impl GlobalAlloc for None {
    unsafe fn alloc(&self, _: Layout) -> *mut u8 {
        core::ptr::null_mut()
    }
    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[global_allocator]
static ALLOCATOR: None = None;

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

#[unsafe(no_mangle)]
static STATE: [u8; size_of::<Flow<Controller>>()] = [1; _];
#[unsafe(no_mangle)]
static PACKET: [u8; size_of::<PacketState>()] = [1; _];

#[unsafe(no_mangle)]
extern "C" fn _start() -> ! {
    black_box((&STATE, &PACKET));
    let mss = Bytes::new(1_200);
    let connection = Connection::new(Time::ZERO, mss, mss * 10);
    let controller = Controller::new(connection, Default::default());
    let mut flow = Flow::new(controller, Time::ZERO, mss, Duration::ZERO);
    loop {
        let now = black_box(Time::ZERO);
        if flow.may_send(now, black_box(mss)) {
            black_box(flow.on_sent(now, mss));
        }
        flow.on_no_data(now);
        let packet = PacketState::from_words(black_box([0; 9]));
        flow.on_acked(now, &packet);
        flow.on_acked_late(now, &packet);
        flow.on_lost(now, &packet);
        flow.on_marked(black_box(mss));
        flow.settle(now);
        flow.on_timeout(now);
        flow.on_mtu_change(black_box(mss));
        black_box(flow.next_departure(now));
    }
}
