//! Two engines side by side: the set of cases, observations of runs, comparisons and their presentation.

mod comparing;
mod running;
mod set;
mod support;
