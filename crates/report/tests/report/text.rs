//! Tests of the table and the JSON.

use record::Validity;
use report::{Origin, describe, pretty, table};

use crate::records::{crowd, record};

#[test]
fn a_table_for_people() {
    let mut cut_off = record("race", "cubic", false);
    cut_off.scenario.set("flow.bytes", "1gb").unwrap();
    let records = [record("race", "bbr1", false), cut_off];
    let text = table(&records, None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert!(lines[0].trim_start().starts_with("controller"));
    for part in [
        "bbr1",
        "10.00 s",
        "19.2 Mbit/s",
        "101.1 %",
        "40.1 ms",
        "1.0 %",
        "congestion 75 %",
    ] {
        assert!(lines[1].contains(part), "{part} in {text}");
    }
    assert!(lines[2].contains("> 10.00 s"), "{text}");
    assert!(lines[3].starts_with("> cut off"), "{text}");
    let ends: Vec<usize> = lines[..3].iter().map(|line| line.chars().count()).collect();
    assert!(ends.iter().all(|end| *end == ends[0]), "aligned: {text}");
    let narrow = table(&records, Some(80));
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 80),
        "{narrow}"
    );
    assert!(narrow.contains("congestion 75 %"), "{narrow}");
}

#[test]
fn json_has_the_fields_of_every_engine() {
    let text = pretty(&[record("race", "bbr1", false).summary]);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let keys = |value: &serde_json::Value| {
        let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
        keys.sort();
        keys.join(" ")
    };
    let run = &value[0];
    assert_eq!(run["partial"], false);
    assert_eq!(
        keys(run),
        "completions controllers duration_s engine fairness flows next partial path scenario seed together validity wall_s"
    );
    assert_eq!(
        keys(&run["path"]),
        "buffer_bytes drops late_packets lateness_mean_ms limit_bps marks overflows queue_ms random_losses rate_bps released_packets \
         rtprop_ms \
         utilization"
    );
    assert_eq!(keys(&run["path"]["queue_ms"]), "max mean p50 p95 p99");
    assert_eq!(
        keys(&run["flows"][0]),
        "app busy_s completed_s connect_ms controller delivered_bytes ecn_marks failed_opens goodput_bps group host id \
         limit_share limited_by packets_lost retransmitted_bytes rtt_ms rwnd_limited_s sent_bytes sndbuf_limited_s spurious_recoveries start_s \
         startup_exit_bps tail_loss_probes timeouts"
    );
    assert_eq!(keys(&run["flows"][0]["rtt_ms"]), "max mean min p50 p95 p99");
    assert_eq!(
        keys(&run["fairness"]),
        "convergence_s even_s jain jain_per_s jain_per_s_converged"
    );
    assert_eq!(
        keys(&run["fairness"]["jain_per_s"]),
        "mean min p5 p50 seconds"
    );
    assert_eq!(run["path"]["rate_bps"], 20_000_000);
    assert_eq!(run["path"]["rtprop_ms"], 40.0);
    assert_eq!(run["path"]["buffer_bytes"], 800_000);
    assert_eq!(run["path"]["limit_bps"], 19_000_000);
    assert_eq!(run["flows"][0]["completed_s"], serde_json::Value::Null);
}

#[test]
fn a_path_in_words() {
    let words = describe(&record("race", "bbr1", false).scenario.path);
    assert_eq!(
        words,
        "20.0 Mbit/s, RTprop 40 ms, buffer 8 BDP (800 kB), loss 1 %"
    );
}

#[test]
fn many_flows_are_a_line_a_group() {
    let text = table(&[crowd(12)], Some(80));
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("flows"), "{text}");
    let row = |name| lines.iter().find(|line| line.starts_with(name));
    assert!(row("bbr1 ×12").is_some(), "{text}");
    let cubic = row("cubic ×12");
    assert!(
        cubic.is_some_and(|cubic| cubic.contains("0.5 %") && cubic.contains("69.1 ms")),
        "{text}"
    );
    let widest = lines.iter().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{text}");
    assert!(
        text.contains("Jain index of the goodputs") && text.contains("Jain index of each second"),
        "{text}"
    );
    // Few flows have a line each.
    assert_eq!(
        table(&[crowd(10)], None)
            .lines()
            .take_while(|line| !line.is_empty())
            .count(),
        21
    );
}

#[test]
fn completion_times_by_size() {
    let text = table(&[crowd(10)], None);
    let class = |size: &str| {
        text.lines()
            .find(|line| line.contains(size))
            .unwrap_or_else(|| panic!("{size}: {text}"))
    };
    let small: Vec<&str> = class("cubic ≤ 14.5 kB").split_whitespace().collect();
    // 10 flows × 2 objects of 5 kB, 60 and 100 ms.
    assert_eq!(small[4..6], ["20", "0"], "{text}");
    assert!(text.contains("100 ms"), "{text}");
    let large: Vec<&str> = class("cubic ≤ 10 MB").split_whitespace().collect();
    assert_eq!(large[4..6], ["10", "10"], "{text}");
    // With one transfer per flow, the flows' table has the times already.
    assert!(!table(&[record("race", "bbr1", false)], None).contains("transfers"));
}

