//! Groups of connections as rows of text.

use fleet::Group;
use fleet::column::{millis, scaled};
use program::output;
use tables::statistics::nearest_rank;
use units::{Duration, Rate};

/// The columns of a group; the first heading stands for its name.
pub const HEADINGS: [&str; 9] = [
    "", "conns", "send/s", "recv/s", "RTT ms", "p95", "min RTT", "deliv/s", "resent",
];

/// The columns that are left out first on a narrow terminal.
pub const SPARE_HEADINGS: [&str; 3] = ["min RTT", "p95", "deliv/s"];

/// The cells of a group below the [`HEADINGS`].
pub fn cells(group: &Group) -> Vec<String> {
    let dash = || "–".to_owned();
    let time = |span: Option<Duration>| span.map_or_else(dash, |span| millis(span.as_millis_f64()));
    let rate =
        |rate: Option<Rate>| rate.map_or_else(dash, |rate| scaled(rate.bits_per_sec() as f64));
    vec![
        output::word(&group.name),
        group.connections.to_string(),
        rate(group.send_rate),
        rate(group.receive_rate),
        time(nearest_rank(&group.rtts, 0.5)),
        time(nearest_rank(&group.rtts, 0.95)),
        time(group.min_rtt),
        rate(nearest_rank(&group.delivery_rates, 0.5)),
        group
            .since
            .resent()
            .map_or_else(dash, |share| format!("{:.1}%", share * 100.0)),
    ]
}
