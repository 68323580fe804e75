//! Races over real sockets: their results, not their speed.

use std::io::Write;
use std::sync::Mutex;

use congestion::ControllerKind;
use lab::Cancel;
use lab::{Engine, Progress, Quic};
use scenario::Scenario;
use studies::race::{Payload, Race, RaceError};
use units::{Bytes, Duration};

/// A path that is fast enough for a test.
fn race() -> Race {
    let mut race = Race::default();
    race.path.set("rtt", "10ms").unwrap();
    race.payload = Payload::Noise(Bytes::new(300_000));
    race
}

#[test]
fn all_lanes_carry_the_same() {
    let seen = Mutex::new(Vec::<Progress>::new());
    let records = race()
        .run(
            &|progress| seen.lock().unwrap().push(progress),
            &Cancel::new(),
        )
        .unwrap();
    assert_eq!(records.len(), 3);
    for (record, controller) in records.iter().zip(["bbr3", "bbr1", "cubic"]) {
        assert!(!record.summary.is_partial);
        let [flow] = &record.summary.flows[..] else {
            panic!("one flow a lane")
        };
        assert_eq!(flow.controller, controller);
        assert_eq!(flow.delivered_bytes, 300_000);
        assert!(flow.sent_bytes > Some(300_000));
        let completed = flow.completed_s.unwrap();
        assert_eq!(record.summary.duration_s, completed);
        let goodput = 300_000.0 * 8.0 / (completed - flow.start_s);
        assert!((flow.goodput_bps as f64 / goodput - 1.0).abs() < 0.001);
        // Nothing is faster than the path.
        assert!(flow.rtt_ms.min.unwrap() >= 10.0);
        assert!(flow.rtt_ms.min <= flow.rtt_ms.p50 && flow.rtt_ms.p50 <= flow.rtt_ms.max);
        let path = &record.summary.path;
        assert_eq!(path.rate_bps, Some(20_000_000));
        assert!(flow.goodput_bps < path.limit_bps.unwrap());
        assert!(path.utilization.unwrap() > 0.0 && path.utilization.unwrap() <= 1.01);
        let samples = &record.flows[0].samples;
        assert!(samples.windows(2).all(|pair| pair[0].at <= pair[1].at));
        let delivered: u64 = record.flows[0].throughput.bytes().iter().sum();
        assert_eq!(delivered, 300_000);
        let [transfer] = &record.transfers.rows[..] else {
            panic!("one transfer a lane")
        };
        assert_eq!(
            transfer.completed.map(Duration::as_secs_f64),
            flow.completed_s
        );
        assert_eq!(record.summary.completions[0].count, 1);
        assert_eq!((flow.group, flow.tail_loss_probes), (Some(0), None));
        assert!(path.late_packets.is_some() && path.overflows.is_some());
        assert!(samples.last().unwrap().delivered >= Bytes::new(300_000));
        assert!(!record.paths[0].samples.is_empty());
    }
    let seen = seen.into_inner().unwrap();
    for lane in 0..3 {
        let last = seen.iter().rfind(|progress| progress.flow == lane).unwrap();
        assert!(last.is_done);
        assert_eq!(last.delivered, Bytes::new(300_000));
        assert_eq!(last.total, Some(Bytes::new(300_000)));
    }
    let table = report::table(&records, None);
    // On a busy machine, warnings about one lane or all of them follow.
    let is_of_machine =
        |line: &&str| line.contains("the machine was late") || line.contains("not to be trusted");
    let lines = table.lines().filter(|line| !is_of_machine(line));
    assert_eq!(lines.count(), 4, "{table}");
}

#[test]
fn lanes_can_share_a_path() {
    let mut race = race();
    race.share = true;
    race.controllers = vec![ControllerKind::Bbr1, ControllerKind::Bbr1];
    race.payload = Payload::Endless;
    // Long enough for a busy machine to deliver something.
    race.duration = Some(Duration::from_secs(2));
    race.warmup = Duration::from_millis(200);
    let records = race.run(&|_| {}, &Cancel::new()).unwrap();
    let [record] = &records[..] else {
        panic!("one path")
    };
    assert_eq!(record.summary.duration_s, 2.0);
    assert_eq!(record.flows.len(), 2);
    assert!(record.summary.fairness.jain.unwrap() <= 1.0);
    let all: u64 = record
        .summary
        .flows
        .iter()
        .map(|flow| flow.goodput_bps)
        .sum();
    // Twice the rate would be a miscount. A busy machine may cause a little more than the rate.
    assert!(all > 0 && all < 40_000_000, "{all}");
    assert!(
        record
            .summary
            .flows
            .iter()
            .all(|flow| flow.completed_s.is_none())
    );
    let table = report::table(&records, None);
    assert!(
        table.contains("bbr1 #2") && table.contains("Jain"),
        "{table}"
    );
}

#[test]
fn a_race_can_be_called_off() {
    let mut race = race();
    race.payload = Payload::Noise(Bytes::new(1 << 30));
    let cancel = Cancel::new();
    let records = race
        .run(
            &|progress| {
                if progress.delivered > Bytes::new(50_000) {
                    cancel.cancel();
                }
            },
            &cancel,
        )
        .unwrap();
    assert!(records.iter().all(|record| record.summary.is_partial));
    let flows = || records.iter().map(|record| &record.summary.flows[0]);
    assert!(flows().all(|flow| flow.completed_s.is_none()));
    assert!(flows().any(|flow| flow.delivered_bytes > 50_000 && flow.goodput_bps > 0));
    let table = report::table(&records, None);
    assert!(table.contains("> cut off by then"), "{table}");
}

