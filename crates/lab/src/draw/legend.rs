//! What is what, above the charts, where it covers nothing.

use plotters::element::{DashedPathElement, PathElement, Rectangle};
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::chart::{Chart, Layer};
use super::font::{Weight, letters};
use super::look::{BLACK, Dash, Look};
use super::mark;
use super::paint::{PaintError, Painted, Sheet, filled, fine, lighter, stroke};

/// The height of a row in pixels.
pub const ROW: f64 = 22.0;
const SAMPLE: f64 = 34.0;
const GAP: f64 = 8.0;
const BETWEEN: f64 = 24.0;

/// A name and what belongs to it.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    name: String,
    look: Look,
    is_bar: bool,
}

/// The names of all charts, each once, in rows.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Legend {
    rows: Vec<Vec<(Entry, i32)>>,
}

impl Legend {
    /// The legend of these charts, in rows no wider than `width`, in fine pixels.
    pub fn new(charts: &[Chart], sheet: &Sheet<'_>, width: i32) -> Result<Legend, PaintError> {
        let mut entries: Vec<Entry> = Vec::new();
        for layer in charts.iter().flat_map(|chart| &chart.layers) {
            let (name, look, is_bar) = match layer {
                Layer::Curve(curve) => (&curve.name, curve.look, false),
                Layer::Bars(bars) => (&bars.name, bars.look, true),
                Layer::Cells(_) | Layer::Rule(_) => continue,
            };
            if !entries.iter().any(|entry| entry.name == *name) {
                let name = name.clone();
                entries.push(Entry { name, look, is_bar });
            }
        }
        let mut legend = Legend::default();
        let mut end = i32::MAX;
        for entry in entries {
            let letters = letters(12.5, Weight::Regular, BLACK);
            let (text, _) = sheet.estimate_text_size(&entry.name, &letters)?;
            let wide = fine(SAMPLE + GAP + BETWEEN) + i32::try_from(text).unwrap_or(0);
            if end.saturating_add(wide) > width {
                legend.rows.push(Vec::new());
                end = 0;
            }
            if let Some(row) = legend.rows.last_mut() {
                row.push((entry, end));
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
        for (row, entries) in (0..).zip(&self.rows) {
            let y = fine((f64::from(row) + 0.5) * ROW);
            entries
                .iter()
                .try_for_each(|(entry, x)| entry.paint(sheet, (*x, y)))?;
        }
        Ok(())
    }
}

impl Entry {
    fn paint(&self, sheet: &Sheet<'_>, (x, y): (i32, i32)) -> Painted {
        let (end, middle) = (x + fine(SAMPLE), x + fine(SAMPLE / 2.0));
        let line = [(x, y), (end, y)];
        let style = stroke(self.look.colour, self.look.width);
        match self.look.dash {
            dash if self.is_bar => {
                let heart = match dash {
                    Dash::Solid => self.look.colour,
                    _ => lighter(self.look.colour, 0.7),
                };
                let (up, side) = (fine(6.0), fine(9.0));
                let corners = [(middle - side, y - up), (middle + side, y + up)];
                sheet.draw(&Rectangle::new(corners, filled(heart)))?;
                sheet.draw(&Rectangle::new(corners, stroke(self.look.colour, 1.2)))?;
            }
            Dash::Solid => sheet.draw(&PathElement::new(line, style))?,
            Dash::Dashed => {
                sheet.draw(&DashedPathElement::new(line, fine(9.0), fine(5.0), style))?
            }
            Dash::Dotted => {
                sheet.draw(&DashedPathElement::new(line, fine(2.0), fine(4.0), style))?
            }
            Dash::None => {}
        }
        if let Some(shape) = self.look.mark.filter(|_| !self.is_bar) {
            mark::paint(sheet, (middle, y), shape, self.look.colour)?;
        }
        let style = letters(12.5, Weight::Regular, BLACK).pos(Pos::new(HPos::Left, VPos::Center));
        sheet.draw_text(&self.name, &style, (end + fine(GAP), y))
    }
}
