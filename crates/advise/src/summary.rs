//! The path of a run or a capture, from its summary.

use std::collections::BTreeMap;

use super::plan::{PACKET, PAYLOAD};
use super::ranges::RangedPath;
use document::{DocumentError, Reason};
use record::Summary;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use tables::numbers;
use units::Bytes;

/// The half width of the 95 % interval of a counted share, in standard deviations.
const HALF_WIDTH_DEVIATIONS: f64 = 2.0;

/// The initial window in bytes (RFC 6928). A direction with no more payload shows nothing of the path's rate.
const INITIAL_WINDOW: u64 = 14_600;

/// The most flows in a summary.
const MAX_FLOWS: usize = 100_000;

/// The fields that distinguish the kinds of summary.
#[derive(Debug, Deserialize)]
struct Kind {
    path: Option<Value>,
    /// Only counted: many full summaries would take much memory.
    flows: Option<Vec<IgnoredAny>>,
    connections: Option<Vec<Connection>>,
}

/// A connection in a capture's summary, as `fullpipe trace` writes it.
#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct Connection {
    flows: Vec<Flow>,
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "an object")]
struct Flow {
    #[serde(default)]
    from: String,
    #[serde(default)]
    to: String,
    #[serde(default)]
    sent_bytes: u64,
    /// The fields of the path, as ranges.
    path: Option<BTreeMap<String, String>>,
}

impl RangedPath {
    /// Reads the path from a summary in JSON: the path of a run, or of the connection with the most payload in a
    /// capture.
    ///
    /// # Errors
    ///
    /// The text is not such a summary, has no path, or its numbers contradict each other.
    pub fn of_json(text: &str) -> Result<RangedPath, DocumentError> {
        let wrong = |error: serde_json::Error| DocumentError::new("", error.to_string());
        let kind: Kind = serde_json::from_str(text).map_err(wrong)?;
        let flows = kind.flows.as_ref().map_or(0, Vec::len);
        if flows > MAX_FLOWS {
            let reason = format!("has {flows} entries, more than {MAX_FLOWS}; leave some out");
            return Err(DocumentError::new("flows", reason));
        }
        match kind {
            Kind {
                connections: Some(connections),
                ..
            } => RangedPath::of_capture(&connections),
            Kind {
                path: Some(Value::Object(_)),
                ..
            } => RangedPath::of_run(&serde_json::from_str(text).map_err(wrong)?),
            _ => {
                let reason = "is not a summary; give what `run --json` or `trace --json` prints";
                Err(DocumentError::new("", reason))
            }
        }
    }

    /// The path of the direction with the most payload, among directions whose path is known.
    fn of_capture(connections: &[Connection]) -> Result<RangedPath, DocumentError> {
        let flows = connections.iter().flat_map(|connection| &connection.flows);
        let known = flows.filter_map(|flow| Some((flow, flow.path.as_ref()?)));
        let known = known.filter(|(flow, _)| flow.sent_bytes > INITIAL_WINDOW);
        // Of equal directions, the first, as in `fullpipe trace --ranges`.
        let most = known.min_by_key(|(flow, _)| u64::MAX - flow.sent_bytes);
        let Some((flow, fields)) = most else {
            let reason = "no direction with more payload than an initial window has a path; capture where data is sent, or with \
                          timestamps";
            return Err(DocumentError::new("connections", reason));
        };
        let mut path = RangedPath::unknown();
        for (field, text) in fields {
            path.set(&format!("path.{field}"), text)?;
        }
        let payload = numbers::size(Bytes::new(flow.sent_bytes));
        path.origin = Some(format!("{} to {} ({payload})", flow.from, flow.to));
        Ok(path)
    }

    /// The path of a run. Its loss is a range: the confidence interval of the counted share. If the engine cannot tell
    /// random loss from drops, the range begins at zero.
    fn of_run(summary: &Summary) -> Result<RangedPath, DocumentError> {
        one_path(summary)?;
        possible(summary)?;
        let of = &summary.path;
        let Some(rate) = of.rate_bps.or(of.limit_bps) else {
            return Err(DocumentError::new(
                "path.rate_bps",
                "is missing; give the summary of a run over a path with a rate",
            ));
        };
        let mut path = RangedPath::unknown();
        path.set("path.rate", &format!("{rate}bit"))?;
        path.set("path.rtt", &format!("{:.0}us", of.rtprop_ms * 1e3))?;
        if let Some(buffer) = of.buffer_bytes {
            path.set("path.buffer", &format!("{buffer}b"))?;
        }
        if let Some((low, high)) = loss(summary)? {
            let [low, high] = [low, high].map(|end| end.clamp(0.0, 0.99) * 100.0);
            path.set("path.loss", &format!("{low:.4}%..{high:.4}%"))?;
        }
        Ok(path)
    }
}

