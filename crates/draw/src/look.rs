//! The looks of curves. They never differ by colour alone, but also by line style or marks.

use super::colours::{BLACK, Colour, PALETTE, lighter};

/// The style of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    /// A solid line.
    Solid,
    /// A dashed line.
    Dashed,
    /// A dotted line.
    Dotted,
    /// No line: only marks are drawn.
    None,
}

/// The mark at a curve's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

/// The look of a curve.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Its colour.
    pub colour: Colour,
    /// Its line style.
    pub dash: Dash,
    /// The mark at its points, if there is one.
    pub mark: Option<Mark>,
    /// The width of its line, in pixels.
    pub width: f64,
}

impl Look {
    /// A look with a line and without marks.
    pub const fn line(colour: Colour, dash: Dash) -> Look {
        Look {
            colour,
            dash,
            mark: None,
            width: 2.0,
        }
    }

    /// Adds a mark at each point.
    pub const fn marked(self, mark: Mark) -> Look {
        Look {
            mark: Some(mark),
            ..self
        }
    }

    /// Sets the width of the line.
    pub const fn wide(self, width: f64) -> Look {
        Look { width, ..self }
    }

    /// The fill of bars: full colour if the line is solid, else light.
    pub(super) fn ground(self) -> Colour {
        match self.dash {
            Dash::Solid => self.colour,
            _ => lighter(self.colour, 0.7),
        }
    }

    /// The look of the curve with this index among several of one kind, such as those of controllers, or the flows of
    /// one.
    pub fn of_place(place: usize) -> Look {
        const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];
        let colour = PALETTE.get(place % PALETTE.len()).copied();
        let dash = DASHES.get(place % DASHES.len()).copied();
        let look = Look::line(colour.unwrap_or(BLACK), dash.unwrap_or(Dash::Solid));
        // The fourth has the line style of the first again, so marks distinguish them.
        match (place / DASHES.len()).checked_sub(1) {
            None => look,
            Some(again) => look.marked(Mark::of_place(again)),
        }
    }
}

impl Mark {
    /// The mark of the curve with this index among several.
    pub fn of_place(place: usize) -> Mark {
        const MARKS: [Mark; 4] = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond];
        MARKS.get(place).copied().unwrap_or(Mark::Cross)
    }
}
