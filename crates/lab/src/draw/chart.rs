//! Two axes, and what is drawn between them.

use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::bars::Bars;
use super::cells::Cells;
use super::curve::Curve;
use super::font::{Weight, letters};
use super::look::BLACK;
use super::paint::{Painted, Sheet, fine, stroke};
use super::rule::Rule;
use super::side::Side;

/// Two axes, and what is drawn between them.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What is above it, if it is one of several.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis on the left.
    pub y: Axis,
    /// What is drawn, the lowest first.
    pub layers: Vec<Layer>,
}

/// Something that is drawn in a chart.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Layer {
    Curve(Curve),
    Bars(Bars),
    Cells(Cells),
    Rule(Rule),
}

/// Room for the axes' values and names, in pixels.
const LEFT: f64 = 62.0;
const BELOW: f64 = 40.0;
const ABOVE: f64 = 34.0;
const RIGHT: f64 = 22.0;

impl Chart {
    /// A chart without anything in it.
    pub fn new(x: Axis, y: Axis) -> Chart {
        Chart {
            title: String::new(),
            x,
            y,
            layers: Vec::new(),
        }
    }

    /// With this above it.
    pub fn titled(mut self, title: impl Into<String>) -> Chart {
        self.title = title.into();
        self
    }

    /// With this on top of what it has.
    pub fn with(mut self, layer: impl Into<Layer>) -> Chart {
        self.layers.push(layer.into());
        self
    }

    /// With all of these on top of what it has.
    pub fn with_all(mut self, layers: impl IntoIterator<Item = impl Into<Layer>>) -> Chart {
        self.layers.extend(layers.into_iter().map(Into::into));
        self
    }

    pub(super) fn paint(&self, sheet: &Sheet<'_>) -> Painted {
        let (above, sheet) = sheet.split_vertically(fine(ABOVE));
        let middle = Pos::new(HPos::Center, VPos::Center);
        let title = letters(13.0, Weight::Bold, BLACK).pos(middle);
        let width = i32::try_from(sheet.dim_in_pixel().0).unwrap_or(0);
        // Names of lines upwards stand between the title and the chart.
        let is_named = |layer: &Layer| matches!(layer, Layer::Rule(rule) if rule.is_vertical);
        let above_chart = if self.layers.iter().any(is_named) {
            24.0
        } else {
            11.0
        };
        let at = (
            (fine(LEFT) + width - fine(RIGHT)) / 2,
            fine(ABOVE - above_chart),
        );
        above.draw_text(&self.title, &title, at)?;
        let (x, y) = (Side::of(&self.x), Side::of(&self.y));
        let mut builder = ChartBuilder::on(&sheet);
        builder
            .margin_right(fine(RIGHT))
            .set_label_area_size(LabelAreaPosition::Left, fine(LEFT))
            .set_label_area_size(LabelAreaPosition::Bottom, fine(BELOW));
        let mut chart = builder.build_cartesian_2d(x, y)?;
        let (x_label, y_label) = (
            |place: &f64| self.x.label(*place).to_string(),
            |place: &f64| self.y.label(*place).to_string(),
        );
        chart
            .configure_mesh()
            .axis_style(stroke((90, 90, 90), 1.2))
            .bold_line_style(stroke((222, 224, 228), 1.0))
            .light_line_style(stroke((238, 240, 242), 0.75))
            .set_all_tick_mark_size(fine(4.0))
            .label_style(letters(11.5, Weight::Regular, BLACK))
            .axis_desc_style(letters(12.5, Weight::Regular, BLACK))
            .x_label_formatter(&x_label)
            .y_label_formatter(&y_label)
            .x_desc(self.x.name())
            .y_desc(self.y.name())
            .draw()?;
        let area = chart.plotting_area();
        self.layers.iter().try_for_each(|layer| match layer {
            Layer::Curve(curve) => curve.paint(area, &self.x, &self.y),
            Layer::Bars(bars) => bars.paint(area, &self.x, &self.y),
            Layer::Cells(cells) => cells.paint(area, &self.x, &self.y),
            Layer::Rule(rule) => rule.paint(area, &self.x, &self.y),
        })?;
        // Names are on top of all that might cross them.
        let rules = self.layers.iter().filter_map(|layer| match layer {
            Layer::Rule(rule) => Some(rule),
            _ => None,
        });
        for rule in rules {
            rule.paint_name(area, &self.x, &self.y)?;
        }
        Ok(())
    }
}

impl From<Curve> for Layer {
    fn from(curve: Curve) -> Layer {
        Layer::Curve(curve)
    }
}

impl From<Bars> for Layer {
    fn from(bars: Bars) -> Layer {
        Layer::Bars(bars)
    }
}

impl From<Cells> for Layer {
    fn from(cells: Cells) -> Layer {
        Layer::Cells(cells)
    }
}

impl From<Rule> for Layer {
    fn from(rule: Rule) -> Layer {
        Layer::Rule(rule)
    }
}
