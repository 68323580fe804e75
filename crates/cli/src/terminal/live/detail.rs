//! One connection: its state, and its last minute as in the paper's figure 2.

use fleet::column::{limit, millis, scaled};
use fleet::{Connection, Past};
use program::output::printable;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::symbols::Marker;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Axis, Block, Chart, Dataset, GraphType, Paragraph};
use tables::numbers;
use units::{Duration, Rate};

use super::palette::Palette;

/// The minimum height of a chart: a title and three lines, so that all charts fit into 24 lines.
const MIN_CHART_ROWS: u16 = 4;

/// The length of the shown time in seconds.
const SHOWN_S: f64 = 60.0;

/// The markers of curves, and the signs in their titles, which distinguish them without colours. The first is finer
/// than the others.
const SIGNS: [(Marker, char); 3] = [
    (Marker::Braille, '⠒'),
    (Marker::Dot, '•'),
    (Marker::Custom('+'), '+'),
];

pub fn draw(frame: &mut Frame<'_>, area: Rect, connection: &Connection, palette: Palette) {
    let lines = about(connection, palette);
    let height = u16::try_from(lines.len()).unwrap_or(u16::MAX);
    let [text, charts] =
        Layout::vertical([Constraint::Length(height), Constraint::Min(0)]).areas(area);
    frame.render_widget(Paragraph::new(lines), text);
    let curves = curves(connection);
    let room = usize::from(charts.height / MIN_CHART_ROWS).min(curves.len());
    let areas = Layout::vertical(vec![Constraint::Fill(1); room]).split(charts);
    for (curves, area) in curves.iter().zip(areas.iter()) {
        chart(frame, *area, curves, palette);
    }
}

fn about(connection: &Connection, palette: Palette) -> Vec<Line<'static>> {
    let seen = &connection.seen;
    let (socket, info) = (&seen.socket, &seen.socket.info);
    let dash = || "–".to_owned();
    let rate = |rate: Option<Rate>| {
        rate.map_or_else(dash, |rate| {
            numbers::bits_per_sec(rate.bits_per_sec() as f64)
        })
    };
    let short =
        |rate: Option<Rate>| rate.map_or_else(dash, |rate| scaled(rate.bits_per_sec() as f64));
    let time = |span: Option<Duration>| {
        span.map_or_else(dash, |span| format!("{} ms", millis(span.as_millis_f64())))
    };
    let packets = |count: u32| numbers::size(info.snd_mss * u64::from(count));
    let process = seen.process.as_ref();
    let process = process.map_or_else(dash, |process| {
        format!("{} ({})", process.name, process.pid)
    });
    let cgroup = seen.cgroup.as_deref().unwrap_or("–");
    let system = seen
        .system
        .as_ref()
        .map_or_else(String::new, |system| format!("  {system}"));
    let line = |name: &'static str, text: String| {
        Line::from(vec![
            Span::styled(format!("{name:<11}"), palette.heading()),
            Span::raw(printable(&text)),
        ])
    };
    let mut lines = vec![
        Line::styled(
            format!("{} → {}{system}", seen.local(), seen.remote()),
            palette.heading(),
        ),
        line(
            "process",
            format!(
                "{process}  user {}  namespace {}  cgroup {cgroup}",
                socket.user, seen.namespace
            ),
        ),
        line(
            "controller",
            format!("{}  {}  {}", socket.controller, seen.state(), socket.state),
        ),
        line(
            "rates",
            format!(
                "send {}  receive {}  delivery {}  pacing {} bit/s",
                short(seen.send_rate()),
                short(seen.receive_rate()),
                short(info.known_delivery_rate()),
                short(info.pacing_rate),
            ),
        ),
        line(
            "RTT",
            format!(
                "{}  min {}  var {}  rto {}",
                time(seen.rtt()),
                time(info.min_rtt),
                time(Some(info.rttvar)),
                time(Some(info.rto)),
            ),
        ),
        line(
            "window",
            format!(
                "in flight {}  cwnd {}  their window {}  unsent {}",
                numbers::size(seen.inflight()),
                packets(info.snd_cwnd),
                numbers::size(info.snd_wnd),
                numbers::size(info.notsent_bytes),
            ),
        ),
        line(
            "limited",
            format!(
                "{}  so far: busy {}, rwnd {}, sndbuf {}",
                seen.shares().map_or_else(dash, limit),
                numbers::span(info.busy_time.as_millis_f64()),
                numbers::span(info.rwnd_limited.as_millis_f64()),
                numbers::span(info.sndbuf_limited.as_millis_f64()),
            ),
        ),
        line(
            "so far",
            format!(
                "sent {}  received {}  resent {} of {}",
                numbers::size(seen.acknowledged()),
                numbers::size(info.bytes_received),
                seen.retransmitted_packets(),
                numbers::count(u64::from(info.data_segs_out), "packet"),
            ),
        ),
    ];
    if let Some(model) = seen.model() {
        let gains = socket.bbr.map(|bbr| {
            format!(
                "  gains {:.2}, {:.2}",
                bbr.pacing_gain.as_f64(),
                bbr.cwnd_gain.as_f64()
            )
        });
        let gains = gains.unwrap_or_default();
        lines.push(line(
            "BBR",
            format!(
                "BtlBw {}  RTprop {}{gains}",
                rate(model.bw),
                time(model.min_rtt)
            ),
        ));
    }
    lines
}