#[test]
fn a_run_that_is_not_to_be_trusted_says_so() {
    let mut late = record("race", "bbr1", false);
    late.summary.path.rtprop_ms = 40.0;
    late.summary.path.released_packets = Some(1_000);
    late.summary.path.late_packets = Some(300);
    late.summary.path.lateness_mean_ms = Some(2.0);
    late.summary.validity = Validity::of(std::iter::once(&late.summary.path));
    let line = late.summary.validity.warning().unwrap();
    assert!(line.starts_with("not to be trusted, because "), "{line}");
    let text = table(std::slice::from_ref(&late), None);
    let remedy = "; run it again while the machine does nothing else, or in virtual time with `run --engine sim`\n";
    assert!(text.contains(&format!("\n{line}{remedy}")), "{text}");
    assert!(!text.contains("the machine was late for"), "{text}");
    assert!(report::qlog(&late, 0).unwrap().contains(&line));
    let origin = Origin {
        command: "fullpipe race".to_owned(),
        generated: std::time::UNIX_EPOCH,
    };
    let page = report::html(std::slice::from_ref(&late), &origin);
    assert!(page.contains(&format!("<p class=\"partial\">{line}; run it again ")));
    assert_eq!(page.matches(&line).count(), 1);
    let json: serde_json::Value = serde_json::to_value(&late.summary).unwrap();
    assert_eq!(json["validity"]["trusted"], false);
    assert_eq!(json["validity"]["lateness_share"], 0.05);
    assert_eq!(json["validity"]["late_share"], 0.3);
}

#[test]
fn a_machine_that_was_late_is_told() {
    let mut late = record("race", "bbr1", false);
    assert!(!table(std::slice::from_ref(&late), None).contains("machine"));
    late.summary.path.late_packets = Some(31);
    late.summary.path.overflows = Some(0);
    let other = record("race", "cubic", false);
    let text = table(&[other, late.clone()], None);
    assert!(
        text.contains("\nbbr1: the machine was late for 31"),
        "{text}"
    );
    let text = table(&[late], None);
    assert!(
        text.contains("the machine was late for 31 packets") && !text.contains("too slow"),
        "{text}"
    );
}

#[test]
fn a_chain_has_a_line_for_each_hop() {
    let text = table(&[crowd(2)], None);
    for hop in ["link ", "hop 0 ", "hop 1 "] {
        assert!(
            text.lines().any(|line| line.starts_with(hop)),
            "{hop}: {text}"
        );
    }
    let single = table(&[record("race", "bbr1", false)], None);
    assert!(!single.contains("hop 0"), "{single}");
}

#[test]
fn a_network_names_the_way_of_each_flow_and_counts_the_transfers_of_each_group() {
    for (each, name, transfers) in [
        (2, "bbr1 #1", "bbr1 #1 to bbr1 #2, server → client"),
        (15, "bbr1 ×15", "bbr1, server → client"),
    ] {
        let mut crowd = crowd(each);
        assert!(!table(std::slice::from_ref(&crowd), None).contains("from → to"));
        crowd.scenario = format!(
            "name = 'crowd'\nduration = '20s'\n\
             [[link]]\nname = 'far'\nfrom = 'server'\nto = 'client'\nrtt = '40ms'\nrate = '100mbit'\nbuffer = '1bdp'\n\
             [[link]]\nname = 'near'\nfrom = 'server'\nto = 'neighbour'\nrtt = '2ms'\n\
             [[flow]]\ncontroller = 'bbr1'\ncount = {each}\nfrom = 'server'\nto = 'client'\n\
             [[flow]]\ncontroller = 'cubic'\ncount = {each}\nroute = ['near']\n"
        )
        .parse()
        .unwrap();
        // One of the first group's transfers is complete, and one is not.
        crowd.transfers.rows.first_mut().unwrap().flow = 0;
        crowd.transfers.rows.last_mut().unwrap().flow = 0;
        let text = table(&[crowd], None);
        let line = |start: &str| {
            let found = text.lines().find(|line| line.starts_with(start));
            found.unwrap_or_else(|| panic!("{start}: {text}"))
        };
        assert!(text.lines().next().unwrap().contains("from → to"), "{text}");
        assert!(line(name).contains("server → client"), "{text}");
        assert!(line("cubic").contains("near"), "{text}");
        let words: Vec<&str> = line(transfers)[transfers.len()..]
            .split_whitespace()
            .collect();
        assert_eq!(words[..2], ["1", "1"], "{text}");
        // The same transfers are not told by size, too.
        assert!(!text.contains('≤'), "{text}");
    }
}
