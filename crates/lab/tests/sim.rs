//! The engine `sim`: scenarios in virtual time.

use congestion::ControllerKind;
use std::thread;

use lab::Cancel;
use lab::{Engine, EngineError, Quic, Sim};
use record::Record;
use scenario::Scenario;
use simulate::{Bounds, RunError};
use units::Duration;

fn scenario(text: &str) -> Scenario {
    format!("name = \"test\"\n{text}").parse().unwrap()
}

fn run(text: &str) -> Record {
    let record = Sim::new().run(&scenario(text), &|_| {}, &Cancel::new());
    record.unwrap()
}

fn refusal(text: &str) -> String {
    Sim::new().check(&scenario(text)).unwrap_err().to_string()
}

const PLAIN: &str = "duration = \"20s\"\nwarmup = \"5s\"\n[path]\nrate = \"10mbit\"\nrtt = \"40ms\"\nbuffer = \"2bdp\"\n";

/// Everything in a record except the elapsed real time.
fn text(mut record: Record) -> String {
    record.summary.wall_s = 0.0;
    format!("{record:?}")
}

#[test]
fn a_plain_scenario_in_numbers() {
    let record = run(&format!("{PLAIN}[[flow]]\ncontroller = \"cubic\"\n"));
    let summary = &record.summary;
    assert_eq!((summary.engine.as_str(), summary.seed), ("sim", 1));
    assert_eq!(summary.duration_s, 20.0);
    assert!(!record.summary.is_partial);
    let path = &summary.path;
    assert_eq!(path.rate_bps, Some(10_000_000));
    assert_eq!(path.buffer_bytes, Some(100_000));
    // 1448 of 1500 bytes are payload.
    assert_eq!(path.limit_bps, Some(9_653_333));
    assert!(path.utilization.unwrap() > 0.99, "{path:?}");
    // A full buffer, and the packet that is being sent.
    assert!(path.queue_ms.max.unwrap() > 78.0 && path.queue_ms.max.unwrap() < 82.0);
    assert!(path.drops.unwrap() > 0);
    assert_eq!((path.random_losses, path.late_packets), (Some(0), None));
    let flow = &summary.flows[0];
    // CUBIC fills the buffer, and does not empty it again after the warmup.
    assert!(flow.rtt_ms.min.unwrap() > 60.0, "{:?}", flow.rtt_ms);
    assert!(flow.rtt_ms.max.unwrap() > 118.0 && flow.rtt_ms.max.unwrap() < 124.0);
    assert!(flow.limit_share.unwrap() > 0.98 && flow.limit_share.unwrap() < 1.01);
    let sent = flow.sent_bytes.unwrap() as f64;
    let arrived = flow.delivered_bytes as f64 * 1500.0 / 1448.0;
    assert!(
        (0.0..0.02).contains(&(sent / arrived - 1.0)),
        "{sent} {arrived}"
    );
    assert_eq!(flow.timeouts, Some(0));
    assert_eq!(flow.completed_s, None);
}

#[test]
fn corrupted_packets_use_the_path_and_are_lost_to_the_receiver() {
    let flow = "[[flow]]\ncontroller = \"bbr1\"\n";
    let run = |more: &str| run(&format!("{PLAIN}{more}\n{flow}")).summary;
    let corrupted = run("corruption = \"2%\"");
    let (path, flow) = (&corrupted.path, &corrupted.flows[0]);
    assert_eq!((path.random_losses, path.too_big), (Some(0), None));
    // 98 % of what a path without corruption allows.
    assert_eq!(path.limit_bps, Some(9_460_266));
    assert!(flow.limit_share.unwrap() > 0.9, "{flow:?}");
    assert!(path.utilization.unwrap() > 0.95, "{path:?}");
    // Of the 12,500 packets that fit the run's last 15 s.
    let count = path.corrupted.unwrap();
    assert!((180..320).contains(&count), "{count}");
    // Whoever sent them sees a loss each, a few of them before or after the summary's time.
    let lost = flow.packets_lost.unwrap();
    assert!(lost.abs_diff(count) < 20, "{lost} {count}");
    // A hop behind carries them as it does others; only ACKs are too small for its MTU.
    let hops = run(
        "corruption = \"2%\"\n[[path.next]]\nrate = \"100mbit\"\ncorruption = \"100%\"\nmtu = 9000\n",
    );
    assert_eq!(hops.flows[0].delivered_bytes, 0);
    let behind = &hops.next[0];
    assert_eq!(
        (behind.corrupted.map(|it| it > 0), behind.too_big),
        (Some(true), Some(0))
    );
}

