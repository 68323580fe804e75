//! A diagnosis as an HTML page.

use askama::Template;
use draw::Picture;

use super::{Diagnosis, words};
use crate::advise::words as advice;
use report::Table;
use report::page::{Origin, PLAIN, Page};

/// The part of the page between header and footer.
#[derive(Template)]
#[template(path = "diagnose.html")]
struct Body {
    /// The subject of each sentence, and the sentence.
    sentences: Vec<(String, String)>,
    not_used: Vec<String>,
    tables: Vec<Table>,
    columns: String,
    picture: Option<String>,
}

impl Diagnosis<'_> {
    /// The diagnosis as one self-contained page. `facts` are further remarks on the runs.
    pub fn page(&self, facts: &[String], origin: &Origin) -> String {
        let flow = self.direction.flow;
        let picture = self
            .timeline
            .and_then(|timeline| report::trace::picture(timeline, flow));
        let apart = |sentence: String| match sentence.split_once(": ") {
            Some((about, text)) => (advice::capital(about), advice::sentence(text)),
            None => (String::new(), advice::sentence(&sentence)),
        };
        let ranges = self.direction.ranges();
        let page = Page {
            title: "Diagnosis of a connection",
            about: &format!("{} to {}", flow.from, flow.to),
            body: Body {
                sentences: words::sentences(self).into_iter().map(apart).collect(),
                not_used: words::not_used(self.summary, &self.direction),
                tables: self.tables(),
                columns: advice::sentence(advice::COLUMNS),
                picture: picture.as_ref().map(Picture::html),
            },
            facts,
            source: Some((
                "The path: saved as path.toml, fullpipe advise --from path.toml gives this advice again",
                &ranges,
            )),
            style: include_str!("../../assets/diagnose.css"),
            script: PLAIN,
            data: &(),
            origin,
        };
        page.html()
    }
}
