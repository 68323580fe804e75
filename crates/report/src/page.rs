//! Pages that hold everything they need: they can be mailed, archived and opened without a network.

use std::fmt::Display;
use std::time::SystemTime;

use askama::Template;
use serde::Serialize;

const VERSION: &str = env!("CARGO_PKG_VERSION");
const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
const UPLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");

/// Every page has this in its head, and nothing that people write by hand has.
pub const MARK: &str = "<meta name=\"generator\" content=\"fullpipe";

/// The palette comes again with these strokes when all its colours have been used.
const STROKES: [&str; 3] = ["solid", "dashed", "dotted"];

/// The style of what shows the colour and the strokes of this place of the palette.
pub fn swatch(place: usize) -> String {
    let colours = draw::palette().len();
    let stroke = STROKES[place / colours % STROKES.len()];
    format!(
        "--swatch: var(--lane{}); --stroke: {stroke}",
        place % colours
    )
}

/// The script of a page that draws nothing itself: readers can choose its theme.
pub const PLAIN: &str = "paintWith(() => {});";

/// Where a report comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command that makes it again.
    pub command: String,
    /// When it was made.
    pub generated: SystemTime,
}

impl Origin {
    fn generated(&self) -> String {
        humantime::format_rfc3339_seconds(self.generated).to_string()
    }
}

/// What one kind of page has of its own.
#[derive(Template)]
#[template(path = "page.html")]
pub struct Page<'p, B: Display, D: Serialize> {
    /// What it is about, as text: a name, and a line.
    pub title: &'p str,
    /// The line below the name.
    pub about: &'p str,
    /// What is between header and footer: a template that writes HTML.
    pub body: B,
    /// How it was made, as text: `engine sim`, `seed 1`.
    pub facts: &'p [String],
    /// What it was made from, as text: its name, and all of it.
    pub source: Option<(&'p str, &'p str)>,
    /// CSS of its own.
    pub style: &'p str,
    /// JavaScript of its own.
    pub script: &'p str,
    /// What its script draws.
    pub data: &'p D,
    /// Where it comes from.
    pub origin: &'p Origin,
}

impl<B: Display, D: Serialize> Page<'_, B, D> {
    /// The page as HTML.
    pub fn html(&self) -> String {
        self.render().expect("plain data, written to memory")
    }
}
