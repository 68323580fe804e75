//! The controllers that a kernel can run.

use units::{Duration, Ratio};

use crate::parameters::{Parameter, Value};

/// A controller that a kernel can run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// BBRv1 with Linux's settings (`congestion::bbr1::Config::linux`).
    Bbr1,
    /// BBRv3 of the draft (`congestion::bbr3::Config::tcp`).
    Bbr3,
}

impl Algorithm {
    /// All controllers.
    pub const ALL: &'static [Algorithm] = &[Algorithm::Bbr1, Algorithm::Bbr3];

    /// Its name in Fullpipe.
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Bbr1 => "bbr1",
            Algorithm::Bbr3 => "bbr3",
        }
    }

    /// Its name in the kernel (`TCP_CONGESTION`).
    pub const fn kernel_name(self) -> &'static str {
        match self {
            Algorithm::Bbr1 => "fullpipe_bbr1",
            Algorithm::Bbr3 => "fullpipe_bbr3",
        }
    }

    /// Its parameters, in the order of `struct config` in its `config.h`.
    pub const fn parameters(self) -> &'static [Parameter] {
        match self {
            Algorithm::Bbr1 => BBR1,
            Algorithm::Bbr3 => BBR3,
        }
    }
}

units::by_name!(Algorithm, "controller");

const BBR1: &[Parameter] = &[
    Parameter::new("high-gain", Value::Gain(Ratio::new(2885, 1000))),
    Parameter::new("drain-gain", Value::Gain(Ratio::new(1000, 2885))),
    Parameter::new("peak-gain", Value::Gain(Ratio::new(5, 4))),
    Parameter::new("trough-gain", Value::Gain(Ratio::new(3, 4))),
    Parameter::new("cwnd-gain", Value::Gain(Ratio::new(2, 1))),
    Parameter::new("pacing-margin", Value::Share(Ratio::new(1, 100))),
    Parameter::new("extra-acked-gain", Value::Share(Ratio::ONE)),
    Parameter::new("cycle-phases", Value::Count(8)),
    Parameter::new("btl-bw-window", Value::Count(10)),
    Parameter::new("rtprop-window", Value::Duration(Duration::from_secs(10))),
    Parameter::new(
        "probe-rtt-duration",
        Value::Duration(Duration::from_millis(200)),
    ),
    Parameter::new("policer-model", Value::Switch(true)),
];

const BBR3: &[Parameter] = &[
    Parameter::new("startup-pacing-gain", Value::Gain(Ratio::new(277, 100))),
    Parameter::new("drain-pacing-gain", Value::Gain(Ratio::new(1, 2))),
    Parameter::new("down-pacing-gain", Value::Gain(Ratio::new(9, 10))),
    Parameter::new("up-pacing-gain", Value::Gain(Ratio::new(5, 4))),
    Parameter::new("cwnd-gain", Value::Gain(Ratio::new(2, 1))),
    Parameter::new("up-cwnd-gain", Value::Gain(Ratio::new(9, 4))),
    Parameter::new("probe-rtt-cwnd-gain", Value::Gain(Ratio::new(1, 2))),
    Parameter::new("pacing-margin", Value::Share(Ratio::new(1, 100))),
    Parameter::new("loss-threshold", Value::Share(Ratio::new(2, 100))),
    Parameter::new("beta", Value::Share(Ratio::new(7, 10))),
    Parameter::new("headroom", Value::Share(Ratio::new(15, 100))),
    Parameter::new("min-rtt-window", Value::Duration(Duration::from_secs(10))),
    Parameter::new(
        "probe-rtt-interval",
        Value::Duration(Duration::from_secs(5)),
    ),
    Parameter::new(
        "probe-rtt-duration",
        Value::Duration(Duration::from_millis(200)),
    ),
    Parameter::new("least-probe-wait", Value::Duration(Duration::from_secs(2))),
    Parameter::new("random-probe-wait", Value::Duration(Duration::from_secs(1))),
    Parameter::new("most-probe-rounds", Value::Count(63)),
    Parameter::new("full-losses", Value::Count(6)),
    Parameter::new("offload-quanta", Value::Count(3)),
    Parameter::new("ecn", Value::Switch(false)),
    Parameter::new("ecn-max-rtt", Value::Duration(Duration::from_millis(5))),
    Parameter::new("ignore-self-limited", Value::Switch(false)),
    Parameter::new("bbr1-min-rtt", Value::Switch(false)),
];
