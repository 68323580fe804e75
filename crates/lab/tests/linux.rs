//! Engine `linux`, where this machine supports it. It runs in real time, so the expectations are loose.

use std::thread;
use std::time::{Duration as RealTime, Instant};

use lab::{Cancel, Engine, Linux};
use record::{FlowSummary, Record};
use scenario::Scenario;

fn scenario(text: &str) -> Scenario {
    format!("name = \"test\"\n{text}").parse().unwrap()
}

/// Whether this machine lets this process create networks. If not, a message says so on the uncaptured output.
fn is_possible() -> bool {
    let made = linux::Network::create(&linux::NetworkConfig::default());
    if let Err(error) = &made {
        skipping::skip!("{error}");
    }
    made.is_ok()
}

fn run(text: &str) -> Option<Record> {
    is_possible().then(|| {
        let run = Linux::new().run(&scenario(text), &|_| {}, &Cancel::new());
        run.unwrap_or_else(|error| panic!("{error}"))
    })
}

fn goodput(flow: &FlowSummary) -> f64 {
    flow.goodput_bps as f64
}

/// Whether this program and this machine can load Fullpipe's controllers into the kernel.
fn has_ours() -> bool {
    let lack = kernel::check()
        .into_iter()
        .find_map(|required| required.lack);
    if let Some(lack) = &lack {
        skipping::skip!("controllers in the kernel: {lack}");
    }
    lack.is_none()
}

#[test]
fn our_controllers_are_loaded_for_a_run_and_seen_at_it() {
    if !has_ours() {
        return;
    }
    for ours in kernel::Algorithm::ALL {
        let name = ours.kernel_name();
        let text = |duration| {
            format!(
                "duration = \"{duration}\"\n[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nbuffer = \"4bdp\"\n\
                 [[flow]]\ncontroller = \"kernel:{name}\"\n"
            )
        };
        // The first run to end leaves the controller to the other, which opens a connection after that.
        let later = format!("[[flow]]\ncontroller = \"kernel:{name}\"\nstart = \"1500ms\"\n");
        let (long, short) = thread::scope(|scope| {
            let short = scope.spawn(|| run(&text("500ms")));
            (run(&(text("2s") + &later)), short.join().unwrap())
        });
        let (Some(record), Some(_)) = (long, short) else {
            return;
        };
        assert!(
            goodput(&record.summary.flows[1]) > 1e6,
            "{name}: {record:?}"
        );
        let flow = &record.summary.flows[0];
        assert!((8e6..20e6).contains(&goodput(flow)), "{name}: {flow:?}");
        let samples = &record.flows[0].samples;
        let states = samples.iter().filter_map(|sample| sample.state);
        let has = |beginning: &str| {
            states
                .clone()
                .any(|state| state.name.starts_with(beginning))
        };
        assert!(
            has("Startup") && has("ProbeBW"),
            "{name}: states are missing"
        );
        let last = samples.last().unwrap();
        assert!(last.btl_bw.is_some() && last.rtprop.is_some(), "{last:?}");
        let offered = linux::controllers_here().unwrap();
        assert!(
            !offered.iter().any(|offered| offered == name),
            "{offered:?}"
        );
    }
}

#[test]
fn the_kernels_bbr_fills_a_path_and_is_seen_at_it() {
    let Some(record) = run(
        "duration = \"2s\"\n[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nbuffer = \"4bdp\"\n\
         [[flow]]\ncontroller = \"bbr1\"\n",
    ) else {
        return;
    };
    let summary = &record.summary;
    assert_eq!(
        (summary.engine.as_str(), summary.is_partial),
        ("linux", false)
    );
    assert_eq!(summary.duration_s, 2.0);
    let flow = &summary.flows[0];
    assert!((8e6..20e6).contains(&goodput(flow)), "{flow:?}");
    assert!(flow.rtt_ms.min.unwrap() >= 20.0, "{flow:?}");
    assert!(flow.busy_s.unwrap() > 1.0, "{flow:?}");
    assert!(flow.sent_bytes.unwrap() > flow.delivered_bytes, "{flow:?}");
    assert!(
        summary.path.utilization.unwrap() > 0.4,
        "{:?}",
        summary.path
    );
    assert_eq!(summary.path.drops.map(|drops| drops > 1_000), Some(false));

    let samples = &record.flows[0].samples;
    assert!(samples.len() > 50, "{} samples", samples.len());
    let has = |state: &str| {
        samples
            .iter()
            .any(|sample| sample.state.is_some_and(|seen| seen.name == state))
    };
    assert!(has("Startup") && has("ProbeBW"), "states are missing");
    let last = samples.last().unwrap();
    assert!(last.btl_bw.is_some() && last.rtprop.is_some(), "{last:?}");
    assert_eq!(last.ssthresh, None);
    assert!(
        last.cwnd.get() >= 4 * 1448 && last.inflight <= last.cwnd,
        "{last:?}"
    );
    assert!(
        record.paths[0]
            .samples
            .iter()
            .any(|sample| !sample.queue.is_zero())
    );
}

