//! Styles of the view.

use ratatui::style::{Color, Modifier, Style};

/// Styles. Without colours, only the weights differ.
#[derive(Debug, Clone, Copy)]
pub struct Palette {
    is_coloured: bool,
}

impl Palette {
    /// Colours, unless the user wants none (<https://no-color.org>).
    pub fn of_environment() -> Palette {
        let is_unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Palette::new(!is_unwanted && !is_dumb)
    }

    /// With colours or without.
    pub fn new(is_coloured: bool) -> Palette {
        Palette { is_coloured }
    }

    fn with(self, colour: Color, otherwise: Modifier) -> Style {
        if self.is_coloured {
            Style::new().fg(colour)
        } else {
            Style::new().add_modifier(otherwise)
        }
    }

    /// Names and headings.
    pub fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// The heading of the sorted column.
    pub fn sorted(self) -> Style {
        self.with(Color::Cyan, Modifier::UNDERLINED)
            .add_modifier(Modifier::BOLD)
    }

    /// The selected row.
    pub fn chosen(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Less important text.
    pub fn quiet(self) -> Style {
        self.with(Color::DarkGray, Modifier::DIM)
    }

    /// Warnings.
    pub fn alarming(self) -> Style {
        self.with(Color::Red, Modifier::BOLD)
    }

    /// The curve at this index. Its sign also identifies it.
    pub fn curve(self, place: usize) -> Style {
        let all = [Color::Cyan, Color::Yellow, Color::Magenta];
        match all.get(place) {
            Some(colour) if self.is_coloured => Style::new().fg(*colour),
            _ => Style::new(),
        }
    }
}
