//! Two axes, and what is drawn between them.

use plotters::chart::{ChartBuilder, LabelAreaPosition};
use plotters::element::Rectangle;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::axis::Axis;
use super::band::Band;
use super::bars::Bars;
use super::cells::Cells;
use super::curve::Curve;
use super::drawing::Drawing;
use super::font::{Weight, letters};
use super::look::{BLACK, GREY};
use super::names::{Spot, Taken};
use super::paint::{
    AXIS, FINE, FINE_GRID, GRID, PaintError, Painted, Sheet, WHITE, filled, fine, stroke,
};
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
    /// A smaller chart within it.
    pub inset: Option<Box<Chart>>,
}

/// Something that is drawn in a chart.
#[derive(Debug, Clone)]
#[allow(missing_docs)]
pub enum Layer {
    Curve(Curve),
    Bars(Bars),
    Cells(Cells),
    Rule(Rule),
    Band(Band),
    Drawing(Drawing),
}

/// Room for the axes' values and names in pixels, and how large these are.
struct Frame {
    left: f64,
    below: f64,
    above: f64,
    right: f64,
    /// Of the title above the middle, if names of lines upwards stand between it and the chart.
    title: f64,
    letters: f64,
}

const WHOLE: Frame = Frame {
    left: 62.0,
    below: 40.0,
    above: 34.0,
    right: 22.0,
    title: 24.0,
    letters: 1.0,
};

const INSET: Frame = Frame {
    left: 50.0,
    below: 34.0,
    above: 8.0,
    right: 14.0,
    title: 4.0,
    letters: 0.86,
};

/// Room on the left for ticks, gaps and the name of the axis, beside its values.
const BESIDE: f64 = 34.0;

/// A drawing needs no room for axes.
const DRAWING: Frame = Frame {
    left: 0.0,
    below: 0.0,
    right: 0.0,
    ..WHOLE
};

/// The share of a chart's width and height that its inset has.
const OF_CHART: (f64, f64) = (0.42, 0.5);

impl Chart {
    /// A chart without anything in it.
    pub fn new(x: Axis, y: Axis) -> Chart {
        Chart {
            title: String::new(),
            x,
            y,
            layers: Vec::new(),
            inset: None,
        }
    }

