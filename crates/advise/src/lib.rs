//! Advice which controller suits a path that is known in part. Nothing runs here: the caller runs what the plan says, with
//! threads or in the workers of a browser.
//!
//! A [`RangedPath`] describes the path; any of its fields may be a range. A [`Question`] samples paths from it:
//! [`Sampling::cases`] are every candidate over each of them, alone, beside CUBIC and beside itself, and [`Sampling::scenario`] is
//! the run of a case. A [`Gathering`] takes what is [`Measured`] in each run, and [`Outcomes`] compare. An [`Advice`] chooses a
//! candidate for each [`Goal`] and states the gain, the harm to others, and the confidence.
//!
//! ```
//! use advise::{Advice, Gathering, Measured, Outcomes, Question, RangedPath};
//! use congestion::ControllerKind;
//!
//! let mut path = RangedPath::unknown();
//! path.set("path.rate", "1mbit..5mbit")?;
//! path.set("path.rtt", "40ms")?;
//! path.complete();
//! let question = Question {
//!     path,
//!     controllers: vec![ControllerKind::Bbr3, ControllerKind::Cubic],
//!     paths: Some(8),
//!     duration: None,
//!     seed: 1,
//! };
//! let sampling = question.sampling()?;
//! let cases = sampling.cases(&question.controllers);
//! assert_eq!(cases.len(), 8 * 2 * 3);
//! assert_eq!(sampling.scenario(&cases[1]).flows.len(), 2);
//! let gathering = Gathering::new(cases.len()); // with a note of each run
//! let outcomes = Outcomes::new(&question.controllers, &cases, &gathering);
//! assert!(Advice::new(&outcomes, &sampling).is_none());
//! # Ok::<(), document::DocumentError>(())
//! ```

mod advice;
mod amount;
mod gain;
mod goal;
mod horizon;
mod json;
mod outcome;
mod plan;
mod question;
mod ranges;
mod ratio;
mod rows;
mod seed;
mod student;
mod summary;
pub mod words;

pub use advice::{Advice, Choice, Rival};
pub use amount::{Amount, amounts};
pub use gain::{Decides, Gain};
pub use goal::Goal;
pub use json::Json;
pub use outcome::{Alone, Beside, Gathering, Measured, Outcome, Outcomes, Together};
pub use plan::{Case, Company, Sampled, Sampling};
pub use question::{MOST_PATHS, Question};
pub use ranges::{Range, RangedPath, short};
pub use ratio::Ratio;
pub use rows::{Rows, candidates, rivals};
pub use seed::derive as derive_seed;
