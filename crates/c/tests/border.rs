//! Invalid input from C is answered, and a flow works through the interface.
#![expect(unsafe_code, reason = "calls what C calls")]

use std::ptr::{null, null_mut};

use fullpipe_c::*;

fn config() -> Config {
    Config {
        size: size_of::<Config>() as u32,
        controller: Kind::Bbr3 as u32,
        now_ns: 1,
        seed: 1,
        timer_slack_ns: 1_000_000,
        mss: 1_200,
        initial_cwnd: 0,
    }
}

/// Memory as from malloc.
fn memory() -> Vec<u128> {
    vec![0; fullpipe_flow_size().div_ceil(16)]
}

fn init(memory: &mut [u128], config: &Config) -> (Status, *mut Flow) {
    let mut flow = null_mut();
    let size = size_of_val(memory);
    // SAFETY: all arguments are as the function requires.
    let status = unsafe { fullpipe_flow_init(memory.as_mut_ptr().cast(), size, config, &mut flow) };
    (status, flow)
}

#[test]
fn a_flow_carries_packets() {
    let mut memory = memory();
    let (status, flow) = init(&mut memory, &config());
    assert_eq!(status, Status::Ok);
    let mut packets = Vec::new();
    let mut now = 1;
    // SAFETY: the flow and the packets are initialised.
    unsafe {
        while fullpipe_may_send(flow, now, 1_200) == 1 {
            let mut packet = Packet { words: [0; 9] };
            assert_eq!(fullpipe_on_sent(flow, now, 1_200, &mut packet), Status::Ok);
            packets.push(packet);
            now = fullpipe_next_departure(flow, now, 1_200).min(now + 1_000_000);
        }
        assert_eq!(packets.len(), 10);
        assert_eq!(fullpipe_next_departure(flow, now, 1_200), u64::MAX);
        now += 40_000_000;
        assert_eq!(fullpipe_on_lost(flow, now, &packets[0]), Status::Ok);
        for packet in &packets[1..] {
            assert_eq!(fullpipe_on_acked(flow, now, packet), Status::Ok);
        }
        assert_eq!(fullpipe_settle(flow, now), Status::Ok);
        let mut snapshot: Snapshot = std::mem::zeroed();
        assert_eq!(fullpipe_snapshot_of(flow, &mut snapshot), Status::Invalid);
        snapshot.size = size_of::<Snapshot>() as u32;
        assert_eq!(fullpipe_snapshot_of(flow, &mut snapshot), Status::Ok);
        assert_eq!((snapshot.delivered, snapshot.lost), (9 * 1_200, 1_200));
        assert_eq!((snapshot.inflight, snapshot.is_recovering), (0, 1));
        assert!(snapshot.state.starts_with(b"Startup\0"));
    }
}

