//! Reports of records that no engine made: everything about them is known.

use std::time::{Duration as StdDuration, SystemTime};

use lab::record::{
    FlowRecorder, FlowSample, FlowSpan, FlowTotals, PathRecorder, PathSample, PathTotals, Record,
    Recorded, Run, TransferRecorder,
};
use lab::report::{Origin, describe, html, json, table};
use lab::scenario::Scenario;
use units::{Bytes, Duration, Rate};

const MTU: u64 = 1480;

/// Ten seconds of a flow that goes through BBR's states, or of one that grows and halves, on a 20 Mbit/s path.
fn record(name: &str, controller: &str, is_partial: bool) -> Record {
    let text = format!(
        "name = 'race'\nduration = \"10s\"\nseed = 3\n\
         [path]\nrate = \"20mbit\"\nrtt = \"40ms\"\nbuffer = \"8bdp\"\nloss = \"1%\"\n\
         [[flow]]\ncontroller = {controller:?}\n"
    );
    let mut scenario: Scenario = text.parse().unwrap();
    scenario.name = name.to_string();
    let mut flow = FlowRecorder::new(scenario.warmup, 1);
    let mut path = PathRecorder::new(scenario.path.clone(), scenario.warmup);
    let mut totals = FlowTotals::default();
    for tick in 1..=5_000u64 {
        let at = Duration::from_millis(tick * 2);
        let is_bbr = controller == "bbr1";
        let wave = tick % 700;
        let (state, share, queue) = match (is_bbr, tick) {
            (true, 0..=100) => ("Startup", tick, tick * 600),
            (true, 101..=150) => ("Drain", 100, (150 - tick) * 1_200),
            (true, 2_500..=2_600) => ("ProbeRTT", 10, 0),
            (true, _) => ("ProbeBW", 100, if tick % 160 < 20 { 20_000 } else { 2_000 }),
            (false, 0..=200) => ("SlowStart", tick / 2, tick * 500),
            (false, _) if wave < 20 => ("Recovery", 60, 0),
            (false, _) => ("CongestionAvoidance", 40 + wave / 12, wave * 30),
        };
        let rate = Rate::from_bits_per_sec(20_000_000 * share.max(1) / 100);
        let wait = Rate::from_bits_per_sec(20_000_000).time_for(Bytes::new(queue));
        let rtt = Duration::from_micros(40_100 + tick * 7919 % 900) + wait;
        let sent = Bytes::new(rate.bytes_in(at).get());
        totals = FlowTotals {
            payload: Bytes::new(sent.get() * 96 / 100),
            sent: Some(sent),
            retransmitted: Some(Bytes::new(sent.get() / 100)),
            packets_lost: Some(sent.get() / 100 / MTU),
            timeouts: Some(0),
            ..FlowTotals::default()
        };
        flow.totals(at, totals);
        flow.sample(FlowSample {
            at,
            rtt: Some(rtt),
            srtt: Some(rtt),
            delivery_rate: Some(rate),
            inflight: rate.bytes_in(rtt),
            cwnd: rate.bytes_in(rtt) * 2,
            ssthresh: None,
            pacing_rate: rate,
            btl_bw: is_bbr.then_some(rate),
            rt_prop: is_bbr.then_some(Duration::from_millis(40)),
            state,
            delivered: totals.payload,
            lost: totals.retransmitted.unwrap(),
        });
        let waiting = PathSample {
            at,
            queue: Bytes::new(queue),
            delay: wait,
        };
        path.sample(
            waiting,
            PathTotals {
                transmitted: sent,
                drops: Some(0),
                random_losses: Some(1),
                ..PathTotals::default()
            },
        );
    }
    let end = Duration::from_secs(10);
    let span = FlowSpan {
        id: 0,
        controller: controller.parse().unwrap(),
        start: Duration::ZERO,
        completed: None,
    };
    let flow = flow.finish(span, end);
    assert_eq!(flow.0.delivered_bytes, totals.payload.get());
    let run = Run {
        scenario: &scenario,
        engine: "quic",
        end,
        wall: StdDuration::from_millis(10_020),
        is_partial,
    };
    let recorded = Recorded {
        path: path.finish(end, 0.95),
        next: Vec::new(),
        flows: vec![flow],
        transfers: TransferRecorder::new(scenario.warmup).finish(),
    };
    Record::new(run, recorded)
}

