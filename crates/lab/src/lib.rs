//! Scenario × engine → record → report.
//!
//! - A [`scenario`] says what the path is and who sends over it: plain data, from TOML or options.
//! - An [`engine`] runs it: [`engine::Sim`], packets in virtual time; [`engine::Quic`], real UDP packets and our controllers;
//!   [`engine::Linux`], the kernel's own TCP.
//! - A [`record`] is what was observed, in one schema whatever the engine: samples over time, and a summary.
//! - A [`report`] turns records into a table, JSON, or a page with plots.
//!
//! A [`shell`] is any program behind a path. A [`sweep`] runs a scenario at every point of a grid. A [`study`] is many
//! scenarios and their records; [`claims`] judges by them what was published about BBR. [`calibrate`] runs a set of
//! scenarios on two engines and compares them. A [`population`] is many paths drawn from distributions. A [`probe`] sends the same bytes again and again over connections that are kept
//! open. A [`race`] is the same payload over the same path, once a controller.
//!
//! ```no_run
//! use lab::{Cancel, race::Race, report};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut race = Race::default();
//! race.path.set("loss", "2%")?;
//! race.path.check()?;
//! let cancel = Cancel::new(); // keep a clone for Ctrl-C
//! let records = race.run(&|lane| println!("{}: {}", lane.controller, lane.rate), &cancel)?;
//! print!("{}", report::table(&records, None));
//! let origin = report::Origin {
//!     command: "fullpipe race --loss 2%".to_string(),
//!     generated: std::time::SystemTime::now(),
//! };
//! std::fs::write("race.html", report::html(&records, &origin))?;
//! # Ok(())
//! # }
//! ```
//!
//! Errors are one line each, for people: [`scenario::ScenarioError`] with the field and the fix,
//! [`engine::EngineError`] and [`race::RaceError`] with what failed.

pub mod calibrate;
pub mod claims;
pub mod draw;
pub mod engine;
pub mod figures;
pub mod population;
pub mod probe;
pub mod race;
pub mod record;
mod regular;
pub mod report;
pub mod scenario;
pub mod shell;
pub mod study;
pub mod sweep;

pub use engine::Cancel;
