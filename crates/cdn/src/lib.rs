//! A small CDN in the laboratory whose truth is known. Studies and policies are tested on it.
//!
//! A [`Spec`] has networks of lines: client networks with a path of their own, other sites, and the same site. Objects
//! of several sizes are fetched over each line at random times. A [`Laboratory`] runs each line with each arm, over the
//! same path and with the same objects. So it knows what an operator cannot know: the result of the other arm for the
//! same clients. [`Worlds::prove`] draws an arm for each line, records the connections as a study does, evaluates them
//! with the study's own code, and makes a policy. Then it compares both with the truth.
//!
//! The paths of client networks vary as those of a [`population`]: many access networks, drawn from distributions.
//!
//! [`Live`] does the same on the kernel's TCP in real time. There, independent clients measure the truth.
//!
//! ```no_run
//! use cdn::{Laboratory, Spec, tables};
//! use lab::Cancel;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let file = "scenarios/cdn.toml";
//! let laboratory = Laboratory::new(Spec::load(file.as_ref())?, file)?;
//! let mut outcomes = laboratory.outcomes();
//! laboratory.batch().run(2, &|_| (), &Cancel::new(), |place, findings| {
//!     outcomes.take(place, &findings);
//! });
//! let found = outcomes.finish()?.prove("results".as_ref())?;
//! print!("{}", tables::text(&found, None));
//! # Ok(())
//! # }
//! ```

mod beside;
pub mod found;
mod laboratory;
mod line;
pub mod live;
pub mod machine;
mod observed;
pub mod population;
mod proof;
mod redrawn;
mod spec;
pub mod tables;
mod truth;

pub use found::Found;
pub use laboratory::{LabError, Laboratory, Outcomes, Worlds};
pub use line::{Line, LineDraw, Visit};
pub use live::Live;
pub use machine::Machine;
pub use proof::{POLICY, STUDY, SYSTEMS};
pub use spec::{Kind, Network, PORT, Spec};
