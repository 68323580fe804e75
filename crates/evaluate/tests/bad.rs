//! Controllers that are deliberately bad: each is found by the criterion that is meant for it.
//! docs/results/evaluate.md has what each is found by.

use std::fs;
use std::path::Path;

use congestion::loss_based::{Avoidance, Growth, LossBased, states};
use congestion::{
    Ack, Bytes, Cause, Connection, Controller, Duration, Lost, Rate, Ratio, Recovery, Sent,
    Snapshot, Time,
};
use evaluate::{Criteria, Evaluation, Extent, Subject, Work};
use lab::Cancel;

/// Few seeds: what is bad on purpose is bad on each.
const FEW: Extent = Extent { seeds: 3, paths: 0 };

fn judged<C: Controller + 'static>(subject: &Subject<C>, criterion: &str) -> Evaluation {
    let criteria = Criteria::named(&[criterion]).unwrap();
    let work = Work::new(subject, &criteria, FEW);
    work.run(subject, None, &|_| (), &Cancel::new())
}

/// The criterion finds the bad controller, as docs/results/evaluate.md says.
fn is_found<C: Controller + 'static>(
    name: &str,
    criterion: &str,
    make: impl Fn(Connection) -> C + Send + Sync + 'static,
) {
    let subject = Subject::new(name, make).unwrap();
    let evaluation = judged(&subject, criterion);
    assert_eq!(evaluation.failed, [""; 0]);
    let row = evaluation.row(criterion).unwrap();
    assert!(row.verdict.is_bad(), "{}", evaluation.text(None));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/results/evaluate.md");
    let page = fs::read_to_string(page).unwrap();
    let (verdict, result) = (row.verdict, row.result());
    let told = format!("| `{name}` | `{criterion}` | **{verdict}** | {result} |\n");
    assert!(
        page.contains(&told),
        "docs/results/evaluate.md lacks {told}"
    );
}

/// A growth and a reduction, as constants.
#[derive(Debug, Clone, Copy)]
struct Growing {
    /// Packets more in a round trip.
    packets: u64,
    /// What is left of the window after a loss, and after a mark.
    after_loss: Ratio,
    after_mark: Ratio,
    /// Above so many packets, hardly anything is given up at a loss.
    keeps_above: u64,
    /// The largest window, once there was a loss: what it was then.
    frozen: Option<Bytes>,
    freezes: bool,
}

const RENO: Growing = Growing {
    packets: 1,
    after_loss: Ratio::new(1, 2),
    after_mark: Ratio::new(1, 2),
    keeps_above: u64::MAX,
    frozen: None,
    freezes: false,
};

impl Avoidance for Growing {
    const NAME: &'static str = "growing";

    fn on_congestion(&mut self, cwnd: Bytes, mss: Bytes, cause: Cause) -> Bytes {
        let left = match cause {
            Cause::Ecn => self.after_mark,
            _ if cwnd > mss * self.keeps_above => Ratio::new(19, 20),
            _ => self.after_loss,
        };
        let next = left.of_bytes(cwnd).max(mss * 2);
        if self.freezes {
            self.frozen.get_or_insert(next);
        }
        next
    }

    fn grow(&mut self, on: &Growth) -> Bytes {
        let more = on.mss.get() * self.packets * on.acked.get() / on.cwnd.get().max(1);
        let frozen = self.frozen.map_or(u64::MAX, Bytes::get);
        let grown = (on.cwnd.get() + more).min(frozen);
        Bytes::new(grown.max(on.cwnd.get().min(frozen)))
    }

    fn on_timeout(&mut self) {}
    fn on_app_limited(&mut self, _: Time) {}
    fn on_restart(&mut self) {}
}

fn growing(growing: Growing) -> impl Fn(Connection) -> LossBased<Growing> {
    move |connection| LossBased::of(connection, growing)
}

