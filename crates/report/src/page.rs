//! Self-contained pages: they can be mailed, archived and opened without a network.

use std::fmt::Display;
use std::time::SystemTime;

use askama::Template;
use serde::Serialize;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
const UPLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");

/// A mark in the head of every page, which no page by hand has.
pub const MARK: &str = "<meta name=\"generator\" content=\"fullpipe";

/// The strokes of the palette: its colours repeat with the next stroke.
const STROKES: [&str; 3] = ["solid", "dashed", "dotted"];

/// The style of an element with the colour and the stroke of this place of the palette.
pub fn swatch(place: usize) -> String {
    let colours = draw::palette().len();
    let stroke = STROKES[place / colours % STROKES.len()];
    format!(
        "--swatch: var(--lane{}); --stroke: {stroke}",
        place % colours
    )
}

/// The script of a page without charts: readers can choose its theme.
pub const PLAIN: &str = "paintWith(() => {});";

/// The origin of a report.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command that reproduces it.
    pub command: String,
    /// The time at which it was made.
    pub generated: SystemTime,
}

impl Origin {
    fn generated(&self) -> String {
        humantime::format_rfc3339_seconds(self.generated).to_string()
    }
}

/// The specific parts of a kind of page.
#[derive(Template)]
#[template(path = "page.html")]
pub struct Page<'p, B: Display, D: Serialize> {
    /// Its title, as text: a name, and a line.
    pub title: &'p str,
    /// The line below the name.
    pub about: &'p str,
    /// The contents between header and footer: a template that writes HTML.
    pub body: B,
    /// The facts of its making, as text: `engine sim`, `seed 1`.
    pub facts: &'p [String],
    /// Its source, as text: the name, and the whole text.
    pub source: Option<(&'p str, &'p str)>,
    /// Additional CSS.
    pub style: &'p str,
    /// Additional JavaScript.
    pub script: &'p str,
    /// The data of its script.
    pub data: &'p D,
    /// Its origin.
    pub origin: &'p Origin,
}

impl<B: Display, D: Serialize> Page<'_, B, D> {
    /// Returns the page as HTML. Names and sources are text of others: characters that a browser obeys are
    /// [replaced](text::replaced).
    pub fn html(&self) -> String {
        let html = self.render().expect("plain data, written to memory");
        text::replaced(&html)
    }
}
