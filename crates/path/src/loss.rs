//! Random loss: independent, or in bursts.

use serde::{Deserialize, Serialize};
use units::{ConfigError, Ratio};

use crate::bounds::share;
use crate::random::{Stream, Streams};

/// The random losses of packets, independent of the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "kind of loss")]
pub enum Loss {
    /// Each packet is lost with this probability, independently of all others (a Bernoulli process).
    #[serde(rename = "", deserialize_with = "units::bounds::lost_share")]
    Independent(Ratio),
    /// Losses in bursts.
    #[serde(rename = "gilbert")]
    GilbertElliott(GilbertElliott),
}

impl Default for Loss {
    fn default() -> Loss {
        Loss::NONE
    }
}

/// The place of losses on the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "place", rename_all = "lowercase")]
pub enum LossAt {
    /// Before the policer and the queue. A lost packet uses none of the bottleneck's rate. `tc netem`, Mahimahi's
    /// `mm-loss` and the testbed of the BBR paper's figure 8 lose packets here. A sender at exactly the bottleneck's
    /// rate delivers rate × (1 − loss).
    #[default]
    Entry,
    /// Behind the bottleneck, as on a radio link or a long-haul line beyond it. A lost packet has used its share of the
    /// rate, so at most rate × (1 − loss) is delivered, and the queue is the same with and without loss. A sender that
    /// paces at its delivery rate loses twice here, and delivers rate × (1 − loss)².
    Exit,
}

/// Loss in bursts: a Markov chain of two states, good and bad, each with its own loss probability.
///
/// After E. N. Gilbert, "Capacity of a Burst-Noise Channel" (1960), and E. O. Elliott, "Estimates of Error Rates for
/// Codes on Burst-Noise Channels" (1963). `p` and `r` have their names there and in `tc netem`'s `gemodel`. The
/// literature's `k` and `h` are the probabilities *not* to be lost, 1 − [`loss_good`](Self::loss_good) and 1 −
/// [`loss_bad`](Self::loss_bad). Gilbert's model has `loss_good` = 0; the simple one also has `loss_bad` = 1.
///
/// The chain starts in the good state and makes one step with each packet, after the packet's loss is decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// The probability of the step from good to bad.
    #[serde(deserialize_with = "units::bounds::share")]
    pub p: Ratio,
    /// The probability of the step from bad to good: a bad period is 1/r packets long on average.
    #[serde(deserialize_with = "units::bounds::share")]
    pub r: Ratio,
    /// The probability of loss in the good state, 1 − k; zero by default.
    #[serde(default, deserialize_with = "units::bounds::share")]
    pub loss_good: Ratio,
    /// The probability of loss in the bad state, 1 − h; 100 % by default.
    #[serde(default = "all", deserialize_with = "units::bounds::share")]
    pub loss_bad: Ratio,
}

const fn all() -> Ratio {
    Ratio::ONE
}

impl Loss {
    /// No packet is lost.
    pub const NONE: Loss = Loss::Independent(Ratio::ZERO);

    /// The long-term share of lost packets, for reports.
    ///
    /// For [`GilbertElliott`], it is the mean over the chain's stationary distribution, with p / (p + r) of the packets
    /// in the bad state.
    pub fn mean(&self) -> f64 {
        match self {
            Loss::Independent(share) => share.as_f64(),
            Loss::GilbertElliott(model) => {
                let (p, r) = (model.p.as_f64(), model.r.as_f64());
                let bad = if p > 0.0 { p / (p + r) } else { 0.0 };
                (1.0 - bad) * model.loss_good.as_f64() + bad * model.loss_bad.as_f64()
            }
        }
    }

    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Loss::Independent(loss) => share("loss", *loss),
            Loss::GilbertElliott(model) => {
                share("loss.p", model.p)?;
                share("loss.r", model.r)?;
                share("loss.loss_good", model.loss_good)?;
                share("loss.loss_bad", model.loss_bad)
            }
        }
    }
}

/// Decides the losses of packets in turn.
#[derive(Debug, Clone)]
pub(crate) struct LossProcess {
    model: Loss,
    bad: bool,
    fates: Stream,
    steps: Stream,
}

