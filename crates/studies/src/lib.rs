//! Many scenarios, run and compared.
//!
//! A [`race`] is the same payload over the same path, once a controller. Everything else makes [`runs`]. A [`sweep`] runs
//! a scenario at every point of a grid. A [`study`] is many scenarios and their records; [`figures`] draws what was
//! published about BBR from them, and [`claims`] judges it. [`calibrate`] runs a set of scenarios on two engines and
//! compares them. A [`population`] is many paths drawn from distributions. A [`probe`] sends the same bytes again and
//! again over connections that are kept open. An [`advise`] samples paths from what is known of one, and says which
//! controller suits it; [`diagnose`] takes that path from a capture.
//!
//! ```no_run
//! use lab::Cancel;
//! use studies::race::Race;
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

pub mod advise;
pub mod calibrate;
pub mod claims;
pub mod diagnose;
pub mod figures;
pub mod population;
pub mod probe;
pub mod race;
pub mod runs;
pub mod study;
pub mod sweep;
