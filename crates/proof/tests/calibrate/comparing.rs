//! The verdicts of comparisons, and their presentation.

use proof::calibrate::{
    Calibration, Comparison, Observation, Quantity, Verdict, compare, json, page, section, table,
    tally,
};
use report::Origin;

use crate::support::{of_sim, seen, small};

fn bbr1(more: &str) -> Calibration {
    of_sim(&[small(more)], &["bbr1-*"], 3)
}

fn compared<'c>(
    calibration: &'c Calibration,
    first: &[Observation],
    second: &[Observation],
) -> Comparison<'c> {
    compare(&calibration.cases[0], [first, second])
}

#[test]
fn medians_are_judged_by_their_tolerances() {
    // RTprop is 20 ms.
    let calibration = bbr1("");
    for (goodput, srtt, verdict, outliers) in [
        (100, 30.0, Verdict::Agrees, &[][..]),
        (95, 32.0, Verdict::Agrees, &[]),
        (105, 28.0, Verdict::Agrees, &[]),
        (94, 30.0, Verdict::Differs, &[Quantity::GOODPUT]),
        (100, 32.1, Verdict::Differs, &[Quantity::RTT]),
        (
            106,
            27.9,
            Verdict::Differs,
            &[Quantity::GOODPUT, Quantity::RTT],
        ),
    ] {
        let first = [seen(1, 1.0), seen(100, 30.0), seen(200, 90.0)];
        let second = [seen(goodput, srtt), seen(goodput, srtt)];
        let comparison = compared(&calibration, &first, &second);
        let found: Vec<Quantity> = comparison.outliers().map(|one| one.quantity).collect();
        assert_eq!(
            (comparison.verdict(), found.as_slice()),
            (verdict, outliers)
        );
        let goodput = comparison.get(Quantity::GOODPUT).unwrap();
        assert!(goodput.overlaps(), "1 to 200 has all of them");
    }
    let apart = compared(&calibration, &[seen(1, 1.0)], &[seen(2, 1.0)]);
    assert!(!apart.get(Quantity::GOODPUT).unwrap().overlaps());
    assert_eq!(apart.remark(), "goodput: not explained");
}

#[test]
fn what_only_one_engine_tells_is_no_agreement() {
    let calibration = bbr1("");
    let comparison = compared(&calibration, &[seen(1, 1.0)], &[seen(1, None)]);
    assert_eq!(comparison.verdict(), Verdict::Differs);
    let neither = compared(&calibration, &[seen(1, None)], &[seen(1, None)]);
    assert_eq!(neither.verdict(), Verdict::Agrees);
    assert!(neither.get(Quantity::RTT).is_none());
    let missing = compared(&calibration, &[seen(1, 1.0)], &[]);
    assert_eq!(missing.verdict(), Verdict::Missing);
    let nothing = compared(&calibration, &[seen(0, 1.0)], &[seen(0, 1.0)]);
    assert_eq!(nothing.verdict(), Verdict::Agrees);
    let from_nothing = compared(&calibration, &[seen(0, 1.0)], &[seen(1, 1.0)]);
    assert_eq!(from_nothing.verdict(), Verdict::Differs);
}

#[test]
fn explanations_are_of_cases_and_quantities() {
    const BOTH: &str = "[[explained]]\ncase = \"bbr1-*\"\nbecause = \"tired\"";
    const GOODPUT: &str =
        "[[explained]]\ncase = \"*\"\nquantity = \"goodput_bps\"\nbecause = \"tired\"";
    const OTHER: &str = "[[explained]]\ncase = \"cubic-*\"\nbecause = \"tired\"";
    let slow = [seen(50, 30.0)];
    let late = [seen(50, 40.0)];
    for (text, second, verdict, remark) in [
        (BOTH, &slow, Verdict::Explained, "goodput: tired"),
        (
            BOTH,
            &late,
            Verdict::Explained,
            "goodput: tired; RTT p50: tired",
        ),
        (GOODPUT, &slow, Verdict::Explained, "goodput: tired"),
        (
            GOODPUT,
            &late,
            Verdict::Differs,
            "goodput: tired; RTT p50: not explained",
        ),
        (OTHER, &slow, Verdict::Differs, "goodput: not explained"),
    ] {
        let calibration = bbr1(text);
        let comparison = compared(&calibration, &[seen(100, 30.0)], second);
        assert_eq!(comparison.verdict(), verdict, "{text}");
        assert_eq!(comparison.remark(), remark);
    }
    let calibration = bbr1(BOTH);
    let same = compared(&calibration, &slow, &slow);
    assert_eq!(
        (same.verdict(), same.remark().as_str()),
        (Verdict::Agrees, "ok")
    );
}

