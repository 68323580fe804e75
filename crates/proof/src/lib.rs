//! Fullpipe's lab book: its statements about BBR and about itself, measured again.
//!
//! [`claims`] judges published statements about BBR, and [`figures`] draws published figures. Both run
//! [studies](study): scenario files that are built in. [`variants`] finds those that say nothing about the BBR of the
//! publications' years, and [`population`] compares the assumptions behind figure 9. [`calibrate`] compares a set of scenarios on two engines. The
//! program `fullpipe-proof` runs them; it also runs experiments on a [small CDN](cdn) whose true effects are known, and
//! counts how often the [intervals](experiment::proof) of experiments are right.

pub mod calibrate;
pub mod claims;
pub mod figures;
pub mod population;
pub mod study;
pub mod variants;
