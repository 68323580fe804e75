//! A figure: where it is from, and how it is drawn.

use crate::runs::Findings;
use crate::study::{Length, Population, Shelf, Source, SourceError};
use draw::Picture;
use report::count;

/// What of a publication a figure is after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum After {
    /// Its figure of this number: the same quantities, drawn as it drew them.
    Figure(&'static str, u8),
    /// What it says and does not draw: `the section on policers`.
    Text(&'static str, &'static str),
}

/// A figure of a publication, or one that a claim of it calls for.
#[derive(Debug)]
pub struct Figure {
    /// Its name, and that of its study.
    pub name: &'static str,
    /// What is seen.
    pub title: &'static str,
    /// The engines that can show it.
    pub engines: &'static [lab::EngineKind],
    pub(super) after: After,
    /// Whether it shows samples over time, or only what summaries and transfers tell.
    shows_samples: bool,
    /// Of how many members of a population it is, if it has no study of its own.
    population: Option<Population>,
    /// Draws what was found, engine by engine.
    draw: fn(&[Findings]) -> Picture,
}

/// How a figure was made.
#[derive(Debug, Clone)]
pub struct Made {
    /// What the file of its runs says of them ([`Source::caption`]).
    pub caption: Option<String>,
    /// The command that makes it again.
    pub command: String,
    /// The versions of what the engines ran: `fullpipe 0.1.0`.
    pub versions: Vec<String>,
    /// What was done otherwise than the caption tells, as a first impression ([`Source::less`]).
    pub less: Option<String>,
}

impl Figure {
    /// A figure of a study of its own, without samples, that the simulator alone can show.
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

    /// One that these engines can show.
    pub(super) const fn on(self, engines: &'static [lab::EngineKind]) -> Figure {
        Figure { engines, ..self }
    }

    /// One that shows samples over time.
    pub(super) const fn with_samples(self) -> Figure {
        Figure {
            shows_samples: true,
            ..self
        }
    }

    /// One of a population.
    pub(super) const fn of(self, population: Population) -> Figure {
        Figure {
            population: Some(population),
            ..self
        }
    }

    /// What is run for it, with files of this shelf.
    ///
    /// # Errors
    ///
    /// There is no file, or it makes no sense. Points are not checked yet.
    pub fn runs(&self, shelf: &Shelf, length: Length) -> Result<Source, SourceError> {
        let Some(population) = self.population else {
            let mut runs = Source::of_study(self.name, shelf, length)?;
            runs.keep_samples(self.shows_samples);
            return Ok(runs);
        };
        Source::of_population(population, shelf, length)
    }

    /// The figure as a picture: what was found, engine by engine, and below it where the figure is from and how it was
    /// made.
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

    /// What is run for it, below `scenarios/`.
    fn file(&self) -> String {
        match self.population {
            Some(_) => "population".into(),
            None => format!("figures/{}", self.name),
        }
    }
}

/// `engine sim, seed 1`; of several runs each has a seed of its own.
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
