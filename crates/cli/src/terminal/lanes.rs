//! The display of a running race: one bar for each lane on a terminal, plain lines elsewhere.

use std::sync::{Arc, Mutex, OnceLock};

use indicatif::ProgressBar;
use lab::Progress;
use program::bars::Bars;
use program::bars::lock;
use program::human;
use studies::race::{Payload, Race};
use tables::numbers;
use units::{Duration, Rate};

/// The lanes of a race. Nothing is drawn before the race has started.
pub struct Lanes<'r> {
    race: &'r Race,
    // Dropped before the group of the bars, which then clears the rest.
    lanes: OnceLock<Vec<Lane>>,
    bars: Bars,
}

struct Lane {
    name: String,
    bar: ProgressBar,
    latest: Arc<Mutex<Option<Progress>>>,
}

impl Lanes<'_> {
    pub fn new(race: &Race) -> Lanes<'_> {
        Lanes {
            race,
            lanes: OnceLock::new(),
            bars: Bars::default(),
        }
    }

    /// Prints the description of the race, and draws the lanes.
    fn start(&self) -> Vec<Lane> {
        let race = self.race;
        let what = match &race.payload {
            Payload::Noise(bytes) => numbers::bytes(*bytes),
            Payload::File(file) => file.display().to_string(),
            Payload::Endless => "as much as fits".to_owned(),
        };
        let until = race
            .duration
            .map_or(String::new(), |duration| format!(" in {duration}"));
        let how = if race.share {
            ", on one bottleneck"
        } else {
            ""
        };
        let path = report::describe(&race.path);
        self.bars
            .say(format_args!("{what}{until} over {path}{how}"));
        let controllers: Vec<&str> = race.controllers.iter().map(|kind| kind.name()).collect();
        let names = report::names(&controllers);
        let width = names.iter().map(String::len).max().unwrap_or(0);
        let lanes = names.into_iter().map(|name| {
            let name = format!("{name:width$}");
            let latest = Arc::new(Mutex::new(None));
            let shown = latest.clone();
            let bar = self.bars.add(&name, 0, move |_| {
                let latest: Option<Progress> = *lock(&shown);
                latest.map(|progress| parts(&progress)).unwrap_or_default()
            });
            if let (Payload::Endless, Some(duration)) = (&race.payload, race.duration) {
                bar.set_length(duration.as_nanos());
            }
            Lane { name, bar, latest }
        });
        lanes.collect()
    }

    /// Shows the progress of a lane.
    pub fn show(&self, progress: &Progress) {
        let lanes = self.lanes.get_or_init(|| self.start());
        let Some(lane) = lanes.get(progress.flow) else {
            return;
        };
        let before = lock(&lane.latest).replace(*progress);
        match progress.total {
            Some(total) => {
                lane.bar.set_length(total.get());
                lane.bar.set_position(progress.delivered.get());
            }
            None => lane.bar.set_position(progress.at.as_nanos()),
        }
        let was_done = before.is_some_and(|before| before.is_done);
        if progress.is_done && !was_done && !Bars::are_visible() {
            let name = lane.name.trim_end();
            self.bars
                .say(format_args!("{name}: {}", line(progress).trim_start()));
        }
    }
}

/// `18.6 Mbit/s`, `RTT 41.2 ms`, `4 s left`, `ProbeBW`; at the end `18.6 Mbit/s`, `done in 3.62 s`, or `cut off after
/// 3.62 s` if the transfer is incomplete.
fn parts(progress: &Progress) -> Vec<String> {
    let rate = format!("{:>11}", human::rate(progress.rate));
    if progress.is_done {
        let span = human::duration(progress.at);
        let is_complete = progress
            .total
            .is_none_or(|total| progress.delivered == total);
        let end = if is_complete {
            "done in"
        } else {
            "cut off after"
        };
        return vec![rate, format!("{end} {span}")];
    }
    let rtt = progress.rtt.map(human::duration).unwrap_or_default();
    let left = time_left(progress).map(|left| human::time_left(left) + " left");
    vec![
        rate,
        format!("RTT {rtt:>7}"),
        format!("{:>9}", left.unwrap_or_default()),
        progress.state.map_or("", |state| state.name).to_owned(),
    ]
}

/// All [`parts`] on one line.
fn line(progress: &Progress) -> String {
    parts(progress).join("  ")
}

/// The time for the rest at the present rate.
fn time_left(progress: &Progress) -> Option<Duration> {
    let rest = progress.total? - progress.delivered;
    (progress.rate > Rate::ZERO).then(|| progress.rate.time_for(rest))
}

#[cfg(test)]
mod tests {
    use congestion::ControllerKind;
    use lab::Progress;
    use scenario::Controller;
    use units::{Bytes, Duration, Rate};

    use super::line;

    const PROGRESS: Progress = Progress {
        flow: 0,
        controller: Controller::Ours(ControllerKind::Cubic),
        at: Duration::from_millis(2_000),
        delivered: Bytes::new(1_000_000),
        total: Some(Bytes::new(8_000_000)),
        rate: Rate::from_bits_per_sec(18_640_000),
        rtt: Some(Duration::from_micros(41_230)),
        state: Some(congestion::loss_based::states::CONGESTION_AVOIDANCE),
        is_done: false,
    };

    #[test]
    fn a_lane_in_eighty_columns() {
        let line = line(&PROGRESS);
        assert_eq!(
            line,
            "18.6 Mbit/s  RTT 41.2 ms   4 s left  CongestionAvoidance"
        );
        // The text before it: "cubic #2", a space, the bar, " 100%" and two spaces.
        let rest = 8 + 1 + 5 + 2;
        assert!(line.len() + rest + 8 <= 80, "{line}");
    }

    #[test]
    fn only_what_is_complete_is_done() {
        let end = Progress {
            is_done: true,
            ..PROGRESS
        };
        assert!(line(&end).ends_with("cut off after 2.00 s"));
        let delivered = Bytes::new(8_000_000);
        assert!(line(&Progress { delivered, ..end }).ends_with("done in 2.00 s"));
        assert!(line(&Progress { total: None, ..end }).ends_with("done in 2.00 s"));
    }
}
