//! The cost of an ACK from C and from Rust: the same flow in steady state, with packets' states in a table, as in
//! `examples/udp.c`. The C functions are called through pointers unknown to the compiler, as a C program calls a
//! library.
#![expect(unsafe_code, reason = "calls what C calls")]

use std::hint::black_box;
use std::ptr::null_mut;
use std::time::Instant;

use congestion::{AnyController, Bytes, Connection, ControllerKind, Duration, PacketState, Time};
use fullpipe_c::*;

const MSS: u32 = 1_200;
const SPACING: u64 = 100_000;
const WINDOW: usize = 400;
/// The number of packets timed together.
const BATCH: u32 = 100;
/// The number of measurements of each side.
const MEASUREMENTS: u32 = 20_000;

/// A flow, in either language.
trait Side {
    fn send(&mut self);
    fn ack(&mut self);
}

/// The positions in the table for the next packet's state, and of the next acknowledged packet.
struct Ring {
    next: usize,
    oldest: usize,
    now: u64,
}

impl Ring {
    const NEW: Ring = Ring {
        next: 0,
        oldest: 0,
        now: 1,
    };

    fn after(place: &mut usize) -> usize {
        let now = *place;
        *place = if now + 1 == WINDOW { 0 } else { now + 1 };
        now
    }
}

/// Both flows begin at the start of a cache line, so that alignment does not differ between the languages.
#[repr(align(64))]
#[derive(Clone, Copy)]
struct Line {
    _bytes: [u8; 64],
}

#[repr(align(64))]
struct Rust {
    flow: congestion::Flow<AnyController>,
    packets: Vec<Option<PacketState>>,
    ring: Ring,
}

impl Side for Rust {
    fn send(&mut self) {
        self.ring.now += SPACING;
        let (now, bytes) = (Time::from_nanos(self.ring.now), Bytes::new(MSS.into()));
        black_box(self.flow.may_send(now, bytes));
        let place = Ring::after(&mut self.ring.next);
        self.packets[place] = Some(self.flow.on_sent(now, bytes));
    }

    fn ack(&mut self) {
        let now = Time::from_nanos(self.ring.now);
        let place = Ring::after(&mut self.ring.oldest);
        if let Some(packet) = &self.packets[place] {
            self.flow.on_acked(now, packet);
            self.flow.settle(now);
        }
    }
}

type MaySend = unsafe extern "C" fn(*mut Flow, u64, u32) -> i32;
type OnSent = unsafe extern "C" fn(*mut Flow, u64, u32, *mut Packet) -> Status;
type OnAck = unsafe extern "C" fn(*mut Flow, u64, *const Packet) -> Status;

struct C {
    flow: *mut Flow,
    packets: Vec<Packet>,
    ring: Ring,
    may_send: MaySend,
    on_sent: OnSent,
    on_ack: OnAck,
}

impl Side for C {
    fn send(&mut self) {
        self.ring.now += SPACING;
        let place = Ring::after(&mut self.ring.next);
        // SAFETY: the pointer is to an initialised flow.
        unsafe {
            black_box((self.may_send)(self.flow, self.ring.now, MSS));
            (self.on_sent)(self.flow, self.ring.now, MSS, &mut self.packets[place]);
        }
    }

    fn ack(&mut self) {
        let (flow, now) = (self.flow, self.ring.now);
        let packet = &raw const self.packets[Ring::after(&mut self.ring.oldest)];
        // SAFETY: the pointers are to an initialised flow and packet.
        unsafe {
            (self.on_ack)(flow, now, packet);
        }
    }
}

/// The nanoseconds of a packet with its ACK, and of the ACK alone.
fn time(side: &mut impl Side) -> [f64; 2] {
    let start = Instant::now();
    for _ in 0..BATCH {
        side.ack();
        side.send();
    }
    let step = start.elapsed();
    let start = Instant::now();
    for _ in 0..BATCH {
        side.ack();
    }
    let ack = start.elapsed();
    for _ in 0..BATCH {
        side.send();
    }
    [step, ack].map(|span| span.as_nanos() as f64 / BATCH as f64)
}

fn quantile(values: &mut [f64], of: usize) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() * of / 100]
}

/// The two sides take turns, so that disturbances of the machine affect both.
fn compare(name: &str, rust: &mut Rust, c: &mut C) {
    for _ in 0..50_000 / BATCH {
        time(rust);
        time(c);
    }
    let pairs: Vec<[[f64; 2]; 2]> = (0..MEASUREMENTS).map(|_| [time(rust), time(c)]).collect();
    for (index, what) in ["packet and ACK", "ACK alone"].iter().enumerate() {
        let of = |value: fn([f64; 2]) -> f64, part| {
            let each = pairs.iter().map(|[rust, c]| value([rust[index], c[index]]));
            quantile(&mut each.collect::<Vec<f64>>(), part)
        };
        let difference: fn([f64; 2]) -> f64 = |[rust, c]| c - rust;
        println!(
            "{name:<6} {what:<15} Rust {:>6.1} ns, C {:>6.1} ns; C - Rust {:>6.1} (quartiles {:.1} and {:.1})",
            of(|[rust, _]| rust, 50),
            of(|[_, c]| c, 50),
            of(difference, 50),
            of(difference, 25),
            of(difference, 75),
        );
    }
}

fn main() {
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
        let mut rust = Box::new(Rust {
            flow: congestion::Flow::new(controller, start, mss, Duration::ZERO),
            packets: vec![None; WINDOW],
            ring: Ring::NEW,
        });
        let mut memory =
            vec![Line { _bytes: [0; 64] }; fullpipe_flow_size().div_ceil(size_of::<Line>())];
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
        // SAFETY: all arguments are as the function requires.
        let status =
            unsafe { fullpipe_flow_init(memory.as_mut_ptr().cast(), size, &config, &mut flow) };
        assert_eq!(status, Status::Ok);
        let mut c = C {
            flow,
            packets: vec![Packet { words: [0; 9] }; WINDOW],
            ring: Ring::NEW,
            may_send: black_box(fullpipe_may_send),
            on_sent: black_box(fullpipe_on_sent),
            on_ack: black_box(fullpipe_on_ack),
        };
        for _ in 0..WINDOW {
            rust.send();
            c.send();
        }
        compare(name, &mut rust, &mut c);
    }
}