impl LossProcess {
    pub(crate) fn new(model: Loss, streams: &mut Streams) -> LossProcess {
        LossProcess {
            model,
            bad: false,
            fates: streams.deal(),
            steps: streams.deal(),
        }
    }

    /// True if the next packet is lost.
    #[inline]
    pub(crate) fn strikes(&mut self) -> bool {
        match self.model {
            Loss::Independent(share) => share.numerator() > 0 && self.fates.happens(share),
            Loss::GilbertElliott(model) => {
                let (loss, leave) = if self.bad {
                    (model.loss_bad, model.r)
                } else {
                    (model.loss_good, model.p)
                };
                let lost = self.fates.happens(loss);
                self.bad ^= self.steps.happens(leave);
                lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fates(model: Loss, packets: usize) -> Vec<bool> {
        let mut process = LossProcess::new(model, &mut Streams::new(5));
        (0..packets).map(|_| process.strikes()).collect()
    }

    fn share_lost(fates: &[bool]) -> f64 {
        fates.iter().filter(|lost| **lost).count() as f64 / fates.len() as f64
    }

    #[test]
    fn independent_loss_is_as_frequent_as_asked() {
        for (numerator, denominator) in [(1, 100), (1, 3), (99, 100)] {
            let loss = Loss::Independent(Ratio::new(numerator, denominator));
            let share = share_lost(&fates(loss, 200_000));
            // Five standard deviations.
            let tolerance = 5.0 * (loss.mean() * (1.0 - loss.mean()) / 200_000.0).sqrt();
            assert!((share - loss.mean()).abs() < tolerance, "{share}");
        }
    }

    #[test]
    fn a_higher_loss_rate_strikes_the_same_packets_and_more() {
        let few = fates(Loss::Independent(Ratio::new(10, 1000)), 10_000);
        let more = fates(Loss::Independent(Ratio::new(50, 1000)), 10_000);
        assert!(few.iter().zip(&more).all(|(few, more)| !few || *more));
    }

    #[test]
    fn gilbert_elliott_agrees_with_its_closed_form() {
        for (p, r, loss_good, loss_bad) in [
            ((1, 100), (1, 10), (0, 1), (1, 1)),
            ((1, 50), (1, 5), (1, 1000), (1, 2)),
            ((1, 4), (3, 4), (1, 10), (1, 1)),
        ] {
            let ratio = |(n, d)| Ratio::new(n, d);
            let loss = Loss::GilbertElliott(GilbertElliott {
                p: ratio(p),
                r: ratio(r),
                loss_good: ratio(loss_good),
                loss_bad: ratio(loss_bad),
            });
            let share = share_lost(&fates(loss, 1_000_000));
            assert!(
                (share / loss.mean() - 1.0).abs() < 0.03,
                "{share} for {}",
                loss.mean()
            );
        }
    }

    #[test]
    fn gilberts_bursts_are_one_over_r_long() {
        let loss = Loss::GilbertElliott(GilbertElliott {
            p: Ratio::new(1, 100),
            r: Ratio::new(1, 8),
            loss_good: Ratio::ZERO,
            loss_bad: Ratio::ONE,
        });
        let fates = fates(loss, 1_000_000);
        let bursts = fates.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = fates.iter().filter(|lost| **lost).count() as f64 / bursts as f64;
        assert!((length - 8.0).abs() < 0.3, "{length}");
    }

    #[test]
    fn degenerate_chains_stay_where_they_are() {
        let chain = |p, r| {
            Loss::GilbertElliott(GilbertElliott {
                p,
                r,
                loss_good: Ratio::ZERO,
                loss_bad: Ratio::ONE,
            })
        };
        let never = chain(Ratio::ZERO, Ratio::ZERO);
        assert_eq!(never.mean(), 0.0);
        assert_eq!(share_lost(&fates(never, 1000)), 0.0);
        let forever = chain(Ratio::ONE, Ratio::ZERO);
        assert_eq!(forever.mean(), 1.0);
        assert_eq!(share_lost(&fates(forever, 1000)), 0.999);
    }
}
