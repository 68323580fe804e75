//! A small CDN in the laboratory whose truth is known. Studies and policies are tested on it.
//!
//! A [`Spec`] has networks of lines: client networks with a path of their own, other sites, and the same site. Objects
//! of several sizes are fetched over each line at random times. A [`Laboratory`] runs each line with each arm, over the
//! same path and with the same objects. So it knows what an operator cannot know: the result of the other arm for the
//! same clients. [`Laboratory::prove`] draws an arm for each line, records the connections as a study does, evaluates
//! them with the study's own code, and makes a policy. Then it compares both with the truth.
//!
//! Lines that go over a [`Shared`] link are simulated together, because their arms disturb each other there.
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
//! let found = laboratory.prove("results".as_ref(), &mut |batch, done| {
//!     batch.run(2, &|_| (), &Cancel::new(), done);
//! })?;
//! print!("{}", tables::text(&found, None));
//! # Ok(())
//! # }
//! ```

mod beside;
mod combined;
pub mod found;
mod keys;
mod laboratory;
mod line;
pub mod live;
pub mod machine;
mod observed;
pub mod population;
mod proof;
mod redrawn;
mod room;
mod shared;
mod spec;
mod stand_in;
pub mod tables;
mod together;
mod truth;

pub use found::Found;
pub use laboratory::{LabError, Laboratory, RunBatch};
pub use line::{Line, LineDraw, Visit};
pub use live::Live;
pub use machine::Machine;
pub use proof::{POLICY, STUDY, SYSTEMS};
pub use shared::Shared;
pub use spec::{Kind, Network, PORT, Spec};
