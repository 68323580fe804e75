//! The axes of a chart, and the positions of their values.

use super::font::Letters;
use super::unit::Unit;

/// The approximate number of labelled values along a linear axis.
const TICKS_PER_AXIS: f64 = 6.0;

/// The minimum number of labels of a logarithmic axis; fewer do not show its scale.
const MIN_LOG_LABELS: usize = 3;

/// The minimum distance between adjacent labels, in pixels.
const MIN_LABEL_GAP: f64 = 6.0;

/// The factors of powers of ten for the fine lines of a logarithmic axis.
const FINE_FACTORS: [f64; 9] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0];

/// A side of a chart.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// The measured quantity: `RTT`.
    name: String,
    unit: Unit,
    scale: Scale,
    from: f64,
    to: f64,
    ticks: Vec<Tick>,
    /// Values between the ticks that get a fine line.
    minor: Vec<f64>,
}

/// The scale of an axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scale {
    /// Equal distances are equal differences.
    Linear,
    /// Equal distances are equal ratios.
    Log,
    /// Each step is the next category.
    Kinds,
    /// The axis is not drawn.
    Blank,
}

/// A labelled value of an axis.
#[derive(Debug, Clone, PartialEq)]
struct Tick {
    at: f64,
    label: String,
}

impl Axis {
    fn new(name: &str, unit: Unit, scale: Scale, (from, to): (f64, f64)) -> Axis {
        Axis {
            name: name.into(),
            unit,
            scale,
            from,
            to,
            ticks: Vec::new(),
            minor: Vec::new(),
        }
    }

