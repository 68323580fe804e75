//! The observations of a command, as a self-contained page.

use askama::Template;
use serde::Serialize;
use units::Duration;

use super::watch::WaySample;
use super::{Observed, WaySummary, text};
use report::page::Page;
use report::points::{round, seconds, thin};
use report::{Origin, Table};

/// The part of the page between header and footer.
#[derive(Template)]
#[template(path = "shell.html")]
struct Body {
    ways: Table,
    flows: Option<Table>,
    notes: Vec<String>,
}

/// The most points of a curve: more than a screen has pixels.
const MAX_POINTS: u64 = 4_000;
/// The most intervals over which rates are averaged, and the shortest interval.
const MAX_INTERVALS: u64 = 400;
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// The data for the page's script.
#[derive(Serialize)]
struct Data {
    /// The end of the time axis, in seconds.
    end: f64,
    ways: [Way; 2],
}

#[derive(Serialize)]
struct Way {
    name: &'static str,
    /// The bottleneck's rate at the start, in Mbit/s.
    limit: Option<f64>,
    /// The times, in seconds.
    t: Vec<f64>,
    /// The queueing delay of a packet, in milliseconds.
    delay: Vec<f64>,
    /// The middles of the intervals, in seconds.
    rate_t: Vec<f64>,
    /// The delivered rate, in Mbit/s.
    rate: Vec<f64>,
}

/// The observations of a command, as one self-contained page: both directions over time, and the tables.
pub fn page(observed: &Observed, origin: &Origin) -> String {
    let summary = &observed.summary;
    let data = Data {
        end: summary.duration_s,
        ways: [
            way("down", &summary.down, &observed.down),
            way("up", &summary.up, &observed.up),
        ],
    };
    let flows = (!summary.flows.is_empty()).then(|| text::flows(&summary.flows));
    let page = Page {
        title: &summary.command.join(" "),
        about: &observed.about,
        body: Body {
            ways: text::ways(summary),
            flows,
            notes: text::notes(summary),
        },
        facts: &[
            format!("exit code {}", summary.exit_code),
            format!("seed {}", summary.seed),
        ],
        source: None,
        style: "",
        script: include_str!("../assets/shell.js"),
        data: &data,
        origin,
    };
    page.html()
}

fn way(name: &'static str, summary: &WaySummary, samples: &[WaySample]) -> Way {
    let shown = thin(samples, MAX_POINTS);
    let rates = rates(samples);
    Way {
        name,
        limit: summary.path.rate_bps.map(|rate| rate as f64 / 1e6),
        t: shown.iter().map(|sample| seconds(sample.at)).collect(),
        delay: shown
            .iter()
            .map(|sample| round(sample.delay.as_millis_f64()))
            .collect(),
        rate_t: rates.iter().map(|(at, _)| *at).collect(),
        rate: rates.iter().map(|(_, rate)| *rate).collect(),
    }
}

/// The middles of intervals, in seconds, and the rate delivered in each, in Mbit/s.
fn rates(samples: &[WaySample]) -> Vec<(f64, f64)> {
    let span = samples.last().map_or(Duration::ZERO, |sample| sample.at);
    let interval = (span / MAX_INTERVALS).max(MIN_INTERVAL);
    let mut rates = Vec::new();
    let mut rest = samples.iter();
    let Some(mut from) = rest.next() else {
        return rates;
    };
    for to in rest {
        let took = to.at.saturating_sub(from.at);
        if took >= interval {
            let bits = (to.delivered - from.delivered).get() as f64 * 8.0;
            let middle = from.at.as_secs_f64() + took.as_secs_f64() / 2.0;
            rates.push((round(middle), round(bits / took.as_secs_f64() / 1e6)));
            from = to;
        }
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    #[test]
    fn rates_are_of_what_came_out_between_two_looks() {
        let sample = |millis: u64| WaySample {
            at: Duration::from_millis(millis),
            queue: Bytes::ZERO,
            delay: Duration::ZERO,
            delivered: Bytes::new(if millis < 500 { 125 * millis } else { 62_500 }),
        };
        let samples: Vec<WaySample> = (0..=1_000).step_by(5).map(sample).collect();
        let rates = rates(&samples);
        assert_eq!(rates.len(), 10);
        assert_eq!((rates[0], rates[9]), ((0.05, 1.0), (0.95, 0.0)));
        assert!(super::rates(&[]).is_empty());
    }
}