    /// With a smaller chart in it, where it covers as little as can be.
    pub fn with_inset(mut self, inset: Chart) -> Chart {
        self.inset = Some(Box::new(inset));
        self
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

    /// The curves with points above or below it.
    pub(super) fn cut_off(&self) -> impl Iterator<Item = &Curve> {
        self.layers.iter().filter_map(|layer| match layer {
            Layer::Curve(curve) => {
                let mut points = curve.points.iter();
                let is_out = |(x, y): &(f64, f64)| {
                    let is_within = |place: f64| (-1e-9..=1.0 + 1e-9).contains(&place);
                    is_within(self.x.place(*x)) && !is_within(self.y.place(*y))
                };
                points.any(is_out).then_some(curve)
            }
            _ => None,
        })
    }

    /// The room on its left that the values of its axis and their name need, in pixels.
    pub(super) fn left(&self, sheet: &Sheet<'_>) -> Result<f64, PaintError> {
        self.left_of(&WHOLE, sheet)
    }

    fn left_of(&self, frame: &Frame, sheet: &Sheet<'_>) -> Result<f64, PaintError> {
        let letters = letters(11.5 * frame.letters, Weight::Regular, BLACK);
        let mut left = frame.left;
        for place in self.y.ticks() {
            let (wide, _) = sheet.estimate_text_size(self.y.label(place), &letters)?;
            left = left.max(f64::from(wide) / f64::from(FINE) + BESIDE * frame.letters);
        }
        Ok(left)
    }

    /// Draws it with so much room on its left, in pixels.
    pub(super) fn paint(&self, sheet: &Sheet<'_>, left: f64) -> Painted {
        match self.x.is_blank() {
            true => self.paint_in(sheet, &DRAWING),
            false => self.paint_in(sheet, &Frame { left, ..WHOLE }),
        }
    }

    fn paint_in(&self, sheet: &Sheet<'_>, frame: &Frame) -> Painted {
        let (above, sheet) = sheet.split_vertically(fine(frame.above));
        let middle = Pos::new(HPos::Center, VPos::Center);
        let title = letters(13.0 * frame.letters, Weight::Bold, BLACK).pos(middle);
        let width = i32::try_from(sheet.dim_in_pixel().0).unwrap_or(0);
        let is_named = |layer: &Layer| matches!(layer, Layer::Rule(rule) if rule.is_vertical);
        let above_chart = if self.layers.iter().any(is_named) {
            frame.title
        } else {
            frame.above / 3.0
        };
        let at = (
            (fine(frame.left) + width - fine(frame.right)) / 2,
            fine(frame.above - above_chart),
        );
        if !self.title.is_empty() {
            above.draw_text(&self.title, &title, at)?;
        }
        let (x, y) = (Side::of(&self.x), Side::of(&self.y));
        let mut builder = ChartBuilder::on(&sheet);
        builder
            .margin_right(fine(frame.right))
            .set_label_area_size(LabelAreaPosition::Left, fine(frame.left))
            .set_label_area_size(LabelAreaPosition::Bottom, fine(frame.below));
        let mut chart = builder.build_cartesian_2d(x, y)?;
        let (x_label, y_label) = (
            |place: &f64| self.x.label(*place).to_string(),
            |place: &f64| self.y.label(*place).to_string(),
        );
        // Bands are the ground of all that is drawn, the grid included.
        for layer in &self.layers {
            if let Layer::Band(band) = layer {
                band.paint(chart.plotting_area(), &self.x)?;
            }
        }
        if !self.x.is_blank() {
            chart
                .configure_mesh()
                .axis_style(stroke(AXIS, 1.2))
                .bold_line_style(stroke(GRID, 1.0))
                .light_line_style(stroke(FINE_GRID, 0.75))
                .set_all_tick_mark_size(fine(4.0))
                .label_style(letters(11.5 * frame.letters, Weight::Regular, BLACK))
                .axis_desc_style(letters(12.5 * frame.letters, Weight::Regular, BLACK))
                .x_label_formatter(&x_label)
                .y_label_formatter(&y_label)
                .x_desc(self.x.title())
                .y_desc(self.y.title())
                .draw()?;
        }
        let area = chart.plotting_area();
        self.layers.iter().try_for_each(|layer| match layer {
            Layer::Curve(curve) => curve.paint(area, &self.x, &self.y),
            Layer::Bars(bars) => bars.paint(area, &self.x, &self.y),
            Layer::Cells(cells) => cells.paint(area, &self.x, &self.y),
            Layer::Rule(rule) => rule.paint(area, &self.x, &self.y),
            Layer::Drawing(drawing) => drawing.paint(area),
            Layer::Band(_) => Ok(()),
        })?;
        let (wide, high) = area.dim_in_pixel();
        let mut taken = self.taken((f64::from(wide), f64::from(high)));
        if let Some(inset) = &self.inset {
            inset.paint_inset(&area.strip_coord_spec(), &mut taken)?;
        }
        // Names are on top of all that might cross them.
        self.layers.iter().try_for_each(|layer| match layer {
            Layer::Rule(rule) => rule.paint_name(area, &self.x, &self.y, &mut taken),
            Layer::Band(band) => band.paint_name(area, &self.x, &mut taken),
            _ => Ok(()),
        })
    }

    /// Where its layers are, in a chart of this size.
    fn taken(&self, size: (f64, f64)) -> Taken {
        let mut taken = Taken::new(size);
        for layer in &self.layers {
            match layer {
                Layer::Curve(curve) => curve.take(&mut taken, &self.x, &self.y),
                Layer::Bars(bars) => bars.take(&mut taken, &self.x, &self.y),
                Layer::Cells(cells) => cells.take(&mut taken, &self.x, &self.y),
                Layer::Rule(rule) => rule.take(&mut taken, &self.x, &self.y),
                Layer::Band(_) | Layer::Drawing(_) => {}
            }
        }
        taken
    }

    /// Draws it within another chart, on a ground of its own.
    fn paint_inset(&self, chart: &Sheet<'_>, taken: &mut Taken) -> Painted {
        let (all, tall) = taken.size();
        let (wide, high) = (all * OF_CHART.0, tall * OF_CHART.1);
        let gap = f64::from(fine(8.0));
        let steps = |room: f64| [1.0, 0.0, 0.75, 0.25, 0.5].map(|at| gap + at * (room - 2.0 * gap));
        let spots = steps(tall - high).into_iter().flat_map(|top| {
            steps(all - wide).map(|left| Spot {
                left,
                top,
                wide,
                high,
            })
        });
        let Some(spot) = taken.take(spots) else {
            return Ok(());
        };
        let [left, top, wide, high] =
            [spot.left, spot.top, spot.wide, spot.high].map(|side| side.round() as i32);
        let sheet = chart.clone().shrink((left, top), (wide, high));
        let corners = [(0, 0), (wide, high)];
        sheet.draw(&Rectangle::new(corners, filled(WHITE)))?;
        sheet.draw(&Rectangle::new(corners, stroke(GREY, 1.0)))?;
        let left = self.left_of(&INSET, &sheet)?;
        let edge = fine(5.0);
        let sheet = sheet.margin(edge, 0, edge, 0);
        self.paint_in(&sheet, &Frame { left, ..INSET })
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

impl From<Band> for Layer {
    fn from(band: Band) -> Layer {
        Layer::Band(band)
    }
}

impl From<Drawing> for Layer {
    fn from(drawing: Drawing) -> Layer {
        Layer::Drawing(drawing)
    }
}
