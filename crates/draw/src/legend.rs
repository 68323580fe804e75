//! What is what, above the charts, where it covers nothing.

use plotters::element::{DashedPathElement, PathElement, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{Chart, Layer};
use super::font::{Weight, letters};
use super::look::{BLACK, Colour, Dash, GREY, Look, Mark};
use super::mark;
use super::paint::{PaintError, Painted, Sheet, filled, fine, lighter, stroke};

/// The height of a row in pixels.
pub const ROW: f64 = 22.0;
const SAMPLE: f64 = 34.0;
const GAP: f64 = 8.0;
const BETWEEN: f64 = 24.0;

/// An entry of a legend: a name, and what all that have it have in common. What differs among them is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// What it is called.
    pub name: String,
    /// The colour of all of them.
    pub colour: Option<Colour>,
    /// The strokes of all of them.
    pub dash: Option<Dash>,
    /// The marks of all of them, or that none has any.
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

    /// With what it has not in common with this one taken away.
    fn and(&mut self, look: Look) {
        self.colour = self.colour.filter(|colour| *colour == look.colour);
        self.dash = self.dash.filter(|dash| *dash == look.dash);
        self.mark = self.mark.filter(|mark| *mark == look.mark);
    }
}

/// The entries of the legend of these charts: first the names, then the variants, each once, in the order of the charts.
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
                Layer::Cells(_) | Layer::Rule(_) | Layer::Band(_) | Layer::Drawing(_) => {}
            }
        }
    }
    names.append(&mut variants);
    names
}

/// The names of all charts, each once, in rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Legend {
    rows: Vec<Vec<(Key, i32)>>,
}

impl Legend {
    /// The legend of these charts, in rows no wider than `width`, in fine pixels.
    pub fn new(charts: &[Chart], sheet: &Sheet<'_>, width: i32) -> Result<Legend, PaintError> {
        let mut legend = Legend::default();
        let mut end = i32::MAX;
        for key in keys(charts) {
            let letters = letters(12.5, Weight::Regular, BLACK);
            let (text, _) = sheet.estimate_text_size(&key.name, &letters)?;
            let wide = fine(SAMPLE + GAP + BETWEEN) + i32::try_from(text).unwrap_or(0);
            if end.saturating_add(wide) > width {
                legend.rows.push(Vec::new());
                end = 0;
            }
            if let Some(row) = legend.rows.last_mut() {
                row.push((key, end));
            }
            end += wide;
        }
        Ok(legend)
    }

    /// Its height in pixels.
    pub fn height(&self) -> f64 {
        self.rows.len() as f64 * ROW
    }

    /// Draws it from the upper left corner of the sheet on.
    pub fn paint(&self, sheet: &Sheet<'_>) -> Painted {
        for (row, keys) in (0..).zip(&self.rows) {
            let y = fine((f64::from(row) + 0.5) * ROW);
            keys.iter()
                .try_for_each(|(key, x)| key.paint(sheet, (*x, y)))?;
        }
        Ok(())
    }
}

impl Key {
    fn paint(&self, sheet: &Sheet<'_>, (x, y): (i32, i32)) -> Painted {
        let (end, middle) = (x + fine(SAMPLE), x + fine(SAMPLE / 2.0));
        let line = [(x, y), (end, y)];
        let colour = self.colour.unwrap_or(GREY);
        let style = stroke(colour, self.width);
        match self.dash {
            dash if self.is_bar => {
                let heart = match dash {
                    Some(Dash::Solid) => colour,
                    _ => lighter(colour, 0.7),
                };
                let (up, side) = (fine(6.0), fine(9.0));
                let corners = [(middle - side, y - up), (middle + side, y + up)];
                sheet.draw(&Rectangle::new(corners, filled(heart)))?;
                sheet.draw(&Rectangle::new(corners, stroke(colour, 1.2)))?;
            }
            Some(Dash::Solid) => sheet.draw(&PathElement::new(line, style))?,
            Some(Dash::Dashed) => {
                sheet.draw(&DashedPathElement::new(line, fine(9.0), fine(5.0), style))?
            }
            Some(Dash::Dotted) => {
                sheet.draw(&DashedPathElement::new(line, fine(2.0), fine(4.0), style))?
            }
            Some(Dash::None) => {}
            // Lines of several kinds: the colour is what they share.
            None if self.colour.is_some() => {
                let corners = [(x, y - fine(3.5)), (end, y + fine(3.5))];
                let light = lighter(colour, 0.45);
                sheet.draw(&Rectangle::new(corners, filled(light)))?;
            }
            None => {}
        }
        if let Some(shape) = self.mark.flatten().filter(|_| !self.is_bar) {
            mark::paint(sheet, (middle, y), shape, colour)?;
        }
        let style = letters(12.5, Weight::Regular, BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        sheet.draw_text(&self.name, &style, (end + fine(GAP), y))
    }
}