#[test]
fn a_file_is_carried_as_it_is() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&[7; 40_000]).unwrap();
    let mut race = race();
    race.controllers = vec![ControllerKind::Reno];
    race.payload = Payload::File(file.path().to_path_buf());
    let records = race.run(&|_| {}, &Cancel::new()).unwrap();
    assert_eq!(records[0].summary.flows[0].delivered_bytes, 40_000);
}

#[test]
fn what_cannot_be_raced_is_answered() {
    let run = |race: &Race| race.run(&|_| {}, &Cancel::new()).unwrap_err().to_string();
    let mut nobody = race();
    nobody.controllers.clear();
    assert!(
        run(&nobody).starts_with("flow: nobody sends"),
        "{}",
        run(&nobody)
    );
    let mut crowd = race();
    crowd.controllers = vec![ControllerKind::Bbr1; 501];
    assert!(
        run(&crowd).starts_with("flow.count: engine quic cannot do this: 501 flows"),
        "{}",
        run(&crowd)
    );
    let mut endless = race();
    endless.payload = Payload::Endless;
    assert!(
        run(&endless).starts_with("duration: is missing"),
        "{}",
        run(&endless)
    );
    let mut missing = race();
    missing.payload = Payload::File("/no/such/file".into());
    assert!(
        run(&missing).starts_with("cannot read /no/such/file: "),
        "{}",
        run(&missing)
    );
    let empty = tempfile::NamedTempFile::new().unwrap();
    let mut nothing = race();
    nothing.payload = Payload::File(empty.path().to_path_buf());
    let error = nothing.run(&|_| {}, &Cancel::new()).unwrap_err();
    assert!(matches!(error, RaceError::Unsuitable { .. }), "{error}");
}

#[test]
fn without_a_path_there_is_nothing_to_see_of_it() {
    let text = "name = 'loopback'\n[[flow]]\ncontroller = 'cubic'\nbytes = '100kb'\n[[flow]]\ncontroller = 'reno'\n\
                bytes = '50kb'\nstart = '50ms'";
    let scenario: Scenario = text.parse().unwrap();
    let record = Quic::new().run(&scenario, &|_| {}, &Cancel::new()).unwrap();
    let path = &record.summary.path;
    assert_eq!(
        (path.rate_bps, path.limit_bps, path.drops),
        (None, None, None)
    );
    assert_eq!(path.queue_ms.mean, None);
    let [first, second] = &record.summary.flows[..] else {
        panic!("two flows")
    };
    assert_eq!(
        (first.delivered_bytes, second.delivered_bytes),
        (100_000, 50_000)
    );
    assert!(second.start_s >= 0.05 && second.completed_s > Some(0.05));
}

#[test]
fn a_run_ends_although_the_queue_is_long() {
    let mut race = race();
    race.path.set("rate", "200kbit").unwrap();
    race.path.set("loss", "0%").unwrap();
    race.path.set("buffer", "1mb").unwrap();
    race.controllers = vec![ControllerKind::Cubic];
    race.payload = Payload::Endless;
    race.duration = Some(Duration::from_secs(2));
    let last = Mutex::new(None);
    let records = race
        .run(
            &|progress| *last.lock().unwrap() = Some(progress),
            &Cancel::new(),
        )
        .unwrap();
    let path = &records[0].summary.path;
    assert!(path.utilization.unwrap() <= 1.0, "{path:?}");
    let end = Duration::from_secs(2);
    assert!(
        records[0].paths[0]
            .samples
            .iter()
            .all(|seen| seen.at <= end)
    );
    let last = last.into_inner().unwrap().unwrap();
    assert!(last.is_done && last.at <= end, "{last:?}");
}

#[test]
fn a_path_that_lets_nothing_through_gives_a_record_of_nothing() {
    let mut race = race();
    race.path.set("loss", "100%").unwrap();
    race.controllers = vec![ControllerKind::Bbr1];
    race.duration = Some(Duration::from_millis(300));
    let records = race.run(&|_| {}, &Cancel::new()).unwrap();
    let flow = &records[0].summary.flows[0];
    assert_eq!(
        (flow.delivered_bytes, flow.goodput_bps, flow.completed_s),
        (0, 0, None)
    );
    assert_eq!(flow.rtt_ms.p50, None);
    assert_eq!(records[0].summary.fairness.jain, None);
}

#[test]
fn marks_at_the_path_are_counted() {
    let text = "name = \"marked\"\n[path]\nrate = \"20mbit\"\nrtt = \"10ms\"\n\
                queue = { kind = \"red\", min = \"3kb\", max = \"3kb\", ecn = true }\n\
                [[flow]]\ncontroller = \"cubic\"\nbytes = \"1mb\"\n";
    let scenario: Scenario = text.parse().unwrap();
    let record = Quic::new().run(&scenario, &|_| {}, &Cancel::new()).unwrap();
    assert!(record.summary.path.marks.unwrap() > 0);
    assert_eq!(record.summary.path.drops, Some(0));
}
