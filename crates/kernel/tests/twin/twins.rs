//! The same controller in both languages.

use congestion::{
    AnyController, Bytes, Connection, Controller, Duration, Ratio, Settings, Time, bbr1, bbr3,
};

use crate::event::Event;
use crate::host::{Host, SnapshotWords};

/// A controller with its settings, in Rust and in C.
pub struct Twins {
    host: Host,
    pub settings: Settings,
    /// The same settings as `struct config`.
    pub words: Vec<u64>,
}

impl Twins {
    pub fn bbr1() -> Twins {
        let config = bbr1::Config::linux();
        Twins {
            host: Host::of("bbr1/snapshot.h"),
            settings: Settings::Bbr1(config),
            words: vec![
                word(config.high_gain),
                word(config.drain_gain),
                word(config.peak_gain),
                word(config.trough_gain),
                word(config.cwnd_gain),
                word(config.pacing_margin),
                word(config.extra_acked_gain),
                config.cycle_phases.into(),
                config.btl_bw_window,
                config.rtprop_window.as_nanos(),
                config.probe_rtt_duration.as_nanos(),
                config.has_policer_model.into(),
            ],
        }
    }

    /// The draft's constants are constants in Rust too, so the words are here.
    pub fn bbr3() -> Twins {
        Twins::of_bbr3(bbr3::Config::tcp())
    }

    /// BBRv3 that responds to ECN marks, also on longer paths, so that more connections are eligible.
    pub fn bbr3_with_ecn() -> Twins {
        Twins::of_bbr3(bbr3::Config {
            ecn: Some(bbr3::EcnConfig {
                max_rtt: Duration::from_millis(50),
            }),
            ..bbr3::Config::tcp()
        })
    }

    /// BBRv3 that ignores losses while it sends slowly on purpose.
    pub fn bbr3_without_self_limited() -> Twins {
        Twins::of_bbr3(bbr3::Config {
            ignore_self_limited: true,
            ..bbr3::Config::tcp()
        })
    }

    /// BBRv3 with BBRv1's least RTT.
    pub fn bbr3_with_bbr1_min_rtt() -> Twins {
        Twins::of_bbr3(bbr3::Config {
            bbr1_min_rtt: true,
            ..bbr3::Config::tcp()
        })
    }

    fn of_bbr3(config: bbr3::Config) -> Twins {
        let seconds = |seconds| Duration::from_secs(seconds).as_nanos();
        let gains = [
            (277, 100),
            (1, 2),
            (9, 10),
            (5, 4),
            (2, 1),
            (9, 4),
            (1, 2),
            (1, 100),
            (2, 100),
            (7, 10),
            (15, 100),
        ];
        let gains = gains.map(|(numerator, denominator)| word(Ratio::new(numerator, denominator)));
        let mut words = gains.to_vec();
        words.extend([
            seconds(10),
            seconds(5),
            Duration::from_millis(200).as_nanos(),
            seconds(2),
            seconds(1),
            63,
            6,
            config.offload_quanta.into(),
            config.ecn.is_some().into(),
            config
                .ecn
                .unwrap_or(bbr3::EcnConfig::linux())
                .max_rtt
                .as_nanos(),
            config.ignore_self_limited.into(),
            config.bbr1_min_rtt.into(),
        ]);
        Twins {
            host: Host::of("bbr3/snapshot.h"),
            settings: Settings::Bbr3(config),
            words,
        }
    }

    /// The controller in Rust.
    pub fn make(&self, connection: Connection) -> AnyController {
        AnyController::on_host(self.settings, connection)
    }

    /// A controller without history, as a placeholder.
    pub fn any(&self) -> AnyController {
        self.make(Connection::new(Time::ZERO, Bytes::new(1), Bytes::new(1)))
    }

    /// Fails at the first event after which the two differ. A new connection begins with an event at the front.
    pub fn compare(&self, events: &[Event]) {
        let mut rust = self.any();
        let mut before = SnapshotWords::default();
        self.host.run(&self.words, events, |index, c| {
            events[index].happen(&mut rust, |connection| self.make(connection));
            let seen = seen(&rust);
            assert!(
                seen == c,
                "event {index}: {:?}\nbefore: {before:?}\nRust:   {seen:?}\nC:      {c:?}\n{rust:#?}",
                events[index]
            );
            before = seen;
        });
    }
}

fn word(ratio: Ratio) -> u64 {
    u64::from(ratio.denominator()) << 32 | u64::from(ratio.numerator())
}

/// `struct snapshot`.
pub fn seen(controller: &AnyController) -> SnapshotWords {
    let snapshot = controller.snapshot();
    let states = match controller {
        AnyController::Bbr1(_) => bbr1::states::ALL,
        AnyController::Bbr3(_) => bbr3::states::ALL,
        other => panic!("no twin of {other:?}"),
    };
    let state = states.iter().position(|state| *state == snapshot.state);
    [
        snapshot.cwnd.get(),
        snapshot.pacing_rate.bytes_per_sec(),
        snapshot.send_quantum.get(),
        state.expect("a state") as u64,
        snapshot.btl_bw.unwrap_or_default().bytes_per_sec(),
        snapshot.rtprop.map_or(u64::MAX, |rtt| rtt.as_nanos()),
        word(snapshot.pacing_gain.expect("a gain")),
        word(snapshot.cwnd_gain.expect("a gain")),
        snapshot.round,
        snapshot
            .short_term_bw
            .map_or(u64::MAX, |bw| bw.bytes_per_sec()),
        snapshot.short_term_inflight.map_or(u64::MAX, Bytes::get),
        snapshot.long_term_inflight.map_or(u64::MAX, Bytes::get),
    ]
}
