//! All figures on one page.

use std::fmt::Write;

use super::figure::Figure;
use report::page::{Origin, Page, escape};

const STYLE: &str = include_str!("../../assets/figures.css");
const SCRIPT: &str = include_str!("../../assets/figures.js");

const HINT: &str = "Click a picture, then turn the wheel to look closely, drag to move, double-click to see all of it \
                    again. With the keyboard: + and −, arrows, 0. On a narrow screen, swipe a picture sideways.";
const WHOLE: &str = "<button type=\"button\" class=\"whole\" hidden>Show all of it</button>";

/// A figure, and its picture as SVG.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The figure.
    pub figure: &'static Figure,
    /// Its picture.
    pub svg: String,
}

/// The figures as one self-contained page: a list of them, and each as it was drawn, to look at more closely.
pub fn page(drawn: &[Drawn], origin: &Origin) -> String {
    let mut list = String::new();
    let mut figures = String::new();
    for Drawn { figure, svg } in drawn {
        let (name, title) = (escape(figure.name), escape(figure.title));
        // Text goes nowhere that could refuse it.
        let _ = write!(list, "<li><a href=\"#{name}\">{name}</a> {title}</li>");
        let _ = write!(
            figures,
            "<figure id=\"{name}\"><div class=\"picture\" tabindex=\"0\">{svg}</div><figcaption>{WHOLE}</figcaption></figure>"
        );
    }
    let body = format!(
        "<p class=\"hint\">{HINT}</p><ol id=\"list\">{list}</ol><main id=\"figures\">{figures}</main>"
    );
    let page = Page {
        title: "Figures",
        about: "What the publications show about BBR, measured again",
        body,
        facts: &[],
        source: None,
        style: STYLE,
        script: SCRIPT,
        data: &(),
    };
    page.html(origin)
}