fn page(records: &[Record], command: &str) -> String {
    let generated = SystemTime::UNIX_EPOCH + StdDuration::from_secs(1_700_000_000);
    html(
        records,
        &Origin {
            command: command.to_string(),
            generated,
        },
    )
}

#[test]
fn a_table_for_people() {
    let mut cut_off = record("race", "cubic", false);
    cut_off.scenario.set("flow.bytes", "1gb").unwrap();
    let text = table(&[record("race", "bbr1", false), cut_off]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].trim_start().starts_with("controller"));
    for part in [
        "bbr1",
        "10.00 s",
        "19.2 Mbit/s",
        "102.1 %",
        "40.1 ms",
        "1.0 %",
    ] {
        assert!(lines[1].contains(part), "{part} in {text}");
    }
    assert!(lines[2].contains("> 10.00 s"), "{text}");
    assert!(lines[3].starts_with("> cut off"), "{text}");
    let ends: Vec<usize> = lines[..3].iter().map(|line| line.chars().count()).collect();
    assert!(ends[0] <= 80, "{text}");
    assert!(ends.iter().all(|end| *end == ends[0]), "aligned: {text}");
}

#[test]
fn json_has_the_fields_of_every_engine() {
    let text = json(&[record("race", "bbr1", false)]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    let run = &value[0];
    assert_eq!(
        keys(run),
        "completions duration_s engine fairness flows next path scenario seed wall_s"
    );
    assert_eq!(
        keys(&run["path"]),
        "buffer_bytes drops late_packets limit_bps marks overflows queue_ms random_losses rate_bps rtprop_ms \
         utilization"
    );
    assert_eq!(keys(&run["path"]["queue_ms"]), "max mean p50 p95 p99");
    assert_eq!(
        keys(&run["flows"][0]),
        "app completed_s controller delivered_bytes ecn_marks goodput_bps group id limit_share packets_lost \
         retransmitted_bytes rtt_ms sent_bytes spurious_recoveries start_s startup_exit_bps tail_loss_probes timeouts"
    );
    assert_eq!(keys(&run["flows"][0]["rtt_ms"]), "max mean min p50 p95 p99");
    assert_eq!(
        keys(&run["fairness"]),
        "convergence_s jain jain_per_s jain_per_s_converged"
    );
    assert_eq!(
        keys(&run["fairness"]["jain_per_s"]),
        "mean min p5 p50 seconds"
    );
    assert_eq!(run["path"]["rate_bps"], 20_000_000);
    assert_eq!(run["path"]["rtprop_ms"], 40.0);
    assert_eq!(run["path"]["buffer_bytes"], 800_000);
    assert_eq!(run["path"]["limit_bps"], 18_810_000);
    assert_eq!(run["flows"][0]["completed_s"], serde_json::Value::Null);
}

#[test]
fn the_page_needs_nothing_else() {
    let page = page(
        &[
            record("race", "bbr1", false),
            record("race", "cubic", false),
        ],
        "fullpipe race",
    );
    for outside in ["src=", "href=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    for part in [
        "<td>cubic</td>",
        "fullpipe race",
        "2023-11-14T22:13:20Z",
        "seed 3",
        "8bdp (800 kB)",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("{{"), "a placeholder is left");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn names_are_text_and_nothing_more() {
    let nasty = "</script><script>alert(1)</script><!--\u{2028}&{{data}}'\"";
    let page = page(&[record(nasty, "bbr1", false)], nasty);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<!--"));
    // The placeholder in the name stays text: the data is in the page once.
    assert_eq!(page.matches("\"lanes\":").count(), 1);
    assert_eq!(page.matches("</script>").count(), 3);
    assert!(page.contains("&lt;/script&gt;"));
}

#[test]
fn a_path_in_words() {
    let words = describe(&record("race", "bbr1", false).scenario.path);
    assert_eq!(
        words,
        "20.0 Mbit/s, RTprop 40 ms, buffer 8bdp (800 kB), loss 1%"
    );
}
