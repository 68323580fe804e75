//! A guess at the congestion controller of a flow.
//!
//! Each sign gives each controller a weight, which is a log-likelihood. The sums of the weights become probabilities; all
//! controllers are equally likely beforehand. A controller that is not in the list is taken for the most similar one.

use serde::Serialize;

use crate::signs::Signs;

units::named! {
    /// A family of controllers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Family, "controller" {
        /// BBRv1.
        Bbr1 = "bbr1",
        /// BBRv3, and BBRv2.
        Bbr3 = "bbr3",
        /// CUBIC.
        Cubic = "cubic",
        /// Reno, and NewReno.
        Reno = "reno",
    }
}

/// With fewer rounds, there is no guess.
const MIN_ROUNDS: usize = 20;

/// The probability that is spread evenly over all controllers: another controller or another network may show the same
/// signs.
const DOUBT: f64 = 0.03;

/// The bounds on the weight of ProbeRTT. Other flows and losses can hide a ProbeRTT, or look like one.
const MIN_PROBES_WEIGHT: f64 = -3.0;
const MAX_PROBES_WEIGHT: f64 = 5.0;

/// The most likely controller, and the reasons.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Guess {
    /// The most likely controller.
    pub controller: &'static str,
    /// Its probability among the known controllers.
    pub probability: f64,
    /// The probabilities of all controllers, in the order of [`Family::ALL`].
    pub probabilities: Vec<(&'static str, f64)>,
    /// The signs in its favour, in words.
    pub signs: Vec<String>,
}

/// The weight of a sign for each family, in the order of [`Family::ALL`], and the sign in words.
struct Evidence {
    weights: [f64; 4],
    words: String,
}

impl Guess {
    /// The guess that follows from these signs. `None` if there are too few signs.
    pub fn of(signs: &Signs) -> Option<Guess> {
        if signs.rounds < MIN_ROUNDS {
            return None;
        }
        let mut evidence: Vec<Evidence> = [
            cuts(signs),
            growth(signs),
            shrinks(signs),
            boldness(signs),
            bdp(signs),
        ]
        .into_iter()
        .flatten()
        .collect();
        // The absence of ProbeRTT alone is not enough for a guess.
        if evidence.is_empty() && signs.probes.met() == 0 {
            return None;
        }
        evidence.extend(probes(signs));
        let mut sums = [0.0_f64; 4];
        for one in &evidence {
            for (sum, weight) in sums.iter_mut().zip(one.weights) {
                *sum += weight;
            }
        }
        let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let likely = sums.map(|sum| (sum - most).exp());
        let all: f64 = likely.iter().sum();
        let doubt = DOUBT / Family::ALL.len() as f64;
        let probabilities = likely.map(|one| one / all * (1.0 - DOUBT) + doubt);
        let best = (0..4).max_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]))?;
        let speaks_for = |one: &&Evidence| {
            let others = one.weights.iter().copied().fold(f64::INFINITY, f64::min);
            one.weights[best] > others + 0.5
        };
        let names = Family::ALL.iter().map(|family| family.name());
        Some(Guess {
            controller: Family::ALL[best].name(),
            probability: probabilities[best],
            probabilities: names.zip(probabilities).collect(),
            signs: evidence
                .iter()
                .filter(speaks_for)
                .map(|one| one.words.clone())
                .collect(),
        })
    }
}

/// ProbeRTT: BBRv1 reduces its data in flight every ten seconds, BBRv3 every five.
fn probes(signs: &Signs) -> Option<Evidence> {
    let (ten, five) = (&signs.probes.every_ten, &signs.probes.every_five);
    if ten.due + five.due == 0 {
        return None;
    }
    let [ten_weight, five_weight] =
        [ten, five].map(|one| one.weight().clamp(MIN_PROBES_WEIGHT, MAX_PROBES_WEIGHT));
    let often = match signs.probes.dips {
        1 => "once".to_owned(),
        dips => format!("{dips} times"),
    };
    let met = [(ten, "BBRv1"), (five, "BBRv3")].into_iter();
    let met = met.filter(|(one, _)| one.due > 0);
    let met =
        met.map(|(one, who)| format!("at {} of the {} times when {who} would", one.met, one.due));
    Some(Evidence {
        weights: [ten_weight, five_weight, 0.0, 0.0],
        words: format!(
            "reduced its data in flight for a short time {often}: {}",
            met.collect::<Vec<_>>().join(", and ")
        ),
    })
}

/// After a loss, Reno halves its window. CUBIC keeps 0.7 of it (RFC 9438, section 4.6), and has grown a little until the
/// capture shows the window. BBR keeps nearly all.
fn cuts(signs: &Signs) -> Option<Evidence> {
    if signs.cuts == 0 || signs.cut_share.is_nan() {
        return None;
    }
    let normal = |mean: f64, deviation: f64| {
        let off = (signs.cut_share - mean) / deviation;
        (-off * off / 2.0).max(-6.0)
    };
    let trust = (signs.cuts as f64 / 4.0).min(1.0);
    let weights = [
        normal(0.97, 0.08).max(-3.5),
        normal(0.93, 0.1).max(-3.5),
        normal(0.73, 0.06),
        normal(0.49, 0.06),
    ];
    Some(Evidence {
        weights: weights.map(|weight| weight * trust),
        words: format!(
            "kept {:.2} of its window after a loss (median of {})",
            signs.cut_share, signs.cuts
        ),
    })
}

