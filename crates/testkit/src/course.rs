//! The courses. Each has a path, an application and the rules that are judged.

use congestion::{ControllerKind, Duration, Rate, Ratio, Time};
use path::{Aggregation, Buffer, Capacity, Effects, LinkConfig, Loss, PathConfig, Reorder};

use crate::report::{Fault, Report};
use crate::rules::Judge;
use crate::setting::{
    BURST_OF_LOSSES, CHANGE_INTERVAL, MAX_ACK_HOLD, NARROW_WINDOW_PACKETS, PACE, QUANTUM_PACKETS,
    RATE, RTPROP, SECOND, SHORT_SILENCE, SLOW_PACE, WIDE_WINDOW_PACKETS,
};
use crate::transport::{Knows, Transport};
use crate::witness::{Conduct, Probe, Rates};
use crate::world::{Wire, World};

const PACED: Conduct = Conduct::Fixed {
    cwnd_packets: WIDE_WINDOW_PACKETS,
    rate: Rates::always(PACE),
    quantum_packets: QUANTUM_PACKETS,
    recovery_packets: WIDE_WINDOW_PACKETS,
};

/// The effects of the path on data and ACKs.
#[derive(Default)]
struct Ways {
    data: Effects,
    acks: Effects,
}

fn path(ways: Ways) -> PathConfig {
    let way = LinkConfig {
        delay: RTPROP / 2,
        ..LinkConfig::default()
    };
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(RATE),
            buffer: Buffer::Bytes(RATE.bytes_in(RTPROP) * 4),
            effects: ways.data,
            ..way.clone()
        },
        // Two ACKs never arrive at the same instant, unless they are held back.
        reverse: LinkConfig {
            capacity: Capacity::Rate(Rate::from_bits_per_sec(1_000_000_000)),
            effects: ways.acks,
            ..way
        },
    }
}

fn lossy() -> Ways {
    let data = Effects {
        loss: Loss::Independent(Ratio::new(1, 100)),
        ..Effects::default()
    };
    Ways {
        data,
        ..Ways::default()
    }
}

/// The application writes 100 kB and pauses, and then `more` runs. This happens five times.
fn in_portions<T: Transport>(world: &mut World<T>, mut more: impl FnMut(&mut World<T>)) {
    world.run(SECOND);
    for _ in 0..5 {
        world.write(100_000);
        world.run(SECOND);
        more(world);
    }
}

/// The application writes `bytes`. All packets that leave within `span` are lost. Later retransmissions are not.
fn lose<T: Transport>(world: &mut World<T>, bytes: u64, span: Duration) {
    world.set(Wire::LosesSent);
    world.write(bytes);
    world.run(span);
    world.set(Wire::Open);
}

/// One run of the transport.
struct Course<'r, T: Transport> {
    world: Option<World<T>>,
    name: &'static str,
    report: &'r mut Report,
}

impl<'r, T: Transport> Course<'r, T> {
    fn new(
        report: &'r mut Report,
        name: &'static str,
        conduct: Conduct,
        ways: Ways,
        connect: &mut impl FnMut(Probe) -> T,
    ) -> Course<'r, T> {
        report.courses.push(name);
        let probe = Probe::new(conduct);
        let world = World::new(probe.clone(), connect(probe), path(ways));
        Course {
            world,
            name,
            report,
        }
    }

    /// Runs `act`, and judges from `from` on with the rules of `look`.
    fn judge(
        self,
        from: Duration,
        act: impl FnOnce(&mut World<T>),
        look: impl FnOnce(&mut Judge<'_>),
    ) {
        let Some(mut world) = self.world else { return };
        act(&mut world);
        let told = world.told();
        let mut judge = Judge {
            course: self.name,
            report: self.report,
            from: Time::ZERO + from,
            until: world.now,
            departures: &world.departures,
            written: world.written,
            received: world.transport.received(),
            told: &told,
        };
        if world.never_stops {
            let at = world.now.since(Time::ZERO);
            judge.find(Fault::NeverStops, format!("at {at}"));
            return;
        }
        judge.times();
        judge.accounts();
        look(&mut judge);
    }
}

