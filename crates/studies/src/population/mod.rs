//! A population of access networks: many paths, drawn from distributions, with the same traffic on each of them, once with
//! each controller.
//!
//! A [`Spec`] is read from TOML. It has a scenario that all members have in common, and the access networks of several
//! regions, whose fields are distributions. [`Spec::draw`] makes [`Member`]s of it, each with a scenario of its own. [`run`]
//! runs each of them once with each controller. [`regions`] summarises the results.
//!
//! ```no_run
//! use studies::population::{self, Spec};
//! use studies::runs::Execution;
//! use lab::Cancel;
//! use lab::Sim;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = Spec::load("scenarios/population.toml".as_ref())?;
//! let members = spec.draw(1, 2000)?;
//! let controllers = ["bbr1".parse()?, "cubic".parse()?];
//! let plan = population::plan(&members, &controllers);
//! let (sim, cancel) = (Sim::new(), Cancel::new());
//! let execution = Execution::unwatched(&sim, 2, &cancel);
//! let (flows, failed) = population::run(&plan, &members, &execution);
//! assert!(failed.is_empty());
//! for region in population::regions(&flows) {
//!     let reduction = region.rtt_reduction("bbr1", "cubic");
//!     println!("{}: {reduction:?}", region.name);
//! }
//! # Ok(())
//! # }
//! ```

mod distribution;
mod draw;
mod regions;
mod run;
mod spec;

pub use distribution::Distribution;
pub use draw::Member;
pub use regions::{Group, Region, regions, rtt_reductions};
pub use run::{FlowResult, plan, run};
pub use spec::{Access, Spec, Swing};