#[test]
fn nonsense_is_answered() {
    let mut memory = memory();
    let mut wrong = config();
    for change in [
        |config: &mut Config| config.size = 4,
        |config: &mut Config| config.mss = 0,
        |config: &mut Config| config.controller = 2,
    ] {
        wrong = config();
        change(&mut wrong);
        assert_eq!(init(&mut memory, &wrong).0, Status::Invalid);
    }
    assert_eq!(init(&mut memory[..2], &config()).0, Status::Invalid);
    let place = memory.as_mut_ptr();
    let size = size_of_val(&memory[..]);
    let mut flow = null_mut();
    // SAFETY: null and misaligned pointers are under test, and zeroes are no flow.
    unsafe {
        let make = fullpipe_flow_init;
        assert_eq!(make(null_mut(), size, &wrong, &mut flow), Status::Invalid);
        assert_eq!(make(place.cast(), size, null(), &mut flow), Status::Invalid);
        let off = place.cast::<u8>().add(1);
        let short = size - 1;
        assert_eq!(
            make(off.cast(), short, &config(), &mut flow),
            Status::Invalid
        );
        assert_eq!(fullpipe_may_send(null_mut(), 0, 1), 0);
        assert_eq!(fullpipe_settle(null_mut(), 0), Status::Invalid);
        assert_eq!(fullpipe_settle(place.cast(), 0), Status::Invalid);
        let garbage = Packet {
            words: [u64::MAX; 9],
        };
        let (status, flow) = init(&mut memory, &config());
        assert_eq!(status, Status::Ok);
        assert_eq!(fullpipe_on_acked(flow, 5, null()), Status::Invalid);
        assert_eq!(fullpipe_on_mtu_change(flow, 0), Status::Invalid);
        // A packet whose state cannot be written is not in flight.
        let mut packets = [garbage; 2];
        let off = packets.as_mut_ptr().cast::<u8>().add(1).cast();
        assert_eq!(fullpipe_on_sent(flow, 4, 1_200, off), Status::Invalid);
        let mut snapshot: Snapshot = std::mem::zeroed();
        snapshot.size = size_of::<Snapshot>() as u32;
        assert_eq!(fullpipe_snapshot_of(flow, &mut snapshot), Status::Ok);
        assert_eq!(snapshot.inflight, 0);
        // A packet that was never sent.
        for tell in [
            fullpipe_on_acked,
            fullpipe_on_ack,
            fullpipe_on_acked_late,
            fullpipe_on_lost,
        ] {
            assert_eq!(tell(flow, 5, &garbage), Status::Invalid);
        }
        assert_eq!(fullpipe_on_forgotten(flow, &garbage), Status::Invalid);
        // Time that runs backwards is wrong, but harmless.
        assert_eq!(fullpipe_settle(flow, 3), Status::Ok);
        assert_eq!(fullpipe_on_timeout(flow, u64::MAX), Status::Ok);
        // Afterwards, a round trip is measured as usual.
        let mut packet = garbage;
        let (sent, acked) = (1_000_000, 41_000_000);
        let (status, flow) = init(&mut memory, &config());
        assert_eq!(status, Status::Ok);
        assert_eq!(fullpipe_on_ack(flow, sent, &garbage), Status::Invalid);
        assert_eq!(fullpipe_on_sent(flow, sent, 1_200, &mut packet), Status::Ok);
        assert_eq!(fullpipe_on_ack(flow, acked, &packet), Status::Ok);
        assert_eq!(fullpipe_snapshot_of(flow, &mut snapshot), Status::Ok);
        assert_eq!((snapshot.inflight, snapshot.min_rtt_ns), (0, acked - sent));
        // One that was never written, and one without bytes.
        let blank = Packet { words: [0; 9] };
        assert_eq!(fullpipe_on_ack(flow, acked, &blank), Status::Invalid);
        assert_eq!(
            fullpipe_on_sent(flow, acked, 0, &mut packet),
            Status::Invalid
        );
        // A forgotten packet is not in flight.
        assert_eq!(
            fullpipe_on_sent(flow, acked, 1_200, &mut packet),
            Status::Ok
        );
        assert_eq!(fullpipe_on_forgotten(flow, &packet), Status::Ok);
        assert_eq!(fullpipe_snapshot_of(flow, &mut snapshot), Status::Ok);
        assert_eq!((snapshot.inflight, snapshot.lost), (0, 0));
    }
}

/// A program compiled with a later version's header, which uses nothing unknown to this one.
#[test]
fn a_longer_configuration_is_taken_if_the_rest_is_zero() {
    #[repr(C)]
    struct Longer {
        config: Config,
        more: [u64; 2],
    }
    let mut memory = memory();
    for (more, expected) in [([0, 0], Status::Ok), ([0, 1], Status::Invalid)] {
        let mut longer = Longer {
            config: config(),
            more,
        };
        longer.config.size = size_of::<Longer>() as u32;
        let (size, mut flow) = (size_of_val(&memory[..]), null_mut());
        let place = memory.as_mut_ptr().cast();
        // SAFETY: all arguments are as the function requires.
        let status =
            unsafe { fullpipe_flow_init(place, size, (&raw const longer).cast(), &mut flow) };
        assert_eq!(status, expected);
    }
}
