//! A side of a chart, as plotters asks for it.

use std::ops::Range;

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};

use super::axis::Axis;

/// A side of a chart: places from 0 to 1, some of them with a line across the chart.
#[derive(Debug, Clone)]
pub struct Side {
    ticks: Vec<f64>,
    minor: Vec<f64>,
}

impl Side {
    /// The side along which the axis lies.
    pub fn of(axis: &Axis) -> Side {
        Side {
            ticks: axis.ticks(),
            minor: axis.minor(),
        }
    }
}

impl Ranged for Side {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, place: &f64, (from, to): (i32, i32)) -> i32 {
        from + (f64::from(to - from) * place).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        match hint.weight().allow_light_points() {
            true => self.minor.clone(),
            false => self.ticks.clone(),
        }
    }

    fn range(&self) -> Range<f64> {
        0.0..1.0
    }
}