    /// Creates a linear axis. Its ends are exactly those given, whichever labelled values lie between them.
    pub fn linear(name: &str, unit: Unit, from: f64, to: f64) -> Axis {
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
            ticks: (first..=last).map(tick).collect(),
            ..Axis::new(name, unit, Scale::Linear, (from, to))
        }
    }

    /// Creates a linear axis from zero to a round number that is not below any of `values`, with a little room above
    /// them.
    pub fn from_zero(name: &str, unit: Unit, values: impl IntoIterator<Item = f64>) -> Axis {
        let finite = values.into_iter().filter(|value| value.is_finite());
        let highest = finite.fold(0.0, f64::max) * 1.06;
        let highest = if highest > 0.0 { highest } else { 1.0 };
        let step = step(highest) / 2.0;
        Axis::linear(name, unit, 0.0, (highest / step).ceil() * step)
    }

    /// Creates a logarithmic axis; both ends are above zero. Labels are at powers of ten, and at twice and five times
    /// these if there are few; they have the prefixes of the unit, if it has any. For multiples of the BDP, labels
    /// are at powers of two. If the ends are close to each other, labels are at round numbers with equal differences.
    pub fn log(name: &str, unit: Unit, from: f64, to: f64) -> Axis {
        let axis = Axis::new(name, unit, Scale::Log, (from, to));
        let is_within = |value: &f64| *value >= from * (1.0 - 1e-9) && *value <= to * (1.0 + 1e-9);
        let multiples = |of: &[f64], base: f64| -> Vec<f64> {
            let (first, last) = (from.log(base).floor() as i32, to.log(base).ceil() as i32);
            let powers = (first..=last)
                .flat_map(|power| of.iter().map(move |digit| digit * base.powi(power)));
            powers.filter(is_within).collect()
        };
        let is_short = (to / from).log10() < 2.5;
        let (written, minor) = if unit == Unit::BDP && is_short {
            (multiples(&[1.0], 2.0), Vec::new())
        } else {
            let written: &[f64] = if is_short { &[1.0, 2.0, 5.0] } else { &[1.0] };
            (multiples(written, 10.0), multiples(&FINE_FACTORS, 10.0))
        };
        if written.len() < MIN_LOG_LABELS {
            let linear = Axis::linear(name, unit, from, to);
            return axis.with_ticks(linear.ticks.iter().map(|tick| tick.at));
        }
        Axis {
            minor,
            ..axis.with_ticks(written)
        }
    }

    /// Creates an axis of categories without an order, at 0, 1, 2 …, with room for half a category at both ends.
    pub fn of_kinds(name: &str, kinds: impl IntoIterator<Item = impl Into<String>>) -> Axis {
        let tick = |(at, kind): (u32, _)| Tick {
            at: f64::from(at),
            label: Into::into(kind),
        };
        let ticks: Vec<Tick> = (0..).zip(kinds).map(tick).collect();
        let ends = (-0.5, ticks.len() as f64 - 0.5);
        Axis {
            ticks,
            ..Axis::new(name, Unit::NONE, Scale::Kinds, ends)
        }
    }

    /// An axis from 0 to 1, for a chart that is a drawing and has no axes.
    pub fn blank() -> Axis {
        Axis::new("", Unit::NONE, Scale::Blank, (0.0, 1.0))
    }

    /// Sets the labelled values.
    pub fn with_ticks(mut self, ticks: impl IntoIterator<Item = f64>) -> Axis {
        let tick = |at| Tick {
            at,
            label: self.unit.written(at),
        };
        self.ticks = ticks.into_iter().map(tick).collect();
        self.minor.clear();
        self
    }

    /// The title beside the axis.
    pub(super) fn title(&self) -> String {
        match self.scale {
            Scale::Log if self.unit.has_prefixes() => format!("{}, log scale", self.name),
            Scale::Log => self.unit.beside(&self.name) + ", log scale",
            Scale::Linear | Scale::Kinds | Scale::Blank => self.unit.beside(&self.name),
        }
    }

    /// The name of a column with values of this axis.
    pub(super) fn column(&self) -> String {
        self.unit.column(&self.name)
    }

    /// A value in such a column: a number, or the nearest category.
    pub(super) fn value(&self, value: f64) -> String {
        match self.scale {
            Scale::Kinds => {
                let mut ticks = self.ticks.iter();
                let nearest = ticks.find(|tick| tick.at == value.round());
                nearest.map_or(String::new(), |tick| tick.label.clone())
            }
            Scale::Linear | Scale::Log | Scale::Blank => value.to_string(),
        }
    }

    /// Whether each of its values needs a row of its own.
    pub(super) fn has_rows(&self) -> bool {
        self.scale == Scale::Kinds
    }

    pub(super) fn is_blank(&self) -> bool {
        self.scale == Scale::Blank
    }

    /// The position of a value: 0 is the axis's start, 1 its end. A value that a logarithmic axis cannot show is far
    /// before its start.
    pub(super) fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Log if value <= 0.0 => -1e3,
            Scale::Log => (value / self.from).ln() / (self.to / self.from).ln(),
            Scale::Linear | Scale::Kinds | Scale::Blank => {
                (value - self.from) / (self.to - self.from)
            }
        }
    }

    /// The positions of the labelled values, and their labels.
    pub(super) fn ticks(&self) -> impl Iterator<Item = (f64, &str)> {
        let ticks = self.ticks.iter();
        ticks.map(|tick| (self.place(tick.at), tick.label.as_str()))
    }

    /// The labels below an axis of width `wide`, in pixels, in lines. Categories are broken into lines that do not
    /// touch each other; of the numbers, as many are shown as have room.
    pub(super) fn below(&self, wide: f64, letters: Letters) -> Vec<(f64, Vec<String>)> {
        if self.scale == Scale::Kinds {
            let room = wide / self.ticks.len().max(1) as f64 - MIN_LABEL_GAP;
            let lines = |label| letters.broken(label, room);
            return self.ticks().map(|(at, label)| (at, lines(label))).collect();
        }
        let within = self.ticks.iter();
        let within: Vec<&Tick> = within
            .filter(|tick| (-1e-9..=1.0 + 1e-9).contains(&self.place(tick.at)))
            .collect();
        let mut decades = within.clone();
        decades.retain(|tick| self.scale == Scale::Log && is_power_of_ten(tick.at));
        let every = |stride: usize| within.iter().copied().step_by(stride).collect();
        let mut choices = [within.clone(), decades]
            .into_iter()
            .chain((2..=within.len()).map(every));
        let have_room = |ticks: &Vec<&Tick>| {
            ticks.windows(2).all(|pair| {
                let far = (self.place(pair[1].at) - self.place(pair[0].at)) * wide;
                let [one, other] = [0, 1].map(|side| letters.room(&pair[side].label));
                far >= (one + other) / 2.0 + MIN_LABEL_GAP
            })
        };
        let is_enough = |ticks: &Vec<&Tick>| ticks.len() >= MIN_LOG_LABELS.min(within.len());
        let chosen = choices.find(|ticks| is_enough(ticks) && have_room(ticks));
        let mut chosen = chosen.unwrap_or_else(|| within.iter().copied().take(1).collect());
        if self.scale == Scale::Log {
            // Between powers of ten, what has room beside what is written already.
            for tick in &within {
                let at = chosen.partition_point(|one| one.at < tick.at);
                let mut more = chosen.clone();
                more.insert(at, tick);
                if chosen.get(at) != Some(tick) && have_room(&more) {
                    chosen = more;
                }
            }
        }
        let written = chosen.into_iter();
        written
            .map(|tick| (self.place(tick.at), vec![tick.label.clone()]))
            .collect()
    }

    /// The positions of the fine lines.
    pub(super) fn minor(&self) -> impl Iterator<Item = f64> {
        self.minor.iter().map(|at| self.place(*at))
    }
}