#[test]
fn an_mtu_bounds_segments_and_a_smaller_one_later_is_a_black_hole() {
    let flow = "[[flow]]\ncontroller = \"cubic\"\n";
    let run = |more: &str| run(&format!("{PLAIN}mtu = 1400\n{more}\n{flow}"));
    let fits = run("").summary;
    assert_eq!((fits.path.too_big, fits.path.corrupted), (Some(0), None));
    // 1348 of 1400 bytes are payload.
    assert_eq!(fits.path.limit_bps, Some(9_628_571));
    assert!(fits.flows[0].limit_share.unwrap() > 0.95);
    let change = "change = [{ at = \"10s\", mtu = 1399 }, { at = \"12s\", mtu = 1400 }]";
    let record = run(change);
    let delivered = |from: u64, to: u64| {
        let samples = record.flows[0].samples.iter();
        let within = Duration::from_secs(from)..Duration::from_secs(to);
        let within: Vec<_> = samples
            .filter(|sample| within.contains(&sample.at))
            .collect();
        within.last().map_or(0, |last| last.delivered.get())
            - within.first().map_or(0, |first| first.delivered.get())
    };
    assert!(delivered(5, 10) > 5_000_000);
    // What was on its way when the route changed, and after that only tries.
    assert_eq!(delivered(11, 12), 0);
    assert!(record.summary.path.too_big.unwrap() > 3);
    assert!(record.summary.flows[0].timeouts.unwrap() > 0);
    // When packets fit again, the flow goes on with its next timeout.
    assert!(delivered(15, 20) > 1_000_000);
}

#[test]
fn what_limits_a_flow_is_told_in_shares_that_add_up() {
    let limits = |more: &str| {
        let text = format!(
            "duration = \"20s\"\nwarmup = \"5s\"\n\
             [path]\nrate = \"10mbit\"\nrtt = \"100ms\"\nbuffer = \"1bdp\"\n{more}"
        );
        let limits = run(&text).summary.flows[0].limited_by.unwrap();
        let sum = limits.application + limits.receiver + limits.send_buffer + limits.congestion;
        assert!((sum - 1.0).abs() < 1e-9, "{limits:?}");
        assert!(limits.pacing.unwrap() <= limits.congestion, "{limits:?}");
        limits
    };
    let host = "[host]\nreceive_buffer = \"60kb\"\n[[flow]]\ncontroller = \"cubic\"\n";
    let receiver = limits(host);
    assert!(receiver.receiver > 0.9, "{receiver:?}");
    let bulk = limits("[[flow]]\ncontroller = \"cubic\"\n");
    assert_eq!(bulk.largest(), ("congestion", 1.0));
    let app = "app = { kind = \"requests\", response = \"10kb\", think = \"1s\" }\n";
    let idle = limits(&format!("[[flow]]\ncontroller = \"bbr1\"\n{app}"));
    assert!(idle.application > 0.9, "{idle:?}");
}

