//! A snapshot as OTLP's JSON (opentelemetry-proto, "OTLP/HTTP": JSON Protobuf Encoding): field names in lowerCamelCase,
//! integers of 64 bits as text.
//!
//! From these names and units, the OpenTelemetry collector makes the series of [`super::text`].

use serde_json::{Map, Value, json};

use super::Snapshot;
use super::measure::{Measure, Numbers, OF_ALL, OF_GROUPS, QUANTILES, Unit};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`: the next sum includes what a collector missed.
const CUMULATIVE: u8 = 2;

/// The body of a request for a resource with these attributes.
pub fn body(snapshot: &Snapshot, resource: &[(String, String)]) -> String {
    let of_all = OF_ALL.iter();
    let all = (&snapshot.totals, snapshot.totals.since_ns, None);
    let of_all = of_all.filter_map(|measure| metric(measure, snapshot.at_ns, [all]));
    let rows = || {
        let rows = snapshot.rows.iter();
        rows.map(|(name, row)| (row, row.since_ns, Some((snapshot.by, &**name))))
    };
    let of_groups = OF_GROUPS.iter();
    let of_groups = of_groups.filter_map(|measure| metric(measure, snapshot.at_ns, rows()));
    let metrics: Vec<Value> = of_all.chain(of_groups).collect();
    let attributes = resource.iter().map(|(key, value)| attribute(key, value));
    let request = json!({ "resourceMetrics": [{
        "resource": { "attributes": attributes.collect::<Vec<_>>() },
        "scopeMetrics": [{
            "scope": { "name": "fullpipe.watch", "version": env!("CARGO_PKG_VERSION") },
            "metrics": metrics,
        }],
    }] });
    request.to_string()
}

/// A metric, if it has values.
fn metric<'r, T: 'r>(
    measure: &Measure<T>,
    at_ns: u64,
    rows: impl IntoIterator<Item = (&'r T, u64, Option<(&'static str, &'r str)>)>,
) -> Option<Value> {
    let mut points = Vec::new();
    let mut is_sum = false;
    for (row, since_ns, label) in rows {
        let mut attributes: Vec<Value> = Vec::new();
        attributes.extend(label.map(|(key, value)| attribute(key, value)));
        let numbers = (measure.of)(row);
        let at = at_ns.to_string();
        let since = match numbers {
            Numbers::Count(_) | Numbers::Sum(_) => Some(since_ns.to_string()),
            Numbers::Now(_) | Numbers::Value(_) | Numbers::Quantiles(_) => None,
        };
        is_sum = since.is_some();
        let mut push = |attributes: Vec<Value>, (kind, value): (&str, Value)| {
            let mut point = Map::new();
            point.insert("attributes".to_owned(), attributes.into());
            if let Some(since) = &since {
                point.insert("startTimeUnixNano".to_owned(), since.clone().into());
            }
            point.insert("timeUnixNano".to_owned(), at.clone().into());
            point.insert(kind.to_owned(), value);
            points.push(Value::Object(point));
        };
        match numbers {
            Numbers::Count(count) | Numbers::Now(count) => push(attributes, integer(count)),
            Numbers::Sum(sum) => push(attributes, ("asDouble", sum.into())),
            Numbers::Value(value) => {
                if let Some(value) = value {
                    push(attributes, ("asDouble", value.into()));
                }
            }
            Numbers::Quantiles(values) => {
                for ((_, quantile), value) in QUANTILES.iter().zip(values) {
                    if let Some(value) = value {
                        let mut attributes = attributes.clone();
                        attributes.push(attribute("quantile", quantile));
                        push(attributes, ("asDouble", value.into()));
                    }
                }
            }
        }
    }
    if points.is_empty() {
        return None;
    }
    let unit = match measure.unit {
        Unit::Of(things) => format!("{{{things}}}"),
        Unit::Bytes => "By".to_owned(),
        Unit::Seconds => "s".to_owned(),
        Unit::BytesPerSecond => "By/s".to_owned(),
    };
    let (kind, data) = if is_sum {
        let sum = json!({
            "dataPoints": points,
            "aggregationTemporality": CUMULATIVE,
            "isMonotonic": true,
        });
        ("sum", sum)
    } else {
        ("gauge", json!({ "dataPoints": points }))
    };
    Some(json!({
        "name": format!("fullpipe.{}.{}", measure.scope, measure.name),
        "description": measure.help,
        "unit": unit,
        kind: data,
    }))
}

fn integer(count: u64) -> (&'static str, Value) {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    ("asInt", count.to_string().into())
}

fn attribute(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}
