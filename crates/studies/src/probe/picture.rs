//! The distributions of goodputs and of their ratio over the destinations, as in figure 7 of the BBR paper.

use super::results::Results;
pub use draw::MARK;
use draw::{Axis, BLACK, Chart, Curve, Dash, Look, Picture, Rule, Unit, cdf};
use tables::numbers;

/// The distributions of each controller's median goodput, and of the ratio of the first two.
pub fn picture(results: &Results, name: &str) -> Picture {
    let destinations = results.destinations();
    let goodputs = |place: usize| {
        let medians = destinations
            .iter()
            .filter_map(move |one| one.goodput_bps.get(place).copied().flatten());
        medians.map(|goodput| goodput / 1e6).collect::<Vec<f64>>()
    };
    let controllers = results.controllers();
    let all: Vec<f64> = (0..controllers.len()).flat_map(goodputs).collect();
    let share = || Axis::linear("Share of destinations", Unit::NONE, 0.0, 1.0);
    let names: Vec<&str> = controllers.iter().map(String::as_str).collect();
    let looks = report::places(&names).into_iter().map(Look::of_place);
    let curves = names.iter().zip(looks).enumerate();
    let curves =
        curves.map(|(place, (name, look))| Curve::new(*name, look.wide(2.5), cdf(goodputs(place))));
    let goodput = Chart::new(
        around("Median goodput", Unit::MEGABITS_PER_SECOND, &all),
        share(),
    );
    let mut charts = vec![goodput.with_all(curves)];
    let ratios = results.ratios();
    let ratios = ratios.values();
    if let [first, second, ..] = controllers {
        let title = format!("{first}'s goodput over {second}'s");
        let count = numbers::count(ratios.len() as u64, "destination");
        let look = Look::line(BLACK, Dash::Solid).wide(2.5);
        charts.push(
            Chart::new(around(&title, Unit::NONE, ratios), share())
                .with(Rule::vertical(1.0, "the same"))
                .with(Curve::new(count, look, cdf(ratios.iter().copied()))),
        );
    }
    Picture::of(name, 2, 360.0, charts)
}

/// A logarithmic axis that covers these values and one.
fn around(name: &str, unit: Unit, values: &[f64]) -> Axis {
    let positive = values.iter().copied().filter(|value| *value > 0.0);
    let lowest = positive.clone().fold(1.0, f64::min);
    let highest = positive.fold(1.0, f64::max);
    Axis::log(name, unit, lowest / 1.2, highest * 1.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probe::Row;

    fn row(destination: &str, controller: &str, mega: Option<f64>) -> Row {
        Row {
            round: 0,
            destination: destination.into(),
            over: "sim".into(),
            controller: controller.into(),
            at_s: 0.0,
            unix_ms: None,
            bytes: 1_000,
            took_ms: None,
            goodput_bps: mega.map(|mega| mega * 1e6),
            is_first: true,
            limited_by: None,
            seed: None,
            failure: None,
        }
    }

    #[test]
    fn a_curve_for_each_controller_and_one_for_the_ratio() {
        let mut results = Results::new(["bbr1", "cubic"].map(String::from));
        results.add(&[
            row("near", "bbr1", Some(80.0)),
            row("near", "cubic", Some(40.0)),
            row("far", "bbr1", Some(50.0)),
            row("far", "cubic", Some(2.0)),
            row("gone", "bbr1", Some(9.0)),
            row("gone", "cubic", None),
        ]);
        let csv = picture(&results, "two paths").csv();
        for point in [
            "\"bbr1\",80,1,\n",
            "\"cubic\",40,1,\n",
            "\"2 destinations\",,1,25\n",
        ] {
            assert!(csv.contains(point), "{point} in {csv}");
        }
    }

    #[test]
    fn nothing_is_drawn_of_nothing() {
        let svg = picture(&Results::new(["bbr1".to_string()]), "none").svg();
        assert!(svg.contains("Share of destinations"));
    }
}