#[test]
fn a_flow_limited_by_its_send_buffer_has_three_quarters_of_it_a_round_trip() {
    // At most 20 segments of 1448 bytes fit; the next are written when a third has room, seven segments. ACKs are for
    // two segments, and for one at the end of an odd burst, because it is pushed. So writes of seven and eight
    // alternate: 14, 15 and 15 segments in three round trips. The RTT is RTprop, as the path takes no time to
    // serialize.
    let record = run(
        "duration = \"20s\"\nwarmup = \"2s\"\n[path]\nrtt = \"100ms\"\n\
         [host]\nsend_buffer = \"28960b\"\nscheduler = \"none\"\n[[flow]]\ncontroller = \"reno\"\n",
    );
    let flow = &record.summary.flows[0];
    let expected = (14.0 + 15.0 + 15.0) / 3.0 * 1_448.0 * 8.0 / 0.1;
    let share = flow.goodput_bps as f64 / expected;
    assert!((share - 1.0).abs() < 0.01, "{share}");
    let median = flow.rtt_ms.p50.unwrap();
    assert!((100.0..100.1).contains(&median), "{median}");
    // Only its host limits it: the buffer, except for the moments in which it is refilled.
    let limits = flow.limited_by.unwrap();
    assert!(limits.send_buffer > 0.99, "{limits:?}");
    assert_eq!(
        (flow.limit_share, record.summary.path.limit_bps),
        (None, None)
    );
}

/// A flow with room for 100 Mbit/s in its receive window, behind a network card that is a hundred times as fast.
fn hosted(scheduler: &str) -> Record {
    run(&format!(
        "duration = \"3s\"\nwarmup = \"1s\"\n[path]\nrate = \"1gbit\"\nrtt = \"40ms\"\nbuffer = \"1bdp\"\n\
         [host]\nnic = \"10gbit\"\nreceive_buffer = \"500kb\"\nscheduler = \"{scheduler}\"\n\
         [[flow]]\ncontroller = \"bbr1\"\n\
         [[flow]]\ncontroller = \"bbr1\"\napp = {{ kind = \"poisson\", load = \"1mbit\", sizes = \"10kb\" }}\n"
    ))
}

#[test]
fn bursts_are_small_and_spread_and_few_wait_below_tcp() {
    let (paced, unpaced) = (hosted("fq"), hosted("none"));
    let of = |record: &Record| record.summary.flows[0].host.unwrap();
    let (fq, none) = (of(&paced), of(&unpaced));
    assert!(fq.burst_ms < 1.0, "{fq:?}");
    // A late burst is made up for by at most half of one.
    assert!(fq.ahead_mean_ms <= fq.burst_ms / 2.0, "{fq:?}");
    assert!(fq.pace.unwrap() <= 1.0, "{fq:?}");
    // The window leaves as it opens, far more than a burst at a time.
    assert!(none.ahead_mean_ms > none.burst_ms * 10.0, "{none:?}");
    for (record, host) in [(&paced, fq), (&unpaced, none)] {
        assert!((0.0..=1.5).contains(&host.below_tcp_max_share), "{host:?}");
        let samples = record.flows[0].samples.iter();
        let counted = samples.filter(|sample| sample.at >= record.scenario.warmup);
        let most = counted.map(|sample| sample.below_tcp.unwrap()).max();
        let most = most.unwrap().get();
        assert!(most <= host.below_tcp_max_bytes, "{most} {host:?}");
        // Each of its connections is paced by itself.
        assert_eq!(record.summary.flows[1].host, None);
    }
    let waits = |record: &Record| {
        let mut samples = record.flows[0].samples.iter();
        samples.any(|sample| sample.below_tcp > Some(units::Bytes::ZERO))
    };
    assert!(waits(&paced), "bursts wait for their departure");
}

#[test]
fn a_transfer_completes_at_the_exact_time() {
    // A SYN of 60 bytes one way, the SYN-ACK back, and 10 consecutive segments of one initial window.
    let record = run(
        "[path]\nrate = \"12mbit\"\nrtt = \"50ms\"\n[host]\nscheduler = \"none\"\n\
         [[flow]]\ncontroller = \"reno\"\nstart = \"1s\"\nbytes = \"14480b\"\n",
    );
    let flow = &record.summary.flows[0];
    // 40 µs for the SYN, 50 ms for the round trip, then ten times a millisecond and 25 ms.
    let completed = 1.0 + 0.000_040 + 0.050 + 0.010 + 0.025;
    assert!(
        (flow.completed_s.unwrap() - completed).abs() < 1e-9,
        "{flow:?}"
    );
    assert_eq!(flow.delivered_bytes, 14_480);
    assert_eq!(record.summary.duration_s, flow.completed_s.unwrap());
    let goodput = 14_480.0 * 8.0 / (completed - 1.0);
    assert!((flow.goodput_bps as f64 / goodput - 1.0).abs() < 1e-3);
    let [transfer] = record.transfers.rows[..] else {
        panic!("one transfer");
    };
    assert_eq!(
        transfer.completed.unwrap().as_secs_f64(),
        flow.completed_s.unwrap()
    );
    assert_eq!(transfer.bytes.get(), 14_480);
}

