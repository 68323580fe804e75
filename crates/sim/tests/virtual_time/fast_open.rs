//! TCP Fast Open (RFC 7413): its savings.

use congestion::{AnyController, Bytes, ControllerKind, Duration, Rate};
use sim::{Config, FlowConfig, Id, Observer, Simulation, dumbbell};
use transport::app::{self, Poisson, Requests, Sizes, Transfer};
use transport::sender::FastOpen;

use crate::support::{at_millis, mbit, millis, path};

const RTT: Duration = millis_of(100);

const fn millis_of(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The time of each object, in round trips.
#[derive(Default)]
struct Took(Vec<f64>);

impl Observer<AnyController> for Took {
    fn on_transfer(&mut self, _: Id, transfer: &Transfer) {
        self.0
            .push(transfer.took().as_secs_f64() / RTT.as_secs_f64());
    }
}

fn took(app: app::Config, fast_open: FastOpen) -> Vec<f64> {
    let rate: Rate = mbit(10_000);
    let mut flow = FlowConfig::new(ControllerKind::Cubic);
    flow.app = app;
    flow.sender.fast_open = fast_open;
    let config = Config {
        end: Some(at_millis(60_000)),
        ..dumbbell(path(rate, RTT, rate.bytes_in(RTT)), vec![flow])
    };
    let mut simulation = Simulation::new(config, Took::default()).unwrap();
    simulation.run();
    let Took(took) = simulation.into_observer();
    // In hundredths.
    took.into_iter()
        .map(|rtts| (rtts * 100.0).round() / 100.0)
        .collect()
}

#[test]
fn an_object_that_fits_the_syn_comes_a_round_trip_earlier() {
    for (bytes, off, known) in [(1_000, 1.5, 0.5), (1_420, 1.5, 0.5), (1_421, 1.5, 1.5)] {
        let app = app::Config::Transfer {
            bytes: Bytes::new(bytes),
        };
        assert_eq!(took(app.clone(), FastOpen::Off), [off], "{bytes}");
        assert_eq!(took(app.clone(), FastOpen::Known), [known], "{bytes}");
        // The only connection has no earlier one to get the cookie from.
        assert_eq!(took(app, FastOpen::On), [off], "{bytes}");
    }
}

#[test]
fn the_first_answer_comes_a_round_trip_earlier() {
    for response in [200, 10_000, 40_000] {
        let app = app::Config::Requests(Requests {
            response: Sizes::Fixed(Bytes::new(response)),
            count: Some(3),
            ..Requests::default()
        });
        let [off, known] = [FastOpen::Off, FastOpen::Known].map(|it| took(app.clone(), it));
        assert!((off[0] - known[0] - 1.0).abs() < 0.011, "{off:?} {known:?}");
        // The connection stays open, so later requests save nothing.
        assert!((off[1] - known[1]).abs() < 0.011, "{off:?} {known:?}");
    }
}

#[test]
fn a_cookie_serves_all_connections_after_the_first() {
    let app = app::Config::Poisson(Poisson {
        interval: millis(500),
        sizes: Sizes::Fixed(Bytes::new(1_000)),
        connections: app::Connections::New,
        count: Some(20),
    });
    let took = took(app, FastOpen::On);
    // Connections that are opened before the first answer have no cookie either.
    let slow = took.iter().filter(|took| **took == 1.5).count();
    let fast = took.iter().filter(|took| **took == 0.5).count();
    assert_eq!((took[0], slow + fast, took.len()), (1.5, 20, 20));
    assert!(slow <= 3, "{took:?}");
}
