//! Impossible links are refused with the field and the fix.

use path::{
    Buffer, Capacity, Change, CoDel, Demand, Discipline, DualPi2, Effects, FqCoDel, GilbertElliott,
    Link, LinkConfig, Loss, Path, PathConfig, Policer, Red, Reorder,
};
use units::{Bytes, Duration, Rate, Ratio, Time};

fn refusal(config: LinkConfig) -> String {
    let error = Link::<()>::new(config, 0).expect_err("it makes no sense");
    let text = error.to_string();
    assert_eq!(text, format!("{} {}", error.field(), error.problem()));
    text
}

fn none() -> LinkConfig {
    LinkConfig::default()
}

fn change(millis: u64, rate: Option<Rate>) -> Change {
    Change {
        at: Time::ZERO + Duration::from_millis(millis),
        rate,
        delay: rate.is_some().then_some(Duration::ZERO),
        mtu: None,
    }
}

#[test]
fn rates_and_buffers() {
    assert_eq!(
        refusal(LinkConfig {
            capacity: Capacity::Rate(Rate::ZERO),
            ..none()
        }),
        "rate is zero: nothing would move; give a rate such as 20mbit"
    );
    assert_eq!(
        refusal(LinkConfig {
            buffer: Buffer::Bytes(Bytes::new(1499)),
            ..none()
        }),
        "buffer of 1.499kb is smaller than one packet; give at least 1.5kb"
    );
    assert_eq!(
        refusal(LinkConfig {
            buffer: Buffer::Packets(0),
            ..none()
        }),
        "buffer of no packets lets nothing through; give at least 1"
    );
}

#[test]
fn shares_above_one() {
    let above = Ratio::new(6, 5);
    assert_eq!(
        refusal(LinkConfig {
            effects: Effects {
                loss: Loss::Independent(above),
                ..Effects::default()
            },
            ..none()
        }),
        "loss of 120% is above 100%; give a share from 0% to 100%"
    );
    let good = GilbertElliott {
        p: Ratio::ONE,
        r: Ratio::ONE,
        loss_good: Ratio::ONE,
        loss_bad: Ratio::ONE,
    };
    for (field, model) in [
        ("loss.p", GilbertElliott { p: above, ..good }),
        ("loss.r", GilbertElliott { r: above, ..good }),
        (
            "loss.loss_good",
            GilbertElliott {
                loss_good: above,
                ..good
            },
        ),
        (
            "loss.loss_bad",
            GilbertElliott {
                loss_bad: above,
                ..good
            },
        ),
    ] {
        let text = refusal(LinkConfig {
            effects: Effects {
                loss: Loss::GilbertElliott(model),
                ..Effects::default()
            },
            ..none()
        });
        assert!(text.starts_with(&format!("{field} of 120%")), "{text}");
    }
    let text = refusal(LinkConfig {
        effects: Effects {
            duplicate: above,
            ..Effects::default()
        },
        ..none()
    });
    assert!(text.starts_with("duplicate of 120%"), "{text}");
    let text = refusal(LinkConfig {
        effects: Effects {
            corruption: above,
            ..Effects::default()
        },
        ..none()
    });
    assert!(text.starts_with("corruption of 120%"), "{text}");
    let text = refusal(LinkConfig {
        effects: Effects {
            reorder: Some(Reorder {
                share: above,
                by: Duration::from_millis(1),
            }),
            ..Effects::default()
        },
        ..none()
    });
    assert!(text.starts_with("reorder.share of 120%"), "{text}");
}