fn is_power_of_ten(value: f64) -> bool {
    let power = value.log10();
    (power - power.round()).abs() < 1e-9
}

/// A round distance between ticks over `span`.
fn step(span: f64) -> f64 {
    let rough = span / TICKS_PER_AXIS;
    let power = 10f64.powf(rough.log10().floor());
    let digit = match rough / power {
        digit if digit <= 1.0 => 1.0,
        digit if digit <= 2.0 => 2.0,
        digit if digit <= 5.0 => 5.0,
        _ => 10.0,
    };
    digit * power
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
            labels(&Axis::linear("x", Unit::NONE, 0.0, 100.0)),
            ["0", "20", "40", "60", "80", "100"]
        );
        assert_eq!(
            labels(&Axis::linear("x", Unit::NONE, 10.1, 10.8)),
            ["10.2", "10.4", "10.6", "10.8"]
        );
        assert_eq!(
            labels(&Axis::log("x", Unit::NONE, 1e-3, 60.0)),
            ["0.001", "0.01", "0.1", "1", "10"]
        );
        assert_eq!(
            labels(&Axis::log("x", Unit::NONE, 1.0, 20.0)),
            ["1", "2", "5", "10", "20"]
        );
        assert_eq!(
            labels(&Axis::log("x", Unit::BYTES, 1e3, 1e6)),
            ["1 kB", "10 kB", "100 kB", "1 MB"]
        );
        assert_eq!(Axis::linear("x", Unit::NONE, 3.0, 3.0).to, 4.0);
    }

    #[test]
    fn a_logarithmic_axis_has_the_values_that_people_choose() {
        assert_eq!(
            labels(&Axis::log("Buffer", Unit::BDP, 0.45, 17.6)),
            ["0.5", "1", "2", "4", "8", "16"]
        );
        assert_eq!(
            labels(&Axis::log("RTprop", Unit::MILLISECONDS, 18.0, 44.0)),
            ["20", "25", "30", "35", "40"]
        );
        assert_eq!(
            labels(&Axis::log("Buffer", Unit::BDP, 1.8, 3.3)),
            ["2", "2.5", "3"]
        );
    }

    #[test]
    fn values_lie_between_the_ends() {
        let log = Axis::log("x", Unit::NONE, 0.01, 100.0);
        assert!((log.place(1.0) - 0.5).abs() < 1e-12);
        assert!(log.place(0.0) < 0.0);
        let kinds = Axis::of_kinds("x", ["a", "b"]);
        assert_eq!(kinds.place(0.0), 0.25);
        assert_eq!(kinds.ticks().last(), Some((0.75, "b")));
        let fitted = Axis::from_zero("x", Unit::NONE, [7.0, f64::NAN, 93.0]);
        assert!(fitted.place(93.0) < 1.0 && fitted.place(0.0) == 0.0);
        assert_eq!(Axis::from_zero("x", Unit::NONE, []).to, 1.0);
    }

    #[test]
    fn an_axis_names_its_unit_once() {
        let title = |axis: Axis| axis.title();
        assert_eq!(
            title(Axis::linear("RTT", Unit::MILLISECONDS, 0.0, 1.0)),
            "RTT (ms)"
        );
        assert_eq!(
            title(Axis::log("Loss", Unit::PERCENT, 0.1, 1.0)),
            "Loss (%), log scale"
        );
        assert_eq!(
            title(Axis::log("Buffer", Unit::BYTES, 1e3, 1e6)),
            "Buffer, log scale"
        );
        assert_eq!(
            Axis::of_kinds("Region", ["Asia", "Europe"]).value(0.81),
            "Europe"
        );
    }
}