/// Connects a transport for each course, sends over it, and reports the errors. `connect` makes both ends. The controller of the
/// sending end comes from the probe.
pub fn check<T: Transport>(knows: &Knows, mut connect: impl FnMut(Probe) -> T) -> Report {
    let mut report = Report::default();
    let connect = &mut connect;

    Course::new(&mut report, "paced", PACED, Ways::default(), connect).judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 6);
        },
        |judge| {
            judge.pacing();
            judge.inflight();
            judge.round_trips();
            judge.delivery_rates(1.25);
            judge.full_use(false);
            judge.no_losses();
            judge.no_idle_restarts();
        },
    );

    let changing = Rates {
        both: [PACE, SLOW_PACE],
        each: CHANGE_INTERVAL,
    };
    let conduct = Conduct::Fixed {
        cwnd_packets: WIDE_WINDOW_PACKETS,
        rate: changing,
        quantum_packets: QUANTUM_PACKETS,
        recovery_packets: WIDE_WINDOW_PACKETS,
    };
    Course::new(&mut report, "rates", conduct, Ways::default(), connect).judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 8);
        },
        |judge| judge.pacing_follows(changing),
    );

    let held = Ways {
        acks: Effects {
            aggregation: Some(Aggregation {
                interval: MAX_ACK_HOLD,
            }),
            ..Effects::default()
        },
        ..Ways::default()
    };
    Course::new(&mut report, "held ACKs", PACED, held, connect).judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 4);
        },
        // A rate that is measured from the packet's departure alone, without the time since the previous ACK, is up to twice as high.
        |judge| judge.delivery_rates(1.35),
    );

    let narrow = Conduct::Fixed {
        cwnd_packets: NARROW_WINDOW_PACKETS,
        rate: Rates::always(Rate::from_bits_per_sec(1_000_000_000)),
        quantum_packets: NARROW_WINDOW_PACKETS,
        recovery_packets: NARROW_WINDOW_PACKETS / 2,
    };
    Course::new(&mut report, "window", narrow, Ways::default(), connect).judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 4);
        },
        |judge| {
            judge.window();
            judge.inflight();
            judge.full_use(true);
        },
    );

    Course::new(&mut report, "requests", PACED, Ways::default(), connect).judge(
        SECOND,
        |world| in_portions(world, |_| {}),
        |judge| {
            judge.all_acked_told();
            judge.pauses();
            judge.inflight();
            // The handshake may have pauses of its own.
            judge.idle_restarts(4);
            judge.no_losses();
            judge.told_when_they_leave();
            judge.each_sent_told();
            judge.no_sample_spans_a_pause();
        },
    );

    Course::new(
        &mut report,
        "after requests",
        PACED,
        Ways::default(),
        connect,
    )
    .judge(
        SECOND * 2 + RTPROP * 4,
        |world| {
            world.run(SECOND);
            world.write(100_000);
            world.run(SECOND);
            world.write(u64::MAX);
            world.run(SECOND * 3);
        },
        |judge| {
            judge.full_use(false);
            judge.delivery_rates(1.25);
        },
    );

    Course::new(&mut report, "losses", PACED, lossy(), connect).judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 10);
        },
        |judge| {
            judge.losses();
            judge.whose_losses();
            judge.inflight();
            judge.prior_inflight();
            judge.prior_inflight_is_fresh();
            judge.recoveries();
            judge.settlements();
            judge.shortest_round_trip();
        },
    );

    Course::new(&mut report, "repeats", PACED, Ways::default(), connect).judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND);
            for _ in 0..5 {
                world.lose_next(BURST_OF_LOSSES);
                world.run(SECOND);
            }
        },
        |judge| judge.repeats_are_paced(),
    );

    Course::new(
        &mut report,
        "repeats, window",
        narrow,
        Ways::default(),
        connect,
    )
    .judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND);
            for _ in 0..5 {
                world.lose_next(8);
                world.run(SECOND);
            }
        },
        |judge| judge.repeats_fit(),
    );

    Course::new(&mut report, "loss timer", PACED, Ways::default(), connect).judge(
        SECOND,
        |world| {
            in_portions(world, |world| {
                // One packet is lost, and one follows it. This is too little to show the loss without a timer: there are too few
                // packets, and less than an eighth of a round trip has passed (RFC 9002, "Time Threshold").
                let packet = world.mss().get() * 5 / 6;
                lose(world, packet, RTPROP / 16);
                world.write(packet);
                world.run(SECOND * 3);
            });
        },
        |judge| {
            judge.found_by_timer(4, 5);
            judge.settlements();
        },
    );

    Course::new(&mut report, "lost tail", PACED, Ways::default(), connect).judge(
        SECOND,
        |world| {
            in_portions(world, |world| {
                lose(world, 4_000, RTPROP / 4);
                world.run(SECOND * 3);
            });
        },
        |judge| {
            // A probe that retransmits a lost packet may repair the loss before it is found.
            judge.found_by_timer(1, 2);
            judge.settlements();
            judge.each_sent_told();
        },
    );

    Course::new(
        &mut report,
        "short silence",
        PACED,
        Ways::default(),
        connect,
    )
    .judge(
        SECOND,
        |world| {
            in_portions(world, |world| {
                world.write(20_000);
                world.run(RTPROP / 4);
                world.set(Wire::Held);
                world.run(SHORT_SILENCE);
                world.set(Wire::Open);
                world.run(SECOND);
            });
        },
        |judge| {
            judge.no_timeouts();
            judge.no_losses();
            judge.each_sent_told();
            judge.all_arrived();
        },
    );

    let reordering = Ways {
        data: Effects {
            reorder: Some(Reorder {
                share: Ratio::new(1, 1_000),
                by: Duration::from_millis(15),
            }),
            ..Effects::default()
        },
        ..Ways::default()
    };
    let knows_spurious = knows.spurious_losses;
    Course::new(&mut report, "reordering", PACED, reordering, connect).judge(
        SECOND,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 8);
        },
        |judge| {
            if knows_spurious {
                judge.undone();
            } else {
                judge.note("spurious losses are not judged: the transport cannot detect them");
            }
        },
    );

    let knows_timeouts = knows.timeouts;
    Course::new(&mut report, "silence", PACED, Ways::default(), connect).judge(
        SECOND * 8,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 2);
            world.set(Wire::Cut);
            world.run(SECOND * 4);
            world.set(Wire::Open);
            world.run(SECOND * 10);
        },
        |judge| {
            judge.resumed();
            judge.prior_inflight_is_fresh();
            if knows_timeouts {
                judge.timeouts();
            } else {
                judge.note("timeouts are not judged: the transport has none");
            }
        },
    );

    let whole = Conduct::Of(ControllerKind::Bbr3);
    Course::new(&mut report, "bbr3", whole, lossy(), connect).judge(
        SECOND * 2,
        |world| {
            world.write(u64::MAX);
            world.run(SECOND * 12);
        },
        |judge| judge.whole(RATE),
    );
    report
}