/// Checks that the run has one path, and neither several hops nor a network.
fn one_path(summary: &Summary) -> Result<(), DocumentError> {
    if let Some(name) = &summary.path.name {
        let reason =
            " is a link of a network; advice is for one path, so give its rate, RTprop and buffer";
        return Err(DocumentError::new(
            "path.name",
            Reason::of(name).words(reason),
        ));
    }
    if !summary.next.is_empty() {
        let hops = summary.next.len() + 1;
        let reason = format!(
            "makes a chain of {hops} hops; give its scenario, or the directory of its record"
        );
        return Err(DocumentError::new("next", reason));
    }
    Ok(())
}

/// Checks that the numbers can come from one run.
fn possible(summary: &Summary) -> Result<(), DocumentError> {
    let rtprop = summary.path.rtprop_ms;
    if rtprop <= 0.0 {
        let reason = Reason::of(rtprop).words(" is no RTprop, or it is missing; give it in ms");
        return Err(DocumentError::new("path.rtprop_ms", reason));
    }
    for (place, flow) in summary.flows.iter().enumerate() {
        let of = |field: &str| format!("flows[{place}].{field}");
        let rtt = &flow.rtt_ms;
        let known = [
            ("min", rtt.min),
            ("p50", rtt.p50),
            ("p95", rtt.p95),
            ("p99", rtt.p99),
            ("max", rtt.max),
        ];
        let known: Vec<(&str, f64)> = known
            .into_iter()
            .filter_map(|(name, rtt)| Some((name, rtt?)))
            .collect();
        for pair in known.windows(2) {
            if let [(less, low), (more, high)] = pair
                && low > high
            {
                let reason = format!(" is above the {more} of {high}; mend the summary");
                let reason = Reason::of(low).words(reason);
                return Err(DocumentError::new(of(&format!("rtt_ms.{less}")), reason));
            }
        }
        if let (Some(sent), Some(again)) = (flow.sent_bytes, flow.retransmitted_bytes)
            && again > sent
        {
            let reason = format!(" is more than the {sent} of sent_bytes; mend the summary");
            let reason = Reason::of(again).words(reason);
            return Err(DocumentError::new(of("retransmitted_bytes"), reason));
        }
    }
    Ok(())
}