/// Reno's window grows by one packet a round (RFC 5681, section 3.1). BBR's window follows the path.
fn growth(signs: &Signs) -> Option<Evidence> {
    if signs.steps < 10 {
        return None;
    }
    let growth = signs.growth;
    let weights = if (growth - 1.0).abs() < 0.3 {
        [-2.0, -2.0, -0.5, 1.5]
    } else if growth.abs() < 0.3 {
        [1.0, 1.0, 0.0, -2.5]
    } else if growth > 1.0 {
        [-1.0, -1.0, 1.0, -2.0]
    } else {
        [0.0, 0.0, 0.0, 0.0]
    };
    Some(Evidence {
        weights,
        words: format!("grew by {growth:.1} packets a round without losses"),
    })
}

/// A loss-based window does not shrink without a loss. BBR's window shrinks after each bandwidth probe.
fn shrinks(signs: &Signs) -> Option<Evidence> {
    if signs.steps < 20 {
        return None;
    }
    let often = signs.shrinks;
    let weights = match often {
        0.08.. => [2.0, 2.0, -1.5, -1.5],
        0.04.. => [1.0, 1.0, -0.5, -0.5],
        ..0.01 => [-0.5, 0.0, 0.5, 0.5],
        _ => return None,
    };
    Some(Evidence {
        weights,
        words: format!(
            "had less in flight without a loss in {:.0} % of the rounds",
            often * 100.0
        ),
    })
}

/// More data in flight than a loss-based window allows at this loss rate speaks for BBR. BBR seldom has as little in
/// flight as that window. Much less than the window is no sign, because something else then limits the flow.
fn boldness(signs: &Signs) -> Option<Evidence> {
    let times = signs.mathis / 1.22;
    let weights = match times {
        2.5.. => [3.0, 2.5, -2.0, -3.0],
        1.9.. => [1.5, 1.5, 0.0, -0.5],
        0.6..1.2 => [-2.5, -1.2, 0.0, 0.0],
        _ => return None,
    };
    (signs.cuts >= 5).then(|| Evidence {
        weights,
        words: format!("had {times:.1} times as much in flight as Reno would at these losses"),
    })
}

/// BBRv1 keeps more than a BDP in flight whatever the loss rate. BBRv3 leaves headroom, and reduces its rate when it loses
/// more than 2 %.
fn bdp(signs: &Signs) -> Option<Evidence> {
    let share = signs.of_bdp;
    let weights = match share {
        _ if share.is_nan() => return None,
        ..0.18 if signs.lost > 0.005 => [-4.0, -2.0, 0.5, 0.5],
        ..0.75 if signs.lost > 0.02 => [-3.0, 1.0, 0.0, 0.0],
        1.09.. if signs.lost < 0.3 && share < 1.6 => [1.0, -1.0, 0.0, 0.0],
        0.85..1.015 => [-0.7, 0.7, 0.0, 0.0],
        _ => return None,
    };
    Some(Evidence {
        weights,
        words: format!("had {share:.2} BDP in flight (median)"),
    })
}

#[cfg(test)]
mod tests {
    use units::{Duration, Time};

    use super::*;
    use crate::probes::Probes;

    fn unknown() -> Signs {
        Signs {
            rounds: MIN_ROUNDS,
            probes: Probes::of(&[]),
            cuts: 0,
            cut_share: f64::NAN,
            steps: 0,
            growth: f64::NAN,
            shrinks: f64::NAN,
            of_bdp: f64::NAN,
            mathis: f64::NAN,
            lost: 0.01,
        }
    }

    #[test]
    fn how_often_a_flow_dipped_and_when_it_was_due() {
        // Rounds of 50 ms for 25 s.
        let words = |dips: &[u64]| {
            let packets = |round: u64| {
                let is_dip = dips.iter().any(|dip| (*dip..dip + 4).contains(&round));
                if is_dip { 4.0 } else { 40.0 }
            };
            let at = |round: u64| Time::ZERO + Duration::from_millis(50 * round);
            let rounds: Vec<(Time, f64)> =
                (0..500).map(|round| (at(round), packets(round))).collect();
            let signs = Signs {
                probes: Probes::of(&rounds),
                ..unknown()
            };
            probes(&signs).map(|evidence| evidence.words)
        };
        let twice = "2 times: at 2 of the 2 times when BBRv1 would, and at 0 of the 4 times when BBRv3 would";
        let begin = "reduced its data in flight for a short time";
        assert_eq!(words(&[204, 408]), Some(format!("{begin} {twice}")));
        assert!(
            words(&[204]).is_some_and(|words| words.starts_with(&format!("{begin} once: at 1 ")))
        );
    }

    #[test]
    fn much_less_in_flight_than_losses_allow_is_no_sign() {
        let of = |times: f64| {
            boldness(&Signs {
                cuts: 5,
                mathis: 1.22 * times,
                ..unknown()
            })
        };
        assert!(of(3.0).is_some_and(|three| three.weights[0] > three.weights[3]));
        assert!(of(1.0).is_some_and(|one| one.weights[0] < one.weights[3]));
        assert!(of(0.3).is_none());
    }
}