#[test]
fn the_same_scenario_is_the_same_record_however_many_run() {
    let busy = scenario(&format!(
        "{PLAIN}loss = \"0.5%\"\nuplink = {{ rate = \"5mbit\", buffer = \"1s\" }}\nreorder = {{ share = \"1%\", by = \"5ms\" }}\n\
         [[flow]]\ncontroller = \"bbr1\"\n[[flow]]\ncontroller = \"cubic\"\nrtt = \"80ms\"\n\
         [[flow]]\ncontroller = \"reno\"\nreverse = true\n\
         [[flow]]\ncontroller = \"cubic\"\napp = {{ kind = \"poisson\", interval = \"50ms\", sizes = \
         {{ kind = \"lognormal\", median = \"20kb\", sigma = 1.2 }} }}\n"
    ));
    let once = || text(Sim::new().run(&busy, &|_| {}, &Cancel::new()).unwrap());
    let alone = once();
    let together: Vec<String> = thread::scope(|scope| {
        let runs: Vec<_> = (0..2).map(|_| scope.spawn(once)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(together.iter().all(|record| *record == alone));
    let mut other = busy.clone();
    other.seed = 2;
    let other = Sim::new().run(&other, &|_| {}, &Cancel::new()).unwrap();
    assert_ne!(text(other), alone);
}

#[test]
fn connections_of_their_own_are_one_flow_with_many_transfers() {
    let record = run(
        "duration = \"30s\"\n[path]\nrate = \"100mbit\"\nrtt = \"20ms\"\nbuffer = \"1bdp\"\n\
         [[flow]]\ncontroller = \"cubic\"\napp = { kind = \"poisson\", interval = \"20ms\", sizes = \"50kb\", count = 400 }\n",
    );
    let [flow] = &record.summary.flows[..] else {
        panic!("one flow");
    };
    assert_eq!(record.transfers.rows.len(), 400);
    assert_eq!(flow.delivered_bytes, 400 * 50_000);
    let app = flow.app.as_ref().unwrap();
    assert_eq!(
        (app.kind.as_str(), app.started, app.completed),
        ("poisson", 400, 400)
    );
    let completed = record
        .transfers
        .rows
        .iter()
        .filter_map(|transfer| transfer.completed);
    assert_eq!(flow.completed_s, completed.max().map(|at| at.as_secs_f64()));
    // A handshake, and three windows of 10, 20 and 5 segments.
    let fastest = record.summary.completions[0].p50_ms.unwrap();
    assert!((70.0..90.0).contains(&fastest), "{fastest}");
}

#[test]
fn what_was_asked_for_and_did_not_come_is_a_transfer_too() {
    let record = run(
        "duration = \"2s\"\n[path]\nrate = \"1mbit\"\nrtt = \"20ms\"\nbuffer = \"1s\"\n\
         [[flow]]\ncontroller = \"cubic\"\nbytes = \"8mb\"\n\
         [[flow]]\ncontroller = \"cubic\"\napp = { kind = \"requests\", response = \"2mb\" }\n",
    );
    let unfinished = record
        .transfers
        .rows
        .iter()
        .filter(|row| row.completed.is_none());
    let unfinished: Vec<_> = unfinished.map(|row| (row.flow, row.bytes.get())).collect();
    assert_eq!(unfinished, [(0, 8_000_000), (1, 2_000_000)]);
    assert_eq!(record.summary.duration_s, 2.0);
    let requests = record.summary.flows[1].app.as_ref().unwrap();
    assert_eq!((requests.started, requests.completed), (1, 0));
}

#[test]
fn a_video_plays() {
    let record = run(
        "[path]\nrate = \"20mbit\"\nrtt = \"40ms\"\nbuffer = \"1bdp\"\n\
         [[flow]]\ncontroller = \"bbr1\"\napp = { kind = \"video\", length = \"40s\", max_buffer = \"8s\" }\n",
    );
    let flow = &record.summary.flows[0];
    let video = flow.app.as_ref().unwrap();
    assert_eq!((video.started, video.completed), (10, 10));
    assert!(video.playback.unwrap().startup_s.unwrap() < 2.0);
    // The last chunk is requested when it fits: with 40 s of video and 8 s of buffer, at least 28 s after the start.
    assert!(flow.completed_s.unwrap() > 28.0, "{:?}", flow.completed_s);
}

#[test]
fn every_flow_has_its_own_round_trip() {
    let record = run(
        "duration = \"10s\"\n[path]\nrate = \"1gbit\"\nrtt = \"100ms\"\n\
         [[path.next]]\nrtt = \"20ms\"\n\
         [host]\ninitial_cwnd = 2\nsend_buffer = \"5792b\"\n\
         [[flow]]\ncontroller = \"reno\"\n\
         [[flow]]\ncontroller = \"reno\"\nrtt = \"30ms\"\nhops = 0\n\
         [[flow]]\ncontroller = \"reno\"\nhops = 1\n\
         [[flow]]\ncontroller = \"reno\"\nrtt = \"200ms\"\nreverse = true\n",
    );
    let rtts: Vec<f64> = record
        .summary
        .flows
        .iter()
        .map(|flow| flow.rtt_ms.min.unwrap())
        .collect();
    for (rtt, expected) in rtts.iter().zip([120.0, 30.0, 20.0, 200.0]) {
        // Packets take 12 µs each.
        assert!((rtt - expected).abs() < 0.1, "{rtts:?}");
    }
}

#[test]
fn each_hop_is_a_bottleneck_of_its_own() {
    let record = run("duration = \"20s\"\nwarmup = \"5s\"\n\
         [path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nbuffer = \"1bdp\"\nuplink = { rate = \"2mbit\", buffer = \"50p\" }\n\
         [[path.next]]\nrate = \"10mbit\"\nrtt = \"20ms\"\nbuffer = \"100p\"\n\
         [[flow]]\ncontroller = \"cubic\"\nhops = \"0\"\n\
         [[flow]]\ncontroller = \"cubic\"\nhops = \"1\"\n\
         [[flow]]\ncontroller = \"cubic\"\nreverse = true\nhops = \"0\"\n");
    let summary = &record.summary;
    assert_eq!((summary.next.len(), record.paths.len()), (1, 2));
    assert_eq!(summary.next[0].rate_bps, Some(10_000_000));
    assert!(
        summary.next[0].utilization.unwrap() > 0.97,
        "{:?}",
        summary.next[0]
    );
    let shares: Vec<f64> = summary
        .flows
        .iter()
        .map(|flow| flow.limit_share.unwrap())
        .collect();
    // The second flow has its hop for itself; the other two send in opposite directions, and ACKs take their share.
    assert!(shares[1] > 0.97 && shares[1] < 1.01, "{shares:?}");
    assert!(shares[0] > 0.5 && shares[0] < 1.0, "{shares:?}");
    assert!(shares[2] > 0.5 && shares[2] < 1.0, "{shares:?}");
}

#[test]
fn the_queue_moves_to_the_link_that_becomes_the_slowest() {
    // The first link has 20 Mbit/s and the second 10, until the first is left with 5.
    let record = run("duration = \"20s\"\n\
         [path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nbuffer = \"40p\"\nchange = [{ at = \"10s\", rate = \"5mbit\" }]\n\
         [[path.next]]\nrate = \"10mbit\"\nrtt = \"20ms\"\nbuffer = \"40p\"\n\
         [[flow]]\ncontroller = \"cubic\"\n");
    let median_queue = |link: usize, from: u64, to: u64| {
        let window = Duration::from_secs(from)..Duration::from_secs(to);
        let samples = record.paths[link].samples.iter();
        let waits = samples.filter(|sample| window.contains(&sample.at));
        tables::statistics::median(waits.map(|sample| sample.queue.get() as f64)).unwrap()
    };
    let packet = 1_514.0;
    assert!(median_queue(0, 3, 10) <= packet);
    assert!(median_queue(1, 3, 10) > 15.0 * packet);
    assert!(median_queue(0, 13, 20) > 15.0 * packet);
    assert!(median_queue(1, 13, 20) <= packet);
}

#[test]
fn marks_are_counted_where_hosts_understand_them() {
    let path = "duration = \"10s\"\n[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nbuffer = \"4bdp\"\n\
                queue = { kind = \"threshold\", at = \"30kb\" }\n";
    let marked = run(&format!(
        "{path}[host]\necn = true\n[[flow]]\ncontroller = \"reno\"\n"
    ));
    assert!(marked.summary.path.marks.unwrap() > 0);
    assert!(marked.summary.flows[0].ecn_marks.unwrap() > 0);
    assert_eq!(marked.summary.flows[0].packets_lost, Some(0));
    let dropped = run(&format!("{path}[[flow]]\ncontroller = \"reno\"\n"));
    assert_eq!(dropped.summary.path.marks, Some(0));
    assert!(dropped.summary.path.drops.unwrap() > 0);
}

#[test]
fn a_cancelled_run_is_partial() {
    let scenario = scenario(&format!(
        "{PLAIN}[[flow]]\ncontroller = \"bbr1\"\nbytes = \"1gb\"\n"
    ));
    let cancel = Cancel::new();
    cancel.cancel();
    let record = Sim::new().run(&scenario, &|_| {}, &cancel).unwrap();
    assert!(record.summary.is_partial);
    assert_eq!(record.summary.duration_s, 0.0);
    assert_eq!(record.summary.flows[0].completed_s, None);
}

#[test]
fn what_cannot_be_simulated_is_told() {
    let flow = "[[flow]]\ncontroller = \"cubic\"\n";
    assert_eq!(
        refusal(&format!("duration = \"1s\"\n{flow}")),
        "path.rtt: packets take no time at all; give an RTprop or a rate"
    );
    let answer = refusal(&format!(
        "duration = \"1s\"\n[path]\nrtt = \"1ms\"\ntrace = \"none.trace\"\n{flow}"
    ));
    assert!(answer.starts_with("path.trace: none.trace: "), "{answer}");
    assert_eq!(
        refusal(&format!("duration = \"1s\"\n[path]\nrtt = \"1ms\"\n{flow}")),
        "flow.controller: nothing limits what this flow sends; give path.rate, bytes or host.nic"
    );
    let links = "[[link]]\nname = \"a\"\nfrom = \"s\"\nto = \"m\"\nrate = \"10mbit\"\nrtt = \"1ms\"\n\
                 [[link]]\nname = \"b\"\nfrom = \"m\"\nto = \"c\"\nrate = \"20mbit\"\n";
    for way in ["from = \"c\"\nto = \"s\"\n", "route = [\"b\", \"a\"]\n"] {
        assert_eq!(
            refusal(&format!("duration = \"1s\"\n{links}{flow}{way}")),
            "flow.controller: nothing limits what this flow sends; give links b, a, which it crosses from to to from, \
             uplink = { rate = \"10mbit\" }, turn its route round, or give bytes or host.nic"
        );
    }
    let answer = refusal(&format!(
        "duration = \"1s\"\n[path]\nrtt = \"1ms\"\n[host]\nreceive_buffer = \"5kb\"\ninitial_receive_buffer = \"9kb\"\n{flow}"
    ));
    assert!(answer.starts_with("flow.host.receive_buffer: "), "{answer}");
    let kernels = "[[flow]]\ncontroller = \"kernel:bbr\"\n";
    let path = "[path]\nrate = \"1mbit\"\nrtt = \"1ms\"\n";
    let answer = refusal(&format!("duration = \"1s\"\n{path}{flow}{kernels}"));
    assert_eq!(
        answer,
        format!(
            "flow[1].controller: kernel:bbr is a kernel's, which engine sim has not; give one of {}, or use engine linux",
            ControllerKind::ALL
                .iter()
                .map(|kind| kind.name())
                .collect::<Vec<_>>()
                .join(", ")
        )
    );
}

#[test]
fn what_cannot_be_opened_is_counted_and_over() {
    let flow = "[[flow]]\ncontroller = \"cubic\"\nbytes = \"1mb\"\n";
    let web = "[[flow]]\ncontroller = \"cubic\"\ncount = 2\napp = { kind = \"poisson\", interval = \"1s\", sizes = \"10kb\" }\n";
    let record = run(&format!("[path]\nrtt = \"1s\"\nloss = \"100%\"\n{flow}"));
    let one = &record.summary.flows[0];
    assert_eq!((one.failed_opens, one.connect_ms), (Some(1), None));
    assert_eq!((one.completed_s, record.summary.duration_s), (None, 131.0));
    assert!(!record.summary.is_partial);
    let lossy = run(&format!(
        "duration = \"200s\"\n[path]\nrtt = \"1s\"\nloss = \"100%\"\n{flow}{web}"
    ));
    let web = &lossy.summary.flows[1];
    let (app, failed) = (web.app.clone().unwrap(), web.failed_opens.unwrap());
    assert!(failed > 30 && failed < app.started, "{failed} of {app:?}");
    assert_eq!(app.completed, 0);
    let fine = run(&format!(
        "{PLAIN}[[flow]]\ncontroller = \"bbr1\"\nstart = \"6s\"\n"
    ));
    let one = &fine.summary.flows[0];
    assert_eq!(one.failed_opens, Some(0));
    assert!((40.0..40.2).contains(&one.connect_ms.unwrap()), "{one:?}");
}

#[test]
fn a_path_that_lets_no_data_through_ends_a_run_without_a_duration() {
    let scenario = scenario(
        "[path]\nrtt = \"1s\"\nloss = { kind = \"gilbert\", p = \"20%\", r = \"0%\" }\n[[flow]]\ncontroller = \"cubic\"\nbytes = \"1mb\"\n",
    );
    let error = Sim::new()
        .run(&scenario, &|_| {}, &Cancel::new())
        .unwrap_err();
    assert!(
        matches!(error, EngineError::Simulation(RunError::Stalled { .. })),
        "{error}"
    );
    assert_eq!(error.to_string().lines().count(), 1);
}

#[test]
fn engines_by_name() {
    for kind in lab::EngineKind::ALL {
        assert_eq!(kind.name().parse(), Ok(*kind));
        assert_eq!(kind.engine().kind(), *kind);
    }
    let unknown = "simm".parse::<lab::EngineKind>().unwrap_err().to_string();
    assert_eq!(
        unknown,
        "unknown engine; did you mean `sim`? known: sim, quic, linux"
    );
}

#[test]
fn what_only_a_simulation_can_do_is_refused_by_engine_quic() {
    let path = "duration = \"1s\"\n[path]\nrate = \"1mbit\"\nrtt = \"9ms\"\nuplink = { rate = \"1mbit\" }\n";
    let flow = "[[flow]]\ncontroller = \"cubic\"\n";
    for (more, field) in [
        (format!("[host]\necn = true\n{flow}"), "host"),
        (
            format!("[[path.next]]\nrate = \"1mbit\"\n{flow}"),
            "path.next",
        ),
        (format!("{flow}app = \"video\"\n"), "flow.app"),
        (format!("{flow}rtt = \"90ms\"\n"), "flow.rtt"),
        (format!("{flow}reverse = true\n"), "flow.reverse"),
        (format!("{flow}host = {{ ecn = true }}\n"), "flow.host"),
        (
            format!("[[host.change]]\nat = \"1s\"\nreceive_buffer = \"1mb\"\n{flow}"),
            "host",
        ),
        (format!("{flow}count = 501\n"), "flow.count"),
    ] {
        let scenario = scenario(&format!("{path}{more}"));
        assert!(Sim::new().check(&scenario).is_ok(), "{more}");
        match Quic::new().check(&scenario) {
            Err(EngineError::Scenario(error)) => assert_eq!(error.field, field, "{error}"),
            other => panic!("{more}: {other:?}"),
        }
    }
    let kernels = scenario(&format!("{path}[[flow]]\ncontroller = \"kernel:cubic\"\n"));
    let error = Quic::new().check(&kernels).unwrap_err().to_string();
    assert!(
        error.starts_with("flow.controller: kernel:cubic"),
        "{error}"
    );
    let plain = scenario(&format!("{path}{flow}bytes = \"1mb\"\nstart = \"100ms\"\n"));
    assert!(Quic::new().check(&plain).is_ok());
}

#[test]
fn without_samples_all_else_is_the_same() {
    use record::measure::{Measure, Select, Subject};
    // Losses, steps and pauses; objects and a video; a queue that empties, and one that does not.
    let step = "change = [{ at = \"8s\", rate = \"20mbit\" }]\nloss = \"0.1%\"\n";
    let flows = "[[flow]]\ncontroller = \"bbr1\"\n[[flow]]\ncontroller = \"cubic\"\nstart = \"3s\"\n\
                 [[flow]]\ncontroller = \"bbr1\"\napp = { kind = \"requests\", response = \"100kb\", think = \"500ms\" }\n";
    let alone = "[[flow]]\ncontroller = \"bbr1\"\napp = { kind = \"video\" }\n";
    for text in [
        format!("{PLAIN}{step}{flows}"),
        format!("{PLAIN}{step}{alone}"),
    ] {
        let scenario = scenario(&text);
        let whole = run(&text);
        let without = Sim::new().run_without_samples(&scenario, &|_| {}, &Cancel::new());
        let without = without.unwrap();
        assert!(without.flows.iter().all(|flow| flow.samples.is_empty()));
        assert!(without.paths.iter().all(|path| path.samples.is_empty()));
        let all = Select::default();
        let measured = |record: &Record| -> Vec<_> {
            let told = Measure::all().filter(|measure| !measure.needs_samples(&all));
            told.map(|measure| (measure.name, measure.of(&Subject::new(record, &all))))
                .collect()
        };
        assert_eq!(measured(&whole), measured(&without));
        let told = measured(&whole);
        assert!(told.iter().any(|(_, value)| value.is_some()), "{told:?}");
        let mut dropped = whole;
        dropped.drop_samples();
        assert_eq!(self::text(dropped), self::text(without));
    }
}

/// Each link makes two of each packet, all at one time.
#[test]
fn a_run_with_packets_beyond_its_bounds_ends_with_an_error() {
    let next = "[[path.next]]\nduplicate = \"100%\"\n".repeat(29);
    let text = format!(
        "duration = \"9s\"\n[path]\nrate = \"9mbit\"\n{next}[[flow]]\ncontroller = \"reno\"\n"
    );
    let bounds = Bounds {
        packets: 100_000,
        transmissions: u64::MAX,
    };
    let ran = Sim::within(bounds).run_without_samples(&scenario(&text), &|_| {}, &Cancel::new());
    let error = ran.map(|_| ()).unwrap_err();
    assert!(
        matches!(
            error,
            EngineError::Simulation(RunError::Packets { most: 100_000, .. })
        ),
        "{error}"
    );
    let text = format!("{PLAIN}[[flow]]\ncontroller = \"cubic\"\n");
    let fast = scenario(&text.replace("10mbit", "100mbit"));
    let bounds = Bounds {
        packets: u64::MAX,
        transmissions: 60_000,
    };
    let ran = Sim::within(bounds).run_without_samples(&fast, &|_| {}, &Cancel::new());
    let error = ran.map(|_| ()).unwrap_err().to_string();
    assert!(error.starts_with("links have transmitted "), "{error}");
}
