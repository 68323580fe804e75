//! A small CDN in the laboratory, of which the truth is known: what studies and policies are proven on.
//!
//! A [`Spec`] has networks of lines: client networks with a path to themselves, other sites, the same site. Objects of several
//! sizes are fetched over each line at random times. A [`Laboratory`] runs each line with each arm, over the same path and with the
//! same objects. So it knows what no operator knows: what the other arm would have been for the same clients.
//! [`Worlds::prove`] draws who has which arm, records that as a study does, and has the study's own code find what is in it and make
//! a policy of that; then it puts the truth beside both.
//!
//! [`Live`] does the same on the kernel's own TCP, in real time, where the truth is what other people's clients say.
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

pub mod found;
mod laboratory;
mod line;
pub mod live;
pub mod machine;
mod observed;
mod proof;
mod redrawn;
mod spec;
pub mod tables;
mod truth;

pub use found::Found;
pub use laboratory::{LabError, Laboratory, Outcomes, Worlds};
pub use line::{Line, Visit, When};
pub use live::Live;
pub use machine::Machine;
pub use observed::PORT;
pub use proof::{POLICY, STUDY, SYSTEMS};
pub use spec::{Kind, Network, Spec};
