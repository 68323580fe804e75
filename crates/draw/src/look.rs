//! What curves look like. Never by colour alone: also by strokes or marks.

use super::colours::{BLACK, Colour, PALETTE, lighter};

/// How a line is stroked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dash {
    /// Without a gap.
    Solid,
    /// In long strokes.
    Dashed,
    /// In points.
    Dotted,
    /// Not at all: only its marks are drawn.
    None,
}

/// What is drawn at a curve's points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Mark {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Its colour.
    pub colour: Colour,
    /// Its line.
    pub dash: Dash,
    /// Its points, if they are drawn.
    pub mark: Option<Mark>,
    /// How wide its line is, in pixels.
    pub width: f64,
}

impl Look {
    /// A line without marks.
    pub const fn line(colour: Colour, dash: Dash) -> Look {
        Look {
            colour,
            dash,
            mark: None,
            width: 2.0,
        }
    }

    /// With a mark at each point.
    pub const fn marked(self, mark: Mark) -> Look {
        Look {
            mark: Some(mark),
            ..self
        }
    }

    /// With a line of another width.
    pub const fn wide(self, width: f64) -> Look {
        Look { width, ..self }
    }

    /// The ground of bars: full if the line is, else light.
    pub(super) fn ground(self) -> Colour {
        match self.dash {
            Dash::Solid => self.colour,
            _ => lighter(self.colour, 0.7),
        }
    }

    /// The look of the curve at this place among several of one kind, such as those of controllers, or the flows of one.
    pub fn of_place(place: usize) -> Look {
        const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];
        let colour = PALETTE.get(place % PALETTE.len()).copied();
        let dash = DASHES.get(place % DASHES.len()).copied();
        let look = Look::line(colour.unwrap_or(BLACK), dash.unwrap_or(Dash::Solid));
        // The fourth has the strokes of the first again.
        match (place / DASHES.len()).checked_sub(1) {
            None => look,
            Some(again) => look.marked(Mark::of_place(again)),
        }
    }
}

impl Mark {
    /// The mark of the curve at this place among several.
    pub fn of_place(place: usize) -> Mark {
        const MARKS: [Mark; 4] = [Mark::Circle, Mark::Square, Mark::Triangle, Mark::Diamond];
        MARKS.get(place).copied().unwrap_or(Mark::Cross)
    }
}