#[test]
fn queues() {
    let codel = CoDel::default();
    let fq_codel = FqCoDel::default();
    let dualpi2 = DualPi2::default();
    let red = Red::new(Bytes::new(30_000), Bytes::new(90_000));
    for (start, queue) in [
        (
            "queue.target is zero",
            Discipline::CoDel(CoDel {
                target: Duration::ZERO,
                ..codel
            }),
        ),
        (
            "queue.interval of 100ms is shorter than the target of 101ms",
            Discipline::CoDel(CoDel {
                target: Duration::from_millis(101),
                ..codel
            }),
        ),
        (
            "queue.flows of 0 is not a possible number",
            Discipline::FqCoDel(FqCoDel {
                flows: 0,
                ..fq_codel
            }),
        ),
        (
            "queue.flows of 65537 is not a possible number",
            Discipline::FqCoDel(FqCoDel {
                flows: 65_537,
                ..fq_codel
            }),
        ),
        (
            "queue.quantum of 255b is too small",
            Discipline::FqCoDel(FqCoDel {
                quantum: Bytes::new(255),
                ..fq_codel
            }),
        ),
        (
            "queue.target is zero",
            Discipline::FqCoDel(FqCoDel {
                target: Duration::ZERO,
                ..fq_codel
            }),
        ),
        (
            "queue.target is zero",
            Discipline::DualPi2(DualPi2 {
                target: Duration::ZERO,
                ..dualpi2
            }),
        ),
        (
            "queue.tupdate of 999us is too short; give at least 1ms",
            Discipline::DualPi2(DualPi2 {
                tupdate: Duration::from_micros(999),
                ..dualpi2
            }),
        ),
        (
            "queue.coupling_factor is zero",
            Discipline::DualPi2(DualPi2 {
                coupling_factor: Ratio::ZERO,
                ..dualpi2
            }),
        ),
        (
            "queue.classic_protection of 120% is above 100%",
            Discipline::DualPi2(DualPi2 {
                classic_protection: Ratio::new(6, 5),
                ..dualpi2
            }),
        ),
        (
            "queue.max is zero",
            Discipline::Red(Red {
                max: Bytes::ZERO,
                ..red
            }),
        ),
        (
            "queue.min of 90.001kb is above the max of 90kb",
            Discipline::Red(Red {
                min: Bytes::new(90_001),
                ..red
            }),
        ),
        (
            "queue.probability of 120% is above 100%",
            Discipline::Red(Red {
                probability: Ratio::new(6, 5),
                ..red
            }),
        ),
    ] {
        let text = refusal(LinkConfig {
            effects: Effects {
                queue,
                ..Effects::default()
            },
            ..none()
        });
        assert!(text.starts_with(start), "{text}");
    }
}

#[test]
fn policers_that_let_nothing_through() {
    for (start, rate, burst) in [
        ("policer.rate is zero", Rate::ZERO, 3_000),
        ("policer.burst of 1kb", Rate::MAX, 1_000),
    ] {
        let text = refusal(LinkConfig {
            effects: Effects {
                policer: Some(Policer {
                    rate,
                    burst: Bytes::new(burst),
                }),
                ..Effects::default()
            },
            ..none()
        });
        assert!(text.starts_with(start), "{text}");
    }
}

#[test]
fn demands() {
    let good = Demand {
        interval: Duration::from_millis(10),
        within: Duration::from_millis(20),
        least: Rate::from_bits_per_sec(1_000_000),
    };
    let rate = Capacity::Rate(good.least);
    let trace = Capacity::Trace("1\n".parse().expect("a trace"));
    for (start, capacity, demand) in [
        ("demand needs a `rate`", Capacity::Unlimited, good),
        ("demand cannot be combined with a `trace`", trace, good),
        (
            "demand.least is above the link's `rate`",
            Capacity::Rate(Rate::from_bits_per_sec(999_992)),
            good,
        ),
        (
            "demand.least is zero",
            rate.clone(),
            Demand {
                least: Rate::ZERO,
                ..good
            },
        ),
        (
            "demand.within is zero",
            rate.clone(),
            Demand {
                within: Duration::ZERO,
                ..good
            },
        ),
        (
            "demand.interval is zero",
            rate.clone(),
            Demand {
                interval: Duration::ZERO,
                ..good
            },
        ),
    ] {
        let text = refusal(LinkConfig {
            capacity,
            effects: Effects {
                demand: Some(demand),
                ..Effects::default()
            },
            ..none()
        });
        assert!(text.starts_with(start), "{text}");
    }
    Link::<()>::new(
        LinkConfig {
            capacity: rate,
            effects: Effects {
                demand: Some(good),
                ..Effects::default()
            },
            ..none()
        },
        0,
    )
    .expect("the least may be the most");
}

#[test]
fn changes() {
    let trace = Capacity::Trace("1\n".parse().expect("a trace"));
    for (start, capacity, changes) in [
        (
            "change[1].at is before",
            Capacity::Unlimited,
            vec![change(2, Some(Rate::MAX)), change(1, Some(Rate::MAX))],
        ),
        (
            "change[0] changes nothing",
            Capacity::Unlimited,
            vec![change(2, None)],
        ),
        (
            "change[0].rate cannot be combined",
            trace,
            vec![change(2, Some(Rate::MAX))],
        ),
    ] {
        let text = refusal(LinkConfig {
            capacity,
            changes,
            ..none()
        });
        assert!(text.starts_with(start), "{text}");
    }
}

#[test]
fn the_reverse_link_is_named() {
    let config = PathConfig {
        forward: none(),
        reverse: LinkConfig {
            effects: Effects {
                loss: Loss::Independent(Ratio::new(2, 1)),
                ..Effects::default()
            },
            ..none()
        },
    };
    let error = Path::<()>::new(config, 0).expect_err("it makes no sense");
    assert_eq!(error.field(), "reverse.loss");
}
