//! Invalid configurations are refused.

use congestion::{Bytes, ControllerKind, Rate, Ratio, Time};
use path::{Capacity, LinkConfig, Loss, PathConfig};
use sim::{BufferChange, Config, FlowConfig, Simulation, dumbbell};
use transport::app;
use transport::scheduler::SchedulerConfig;

use crate::support::{mbit, millis, path};

fn sound() -> Config {
    let path = path(mbit(10), millis(40), Bytes::new(100_000));
    Config {
        end: Some(Time::ZERO + millis(1_000)),
        ..dumbbell(path, vec![FlowConfig::new(ControllerKind::Reno)])
    }
}

/// The error of a valid configuration that `spoil` has changed.
fn error(spoil: impl FnOnce(&mut Config)) -> String {
    let mut config = sound();
    spoil(&mut config);
    match Simulation::new(config, ()) {
        Ok(_) => "no error".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn errors_name_the_place_and_the_fix() {
    assert_eq!(error(|_| {}), "no error");
    let cases = [
        (
            error(|config| config.links[1].effects.loss = Loss::Independent(Ratio::new(2, 1))),
            "links[1].loss",
        ),
        (
            error(|config| config.hosts[0].nic = Some(Rate::ZERO)),
            "hosts[0].nic is zero",
        ),
        (
            error(|config| config.flows[0].host = 1),
            "flows[0].host is 1, but there are 1",
        ),
        (
            error(|config| config.flows[0].forward.links = vec![2]),
            "flows[0].forward.links names link 2, but there are 2",
        ),
        (
            error(|config| config.flows[0].backward.links.clear()),
            "flows[0].backward.links is empty",
        ),
        (
            error(|config| config.flows[0].receiver.ack_every = 0),
            "flows[0].receiver.ack_every",
        ),
        (
            error(|config| {
                config.flows[0].buffer_changes = vec![BufferChange {
                    at: Time::ZERO,
                    max_buffer: Bytes::new(1_000),
                }];
            }),
            "flows[0].buffer_changes[0].max_buffer of 1kb is smaller than two segments",
        ),
        (
            error(|config| config.flows[0].app = app::Config::Transfer { bytes: Bytes::ZERO }),
            "flows[0].app.bytes",
        ),
        (
            error(|config| config.hosts[0].scheduler = SchedulerConfig::Fifo),
            "flows[0].sender.pacing needs",
        ),
        (error(|config| config.end = None), "flows[0].app never ends"),
    ];
    for (said, expected) in cases {
        assert!(
            said.starts_with(expected),
            "{said:?} is not about {expected:?}"
        );
    }
}

#[test]
fn a_path_that_takes_no_time_is_refused() {
    let nowhere = |forward, reverse| {
        let path = PathConfig { forward, reverse };
        let config = Config {
            end: Some(Time::ZERO + millis(1_000)),
            ..dumbbell(path, vec![FlowConfig::new(ControllerKind::Reno)])
        };
        Simulation::new(config, ())
            .map(drop)
            .map_err(|error| error.to_string())
    };
    let none = LinkConfig::default;
    let error = nowhere(none(), none()).unwrap_err();
    assert!(
        error.starts_with("flows[0].forward and the way back take no time"),
        "{error}"
    );
    let rate = LinkConfig {
        capacity: Capacity::Rate(mbit(10)),
        ..none()
    };
    assert_eq!(nowhere(rate, none()), Ok(()));
    let delay = LinkConfig {
        delay: millis(1),
        ..none()
    };
    assert_eq!(nowhere(none(), delay), Ok(()));
}
