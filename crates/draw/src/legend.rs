//! The legend, above the charts, where it covers nothing.

use super::canvas::{Anchor, Canvas, Stroke};
use super::chart::Chart;
use super::colours::{BLACK, Colour, GREY, lighter};
use super::font::Letters;
use super::layer::Layer;
use super::look::{Dash, Look, Mark};
use super::mark;
use super::place::{Point, Rect};

/// The height of a row, and the widths of an entry's parts, in pixels.
const ROW_HEIGHT: f64 = 22.0;
const SAMPLE: f64 = 34.0;
const GAP: f64 = 8.0;
const ENTRY_GAP: f64 = 24.0;

/// An entry of a legend: a name, and the common style of everything with that name. A property that differs among
/// them is `None`.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: String,
    /// The common colour.
    pub colour: Option<Colour>,
    /// The common line style.
    pub dash: Option<Dash>,
    /// The common mark, or `Some(None)` if none has a mark.
    pub mark: Option<Option<Mark>>,
    /// Whether they are bars.
    pub is_bar: bool,
    width: f64,
}

impl Key {
    fn new(name: &str, look: Look, is_bar: bool) -> Key {
        Key {
            name: name.to_owned(),
            colour: Some(look.colour),
            dash: Some(look.dash),
            mark: Some(look.mark),
            is_bar,
            width: look.width,
        }
    }

    /// Keeps only what this entry has in common with `look`.
    fn and(&mut self, look: Look) {
        self.colour = self.colour.filter(|colour| *colour == look.colour);
        self.dash = self.dash.filter(|dash| *dash == look.dash);
        self.mark = self.mark.filter(|mark| *mark == look.mark);
    }
}

/// The entries of the legend of these charts: first the names, then the variants, each once, in the order of the
/// charts.
pub fn keys(charts: &[Chart]) -> Vec<Key> {
    let (mut names, mut variants) = (Vec::new(), Vec::new());
    let add = |keys: &mut Vec<Key>, name: &str, look: Look, is_bar: bool| match keys
        .iter_mut()
        .find(|key| key.name == name)
    {
        Some(key) => key.and(look),
        None => keys.push(Key::new(name, look, is_bar)),
    };
    for chart in charts {
        let inset = chart.inset.iter().flat_map(|inset| &inset.layers);
        for layer in chart.layers.iter().chain(inset) {
            match layer {
                Layer::Curve(curve) => {
                    add(&mut names, &curve.name, curve.look, false);
                    if !curve.variant.is_empty() {
                        add(&mut variants, &curve.variant, curve.look, false);
                    }
                }
                Layer::Bars(bars) => add(&mut names, &bars.name, bars.look, true),
                Layer::Cells(_)
                | Layer::Rule(_)
                | Layer::Area(_)
                | Layer::Band(_)
                | Layer::Drawing(_) => {}
            }
        }
    }
    names.append(&mut variants);
    names
}

/// The entries of all charts, each once, in rows.
#[derive(Debug, Clone, Default)]
pub struct Legend {
    rows: Vec<Vec<(Key, f64)>>,
}

fn letters() -> Letters {
    Letters::new(12.5, BLACK)
}

impl Legend {
    /// The legend of these charts, in rows no wider than `width`, in pixels.
    pub fn new(charts: &[Chart], width: f64) -> Legend {
        let mut rows: Vec<Vec<(Key, f64)>> = Vec::new();
        let mut end = f64::INFINITY;
        for key in keys(charts) {
            let wide = SAMPLE + GAP + letters().room(&key.name) + ENTRY_GAP;
            if end + wide > width {
                rows.push(Vec::new());
                end = 0.0;
            }
            if let Some(row) = rows.last_mut() {
                row.push((key, end));
            }
            end += wide;
        }
        Legend { rows }
    }

    /// Its height in pixels.
    pub fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW_HEIGHT
    }

    /// Draws it from this corner on.
    pub fn paint(&self, canvas: &mut Canvas, (left, top): Point) {
        let mut y = top + ROW_HEIGHT / 2.0;
        for row in &self.rows {
            for (key, x) in row {
                key.paint(canvas, (left + x, y));
            }
            y += ROW_HEIGHT;
        }
    }
}

impl Key {
    fn paint(&self, canvas: &mut Canvas, (x, y): Point) {
        let (end, middle) = (x + SAMPLE, x + SAMPLE / 2.0);
        let colour = self.colour.unwrap_or(GREY);
        // The common properties, as a look.
        let look = Look {
            colour,
            dash: self.dash.unwrap_or(Dash::None),
            mark: None,
            width: self.width,
        };
        let rect =
            |side: f64, up: f64| Rect::between((middle - side, y - up), (middle + side, y + up));
        if self.is_bar {
            canvas.framed(&rect(9.0, 6.0), look.ground(), Stroke::hairline(colour));
        } else if let Some(stroke) = Stroke::of(look) {
            canvas.line([(x, y), (end, y)], stroke);
        } else if self.dash.is_none() && self.colour.is_some() {
            // Lines of several styles have only their colour in common.
            canvas.fill(rect(SAMPLE / 2.0, 3.5).corners(), lighter(colour, 0.45));
        }
        if let Some(shape) = self.mark.flatten().filter(|_| !self.is_bar) {
            mark::paint(canvas, (middle, y), shape, colour);
        }
        let at = (end + GAP, y);
        canvas.text(&self.name, at, [Anchor::Start, Anchor::Middle], letters());
    }
}
