//! Where values lie along a side of a chart, and which of them are written there.

/// About so many values are written along a linear axis.
const TICKS: f64 = 6.0;

/// A side of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is measured, with its unit: `RTT (ms)`.
    name: String,
    is_log: bool,
    from: f64,
    to: f64,
    ticks: Vec<Tick>,
    /// Values between the ticks that get a fine line.
    minor: Vec<f64>,
}

/// A value that is written at an axis.
#[derive(Debug, Clone, PartialEq)]
struct Tick {
    at: f64,
    label: String,
}

impl Axis {
    /// Equal distances are equal differences. The ends are what is given, whichever values lie between them.
    pub fn linear(name: &str, from: f64, to: f64) -> Axis {
        let to = if to > from { to } else { from + 1.0 };
        let step = step(to - from);
        let decimals = (-step.log10().floor()).max(0.0) as usize;
        let first = (from / step - 1e-9).ceil() as i64;
        let last = (to / step + 1e-9).floor() as i64;
        let tick = |index: i64| Tick {
            at: index as f64 * step,
            label: format!("{:.decimals$}", index as f64 * step),
        };
        Axis {
            name: name.into(),
            is_log: false,
            from,
            to,
            ticks: (first..=last).map(tick).collect(),
            minor: Vec::new(),
        }
    }

    /// From zero to a round number that is not below any of `values`, with a little room above them.
    pub fn from_zero(name: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let highest = finite.fold(0.0, f64::max) * 1.06;
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let step = step(highest) / 2.0;
        Axis::linear(name, 0.0, (highest / step).ceil() * step)
    }

    /// Equal distances are equal ratios; both ends are above zero. Powers of ten are written, and twice and five times
    /// them if there are few.
    pub fn log(name: &str, from: f64, to: f64) -> Axis {
        let (first, last) = (from.log10().floor() as i32, to.log10().ceil() as i32);
        let is_within = |value: &f64| *value >= from * (1.0 - 1e-9) && *value <= to * (1.0 + 1e-9);
        let multiples = |of: &'static [u32]| {
            let decades = (first..=last).flat_map(move |power| {
                of.iter()
                    .map(move |digit| f64::from(*digit) * 10f64.powi(power))
            });
            decades.filter(is_within)
        };
        let written: &[u32] = match (to / from).log10() < 2.5 {
            true => &[1, 2, 5],
            false => &[1],
        };
        let tick = |at: f64| Tick {
            at,
            label: plain(at),
        };
        Axis {
            name: name.into(),
            is_log: true,
            from,
            to,
            ticks: multiples(written).map(tick).collect(),
            minor: multiples(&[1, 2, 3, 4, 5, 6, 7, 8, 9]).collect(),
        }
    }

    /// Things without an order, at 0, 1, 2 …; there is room for half a thing at both ends.
    pub fn of_kinds(name: &str, kinds: impl IntoIterator<Item = impl Into<String>>) -> Axis {
        let ticks: Vec<Tick> = (0..)
            .zip(kinds)
            .map(|(at, kind): (u32, _)| Tick {
                at: f64::from(at),
                label: kind.into(),
            })
            .collect();
        Axis {
            name: name.into(),
            is_log: false,
            from: -0.5,
            to: ticks.len() as f64 - 0.5,
            ticks,
            minor: Vec::new(),
        }
    }

    /// With these values written, and no others.
    pub fn with_ticks(mut self, ticks: impl IntoIterator<Item = (f64, String)>) -> Axis {
        let ticks = ticks.into_iter();
        self.ticks = ticks.map(|(at, label)| Tick { at, label }).collect();
        self.minor.clear();
        self
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where a value lies: 0 is the axis's beginning, 1 its end. What has no place on a logarithmic axis is far before
    /// its beginning.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.is_log {
            true if value <= 0.0 => -1e3,
            true => (value / self.from).ln() / (self.to / self.from).ln(),
            false => (value - self.from) / (self.to - self.from),
        }
    }

    /// The places of the values that are written.
    pub(super) fn ticks(&self) -> Vec<f64> {
        self.ticks.iter().map(|tick| self.place(tick.at)).collect()
    }

    /// The places of the fine lines.
    pub(super) fn minor(&self) -> Vec<f64> {
        self.minor.iter().map(|at| self.place(*at)).collect()
    }

    /// What is written at the place of a tick.
    pub(super) fn label(&self, place: f64) -> &str {
        let mut ticks = self.ticks.iter();
        let tick = ticks.find(|tick| (self.place(tick.at) - place).abs() < 1e-9);
        tick.map_or("", |tick| &tick.label)
    }
}

/// A round distance between ticks over `span`.
fn step(span: f64) -> f64 {
    let rough = span / TICKS;
    let power = 10f64.powf(rough.log10().floor());
    let digit = match rough / power {
        digit if digit <= 1.0 => 1.0,
        digit if digit <= 2.0 => 2.0,
        digit if digit <= 5.0 => 5.0,
        _ => 10.0,
    };
    digit * power
}

/// A number as people write it: `0.001`, `20`, `10k`, `1M`.
fn plain(value: f64) -> String {
    let digits = |value: f64| {
        let text = format!("{value:.9}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    };
    match value {
        value if value >= 1e6 => digits(value / 1e6) + "M",
        value if value >= 1e4 => digits(value / 1e3) + "k",
        value => digits(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|tick| tick.label.as_str()).collect()
    }

    #[test]
    fn round_numbers_are_written() {
        assert_eq!(
            labels(&Axis::linear("x", 0.0, 100.0)),
            ["0", "20", "40", "60", "80", "100"]
        );
        assert_eq!(
            labels(&Axis::linear("x", 10.1, 10.8)),
            ["10.2", "10.4", "10.6", "10.8"]
        );
        assert_eq!(
            labels(&Axis::log("x", 1e-3, 60.0)),
            ["0.001", "0.01", "0.1", "1", "10"]
        );
        assert_eq!(
            labels(&Axis::log("x", 1.0, 20.0)),
            ["1", "2", "5", "10", "20"]
        );
        assert_eq!(
            labels(&Axis::log("x", 1e3, 1e6)),
            ["1000", "10k", "100k", "1M"]
        );
        assert_eq!(Axis::linear("x", 3.0, 3.0).to, 4.0);
    }

    #[test]
    fn values_lie_between_the_ends() {
        let log = Axis::log("x", 0.01, 100.0);
        assert!((log.place(1.0) - 0.5).abs() < 1e-12);
        assert!(log.place(0.0) < 0.0);
        let kinds = Axis::of_kinds("x", ["a", "b"]);
        assert_eq!(kinds.place(0.0), 0.25);
        assert_eq!(kinds.label(0.75), "b");
        let fitted = Axis::from_zero("x", [7.0, f64::NAN, 93.0]);
        assert!(fitted.place(93.0) < 1.0 && fitted.place(0.0) == 0.0);
        assert_eq!(Axis::from_zero("x", []).to, 1.0);
    }
}