/// The curves of one chart.
struct Curves {
    title: &'static str,
    unit: fn(f64) -> String,
    /// Names, and values by time.
    all: Vec<(&'static str, Vec<(f64, f64)>)>,
}

fn curves(connection: &Connection) -> Vec<Curves> {
    let seen = &connection.seen;
    let info = &seen.socket.info;
    let now = seen.when.at.as_secs_f64();
    let over_time = |of: fn(&Past) -> f32| -> Vec<(f64, f64)> {
        let at = |past: &Past| f64::from(past.at_s) - now;
        connection
            .history()
            .map(|past| (at(past), of(past).into()))
            .collect()
    };
    // The time before the first poll is unknown.
    let watched = seen.when.at.saturating_sub(connection.first);
    let level = |value: Option<f64>| -> Vec<(f64, f64)> {
        let ends = [-watched.as_secs_f64().min(SHOWN_S), 0.0];
        value.map_or(Vec::new(), |value| ends.map(|at| (at, value)).to_vec())
    };
    let model = seen.model();
    let bw = model
        .and_then(|model| model.bw)
        .map(|bw| bw.bits_per_sec() as f64);
    let cwnd = info.snd_mss * u64::from(info.snd_cwnd);
    vec![
        Curves {
            title: "RTT ms",
            unit: millis,
            all: vec![
                ("RTT", over_time(|past| past.rtt_ms)),
                ("min", level(info.min_rtt.map(Duration::as_millis_f64))),
            ],
        },
        Curves {
            title: "delivery rate bit/s",
            unit: scaled,
            all: vec![
                ("delivery rate", over_time(|past| past.delivery_rate_bps)),
                ("send and receive", over_time(|past| past.rate_bps)),
                ("BtlBw", level(bw)),
            ],
        },
        Curves {
            title: "in flight B",
            unit: scaled,
            all: vec![
                ("in flight", over_time(|past| past.inflight)),
                ("cwnd", level(Some(cwnd.get() as f64))),
            ],
        },
    ]
}

fn sign(place: usize) -> (Marker, char) {
    SIGNS.get(place).copied().unwrap_or(SIGNS[0])
}

fn chart(frame: &mut Frame<'_>, area: Rect, curves: &Curves, palette: Palette) {
    let values = curves
        .all
        .iter()
        .flat_map(|(_, points)| points)
        .map(|(_, value)| *value);
    let most = values.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    // The last curve is drawn on top, so the first one is drawn last.
    let datasets = curves.all.iter().enumerate().rev();
    let datasets = datasets.map(|(place, (_, points))| {
        Dataset::default()
            .marker(sign(place).0)
            .graph_type(GraphType::Line)
            .style(palette.curve(place))
            .data(points)
    });
    let labels = ["0".to_owned(), (curves.unit)(most)].map(|label| format!("{label:>6}"));
    let names = curves
        .all
        .iter()
        .enumerate()
        .filter(|(_, (_, points))| !points.is_empty());
    let mut title = vec![Span::styled(
        format!("{}: ", curves.title),
        palette.heading(),
    )];
    title.extend(names.map(|(place, (name, _))| {
        Span::styled(format!("{} {name}  ", sign(place).1), palette.curve(place))
    }));
    let chart = Chart::new(datasets.collect())
        .block(Block::new().title(Line::from(title)))
        .legend_position(None)
        .x_axis(Axis::default().bounds([-SHOWN_S, 0.0]))
        .y_axis(Axis::default().bounds([0.0, most * 1.05]).labels(labels));
    frame.render_widget(chart, area);
}
