//! Tests of the page.

use std::time::{Duration, SystemTime};

use record::Record;
use report::{Origin, html};

use crate::records::{crowd, record};

pub fn page(records: &[Record], command: &str) -> String {
    let generated = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    html(
        records,
        &Origin {
            command: command.to_string(),
            generated,
        },
    )
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
        "<td class=\"swatch\" style=\"--swatch: var(--lane1); --stroke: solid\">cubic</td>",
        "fullpipe race",
        "2023-11-14T22:13:20Z",
        "seed 3",
        "8 BDP (800 kB)",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("{{"), "a placeholder is left");
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn a_browser_obeys_no_text_of_others() {
    let named = |name: &str| page(&[record(name, "bbr1", false)], name);
    let turned = named("\u{202e}lmth\u{9b}");
    assert!(!turned.contains(['\u{202e}', '\u{9b}']));
    assert_eq!(turned, named("\u{fffd}lmth\u{fffd}"));
    data(&turned);
}

#[test]
fn every_colour_has_a_light_and_a_dark_one() {
    let page = page(&[record("race", "bbr1", false)], "fullpipe race");
    let (_, style) = page.split_once(":root {").unwrap();
    let (colours, _) = style.split_once("}\n").unwrap();
    let named: Vec<&str> = colours.split("--").skip(1).collect();
    assert!(named.len() > 12, "{named:?}");
    for colour in named {
        assert!(colour.contains(": light-dark("), "{colour}");
    }
    assert!(page.contains("--lane0: light-dark(#009E73, #2FC79A);"));
    // Phones show a page in its own size only with this setting.
    assert!(page.contains("width=device-width"));
}

#[test]
fn curves_pause_where_nothing_was_heard() {
    let mut record = record("idle", "bbr1", false);
    let flow = &mut record.flows[0];
    let middle = flow.samples.len() / 2;
    let after = flow.samples[middle].at;
    for sample in flow.samples.iter_mut().skip(middle + 1) {
        sample.at = sample.at + after * 2;
    }
    let data = data(&page(&[record], "fullpipe run"));
    let lane = &data["lanes"][0];
    let pauses = lane["pauses"].as_array().unwrap();
    assert_eq!(pauses.len(), 1, "{pauses:?}");
    let pause = pauses[0].as_u64().unwrap() as usize;
    for column in ["rate", "rtt", "inflight", "cwnd"] {
        assert!(lane[column][pause].is_null(), "{column}");
    }
    let at = |place: usize| lane["t"][place].as_f64().unwrap();
    assert!(at(pause - 1) < at(pause) && at(pause) < at(pause + 1));
}

#[test]
fn every_page_prints_light_and_whole() {
    let page = page(&[record("race", "bbr1", false)], "fullpipe race");
    let (_, print) = page.split_once("@media print {").unwrap();
    for rule in [
        "color-scheme: light",
        "print-color-adjust: exact",
        "break-inside: avoid",
        ".scroll, .picture { overflow: visible",
    ] {
        assert!(print.contains(rule), "{rule}");
    }
    assert!(page.contains("beforeprint") && page.contains("<div class=\"scroll\"><table"));
}

#[test]
fn names_are_text_and_nothing_more() {
    let nasty = "</script><script>alert(1)</script><!--\u{2028}&{{data}}'\"";
    let page = page(&[record(nasty, "bbr1", false)], nasty);
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<!--"));
    // The placeholder in the name stays text: the data is in the page once.
    assert_eq!(page.matches("\"lanes\":").count(), 1);
    assert_eq!(page.matches("</script>").count(), 4);
    assert!(page.contains("&#60;/script&#62;"));
}

/// Returns the data of the page's script.
fn data(page: &str) -> serde_json::Value {
    let (_, after) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = after.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn a_network_has_no_rtprop_that_all_flows_share() {
    let mut record = record("network", "bbr1", false);
    let of_path = data(&page(std::slice::from_ref(&record), ""));
    assert_ne!(of_path["paths"][0]["rtprop"], serde_json::json!([]));
    record.scenario = "name = 'network'\nduration = '1s'\n\
        [[link]]\nname = 'line'\nfrom = 'a'\nto = 'b'\nrtt = '40ms'\nrate = '10mbit'\nbuffer = '1bdp'\n\
        [[flow]]\ncontroller = 'bbr1'\nfrom = 'a'\nto = 'b'\n"
        .parse()
        .unwrap();
    let of_network = data(&page(&[record], ""));
    assert_eq!(of_network["paths"][0]["rtprop"], serde_json::json!([]));
}

#[test]
fn a_crowd_is_drawn_by_controller() {
    let few = data(&page(&[crowd(6)], "fullpipe run"));
    assert_eq!(
        (&few["is_crowd"], few["legend"].as_array().unwrap().len()),
        (&false.into(), 12)
    );
    let page = page(&[crowd(150)], "fullpipe run");
    assert!(page.len() < 4_000_000, "{} bytes", page.len());
    assert!(page.contains("Of 300 flows, every 3th is drawn"));
    let many = data(&page);
    assert_eq!(many["is_crowd"], true);
    assert_eq!(many["lanes"].as_array().unwrap().len(), 100);
    let cell = "--swatch: var(--lane1); --stroke: solid\">cubic ×150</td>";
    assert!(
        page.contains(cell),
        "the table has the colours of the plots"
    );
    assert_eq!(many["legend"][1]["name"], "cubic ×150");
    let totals = many["totals"].as_array().unwrap();
    assert_eq!(totals.len(), 2);
    // All bbr1 flows together have about half of 100 Mbit/s, from the first second on.
    let rates = totals[0]["rate"].as_array().unwrap();
    assert_eq!(rates.len(), 20);
    let rate = rates[10].as_f64().unwrap();
    assert!((40.0..60.0).contains(&rate), "{rate}");
    assert_eq!(many["paths"][0]["queues"].as_array().unwrap().len(), 2);
    assert!(many["lanes"][0]["states"].as_array().unwrap().is_empty());
    assert!(page.contains("cubic ≤ 14.5 kB"));
}

#[test]
fn every_state_of_every_controller_has_a_colour() {
    let page = page(&[record("race", "bbr1", false)], "fullpipe run");
    let states = congestion::ControllerKind::ALL
        .iter()
        .flat_map(|kind| kind.states());
    for state in states {
        let colour = format!("--state-{}:", state.phase.colour());
        assert!(page.contains(&colour), "{state}: {colour}");
    }
    let stays = &data(&page)["lanes"][0]["states"];
    assert_eq!(stays[0]["state"], "Startup");
    assert_eq!(stays[0]["color"], "startup");
}
