//! What curves look like. Never by colour alone: also by strokes or marks.

use super::colours::lighter;

/// A colour: red, green, blue.
pub type Colour = (u8, u8, u8);

// Okabe and Ito's palette ("Color Universal Design", 2008), without its yellow, which is too bright on white.
/// For BBR, as in the paper's figures.
pub const GREEN: Colour = (0, 158, 115);
/// For CUBIC, as in the paper's figures.
pub const VERMILLION: Colour = (213, 94, 0);
/// For round-trip times, and for Reno.
pub const BLUE: Colour = (0, 114, 178);
#[allow(missing_docs)]
pub const SKY: Colour = (86, 180, 233);
#[allow(missing_docs)]
pub const ORANGE: Colour = (230, 159, 0);
#[allow(missing_docs)]
pub const PURPLE: Colour = (204, 121, 167);
/// For what is known rather than measured.
pub const BLACK: Colour = (20, 20, 20);
/// For what is only there to compare with.
pub const GREY: Colour = (120, 120, 120);

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

    /// The look of a controller's curves, in all pictures.
    pub fn of_controller(name: &str) -> Look {
        match name {
            "bbr1" => Look::line(GREEN, Dash::Solid),
            "cubic" => Look::line(VERMILLION, Dash::Dashed),
            "bbr3" => Look::line(PURPLE, Dash::Solid),
            _ => Look::line(BLUE, Dash::Dotted),
        }
    }

    /// The look of the curve at this place among several of one kind, such as the flows of one controller.
    pub fn of_place(place: usize) -> Look {
        const COLOURS: [Colour; 6] = [GREEN, VERMILLION, BLUE, ORANGE, PURPLE, SKY];
        const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];
        let colour = COLOURS.get(place % COLOURS.len()).copied();
        let dash = DASHES.get(place % DASHES.len()).copied();
        let look = Look::line(colour.unwrap_or(BLACK), dash.unwrap_or(Dash::Solid));
        // The fourth has the strokes of the first again.
        match place / DASHES.len() {
            0 => look,
            1 => look.marked(Mark::Circle),
            2 => look.marked(Mark::Square),
            _ => look.marked(Mark::Cross),
        }
    }
}
