//! A snapshot as OpenMetrics.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit as Known};

use super::Snapshot;
use super::measure::{Measure, Numbers, OF_ALL, OF_GROUPS, QUANTILES, Unit};

type Label<'l> = (&'static str, &'l str);

/// The text of all metrics.
pub fn text(snapshot: Arc<Snapshot>) -> String {
    let mut registry = Registry::with_prefix("fullpipe");
    registry.register_collector(Box::new(snapshot));
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = encode(&mut text, &registry);
    text
}

impl Collector for Snapshot {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let all = [(None, &self.totals)];
        for measure in OF_ALL {
            metric(&mut encoder, measure, all)?;
        }
        let groups = || {
            let rows = self.rows.iter();
            rows.map(|(name, row)| (Some((self.by, &**name)), row))
        };
        for measure in OF_GROUPS {
            metric(&mut encoder, measure, groups())?;
        }
        Ok(())
    }
}

fn metric<'r, T: 'r>(
    encoder: &mut DescriptorEncoder<'_>,
    measure: &Measure<T>,
    rows: impl IntoIterator<Item = (Option<Label<'r>>, &'r T)>,
) -> fmt::Result {
    let mut rows = rows
        .into_iter()
        .map(|(label, row)| (label, (measure.of)(row)))
        .peekable();
    let Some((_, first)) = rows.peek() else {
        return Ok(());
    };
    let kind = match first {
        Numbers::Count(_) | Numbers::Sum(_) => MetricType::Counter,
        Numbers::Now(_) | Numbers::Value(_) | Numbers::Quantiles(_) => MetricType::Gauge,
    };
    let unit = match measure.unit {
        Unit::Of(_) => None,
        Unit::Bytes => Some(Known::Bytes),
        Unit::Seconds => Some(Known::Seconds),
        Unit::BytesPerSecond => Some(Known::Other("bytes_per_second".to_owned())),
    };
    let name = format!("{}_{}", measure.scope, measure.name);
    let mut encoder = encoder.encode_descriptor(&name, measure.help, unit.as_ref(), kind)?;
    for (label, numbers) in rows {
        let labels = label.as_slice();
        match numbers {
            Numbers::Count(count) => one(&mut encoder, labels, |encoder| {
                encoder.encode_counter::<NoLabelSet, _, u64>(&count, None)
            })?,
            Numbers::Sum(sum) => one(&mut encoder, labels, |encoder| {
                encoder.encode_counter::<NoLabelSet, _, u64>(&sum, None)
            })?,
            Numbers::Now(count) => {
                let count = i64::try_from(count).unwrap_or(i64::MAX);
                one(&mut encoder, labels, |encoder| encoder.encode_gauge(&count))?;
            }
            Numbers::Value(value) => gauge(&mut encoder, labels, value)?,
            Numbers::Quantiles(values) => {
                for ((_, quantile), value) in QUANTILES.iter().zip(values) {
                    let labels: Vec<Label<'_>> =
                        label.into_iter().chain([("quantile", *quantile)]).collect();
                    gauge(&mut encoder, &labels, value)?;
                }
            }
        }
    }
    Ok(())
}

fn gauge(encoder: &mut MetricEncoder<'_>, labels: &[Label<'_>], value: Option<f64>) -> fmt::Result {
    match value {
        Some(value) => one(encoder, labels, |encoder| encoder.encode_gauge(&value)),
        None => Ok(()),
    }
}

/// A series with these labels, or with none.
fn one(
    encoder: &mut MetricEncoder<'_>,
    labels: &[Label<'_>],
    write: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
) -> fmt::Result {
    if labels.is_empty() {
        write(encoder)
    } else {
        let labels = labels.to_vec();
        write(&mut encoder.encode_family(&labels)?)
    }
}
