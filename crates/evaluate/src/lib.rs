//! RFC 9743 ("Specifying New Congestion Control Algorithms", BCP 133) answered for any controller: in virtual time, or in real time
//! for one of the kernel.
//!
//! - A [`Subject`] is the controller under evaluation: one of Fullpipe's with its settings, one of the kernel, or a type of
//!   the caller.
//! - [`Criteria`] are data (`criteria.toml`): experiments, each a scenario with the criteria that its runs answer. A
//!   [`Criterion`] has the RFC's section, a [measure](record::Measure), what is compared, and what is tolerated. Other
//!   experiments have no path, and run over the [drawn paths](drawn).
//! - A [`Work`] is the plan: each experiment with the subject and with each of the [references](REFERENCES), on the same
//!   seeds. The runs are those of [`studies::runs`].
//! - An [`Evaluation`] has a [`Row`] for each criterion: the values, the ratio to what is compared, its interval, and a
//!   [`Verdict`] in words. There is no score.
//! - The evaluation is shown as [text](Evaluation::text), as JSON (it is plain data), and as a [page](Evaluation::page);
//!   [`Difference`] compares two, and [`Comparison`] shows those of several controllers beside each other.
//!
//! **Harm** is what a neighbour loses beside the subject, compared with what it has beside its own kind (Ware et al.,
//! "Beyond Jain's Fairness Index", HotNets 2019). The rows about neighbours therefore compare the subject with the
//! neighbour's own controller in the subject's place.
//!
//! ```no_run
//! use congestion::loss_based::{Avoidance, Growth, LossBased};
//! use congestion::{Bytes, Cause, Ratio, Time};
//!
//! /// Two packets more in each round trip, three quarters of the window after a loss.
//! #[derive(Debug, Clone, Copy)]
//! struct Brisk;
//!
//! impl Avoidance for Brisk {
//!     const NAME: &'static str = "brisk";
//!     fn on_congestion(&mut self, cwnd: Bytes, _: Bytes, _: Cause) -> Bytes { Ratio::new(3, 4).of_bytes(cwnd) }
//!     fn grow(&mut self, on: &Growth) -> Bytes {
//!         Bytes::new(on.cwnd.get() + 2 * on.mss.get() * on.acked.get() / on.cwnd.get())
//!     }
//!     fn on_timeout(&mut self) {}
//!     fn on_app_limited(&mut self, _: Time) {}
//!     fn on_restart(&mut self) {}
//! }
//!
//! let brisk = evaluate::Subject::new("Brisk", |connection| LossBased::of(connection, Brisk))?;
//! let criteria = evaluate::Criteria::named(&["harm-cubic", "late-starter"])?;
//! let evaluation = evaluate::evaluate(&brisk, &criteria, evaluate::Extent::QUICK);
//! print!("{}", evaluation.text(None));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod against;
mod bench;
mod case;
mod comparison;
mod criteria;
pub mod drawn;
mod evaluation;
mod page;
mod subject;
mod text;
mod verdict;
mod work;

pub use against::{Change, Difference};
pub use case::{Extent, REFERENCES};
pub use comparison::Comparison;
pub use criteria::{Better, Criteria, Criterion, Experiment, Protects, Section, Statement};
pub use evaluation::{Evaluation, Row, Values};
pub use subject::Subject;
pub use verdict::Verdict;
pub use work::{Measured, Work};

use congestion::Controller;
use lab::Cancel;

/// Evaluates a controller by these criteria, on all processors. [`Criteria::rfc9743`] are all.
pub fn evaluate<C: Controller + 'static>(
    subject: &Subject<C>,
    criteria: &Criteria,
    extent: Extent,
) -> Evaluation {
    let work = Work::new(subject, criteria, extent);
    work.run(subject, None, &|_| (), &Cancel::new())
}
