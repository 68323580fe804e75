//! A population of access networks: many paths drawn from distributions, each with the same traffic and once with each
//! controller.
//!
//! A [`Spec`] is read from TOML. It has a scenario common to all members, and the access networks of several regions,
//! whose fields are distributions; its [versions](Spec::version) have other numbers for the same members.
//! [`Spec::draw`] draws [`Member`]s with a scenario each. [`plan()`] draws them and plans a run of each with every [`Contender`]; a
//! [`Batch`](studies::runs::Batch) runs the plan.
//!
//! ```no_run
//! use lab::{Cancel, EngineKind};
//! use tables::statistics::median;
//! use cdn::population::{self, AS_ASSUMED, Contender, Spec};
//! use scenario::Bbr1Variant;
//! use studies::runs::Batch;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let spec = Spec::load("scenarios/population.toml".as_ref())?;
//! let contender = |controller| Contender { controller, bbr1: Bbr1Variant::Linux };
//! let contenders = [contender("bbr1".parse()?), contender("cubic".parse()?)];
//! let mut batch = Batch::new(EngineKind::Sim);
//! batch.add("population.toml", population::plan(&spec, &[AS_ASSUMED], [1, 2000], &contenders)?)?;
//! batch.run(2, &|_| (), &Cancel::new(), |_, findings| {
//!     for controller in ["bbr1", "cubic"] {
//!         let runs = findings.runs.iter().filter(|run| run.values[4] == controller);
//!         let rtts = runs.filter_map(|run| run.record.summary.flows.first()?.rtt_ms.p50);
//!         println!("{controller}: {:?}", median(rtts));
//!     }
//! });
//! # Ok(())
//! # }
//! ```

mod access;
mod distribution;
mod draw;
mod plan;
mod spec;
mod version;

pub use access::{Access, Swing};
pub use distribution::Distribution;
pub use draw::Member;
pub use plan::{Contender, plan};
pub use spec::Spec;
pub use version::Version;

/// The name of the version without differences.
pub const AS_ASSUMED: &str = "as assumed";
