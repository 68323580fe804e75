//! Experiments that consist of many runs: races, sweeps, probes, advice and diagnoses. The module [`runs`] plans, executes, stores
//! and monitors the runs of all but races.
//!
//! A [`race`] transfers the same payload over the same path with each controller. A
//! [`sweep`] runs a scenario at every point of a grid. A [`probe`] repeatedly sends the same number of bytes over open
//! connections. [`advise`] chooses a controller for a path that is known in part; [`diagnose`] takes that path from a
//! capture.
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
pub mod diagnose;
pub mod probe;
pub mod race;
pub mod runs;
pub mod sweep;
