//! Tests of the offsets, and of the meaning of the kernel's numbers.

use super::*;

/// A structure of Linux 6.18's length in which each word is its own offset.
fn numbered() -> Vec<u8> {
    (0..280u32 / 4)
        .flat_map(|word| (word * 4).to_ne_bytes())
        .collect()
}

fn parse(bytes: &[u8]) -> TcpInfo {
    TcpInfo::at(bytes, 0).unwrap()
}

/// The offsets are those of `struct tcp_info` in the type information (BTF) of a 6.18 kernel.
#[test]
fn every_word_stands_where_the_kernel_puts_it() {
    let info = parse(&numbered());
    let micros = |micros| Duration::from_micros(micros);
    let millis = |millis| Duration::from_millis(millis);
    assert_eq!((info.rto, info.ato), (micros(8), micros(12)));
    assert_eq!((info.snd_mss.get(), info.rcv_mss.get()), (16, 20));
    assert_eq!(
        (info.unacked, info.sacked, info.lost, info.retrans),
        (24, 28, 32, 36)
    );
    assert_eq!(
        (info.last_data_sent, info.last_data_recv, info.last_ack_recv),
        (millis(44), millis(52), millis(56))
    );
    assert_eq!((info.pmtu.get(), info.rcv_ssthresh.get()), (60, 64));
    assert_eq!((info.rtt, info.rttvar), (micros(68), micros(72)));
    assert_eq!((info.snd_ssthresh, info.snd_cwnd), (Some(76), 80));
    assert_eq!((info.advmss.get(), info.reordering), (84, 88));
    assert_eq!((info.rcv_rtt, info.rcv_space.get()), (micros(92), 96));
    assert_eq!(
        (info.total_retrans, info.segs_out, info.segs_in),
        (100, 136, 140)
    );
    assert_eq!(
        (info.notsent_bytes.get(), info.min_rtt),
        (144, Some(micros(148)))
    );
    assert_eq!((info.data_segs_in, info.data_segs_out), (152, 156));
    assert_eq!((info.delivered, info.delivered_ce), (192, 196));
    assert_eq!((info.dsack_dups, info.reord_seen), (216, 220));
    assert_eq!((info.rcv_ooopack, info.snd_wnd.get()), (224, 228));
    assert_eq!(
        (info.rcv_wnd, info.rehash),
        (Some(Bytes::new(232)), Some(236))
    );
    assert_eq!(info.total_rto.map(|rto| rto.time), Some(millis(244)));
    let accecn = info.accecn.unwrap();
    assert_eq!(accecn.received_ce, 248);
    assert_eq!(
        (
            accecn.delivered_e1_bytes,
            accecn.delivered_e0_bytes,
            accecn.delivered_ce_bytes
        ),
        (252, 256, 260)
    );
    assert_eq!(
        (
            accecn.received_e1_bytes,
            accecn.received_e0_bytes,
            accecn.received_ce_bytes
        ),
        (264, 268, 272)
    );
}

#[test]
fn every_double_word_and_half_word_stands_where_the_kernel_puts_it() {
    let mut bytes = numbered();
    for offset in [104u64, 112, 120, 128, 160, 168, 176, 184, 200, 208] {
        let place = offset as usize;
        bytes[place..place + 8].copy_from_slice(&(offset << 32).to_ne_bytes());
    }
    for offset in [240u16, 242, 276, 278] {
        let place = usize::from(offset);
        bytes[place..place + 2].copy_from_slice(&offset.to_ne_bytes());
    }
    let info = parse(&bytes);
    let rate = |offset: u64| Rate::from_bytes_per_sec(offset << 32);
    let size = |offset: u64| Bytes::new(offset << 32);
    let micros = |offset: u64| Duration::from_micros(offset << 32);
    assert_eq!(
        (info.pacing_rate, info.max_pacing_rate),
        (Some(rate(104)), Some(rate(112)))
    );
    assert_eq!(
        (info.bytes_acked, info.bytes_received),
        (size(120), size(128))
    );
    assert_eq!(info.delivery_rate, rate(160));
    assert_eq!(
        (info.busy_time, info.rwnd_limited, info.sndbuf_limited),
        (micros(168), micros(176), micros(184))
    );
    assert_eq!(
        (info.bytes_sent, info.bytes_retrans),
        (size(200), size(208))
    );
    let rto = info.total_rto.unwrap();
    assert_eq!((rto.timeouts, rto.recoveries), (240, 242));
    let accecn = info.accecn.unwrap();
    assert_eq!((accecn.received_ce, accecn.received_ce_bytes), (248, 272));
}

#[test]
fn bits_have_their_meaning() {
    let mut bytes = numbered();
    bytes[1..8].copy_from_slice(&[3, 2, 5, 4, 0b0101_0101, 0x98, 0b101]);
    let info = parse(&bytes);
    assert_eq!(info.ca_state, CaState::Recovery);
    assert_eq!((info.retransmits, info.probes, info.backoff), (2, 5, 4));
    let negotiated = info.negotiated;
    assert!(
        negotiated.timestamps
            && negotiated.window_scaling
            && negotiated.ecn_seen
            && negotiated.usec_timestamps
    );
    assert!(!negotiated.sack && !negotiated.ecn && !negotiated.syn_data);
    assert!(info.delivery_rate_app_limited);
    assert_eq!(info.fastopen_client_fail, 2);
}

#[test]
fn the_kernels_infinities_are_nothing() {
    let mut bytes = numbered();
    bytes[76..80].copy_from_slice(&INFINITE_SSTHRESH.to_ne_bytes());
    bytes[104..120].fill(0xff);
    bytes[148..152].fill(0xff);
    let info = parse(&bytes);
    assert_eq!(info.snd_ssthresh, None);
    assert_eq!((info.pacing_rate, info.max_pacing_rate), (None, None));
    assert_eq!(info.min_rtt, None);
}

#[test]
fn an_older_kernel_gives_less() {
    let bytes = numbered();
    let given = |length: usize| {
        TcpInfo::at(&bytes[..length], 0).map(|info| {
            [
                info.rcv_wnd.is_some(),
                info.rehash.is_some(),
                info.total_rto.is_some(),
                info.accecn.is_some(),
            ]
        })
    };
    assert_eq!(given(231), None, "before Linux 5.4");
    assert_eq!(given(232), Some([false, false, false, false]), "Linux 5.4");
    assert_eq!(given(240), Some([true, true, false, false]), "Linux 6.2");
    assert_eq!(given(248), Some([true, true, true, false]), "Linux 6.7");
    assert_eq!(given(280), Some([true, true, true, true]), "Linux 6.18");
    let newer = [&bytes[..], &[0; 8]].concat();
    assert_eq!(parse(&newer), parse(&bytes), "a newer one");
}

#[test]
fn inflight_is_what_has_left_and_not_arrived() {
    let info = TcpInfo {
        unacked: 10,
        sacked: 3,
        lost: 2,
        retrans: 1,
        ..parse(&numbered())
    };
    assert_eq!(info.inflight(), 6);
}

#[test]
fn what_neither_buffer_limits_the_controller_does() {
    let info = TcpInfo {
        busy_time: Duration::from_millis(100),
        rwnd_limited: Duration::from_millis(20),
        sndbuf_limited: Duration::from_millis(5),
        ..parse(&numbered())
    };
    assert_eq!(info.controller_limited(), Duration::from_millis(75));
}
