//! Advice which controller suits a path that is known in part: the [plan] of its runs, and the advice as text and as a page. The
//! crate `advise` samples the paths and compares the outcomes.

mod page;
mod plan;
mod table;

pub use ::advise::words::{self, nothing, runs as describe_runs};
pub use ::advise::{
    Advice, Alone, Beside, Case, Choice, Company, Decides, Gain, Gathering, Goal, Json, MOST_PATHS,
    Measured, Outcome, Outcomes, Question, Range, RangedPath, Rival, Sampled, Sampling, Together,
};
pub use page::page;
pub use plan::plan;
pub use table::text;
pub(crate) use table::{candidates, rivals};