#[test]
fn applications_have_what_they_ask_for() {
    let flow = "[[flow]]\ncontroller = \"cubic\"\n";
    let text = format!(
        "duration = \"2s\"\n[path]\nrate = \"40mbit\"\nrtt = \"20ms\"\nbuffer = \"4bdp\"\nuplink = {{ rate = \"40mbit\" }}\n\
         {flow}app = {{ kind = \"requests\", response = \"20kb\", count = 5 }}\n\
         {flow}app = {{ kind = \"poisson\", interval = \"20ms\", sizes = \"10kb\", count = 20 }}\n\
         {flow}app = {{ kind = \"poisson\", interval = \"20ms\", sizes = \"10kb\", connections = \"kept\", count = 20 }}\n\
         {flow}app = {{ kind = \"rate\", rate = \"1mbit\", write = \"5kb\" }}\n\
         {flow}app = {{ kind = \"video\", chunk = \"500ms\", ladder = [\"1mbit\"], startup = \"1s\", length = \"2s\" }}\n\
         {flow}bytes = \"500kb\"\nrtt = \"60ms\"\nstart = \"100ms\"\n\
         {flow}bytes = \"500kb\"\nreverse = true\n"
    );
    let Some(record) = run(&text) else {
        return;
    };
    let flows = &record.summary.flows;
    let completed: Vec<bool> = flows
        .iter()
        .map(|flow| flow.completed_s.is_some())
        .collect();
    assert_eq!(completed, [true, true, true, false, true, true, true]);
    let counted: Vec<u64> = flows
        .iter()
        .filter_map(|flow| flow.app.as_ref())
        .map(|app| app.completed)
        .collect();
    assert_eq!(counted[..3], [5, 20, 20]);
    assert!(counted[3] > 10 && counted[4] == 4, "{counted:?}");
    let delivered: Vec<u64> = flows.iter().map(|flow| flow.delivered_bytes).collect();
    assert_eq!(delivered[..3], [100_000, 200_000, 200_000]);
    assert_eq!(delivered[5..], [500_000, 500_000]);
    assert!(
        flows[4]
            .app
            .as_ref()
            .unwrap()
            .playback
            .unwrap()
            .startup_s
            .is_some()
    );
    // A round trip for the handshake, and several for the data.
    assert!(
        flows[5].completed_s.unwrap() > 0.1 + 3.0 * 0.06,
        "{:?}",
        flows[5]
    );
    assert!(flows[5].rtt_ms.min.unwrap() >= 60.0, "{:?}", flows[5]);
    let samples = &record.flows[6].samples;
    assert!(
        !samples.is_empty(),
        "nothing is seen of the flow that sends back"
    );
    assert!(
        record.flows[1]
            .samples
            .iter()
            .all(|sample| sample.state.is_none())
    );
}

#[test]
fn a_flow_crosses_its_hops() {
    let Some(record) = run(
        "duration = \"2s\"\n[path]\nrate = \"5mbit\"\nrtt = \"10ms\"\nbuffer = \"100p\"\n\
         [[path.next]]\nrate = \"20mbit\"\nrtt = \"10ms\"\nbuffer = \"100p\"\n\
         [[flow]]\ncontroller = \"cubic\"\n[[flow]]\ncontroller = \"cubic\"\nhops = \"1\"\n",
    ) else {
        return;
    };
    let flows = &record.summary.flows;
    assert!(
        goodput(&flows[0]) < 5e6 && goodput(&flows[1]) > 6e6,
        "{flows:?}"
    );
    let used = |path: &record::PathSummary| path.utilization.unwrap();
    assert!(used(&record.summary.path) > 0.4 && used(&record.summary.next[0]) > 0.4);
}