/// A window and a pacing rate by a rule of its own.
#[derive(Debug)]
struct Ruled {
    mss: Bytes,
    cwnd: Bytes,
    rtt: Duration,
    least_rtt: Duration,
    /// The bytes acknowledged and lost since the last look.
    acked: u64,
    lost: u64,
    /// The time of the next look.
    next: Time,
    /// No growth until then.
    frozen_until: Time,
    /// Whether a burst may leave.
    is_open: bool,
    rule: Rule,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// Always so many packets.
    Fixed(u64),
    /// One packet as soon as there is any queue.
    Timid,
    /// Two packets for a minute after an ACK out of order.
    OrderMatters,
    /// Counts round trips in whole milliseconds, of at least ten.
    CoarseClock,
    /// Two packets for ten seconds after a round with more than 1 % of loss.
    FearsLoss,
    /// The whole window at once when everything is acknowledged, and nothing in between.
    Bursts,
}

impl Ruled {
    fn new(connection: Connection, rule: Rule) -> Ruled {
        Ruled {
            mss: connection.mss,
            cwnd: match rule {
                Rule::Fixed(packets) => connection.mss * packets,
                _ => connection.initial_cwnd,
            },
            rtt: Duration::from_millis(1),
            least_rtt: Duration::MAX,
            acked: 0,
            lost: 0,
            next: Time::ZERO,
            frozen_until: Time::ZERO,
            is_open: true,
            rule,
        }
    }

    fn reno(&mut self, acked: Bytes) {
        let more = self.mss.get() * acked.get() / self.cwnd.get().max(1);
        self.cwnd += Bytes::new(more.max(1));
    }

    fn freeze(&mut self, until: Time) {
        self.cwnd = self.mss * 2;
        self.frozen_until = until;
    }

    fn halve(&mut self) {
        self.cwnd = Bytes::new(self.cwnd.get() / 2).max(self.mss * 2);
    }
}

impl Controller for Ruled {
    fn on_idle_restart(&mut self, _: Time) {}

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.is_open &= sent.inflight + self.mss <= self.cwnd;
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.lost += lost.packet.bytes.get();
    }

    fn on_recovery(&mut self, _: Time, recovery: Recovery, _: Bytes) {
        let responds = !matches!(self.rule, Rule::Fixed(_) | Rule::FearsLoss);
        if responds && matches!(recovery, Recovery::Entered(_)) {
            self.halve();
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if let Some(sample) = ack.rtt {
            self.rtt = sample.rtt;
            self.least_rtt = self.least_rtt.min(sample.rtt);
        }
        self.acked += ack.newly_acked.get();
        match self.rule {
            Rule::Fixed(_) => {}
            Rule::Timid if self.rtt > self.least_rtt + self.least_rtt / 10 => {
                self.cwnd = self.mss * 2;
            }
            Rule::OrderMatters if !ack.is_progress => {
                self.freeze(ack.now + Duration::from_secs(60));
            }
            _ if ack.now < self.frozen_until => {}
            _ => self.reno(ack.newly_acked),
        }
        self.is_open |= ack.inflight <= self.mss;
        if ack.now < self.next {
            return;
        }
        self.next = ack.now + self.rtt;
        if self.rule == Rule::FearsLoss && self.lost * 100 > self.acked {
            self.freeze(ack.now + Duration::from_secs(10));
        }
        (self.acked, self.lost) = (0, 0);
    }

    fn on_timeout(&mut self, _: Time, _: Bytes) {}
    fn on_mtu_change(&mut self, mss: Bytes) {
        self.mss = mss;
    }

    fn cwnd(&self) -> Bytes {
        match self.rule {
            Rule::Bursts if !self.is_open => self.mss,
            _ => self.cwnd.max(self.mss),
        }
    }

    fn pacing_rate(&self) -> Rate {
        let millis = Duration::from_millis(self.rtt.as_nanos() / 1_000_000);
        match self.rule {
            Rule::CoarseClock => {
                Rate::from_transfer(self.cwnd(), millis.max(Duration::from_millis(10)))
            }
            Rule::Bursts => Rate::MAX,
            _ => Rate::from_transfer(self.cwnd() * 2, self.rtt),
        }
    }

    fn send_quantum(&self) -> Bytes {
        match self.rule {
            Rule::Bursts => Bytes::new(1 << 16),
            _ => self.mss * 2,
        }
    }

    fn needs_pacing(&self) -> bool {
        self.rule != Rule::Bursts
    }

    fn snapshot(&self) -> Snapshot {
        let state = states::CONGESTION_AVOIDANCE;
        Snapshot::new("ruled", state, self.cwnd(), self.pacing_rate())
    }
}

