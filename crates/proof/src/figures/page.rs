//! All figures on one page.

use askama::Template;

use super::figure::Figure;
use report::page::{Origin, Page};

/// A figure with its picture.
#[derive(Debug, Clone)]
pub struct Drawn {
    /// The figure.
    pub figure: &'static Figure,
    /// The picture as SVG.
    pub svg: String,
    /// The picture for narrow screens, if it is legible there.
    pub narrow: Option<String>,
}

impl Drawn {
    fn html(&self) -> String {
        draw::html(&self.svg, self.narrow.as_deref())
    }
}

/// The part of the page between header and footer.
#[derive(Template)]
#[template(path = "figures.html")]
struct Body<'b> {
    drawn: &'b [Drawn],
}

/// The figures as one self-contained page, with a list of them and an enlarged view of each.
pub fn page(drawn: &[Drawn], origin: &Origin) -> String {
    let page = Page {
        title: "Figures",
        about: "What the publications show about BBR, measured again",
        body: Body { drawn },
        facts: &[],
        source: None,
        style: include_str!("../../assets/figures.css"),
        script: include_str!("../../assets/figures.js"),
        data: &(),
        origin,
    };
    page.html()
}
