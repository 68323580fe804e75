//! Two engines side by side: the set of cases, what is kept of runs, what the comparison comes to and how it is shown.

mod comparing;
mod running;
mod set;
mod support;
