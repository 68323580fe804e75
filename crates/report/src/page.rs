//! Pages that hold everything they need: they can be mailed, archived and opened without a network.

use std::time::SystemTime;

use serde::Serialize;

const FRAME: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/page.css");
const SCRIPT: &str = include_str!("../assets/page.js");
const UPLOT_STYLE: &str = include_str!("../assets/uplot/uPlot.min.css");
const UPLOT_SCRIPT: &str = include_str!("../assets/uplot/uPlot.iife.min.js");

/// Where a report comes from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The command that makes it again.
    pub command: String,
    /// When it was made.
    pub generated: SystemTime,
}

/// What one kind of page has of its own.
pub struct Page<'p, D> {
    /// What it is about, as text: a name, and a line.
    pub title: &'p str,
    /// The line below the name.
    pub about: &'p str,
    /// What is between header and footer, as HTML.
    pub body: String,
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
}

impl<D: Serialize> Page<'_, D> {
    /// The page as HTML.
    pub fn html(&self, origin: &Origin) -> String {
        let data = serde_json::to_string(self.data).expect("plots are plain data");
        let facts = self.facts.iter().map(|fact| format!("{} · ", escape(fact)));
        let facts: String = facts.collect();
        let source = self.source.map(|(name, text)| {
            let (name, text) = (escape(name), escape(text));
            format!("<details><summary>{name}</summary><pre>{text}</pre></details>")
        });
        let generated = humantime::format_rfc3339_seconds(origin.generated).to_string();
        fill(FRAME, &|placeholder| match placeholder {
            "title" => escape(self.title),
            "about" => escape(self.about),
            "body" => self.body.clone(),
            "command" => escape(&origin.command),
            "version" => env!("CARGO_PKG_VERSION").into(),
            "facts" => facts.clone(),
            "generated" => generated.clone(),
            "source" => source.clone().unwrap_or_default(),
            "style" => format!("{UPLOT_STYLE}\n{STYLE}\n{}", self.style),
            "uplot" => UPLOT_SCRIPT.into(),
            "common" => SCRIPT.into(),
            "script" => self.script.into(),
            "data" => escape_json(&data),
            _ => String::new(),
        })
    }
}

/// Replaces each `{{placeholder}}` of the page; what is put in is not looked at again.
pub fn fill(page: &str, value: &dyn Fn(&str) -> String) -> String {
    let mut parts = page.split("{{");
    let mut filled = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (placeholder, rest) = part.split_once("}}").unwrap_or((part, ""));
        filled.push_str(&value(placeholder));
        filled.push_str(rest);
    }
    filled
}

/// A row of a table.
pub fn cells(tag: &str, texts: &[impl AsRef<str>]) -> String {
    let cell = |text| format!("<{tag}>{}</{tag}>", escape(text));
    let cells: String = texts.iter().map(|text| cell(text.as_ref())).collect();
    format!("<tr>{cells}</tr>")
}

/// Text that HTML shows as it is, in elements and in quoted attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// JSON that means the same and can stand in a script element: nothing in it ends the element, opens a comment or, in
/// older engines, a line.
fn escape_json(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
