//! What an ACK costs from C, and from Rust: the same flow in steady state, a packet and its ACK a step. The functions of the
//! border are called through pointers that the compiler does not know, as a C program calls those of a library.
#![expect(unsafe_code, reason = "calls what C calls")]

use std::collections::VecDeque;
use std::hint::black_box;
use std::ptr::null_mut;

use congestion::{AnyController, Bytes, Connection, ControllerKind, Duration, PacketState, Time};
use criterion::{Criterion, criterion_group, criterion_main};
use fullpipe_c::*;

const MSS: u32 = 1_200;
const SPACING: u64 = 100_000;
const WINDOW: usize = 400;

struct Rust {
    flow: congestion::Flow<AnyController>,
    packets: VecDeque<PacketState>,
    now: u64,
}

impl Rust {
    fn send(&mut self) {
        self.now += SPACING;
        let (now, bytes) = (Time::from_nanos(self.now), Bytes::new(MSS.into()));
        black_box(self.flow.may_send(now, bytes));
        self.packets.push_back(self.flow.on_sent(now, bytes));
    }

    fn step(&mut self) {
        let now = Time::from_nanos(self.now);
        if let Some(packet) = self.packets.pop_front() {
            self.flow.on_acked(now, &packet);
            self.flow.settle(now);
        }
        self.send();
    }
}

type MaySend = unsafe extern "C" fn(*mut Flow, u64, u32) -> i32;
type OnSent = unsafe extern "C" fn(*mut Flow, u64, u32, *mut Packet) -> Status;
type OnAcked = unsafe extern "C" fn(*mut Flow, u64, *const Packet) -> Status;
type Settle = unsafe extern "C" fn(*mut Flow, u64) -> Status;

struct C {
    flow: *mut Flow,
    packets: VecDeque<Packet>,
    now: u64,
    may_send: MaySend,
    on_sent: OnSent,
    on_acked: OnAcked,
    settle: Settle,
}

impl C {
    fn send(&mut self) {
        self.now += SPACING;
        let mut packet = Packet { words: [0; 9] };
        // SAFETY: the flow is one.
        unsafe {
            black_box((self.may_send)(self.flow, self.now, MSS));
            (self.on_sent)(self.flow, self.now, MSS, &mut packet);
        }
        self.packets.push_back(packet);
    }

    fn step(&mut self) {
        if let Some(packet) = self.packets.pop_front() {
            // SAFETY: the flow is one, and so is the packet.
            unsafe {
                (self.on_acked)(self.flow, self.now, &packet);
                (self.settle)(self.flow, self.now);
            }
        }
        self.send();
    }
}

fn border(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("border");
    for (name, kind, number) in [
        ("bbr1", ControllerKind::Bbr1, Kind::Bbr1),
        ("bbr3", ControllerKind::Bbr3, Kind::Bbr3),
        ("cubic", ControllerKind::Cubic, Kind::Cubic),
    ] {
        let mss = Bytes::new(MSS.into());
        let mut connection = Connection::new(Time::from_nanos(1), mss, mss * 10);
        connection.seed = 1;
        let controller = AnyController::new(kind, connection);
        let start = Time::from_nanos(1);
        let mut rust = Rust {
            flow: congestion::Flow::new(controller, start, mss, Duration::ZERO),
            packets: VecDeque::with_capacity(WINDOW + 1),
            now: 1,
        };
        let mut memory = vec![0_u128; fullpipe_flow_size().div_ceil(16)];
        let config = Config {
            size: size_of::<Config>() as u32,
            controller: number as u32,
            now_ns: 1,
            seed: 1,
            timer_slack_ns: 0,
            mss: MSS,
            initial_cwnd: 0,
        };
        let mut flow = null_mut();
        let size = size_of_val(&memory[..]);
        // SAFETY: all of these are what the function asks for.
        let status =
            unsafe { fullpipe_flow_init(memory.as_mut_ptr().cast(), size, &config, &mut flow) };
        assert_eq!(status, Status::Ok);
        let mut c = C {
            flow,
            packets: VecDeque::with_capacity(WINDOW + 1),
            now: 1,
            may_send: black_box(fullpipe_may_send),
            on_sent: black_box(fullpipe_on_sent),
            on_acked: black_box(fullpipe_on_acked),
            settle: black_box(fullpipe_settle),
        };
        for _ in 0..WINDOW {
            rust.send();
            c.send();
        }
        for _ in 0..50_000 {
            rust.step();
            c.step();
        }
        group.bench_function(format!("{name}/rust"), |bencher| {
            bencher.iter(|| rust.step())
        });
        group.bench_function(format!("{name}/c"), |bencher| bencher.iter(|| c.step()));
    }
    group.finish();
}

criterion_group!(benches, border);
criterion_main!(benches);