#[test]
fn tables_say_what_differs_and_count_it() {
    let calibration = of_sim(
        &[small(
            "[[explained]]\ncase = \"cubic-*\"\nbecause = \"a|b\"",
        )],
        &[],
        1,
    );
    let [bbr1, cubic] = &calibration.cases[..] else {
        panic!("two cases")
    };
    let comparisons = [
        compare(
            bbr1,
            [&[seen(100, 30.0), seen(102, 30.0)], &[seen(101, 30.4)]],
        ),
        compare(cubic, [&[seen(100, 30.0)], &[seen(80, 25.0)]]),
    ];
    let counted = tally(&comparisons);
    assert_eq!(
        (counted.explained, counted.differs, counted.missing),
        (1, 0, 0)
    );
    let counts = "goodput within 5 %: 1 of 2 cases; RTT p50 within 10 % of RTprop: 1 of 2 cases; \
                  outliers: 1 explained, 0 not";
    assert_eq!(counted.text(), counts);

    let shown = table(["linux", "sim"], &comparisons, None);
    let lines: Vec<Vec<&str>> = shown
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let heading = [lines[0].join(" "), lines[1].join(" ")].join(" / ");
    assert_eq!(
        heading,
        "case goodput, goodput, goodput RTT p50, RTT p50, RTT p50 verdict / linux sim differs linux sim differs, of RTprop"
    );
    assert_eq!(
        lines[2],
        [
            "bbr1-small",
            "101",
            "Mbit/s",
            "101",
            "Mbit/s",
            "+0.0",
            "%",
            "30.0",
            "ms",
            "30.4",
            "ms",
            "+2.0",
            "%",
            "ok"
        ]
    );
    assert!(
        lines[3]
            .join(" ")
            .ends_with("−25.0 % goodput: a|b; RTT p50: a|b"),
        "{shown}"
    );
    assert_eq!(shown.lines().last(), Some(counts));

    let section = section(["linux", "sim"], &comparisons, &["From here.".to_string()]);
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with('|'))
        .collect();
    let cells = |row: &str| row.replace("\\|", "").matches('|').count();
    assert_eq!(rows.len(), 4);
    assert!(
        rows.iter().all(|row| cells(row) == cells(rows[0])),
        "{section}"
    );
    assert!(section.starts_with("From here.\n\n") && section.contains(counts));
    assert!(
        rows[2].contains("| 101 Mbit/s (100–102) | 101 Mbit/s | +0.0 % |"),
        "{section}"
    );
    assert!(rows[3].contains("goodput: a\\|b"), "{section}");

    let json = json(&calibration, &comparisons, ["Linux 7", "fullpipe 1"], &[]);
    assert_eq!(json["cases"][1]["verdict"], "explained");
    let goodput = &json["cases"][1]["quantities"]["goodput_bps"];
    assert_eq!(goodput["sides"][0]["median"], 100e6);
    assert_eq!(goodput["difference"], -0.2);
    assert_eq!(goodput["explanation"], "a|b");
    assert_eq!(json["within"]["srtt_p50_ms"]["within"], 1);
    // A narrow terminal drops the measured values, then the differences.
    for columns in [60, 80] {
        let narrow = table(["linux", "sim"], &comparisons, Some(columns));
        let rows = narrow.lines().take(4);
        assert!(
            rows.clone().all(|row| row.chars().count() <= columns),
            "{narrow}"
        );
        assert!(
            narrow.contains("no room for: ") && narrow.contains("RTT p50, linux"),
            "{narrow}"
        );
    }
}

#[test]
fn the_page_has_what_differs_most_first_and_needs_no_network() {
    let calibration = of_sim(&[small("")], &[], 1);
    let [bbr1, cubic] = &calibration.cases[..] else {
        panic!("two cases")
    };
    let same = [vec![seen(100, 30.0)], vec![seen(100, 30.0)]];
    let apart = [vec![seen(100, 30.0)], vec![seen(80, 30.0)]];
    let compared = [(bbr1, &same), (cubic, &apart)].map(|(case, runs)| {
        let [first, second] = runs;
        let observations = runs.each_ref().map(|runs| runs.iter().collect());
        (compare(case, [first, second]), observations)
    });
    let origin = Origin {
        command: "fullpipe-proof calibrate '<x>'".to_string(),
        generated: std::time::UNIX_EPOCH,
    };
    let page = page(
        ["linux", "sim"],
        &compared,
        &["<note>".to_string()],
        &origin,
    );
    let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(at("<a href=\"#case-0\">cubic-small") < at("<a href=\"#case-1\">bbr1-small"));
    assert!(at("id=\"case-0\"") < at("id=\"case-1\""));
    assert!(at("&#60;note&#62;") > 0 && !page.contains("<note>"));
    for part in ["http://", "https://", "src=", "{{"] {
        let found = page.match_indices(part).map(|(at, _)| &page[at..at + 60]);
        let links: Vec<&str> = found.filter(|text| !text.contains("w3.org")).collect();
        assert!(
            links.iter().all(|text| text.contains("leeoniya")),
            "{links:?}"
        );
    }
}