#[test]
fn flows_in_both_directions_meet_in_a_network() {
    let Some(record) = run("duration = \"3s\"\n\
         [[link]]\nname = \"line\"\nfrom = \"provider\"\nto = \"office\"\nrate = \"20mbit\"\nrtt = \"8ms\"\n\
         buffer = \"100p\"\nuplink = { rate = \"4mbit\", buffer = \"100p\" }\n\
         [[link]]\nname = \"cloud\"\nfrom = \"storage\"\nto = \"provider\"\nrtt = \"12ms\"\n\
         [[link]]\nname = \"web\"\nfrom = \"sites\"\nto = \"provider\"\nrate = \"100mbit\"\nrtt = \"40ms\"\n\
         [[flow]]\ncontroller = \"cubic\"\nfrom = \"office\"\nto = \"storage\"\n\
         [[flow]]\ncontroller = \"cubic\"\nfrom = \"storage\"\nto = \"office\"\n\
         [[flow]]\ncontroller = \"reno\"\nfrom = \"sites\"\nto = \"office\"\n")
    else {
        return;
    };
    let summary = &record.summary;
    let links: Vec<_> = std::iter::once(&summary.path)
        .chain(&summary.next)
        .collect();
    let names = links.iter().map(|link| link.name.as_deref().unwrap());
    let names: Vec<&str> = names.collect();
    assert_eq!(names, ["line", "line.uplink", "cloud", "web"]);
    let [line, uplink, cloud, web] = links[..] else {
        panic!("{links:?}");
    };
    // The downloads share the line, and each has a way of its own before it.
    let packets = |link: &record::PathSummary| link.packets.unwrap();
    let uploaded = summary.flows[0].delivered_bytes;
    let acks = packets(uplink).saturating_sub(uploaded / 1_448);
    assert!(packets(line) > packets(web), "{links:?}");
    assert!(packets(cloud) > 500 && packets(web) > 500, "{links:?}");
    assert!(acks > 500, "{links:?}");
    let rtprops: Vec<f64> = summary
        .flows
        .iter()
        .filter_map(|flow| flow.rtprop_ms)
        .collect();
    assert_eq!(rtprops, [20.0, 20.0, 48.0]);
    for (flow, rtprop) in summary.flows.iter().zip(rtprops) {
        assert!(flow.rtt_ms.min.unwrap() >= rtprop, "{flow:?}");
    }
    assert!(goodput(&summary.flows[0]) < 4e6, "{:?}", summary.flows);
    // The ACKs of the downloads wait behind the upload.
    assert!(uplink.queue_ms.max.unwrap() > 50.0, "{uplink:?}");
    let slowest = summary.flows[1].rtt_ms.max.unwrap();
    assert!(
        slowest > 20.0 + uplink.queue_ms.mean.unwrap(),
        "{:?}",
        summary.flows
    );
}

#[test]
fn what_limits_a_flow_is_told_in_shares_that_add_up() {
    let bulk = |controller: &str, host: &str| {
        let flow = format!("[[flow]]\ncontroller = \"{controller}\"\n");
        let path = "[path]\nrate = \"100mbit\"\nrtt = \"100ms\"\n";
        let record = run(&format!("duration = \"3s\"\n{path}{host}{flow}"))?;
        let flow = &record.summary.flows[0];
        let limits = flow.limited_by.unwrap();
        let sum = limits.application + limits.receiver + limits.send_buffer + limits.congestion;
        assert!((sum - 1.0).abs() < 1e-9, "{limits:?}");
        assert!(goodput(flow) < 40e6, "{flow:?}");
        Some((limits.largest().0, limits))
    };
    // 200 kB in 100 ms are 16 Mbit/s; the kernel lets the last write exceed it by 64 kB.
    for controller in ["bbr1", "cubic"] {
        let Some((largest, limits)) = bulk(controller, "[host]\nsend_buffer = \"200kb\"\n") else {
            return;
        };
        assert_eq!(largest, "send buffer", "{controller}: {limits:?}");
    }
    // BBR's pacing would have a part of this time.
    let told = bulk("cubic", "[host]\nreceive_buffer = \"60kb\"\n");
    let (largest, limits) = told.expect("as before");
    assert_eq!(largest, "receiver", "{limits:?}");
    let record = run(
        "duration = \"3s\"\n[path]\nrate = \"100mbit\"\nrtt = \"100ms\"\n[[flow]]\ncontroller = \"cubic\"\n\
         app = { kind = \"requests\", response = \"10kb\", think = \"500ms\" }\n",
    );
    let limits = record.expect("as before").summary.flows[0].limited_by;
    assert_eq!(limits.unwrap().largest().0, "application", "{limits:?}");
}