/// The interval of the random loss, if there is any.
fn loss(summary: &Summary) -> Result<Option<(f64, f64)>, DocumentError> {
    let declared = summary.flows.iter().filter_map(|flow| flow.packets_lost);
    let (field, lost) = match summary.path.random_losses {
        Some(lost) => ("path.random_losses", lost),
        None => (
            "flows[].packets_lost",
            declared.fold(0, u64::saturating_add),
        ),
    };
    if lost == 0 {
        return Ok(None);
    }
    // Lost packets are not delivered: if the sent bytes are unknown, they are added to the delivered packets.
    let flows = || summary.flows.iter();
    let sent: Option<f64> = flows()
        .map(|flow| flow.sent_bytes.map(|sent| sent as f64))
        .sum();
    let delivered: f64 = flows().map(|flow| flow.delivered_bytes as f64).sum();
    let packets = match sent {
        Some(sent) => sent / PACKET,
        None if delivered > 0.0 => delivered / PAYLOAD + lost as f64,
        None => 0.0,
    };
    if lost as f64 > packets {
        let fix = "mend the summary, or give the path itself, with its loss";
        let reason = format!(" packets are more than the {packets:.0} that the flows sent; {fix}");
        return Err(DocumentError::new(field, Reason::of(lost).words(reason)));
    }
    let share = lost as f64 / packets;
    let half = HALF_WIDTH_DEVIATIONS * (share * (1.0 - share) / packets).sqrt();
    let is_random = summary.path.random_losses.is_some();
    let low = if is_random { share - half } else { 0.0 };
    Ok(Some((low, share + half)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> Result<RangedPath, DocumentError> {
        RangedPath::of_json(text)
    }

    /// The summary of a run with these fields of its path and of its flow.
    fn summary(of_path: &str, of_flow: &str) -> String {
        format!(
            r#"{{ "path": {{ "rate_bps": 20000000, "rtprop_ms": 40.5, "buffer_bytes": 100000{of_path} }},
                  "flows": [{{ {of_flow} }}] }}"#
        )
    }

    #[test]
    fn what_was_counted_is_a_range() {
        let start = "rate 20000000bit, rtt 40500us, buffer 100000b";
        for (of_path, of_flow, loss) in [
            (
                r#", "random_losses": 100"#,
                r#""sent_bytes": 15000000"#,
                ", loss 0.8010%..1.1990%",
            ),
            (
                r#", "random_losses": 100"#,
                r#""delivered_bytes": 14335200"#,
                ", loss 0.8010%..1.1990%",
            ),
            (
                "",
                r#""sent_bytes": 15000000, "packets_lost": 100"#,
                ", loss 0.0000%..1.1990%",
            ),
            (
                r#", "random_losses": 0"#,
                r#""sent_bytes": 15000000, "packets_lost": 100"#,
                "",
            ),
        ] {
            let path = path(&summary(of_path, of_flow)).unwrap();
            assert_eq!(path.describe(), format!("{start}{loss}"));
            path.ranges().unwrap();
        }
    }

    #[test]
    fn numbers_that_contradict_each_other_are_refused() {
        for (of_path, of_flow, reason) in [
            (
                r#", "random_losses": 101"#,
                r#""sent_bytes": 150000"#,
                "path.random_losses: 101 packets are more than the 100 that the flows sent",
            ),
            (
                r#", "random_losses": 1"#,
                "",
                "path.random_losses: 1 packets are more than the 0",
            ),
            (
                "",
                r#""rtt_ms": { "min": 80.5, "p50": 50 }"#,
                "flows[0].rtt_ms.min: 80.5 is above the p50 of 50",
            ),
            (
                "",
                r#""rtt_ms": { "p50": 50, "max": 49 }"#,
                "flows[0].rtt_ms.p50: 50 is above the max of 49",
            ),
            (
                "",
                r#""sent_bytes": 9, "retransmitted_bytes": 10"#,
                "flows[0].retransmitted_bytes: 10 is more than the 9 of sent_bytes",
            ),
        ] {
            let error = path(&summary(of_path, of_flow)).unwrap_err().to_string();
            assert!(error.starts_with(reason), "{error}");
        }
        let many = vec!["{}"; MAX_FLOWS + 1].join(",");
        let error = path(&format!(r#"{{ "path": {{}}, "flows": [{many}] }}"#)).unwrap_err();
        assert_eq!(error.field, "flows");
        let error = path(r#"{ "path": { "rate_bps": 1000 } }"#).unwrap_err();
        assert_eq!(error.field, "path.rtprop_ms");
        let error = path(r#"{ "path": { "rtprop_ms": 40 } }"#).unwrap_err();
        assert_eq!(error.field, "path.rate_bps");
    }

    #[test]
    fn one_link_of_several_is_not_the_path() {
        let link = r#"{ "rate_bps": 20000000, "rtprop_ms": 40.5"#;
        for (of_path, next, told) in [
            (
                r#", "name": "core""#,
                "",
                "path.name: core is a link of a network",
            ),
            (
                "",
                r#"{ "rate_bps": 9000000 }"#,
                "next: makes a chain of 2 hops",
            ),
        ] {
            let text =
                format!(r#"{{ "path": {link}{of_path} }}, "next": [{next}], "flows": [] }}"#);
            let error = path(&text).unwrap_err().to_string();
            assert!(error.starts_with(told), "{error}");
        }
        path(&format!(
            r#"{{ "path": {link} }}, "next": [], "flows": [] }}"#
        ))
        .unwrap();
    }

    #[test]
    fn a_capture_tells_of_the_direction_with_the_most_payload() {
        let captured = r#"{ "start_s": 1, "connections": [
            { "id": 0, "flows": [{ "from": "a", "to": "b", "sent_bytes": 9000000, "path": null },
                                 { "from": "b", "to": "a", "sent_bytes": 37, "path": { "rate": "1kbit..9kbit" } }] },
            { "id": 1, "flows": [{ "from": "c", "to": "d", "sent_bytes": 20000, "path": { "rate": "1mbit..9mbit" } }] },
            { "id": 2, "flows": [{ "from": "e", "to": "f", "sent_bytes": 1000000,
                                   "path": { "rate": "9mbit..10mbit", "policer.rate": "5mbit" } }] }] }"#;
        let known = path(captured).unwrap();
        let described = "policer.rate 5mbit, rate 9mbit..10mbit";
        assert_eq!(known.describe(), described);
        assert_eq!(known.origin.as_deref(), Some("e to f (1.00 MB)"));
        let error = path(r#"{ "connections": [] }"#).unwrap_err();
        assert_eq!(error.field, "connections");
    }

    #[test]
    fn what_is_no_summary_is_answered() {
        for (text, reason) in [
            ("{}", "is not a summary"),
            (
                r#"{ "path": "rate 9mbit", "ranges": [] }"#,
                "is not a summary",
            ),
            (r#"{ "path": { "rate_bps": "9mbit" } }"#, "expected u64"),
            (r#"{ "path": {}, "flows": [7] }"#, "expected an object"),
            (r#"{ "connections": [7] }"#, "expected an object"),
            ("{ \"path\": ", "EOF"),
        ] {
            let error = path(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
