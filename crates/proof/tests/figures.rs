//! Every figure, from a short run of its study in virtual time.

use std::collections::HashMap;

use draw::{Layer, Picture};
use lab::Cancel;
use lab::EngineKind;
use proof::figures::{ALL, Drawn, Figure, Made, STUDIES_DIRECTORY, page};
use proof::study::{Length, Shelf, Source};
use report::Origin;
use studies::runs::{Batch, Findings};

fn made() -> Made {
    Made {
        caption: Some("One run of 10 Mbit/s.".to_owned()),
        command: "fullpipe-proof figures".to_owned(),
        versions: vec!["fullpipe".to_owned()],
        less: Some("duration = 5s".to_owned()),
    }
}

/// The runs of these figures on an engine.
fn batch<'f>(
    figures: impl IntoIterator<Item = &'f Figure>,
    length: Length,
    engine: EngineKind,
) -> Batch {
    let shelf = Shelf::built_in(STUDIES_DIRECTORY);
    let mut batch = Batch::new(engine);
    for figure in figures {
        let runs = figure.runs(&shelf, length).expect(figure.name);
        if let Err(error) = runs.add_to(&mut batch) {
            panic!("{}: {error}", figure.name);
        }
    }
    batch
}

/// The findings of short runs of these figures' studies.
fn found(figures: &[&Figure]) -> HashMap<usize, Findings> {
    let batch = batch(figures.iter().copied(), Length::Quick, EngineKind::Sim);
    let mut found = HashMap::new();
    batch.run(2, &|_| {}, &Cancel::new(), |study, findings| {
        assert_eq!(findings.failed, []);
        found.insert(study, findings);
    });
    found
}

/// The numbers of points, bars and cells of each chart.
fn sizes(picture: &Picture) -> Vec<usize> {
    let size = |layer: &Layer| match layer {
        Layer::Curve(curve) => curve.points.len(),
        Layer::Bars(bars) => bars.bars.len(),
        Layer::Cells(cells) => cells.cells.len(),
        Layer::Drawing(drawing) => drawing.nodes.len(),
        Layer::Rule(_) | Layer::Band(_) | Layer::Area(_) => 0,
    };
    let charts = picture.charts.iter();
    charts
        .map(|chart| chart.layers.iter().map(size).sum())
        .collect()
}

#[test]
fn every_figure_shows_something_and_the_same_each_time() {
    let figures: Vec<&Figure> = ALL.iter().collect();
    let mut drawn = Vec::new();
    for (place, findings) in found(&figures) {
        let (figure, findings) = (&ALL[place], [findings]);
        let picture = figure.picture(&findings, &made());
        let sizes = sizes(&picture);
        assert!(!sizes.is_empty(), "{}: no charts", figure.name);
        assert!(
            sizes.iter().all(|size| *size > 1),
            "{}: an empty chart: {sizes:?}",
            figure.name
        );
        let svg = picture.svg();
        assert!(!svg.contains("NaN"), "{}", figure.name);
        assert!(!svg.contains("inf,"), "{}", figure.name);
        assert!(svg.contains("prefers-color-scheme:dark"), "{}", figure.name);
        assert_eq!(svg, figure.picture(&findings, &made()).svg());
        assert!(picture.png().is_ok(), "{}", figure.name);
        let csv = picture.csv();
        assert!(csv.lines().count() > 1, "{}: {csv}", figure.name);
        assert!(!csv.starts_with("chart,curve,x,y"), "{}", figure.name);
        assert_eq!(picture.cut_off(), [""; 0], "{}", figure.name);
        for chart in &picture.charts {
            let looks = chart.layers.iter().filter_map(|layer| match layer {
                Layer::Curve(curve) => Some(curve.look),
                _ => None,
            });
            let strokes = |look: &draw::Look| (look.dash, look.mark, look.width.to_bits());
            let looks: Vec<_> = looks.map(|look| strokes(&look)).collect();
            for (place, look) in looks.iter().enumerate() {
                let mut others = looks.iter().skip(place + 1);
                let is_alone = others.all(|other| other != look);
                assert!(
                    is_alone,
                    "{}: curves that differ by colour alone",
                    figure.name
                );
            }
        }
        let keys = picture.keys();
        for (place, key) in keys.iter().enumerate() {
            let look = |key: &draw::Key| (key.colour, key.dash, key.mark, key.is_bar);
            let same = keys
                .iter()
                .skip(place + 1)
                .find(|other| look(other) == look(key));
            assert_eq!(same, None, "{}: {} looks the same", figure.name, key.name);
        }
        assert!(
            keys.len() <= 6,
            "{}: {} entries in its legend",
            figure.name,
            keys.len()
        );
        let narrow = picture.narrow_svg();
        drawn.push(Drawn {
            figure,
            svg,
            narrow,
        });
    }
    assert_eq!(drawn.len(), ALL.len());

    let origin = Origin {
        command: "fullpipe-proof figures".to_owned(),
        generated: std::time::SystemTime::UNIX_EPOCH,
    };
    let page = page(&drawn, &origin);
    for figure in ALL {
        assert!(page.contains(&format!("<figure id=\"{}\">", figure.name)));
    }
    // It needs no network: the only addresses are names of XML.
    let addresses = page.matches("=\"http").count();
    assert_eq!(
        addresses,
        page.matches("xmlns=\"http://www.w3.org/").count()
    );
}

#[test]
fn the_same_runs_are_the_same_picture() {
    let figures: Vec<&Figure> = ALL
        .iter()
        .filter(|figure| figure.name.starts_with("paper-4-"))
        .collect();
    let svg = || {
        let findings = found(&figures).remove(&0).expect("found");
        figures[0].picture(&[findings], &made()).svg()
    };
    assert_eq!(svg(), svg());
}

#[test]
fn every_engine_can_run_what_it_is_said_to_show() {
    for figure in ALL {
        for engine in figure.engines {
            assert!(!batch([figure], Length::Whole, *engine).runs().is_empty());
        }
    }
}

#[test]
fn a_picture_says_what_was_run_and_whether_that_was_all() {
    let figure = &ALL[0];
    let findings = [found(&[figure]).remove(&0).expect("found")];
    let less = "Quick run, with ";
    let quick = figure.picture(&findings, &made());
    assert!(quick.caption[0].starts_with(less) && quick.caption[0].contains("duration = 5s"));
    assert_eq!(quick.caption[1], "One run of 10 Mbit/s.");
    let whole = Made {
        less: None,
        ..made()
    };
    let whole = figure.picture(&findings, &whole);
    assert!(!whole.caption.iter().any(|line| line.starts_with(less)));
}

#[test]
fn every_study_of_a_figure_has_a_caption() {
    let shelf = Shelf::built_in(STUDIES_DIRECTORY);
    for figure in ALL {
        let runs = figure.runs(&shelf, Length::Whole).expect(figure.name);
        let is_study = matches!(runs, Source::Study(_));
        assert_eq!(runs.caption().is_some(), is_study, "{}", figure.name);
    }
}

#[test]
fn every_file_of_a_figure_is_one() {
    let names = Shelf::built_in(STUDIES_DIRECTORY).names().expect("figures");
    for name in names {
        assert!(ALL.iter().any(|figure| figure.name == name), "{name}");
    }
}