#[test]
fn marks_are_counted_at_both_ends() {
    let Some(record) = run(
        "duration = \"2s\"\n[path]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
         queue = { kind = \"threshold\", at = \"15kb\" }\n\
         [host]\necn = true\n[[flow]]\ncontroller = \"cubic\"\n",
    ) else {
        return;
    };
    let (flow, path) = (&record.summary.flows[0], &record.summary.path);
    assert!(path.marks.unwrap() > 0, "{path:?}");
    assert!(flow.ecn_marks.unwrap() > 0, "{flow:?}");
}

#[test]
fn the_kernel_discards_what_is_damaged_and_nothing_wrong_arrives() {
    let Some(record) = run(
        "[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\ncorruption = \"2%\"\nuplink = { corruption = \"2%\" }\n\
         [[flow]]\ncontroller = \"cubic\"\nbytes = \"2mb\"\n",
    ) else {
        return;
    };
    let (flow, path) = (&record.summary.flows[0], &record.summary.path);
    assert!(flow.completed_s.is_some(), "{flow:?}");
    // Whatever is damaged is sent again.
    assert!(path.corrupted.unwrap() > 5, "{path:?}");
    assert!(flow.packets_lost.unwrap() > 0, "{flow:?}");
}

#[test]
fn the_kernel_adapts_to_a_smaller_mtu() {
    let Some(record) = run(
        "duration = \"3s\"\n[path]\nrate = \"20mbit\"\nrtt = \"20ms\"\nmtu = 1500\n\
         change = [{ at = \"1s\", mtu = 1200 }]\n[[flow]]\ncontroller = \"cubic\"\n",
    ) else {
        return;
    };
    let (flow, path) = (&record.summary.flows[0], &record.summary.path);
    assert!(path.too_big.unwrap() > 0, "{path:?}");
    // A black hole would leave a third.
    assert!(flow.delivered_bytes > 4_000_000, "{flow:?} {path:?}");
}

#[test]
fn nobody_answers_and_that_is_seen() {
    let Some(record) = run(
        "duration = \"1s\"\n[path]\nrtt = \"20ms\"\nloss = \"100%\"\n[[flow]]\ncontroller = \"reno\"\nbytes = \"1mb\"\n",
    ) else {
        return;
    };
    let flow = &record.summary.flows[0];
    assert_eq!((flow.goodput_bps, flow.completed_s), (0, None));
    assert_eq!(record.transfers.rows.len(), 1);
    assert_eq!(
        record.summary.path.random_losses.map(|lost| lost > 0),
        Some(true)
    );
}

#[test]
fn what_is_delivered_ends_a_run_and_a_cancelled_one_is_partial() {
    let Some(record) = run(
        "[path]\nrate = \"50mbit\"\nrtt = \"10ms\"\n[[flow]]\ncontroller = \"bbr1\"\nbytes = \"1mb\"\ncount = 2\n",
    ) else {
        return;
    };
    let completed = record
        .summary
        .flows
        .iter()
        .map(|flow| flow.completed_s.unwrap());
    assert_eq!(completed.fold(0.0, f64::max), record.summary.duration_s);
    assert!(!record.summary.is_partial);

    let endless = scenario(
        "duration = \"60s\"\n[path]\nrate = \"5mbit\"\n[[flow]]\ncontroller = \"cubic\"\n",
    );
    let cancel = Cancel::new();
    let begin = Instant::now();
    let stop = |_| {
        if begin.elapsed() > RealTime::from_millis(300) {
            cancel.cancel();
        }
    };
    let record = Linux::new().run(&endless, &stop, &cancel).unwrap();
    assert!(record.summary.is_partial);
    assert!(record.summary.duration_s < 30.0, "{:?}", record.summary);
    assert!(record.summary.flows[0].delivered_bytes > 0);
}

#[test]
fn a_controller_that_the_kernel_has_not_is_answered_with_those_that_it_has() {
    if !is_possible() {
        return;
    }
    let text = "duration = \"1s\"\n[path]\nrate = \"5mbit\"\n[[flow]]\ncontroller = \"kernel:none_such\"\n";
    let error = Linux::new()
        .run(&scenario(text), &|_| {}, &Cancel::new())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("none_such") && error.contains("reno"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
}

/// If the observer panics, the run ends with that panic, and does not wait for ever.
#[test]
fn a_panic_of_who_watches_ends_the_run() {
    if !is_possible() {
        return;
    }
    let scenario = scenario("duration = \"60s\"\n[[flow]]\ncontroller = \"reno\"\n");
    let watched = std::panic::catch_unwind(|| {
        Linux::new().run(&scenario, &|_| panic!("enough"), &Cancel::new())
    });
    assert!(watched.is_err());
}
