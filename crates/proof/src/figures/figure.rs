//! A figure: its origin and its drawing.

use crate::study::{Length, Population, Shelf, Source, SourceError};
use draw::Picture;
use studies::runs::Findings;
use tables::numbers::count;

/// The part of a publication that a figure reproduces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// The figure of this number: the same quantities, drawn in the same way.
    Figure(&'static str, u8),
    /// A statement without a figure: `the section on policers`.
    Text(&'static str, &'static str),
}

/// A figure of a publication, or of one of its claims.
#[derive(Debug)]
pub struct Figure {
    /// The name of the figure and of its study.
    pub name: &'static str,
    /// The title.
    pub title: &'static str,
    /// The engines that can show it.
    pub engines: &'static [lab::EngineKind],
    pub(super) after: After,
    /// True if it shows samples over time, beyond summaries and transfers.
    shows_samples: bool,
    /// The members of a population, if the figure has no study of its own.
    population: Option<fn() -> Population>,
    /// Draws the findings, engine by engine.
    draw: fn(&[Findings]) -> Picture,
}

/// The way in which a figure was made.
#[derive(Debug, Clone)]
pub struct Made {
    /// The caption in the file of its runs ([`Source::caption`]).
    pub caption: Option<String>,
    /// The command that makes it.
    pub command: String,
    /// The versions of the engines: `fullpipe 0.1.0`.
    pub versions: Vec<String>,
    /// The differences of a first impression from the caption ([`Source::less`]).
    pub less: Option<String>,
}

impl Figure {
    /// A figure with its own study and without samples, for the simulator alone.
    pub(super) const fn new(
        name: &'static str,
        title: &'static str,
        after: After,
        draw: fn(&[Findings]) -> Picture,
    ) -> Figure {
        Figure {
            name,
            title,
            engines: &[lab::EngineKind::Sim],
            after,
            shows_samples: false,
            population: None,
            draw,
        }
    }

    /// The figure on these engines.
    pub(super) const fn on(self, engines: &'static [lab::EngineKind]) -> Figure {
        Figure { engines, ..self }
    }

    /// The figure with samples over time.
    pub(super) const fn with_samples(self) -> Figure {
        Figure {
            shows_samples: true,
            ..self
        }
    }

    /// The figure of a population.
    pub(super) const fn of(self, population: fn() -> Population) -> Figure {
        Figure {
            population: Some(population),
            ..self
        }
    }

    /// The runs of the figure, from files of this shelf.
    ///
    /// # Errors
    ///
    /// A file is missing or invalid. Points are not checked yet.
    pub fn runs(&self, shelf: &Shelf, length: Length) -> Result<Source, SourceError> {
        let Some(population) = self.population else {
            let mut runs = Source::of_study(self.name, shelf, length)?;
            runs.keep_samples(self.shows_samples);
            return Ok(runs);
        };
        Source::of_population(&population(), shelf, length)
    }

    /// The figure as a picture of the findings, engine by engine. Its caption states the origin and how it was made.
    pub fn picture(&self, findings: &[Findings], made: &Made) -> Picture {
        let mut picture = (self.draw)(findings);
        picture.title = self.title.into();
        if let Some(caption) = &made.caption {
            picture.caption.insert(0, caption.clone());
        }
        if let Some(less) = &made.less {
            let less = format!("Quick run, with {less}; do not cite.");
            picture.caption.insert(0, less);
        }
        let (engines, versions) = (of_engines(findings), made.versions.join(", "));
        picture.caption.push(match self.after {
            After::Figure(publication, number) => {
                format!("After figure {number} of {publication}.")
            }
            After::Text(publication, part) => {
                format!("A figure of our own, on {part} of {publication}.")
            }
        });
        picture.caption.push(format!(
            "Made with `{}` from scenarios/{}.toml; {engines}; {versions}.",
            made.command,
            self.file()
        ));
        picture
    }

    /// The file of its runs, below `scenarios/`.
    fn file(&self) -> String {
        match self.population {
            Some(_) => "population".into(),
            None => format!("figures/{}", self.name),
        }
    }
}

/// `engine sim, seed 1`. With several runs, each has its own seed.
fn of_engines(findings: &[Findings]) -> String {
    if let [Findings { engine, runs, .. }] = findings
        && let [run] = &runs[..]
    {
        return format!("engine {engine}, seed {}", run.record.summary.seed);
    }
    let parts = findings.iter().map(|of| {
        format!(
            "engine {}, {}",
            of.engine,
            count(of.runs.len() as u64, "run")
        )
    });
    let parts: Vec<String> = parts.collect();
    format!(
        "{}, each with a seed derived from the scenario's",
        parts.join("; ")
    )
}
