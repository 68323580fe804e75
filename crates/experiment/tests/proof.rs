//! The intervals have their coverage in simulated studies whose truth is known. The seeds are part of the tests: if a
//! single count changes, the statistics have changed.

use experiment::proof::{coverage, peeking, stratified};
use experiment::simulated::{Model, NETWORKS, Units};

/// The units of randomisation, with their number.
const ALL: [Units; 3] = [
    Units::Connections(3000),
    Units::Prefixes(500),
    Units::Slots(250),
];

/// Of 200 studies without an effect, 5 % ± 3 % show one. The bootstrap of a percentile may show fewer.
#[test]
fn without_an_effect_one_study_in_twenty_shows_one() {
    for units in ALL {
        let model = Model::new(units, 0.0);
        let found = coverage(&model, 0..200);
        assert_eq!(found.throughput.studies, 200);
        let alarms = |count: experiment::proof::Count| 1.0 - count.share();
        let throughput = alarms(found.throughput);
        assert!((0.02..=0.08).contains(&throughput), "{units:?}: {found:?}");
        assert!(alarms(found.throughput_p5) <= 0.08, "{units:?}: {found:?}");
    }
}

/// 93 to 97 of 100 intervals contain an effect of 8 %, also if the effect differs from unit to unit.
#[test]
fn an_effect_is_in_the_intervals() {
    for units in ALL {
        let model = Model {
            units,
            effect: 0.08,
            spread: 0.1,
            networks: &[],
        };
        let found = coverage(&model, 1000..1400);
        let share = found.throughput.share();
        assert!((0.93..=0.97).contains(&share), "{units:?}: {found:?}");
    }
}

/// The model makes careless intervals wrong. Otherwise, the tests above would show nothing.
#[test]
fn who_takes_neighbours_for_independent_is_wrong_much_more_often() {
    let model = Model::new(Units::Prefixes(500), 0.0);
    let found = coverage(&model, 0..200);
    assert!(found.careless.share() < 0.6, "{found:?}");
}

/// Fifty looks, with a stop at the first effect.
#[test]
fn looking_often_is_harmless_with_the_interval_for_that_and_only_with_it() {
    for units in ALL {
        let model = Model::new(units, 0.0);
        let found = peeking(&model, 50, 0..200);
        assert!(found.always.share() <= 0.05, "{units:?}: {found:?}");
        assert!(found.once.share() > 0.12, "{units:?}: {found:?}");
    }
}

/// Client networks of three operators that differ far more than the arms do.
fn of_three_networks(effect: f64) -> Model {
    Model {
        networks: &NETWORKS,
        ..Model::new(Units::Prefixes(900), effect)
    }
}

/// Within strata, 93 to 97 of 100 intervals contain the mean effect, also if the effect differs from network to
/// network. They are much narrower than those without strata.
#[test]
fn within_strata_intervals_are_narrow_and_right() {
    for (effect, seeds) in [(0.0, 0..400), (0.08, 1000..1400)] {
        let model = of_three_networks(effect);
        let found = stratified(&model, seeds);
        assert_eq!(found.within.studies, 400);
        let share = found.within.share();
        assert!((0.93..=0.97).contains(&share), "{effect}: {found:?}");
        let gain = found.width_without.ln() / found.width_within.ln();
        assert!(gain > 2.0, "{effect}: {found:?}");
    }
}

/// The same with slots as units: each slot has connections of all networks.
#[test]
fn a_unit_may_be_in_several_strata() {
    for effect in [0.0, 0.08] {
        let model = Model {
            units: Units::Slots(250),
            ..of_three_networks(effect)
        };
        let found = stratified(&model, 0..400);
        let share = found.within.share();
        assert!((0.925..=0.975).contains(&share), "{effect}: {found:?}");
    }
}

/// Fifty looks at studies in which strata appear and grow.
#[test]
fn looking_often_is_harmless_within_strata() {
    let found = peeking(&of_three_networks(0.0), 50, 0..200);
    assert!(found.always.share() <= 0.05, "{found:?}");
}
