//! The cells of a heat map.

use super::canvas::{Anchor, Canvas, Stroke};
use super::colours::{BLUE, Colour, EDGE, INK, VERMILLION, lighter};
use super::font::Letters;
use super::names::Taken;
use super::place::Rect;
use super::plot::{Paint, Plot};
use super::unit::Unit;

/// A rectangle with a value.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its range in x.
    pub x: (f64, f64),
    /// Its range in y.
    pub y: (f64, f64),
    /// Its amount.
    pub amount: f64,
    /// The value of its colour: between vermillion (−1), white (0) and blue (1).
    pub shade: f64,
    /// Its label.
    pub label: String,
}

/// The letters of a cell's label, and the distance between its lines in pixels.
fn letters() -> Letters {
    Letters::new(11.0, INK)
}
const LINE_HEIGHT: f64 = 13.0;

impl Cell {
    /// Its label in lines, if they fit into this width and height in pixels.
    pub(super) fn written(&self, (wide, high): (f64, f64)) -> Option<Vec<String>> {
        let lines = letters().broken(&self.label, wide);
        let fit = lines.iter().all(|line| letters().room(line) <= wide);
        (fit && LINE_HEIGHT * lines.len() as f64 <= high).then_some(lines)
    }
}

/// Cells with colours between vermillion, white and blue, which people with any colour vision can distinguish.
#[derive(Debug, Clone, PartialEq)]
pub struct Cells {
    /// The name of the amounts: `Requests`.
    pub name: String,
    /// The unit of the amounts.
    pub unit: Unit,
    /// The cells.
    pub cells: Vec<Cell>,
}

impl Paint for Cells {
    fn paint(&self, canvas: &mut Canvas, plot: &Plot<'_>, taken: &mut Taken) {
        for cell in &self.cells {
            let corners = [(cell.x.0, cell.y.0), (cell.x.1, cell.y.1)];
            let [one, other] = corners.map(|corner| plot.area.nearest(plot.at(corner)));
            let rect = Rect::between(one, other);
            canvas.framed(&rect, colour(cell.shade), Stroke::hairline(EDGE));
            let written = cell.written((rect.wide, rect.high));
            let lines = written.unwrap_or_else(|| vec![cell.label.clone()]);
            let middle = rect.at((0.5, 0.5));
            canvas.stack(
                &lines,
                middle,
                [Anchor::Middle; 2],
                (letters(), LINE_HEIGHT),
            );
            taken.rect(rect);
        }
    }
}

/// The colour of a value between −1 and 1. The ends are light enough for dark letters. The middle is not quite white,
/// because `WHITE`, the background of a page, becomes dark in the dark theme.
fn colour(value: f64) -> Colour {
    let end = if value < 0.0 { VERMILLION } else { BLUE };
    lighter(end, (1.0 - 0.75 * value.abs()).clamp(0.25, 0.98))
}

#[cfg(test)]
mod tests {
    use super::super::colours::in_the_dark;
    use super::{Cell, colour};

    #[test]
    fn a_label_is_broken_if_that_gives_it_room() {
        let cell = Cell {
            x: (0.0, 1.0),
            y: (0.0, 1.0),
            amount: 0.0,
            shade: 0.0,
            label: "+266.7 %".into(),
        };
        assert_eq!(cell.written((60.0, 13.0)).map(|lines| lines.len()), Some(1));
        assert_eq!(cell.written((45.0, 26.0)).map(|lines| lines.len()), Some(2));
        for size in [(45.0, 20.0), (30.0, 26.0)] {
            assert_eq!(cell.written(size), None);
        }
    }

    #[test]
    fn the_ground_of_dark_letters_stays_light_in_the_dark() {
        for value in -100..=100 {
            let ground = colour(f64::from(value) / 100.0);
            assert_eq!(in_the_dark(ground), None, "{value} %");
        }
    }
}
