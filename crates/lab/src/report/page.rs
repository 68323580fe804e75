//! What self-contained pages are made of.

/// The look of every page.
pub(crate) const STYLE: &str = include_str!("../../assets/report.css");
/// The look of every plot.
pub(crate) const UPLOT_STYLE: &str = include_str!("../../assets/uplot/uPlot.min.css");
/// What draws plots.
pub(crate) const UPLOT_SCRIPT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");

/// Replaces each `{{placeholder}}` of the page; what is put in is not looked at again.
pub(crate) fn fill(page: &str, value: &dyn Fn(&str) -> String) -> String {
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
pub(crate) fn cells(tag: &str, texts: &[impl AsRef<str>]) -> String {
    let cell = |text| format!("<{tag}>{}</{tag}>", escape(text));
    let cells: String = texts.iter().map(|text| cell(text.as_ref())).collect();
    format!("<tr>{cells}</tr>")
}

/// Text that HTML shows as it is, in elements and in quoted attributes.
pub(crate) fn escape(text: &str) -> String {
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
pub(crate) fn escape_json(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
        .replace('\u{2028}', "\\u2028")
        .replace('\u{2029}', "\\u2029")
}
