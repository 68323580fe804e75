//! Figure 9: round-trip times of a population of users, by region.

use super::runs::{self, CONTROLLER, StudyRun};
use super::{After, Figure, PAPER, curves};
use crate::study::Population;
use cdn::population::AS_ASSUMED;
use draw::{Axis, Bars, Chart, Look, Picture, Rule, Unit};
use studies::runs::Findings;

pub const FIGURE: Figure = Figure::new(
    "paper-9-population",
    "Median RTT with BBR and with CUBIC, by region",
    After::Figure(PAPER, 9),
    draw,
)
.of(|| Population {
    members: 1_625,
    quick: 39,
    versions: vec![AS_ASSUMED.to_owned(), DEEP.to_owned()],
});

/// The version of the population that comes nearest to the published numbers.
const DEEP: &str = "deep buffers";

const VERSION: &str = "version";
const REGION: &str = "region";
const VARIANT: &str = "flow.bbr1.variant";

/// The published reductions: the average, and the developing world.
const PUBLISHED: [(f64, &str); 2] = [(53.0, "paper: average"), (80.0, "paper: developing")];

/// A controller, with the name and place of its bars.
struct Contender {
    name: &'static str,
    controller: &'static str,
    variant: &'static str,
    side: f64,
    look: fn() -> Look,
}

const BBRS: [Contender; 2] = [
    Contender {
        name: "bbr1 of Linux 4.19",
        controller: "bbr1",
        variant: "linux-4.19",
        side: -0.27,
        look: || curves::look_of("bbr1"),
    },
    Contender {
        name: "the current bbr1",
        controller: "bbr1",
        variant: "linux",
        side: 0.0,
        look: || curves::variant_of("bbr1", 1),
    },
];

const CUBIC: Contender = Contender {
    name: "cubic",
    controller: "cubic",
    variant: "linux",
    side: 0.27,
    look: || curves::look_of("cubic"),
};

/// The width of a bar.
const WIDTH: f64 = 0.25;

impl Contender {
    fn ran(&self, seen: &StudyRun<'_>) -> bool {
        seen.value(CONTROLLER) == self.controller && seen.value(VARIANT) == self.variant
    }

    /// The median of the users' median RTTs, in a region or in all.
    fn rtt(&self, findings: &[Findings], version: &str, region: Option<&str>) -> f64 {
        let seen = runs::all(findings).filter(|seen| {
            let is_there = region.is_none_or(|region| seen.value(REGION) == region);
            is_there && seen.value(VERSION) == version && self.ran(seen)
        });
        let rtts = seen.filter_map(|seen| seen.flows().iter().find_map(|flow| flow.rtt_ms.p50));
        runs::median(rtts)
    }

    /// That of each region.
    fn rtts(&self, findings: &[Findings], version: &str, regions: &[&str]) -> Vec<f64> {
        let rtt = |region: &&str| self.rtt(findings, version, Some(region));
        regions.iter().map(rtt).collect()
    }

    fn bars(&self, heights: &[f64], label: fn(f64) -> String) -> Bars {
        curves::bars(self.name, (self.look)(), (WIDTH, self.side), heights, label)
    }
}

fn draw(findings: &[Findings]) -> Picture {
    let regions = runs::values(findings, REGION);
    let x = || Axis::of_kinds("Region", regions.iter().copied());
    let milliseconds = |version: &str| {
        let bars = BBRS.iter().chain([&CUBIC]).map(|one| {
            let rtts = one.rtts(findings, version, &regions);
            one.bars(&rtts, short)
        });
        // RTTs of 2.5G are a hundred times as long as others.
        let y = Axis::log("Median RTT", Unit::MILLISECONDS, 10.0, 1e5);
        Chart::new(x(), y).titled(version).with_all(bars)
    };
    let lower = |version: &str| {
        let cubic = CUBIC.rtts(findings, version, &regions);
        let bars = BBRS.iter().map(|one| {
            let rtts = one.rtts(findings, version, &regions);
            let pairs = rtts.iter().zip(&cubic);
            let lower: Vec<f64> = pairs.map(|(bbr, cubic)| gain(*bbr, *cubic)).collect();
            one.bars(&lower, |share| format!("{share:.0}"))
        });
        let y = Axis::linear("Lower with BBR", Unit::PERCENT, 0.0, 100.0);
        let chart = Chart::new(x(), y).titled(version).with_all(bars);
        chart.with_all(PUBLISHED.map(|(share, name)| Rule::horizontal(share, name)))
    };
    let charts = [
        milliseconds(AS_ASSUMED),
        lower(AS_ASSUMED),
        milliseconds(DEEP),
        lower(DEEP),
    ];
    let all = |one: &Contender| one.rtt(findings, DEEP, None);
    let [then, now] = BBRS.each_ref().map(|one| gain(all(one), all(&CUBIC)));
    Picture::of("", 1, 240.0, charts).explained(format!(
        "This contradicts the paper, whose users are not public: it has 53 % on average, and more than 80 % in the \
         developing world. \"as assumed\" are access networks drawn from the distributions in scenarios/population.toml, \
         which names their sources and the assumptions; each runs once with each controller, for a minute of video. \
         \"deep buffers\" comes nearest to the paper: in the developing world, buffers of megabytes, nearly steady rates, a \
         jitter of 2 ms, near servers, and hardly any loss, so that CUBIC's queues are long. The gains there are then \
         about as published, but that of all users is {then:.0} % with Linux 4.19, and {now:.0} % with the current BBR. Medians over \
         a region's users of their median RTTs. \"2.5G\" is not a region: it stands for the mobile users of all regions with 8 to 114 kbit/s behind \
         deep buffers, whom the paper mentions only in its text."
    ))
}

/// By how much BBR's RTT is lower, in percent of CUBIC's.
fn gain(bbr: f64, cubic: f64) -> f64 {
    (1.0 - bbr / cubic) * 100.0
}

/// Milliseconds, short enough for a bar: `294`, `3.8 s`.
fn short(ms: f64) -> String {
    if ms < 1e3 {
        format!("{ms:.0}")
    } else {
        format!("{:.1} s", ms / 1e3)
    }
}