fn ruled(rule: Rule) -> impl Fn(Connection) -> Ruled {
    move |connection| Ruled::new(connection, rule)
}

#[test]
fn who_never_backs_off_is_found() {
    is_found("NeverBacksOff", "collapse", ruled(Rule::Fixed(200)));
}

#[test]
fn who_sends_on_while_half_is_lost_is_found() {
    is_found("NeverBacksOff", "persistent-loss", ruled(Rule::Fixed(200)));
}

#[test]
fn who_goes_on_without_feedback_is_found() {
    is_found("NeverBacksOff", "backoff", ruled(Rule::Fixed(200)));
}

#[test]
fn who_trips_a_circuit_breaker_is_found() {
    is_found("NeverBacksOff", "circuit-breaker", ruled(Rule::Fixed(800)));
}

#[test]
fn who_starves_others_is_found() {
    let starver = Growing {
        packets: 30,
        after_loss: Ratio::new(19, 20),
        ..RENO
    };
    is_found("Starver", "harm-cubic", growing(starver));
}

#[test]
fn who_starves_itself_is_found() {
    is_found("Timid", "own-share", ruled(Rule::Timid));
}

#[test]
fn who_fills_buffers_is_found() {
    is_found("FillsBuffers", "bufferbloat", ruled(Rule::Fixed(400)));
}

#[test]
fn who_dies_of_reordering_is_found() {
    is_found("OrderMatters", "reordering", ruled(Rule::OrderMatters));
}

#[test]
fn who_stalls_in_a_data_centre_is_found() {
    is_found("CoarseClock", "data-centre", ruled(Rule::CoarseClock));
}

#[test]
fn who_ignores_marks_is_found() {
    let deaf = Growing {
        after_mark: Ratio::new(1, 1),
        ..RENO
    };
    is_found("IgnoresMarks", "aqm-marks", growing(deaf));
}

#[test]
fn who_fills_the_queue_of_l4s_is_found() {
    is_found("FillsBuffers", "l4s-goodput", ruled(Rule::Fixed(400)));
}

#[test]
fn who_collapses_at_two_percent_of_loss_is_found() {
    is_found("FearsLoss", "radio-loss", ruled(Rule::FearsLoss));
}

#[test]
fn who_leaves_nothing_to_a_later_flow_of_its_own_is_found() {
    // Whoever has a large window keeps it, and the others give way.
    let first = Growing {
        keeps_above: 70,
        ..RENO
    };
    is_found("FirstTakesAll", "late-starter", growing(first));
}

#[test]
fn who_never_takes_up_new_capacity_is_found() {
    let frozen = Growing {
        freezes: true,
        ..RENO
    };
    is_found("NeverTakesUp", "more-rate", growing(frozen));
}

#[test]
fn who_bursts_is_found() {
    is_found("Bursts", "bursts", ruled(Rule::Bursts));
}

/// Reno, written here, is no worse than Reno.
#[test]
fn a_good_controller_is_not_found() {
    let subject = Subject::new("OwnReno", growing(RENO)).unwrap();
    for criterion in [
        "collapse",
        "harm-cubic",
        "harm-reno",
        "aqm-marks",
        "backoff",
        "circuit-breaker",
        "reordering",
    ] {
        let evaluation = judged(&subject, criterion);
        let row = evaluation.row(criterion).unwrap();
        assert!(!row.verdict.is_bad(), "{}", evaluation.text(None));
    }
}

/// A controller that is a reference has one column, and one with other settings has a column of its own.
#[test]
fn a_reference_is_shown_once() {
    let columns = |flow: scenario::FlowSpec| {
        let subject = Subject::built_in(flow);
        let text = judged(&subject, "bufferbloat").text(Some(200));
        let headings = text.lines().find(|line| line.starts_with("RFC"));
        headings.unwrap().matches("bbr1").count()
    };
    let plain = scenario::FlowSpec::new(congestion::ControllerKind::Bbr1.into());
    let mut other = plain.clone();
    other.bbr1 = Some(scenario::Bbr1Spec {
        peak_gain: Some(Ratio::new(3, 2)),
        ..scenario::Bbr1Spec::default()
    });
    assert_eq!(columns(plain), 1);
    assert_eq!(columns(other), 2);
}
