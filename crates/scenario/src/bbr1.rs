//! A group's settings of BBR, if that is its controller: `bbr1`.

use congestion::bbr1::Config;
use document::{DocumentError, Reason};
use serde::{Deserialize, Deserializer, Serialize};
use units::bounds::{count_as_text, gain, positive, whole};
use units::{Duration, Ratio};

/// The differences of the group's BBR from the kernel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr1Spec {
    /// `variant`: the implementation that it follows.
    pub variant: Variant,
    /// `high_gain`: Startup's gain, of the pacing rate and of the window.
    #[serde(deserialize_with = "growing")]
    pub high_gain: Option<Ratio>,
    /// `drain_gain`: Drain's pacing gain; the inverse of `high_gain` if not given.
    #[serde(deserialize_with = "drain")]
    pub drain_gain: Option<Ratio>,
    /// `startup_rounds`: the number of rounds without growth that end Startup.
    #[serde(deserialize_with = "plateau", serialize_with = "count_as_text")]
    pub startup_rounds: Option<u64>,
    /// `peak_gain`: the pacing gain of the phase that probes for bandwidth.
    #[serde(deserialize_with = "probing")]
    pub peak_gain: Option<Ratio>,
    /// `trough_gain`: the pacing gain of the phase after it; as much below 1 as `peak_gain` is above if not given.
    #[serde(deserialize_with = "trough")]
    pub trough_gain: Option<Ratio>,
    /// `cycle_phases`: the number of phases of the gain cycle.
    #[serde(deserialize_with = "cycle", serialize_with = "count_as_text")]
    pub cycle_phases: Option<u64>,
    /// `random_phase`: true if the gain cycle starts at a random phase.
    #[serde(rename = "random_phase")]
    pub is_first_phase_random: Option<bool>,
    /// `btl_bw_window`: the number of round trips for which a delivery rate is remembered.
    #[serde(deserialize_with = "rounds", serialize_with = "count_as_text")]
    pub btl_bw_window: Option<u64>,
    /// `rtprop_window`: the time for which an RTT is remembered.
    pub rtprop_window: Option<Duration>,
    /// `probe_rtt_duration`: the time that ProbeRTT stays at its minimum window.
    #[serde(deserialize_with = "positive")]
    pub probe_rtt_duration: Option<Duration>,
    /// `cwnd_gain`: the window after the pipe is full, as a multiple of the estimated BDP.
    #[serde(deserialize_with = "filling")]
    pub cwnd_gain: Option<Ratio>,
    /// `policer_model`: true to detect policers.
    #[serde(rename = "policer_model")]
    pub has_policer_model: Option<bool>,
    /// `packet_conservation`: true if the first round after a loss conserves packets.
    #[serde(rename = "packet_conservation")]
    pub conserves_packets: Option<bool>,
    /// `departure_model`: true if phases end by the data that will be in the network at the next departure.
    #[serde(rename = "departure_model")]
    pub has_departure_model: Option<bool>,
    /// `equal_rtt_renews`: true if an RTT equal to RTprop postpones ProbeRTT.
    #[serde(rename = "equal_rtt_renews")]
    pub does_equal_rtt_renew: Option<bool>,
    /// `probe_room`: true if the phase with `peak_gain` has two packets more.
    #[serde(rename = "probe_room")]
    pub has_probe_room: Option<bool>,
    /// `window_room`: true if the window has room for bursts and for the data that wait in the end hosts.
    #[serde(rename = "window_room")]
    pub is_end_host_budgeted: Option<bool>,
}

/// The implementation that BBR follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "variant", rename_all = "lowercase")]
pub enum Variant {
    /// `linux`: the present kernel, with its additions.
    #[default]
    Linux,
    /// `linux-4.19`: the kernel of the publications' years.
    #[serde(rename = "linux-4.19")]
    Linux419,
    /// `paper`: as published in 2016.
    Paper,
}

impl Variant {
    /// Its name in scenarios.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Linux => "linux",
            Variant::Linux419 => "linux-4.19",
            Variant::Paper => "paper",
        }
    }
}

/// A name stands for a table with that variant.
impl From<Variant> for Bbr1Spec {
    fn from(variant: Variant) -> Bbr1Spec {
        Bbr1Spec {
            variant,
            ..Bbr1Spec::default()
        }
    }
}

fn filling<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    let reason = "does not fill the pipe; give 1 or more";
    gain(deserializer, |gain| (gain < Ratio::ONE).then_some(reason))
}

fn growing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    let reason = "does not let the rate grow; give more than 1, such as 2.885";
    gain(deserializer, |gain| (gain <= Ratio::ONE).then_some(reason))
}

fn drain<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    draining(deserializer, "0.35")
}

fn trough<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    draining(deserializer, "0.75")
}

fn draining<'de, D: Deserializer<'de>>(
    deserializer: D,
    example: &str,
) -> Result<Option<Ratio>, D::Error> {
    gain(deserializer, |gain| {
        let why = match () {
            () if gain < MIN_GAIN => "all but stops the flow",
            () if gain > Ratio::ONE => "drains no queue",
            () => return None,
        };
        Some(format!(
            "{why}; give at least 0.01 and at most 1, such as {example}"
        ))
    })
}

fn probing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    gain(deserializer, |gain| {
        let why = match () {
            () if gain < Ratio::ONE => "is less than 1 and probes for nothing",
            () if gain >= TWO => TOO_LARGE_A_PEAK,
            () => return None,
        };
        Some(format!(
            "{why}; give at least 1 and less than 2, such as 1.25"
        ))
    })
}

fn cycle<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let reason = "is out of range: a cycle has 2 to 255 phases";
    whole(deserializer, 2..=255, reason)
}

fn plateau<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let reason = "rounds are no plateau; give 1 to 255";
    whole(deserializer, 1..=255, reason)
}

fn rounds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let reason = "round trips are no window; give 1 to 1000000";
    whole(deserializer, 1..=1_000_000, reason)
}

const TWO: Ratio = Ratio::new(2, 1);

/// The minimum of gains. With a lower one, the flow hardly moves.
const MIN_GAIN: Ratio = Ratio::new(1, 100);

const TOO_LARGE_A_PEAK: &str = "is too large: the next phase could not drain its queue";

/// The minimum of `rtprop_window`. A shorter one is below the RTT of long paths, whose RTprop would be forgotten
/// before it is used.
const MIN_RTPROP_WINDOW: Duration = Duration::from_millis(100);

/// Returns 2 − `gain`.
fn opposite(gain: Ratio) -> Ratio {
    let twice = gain.denominator().saturating_mul(2);
    Ratio::new(twice.saturating_sub(gain.numerator()), gain.denominator())
}

impl Bbr1Spec {
    /// Checks that the fields are consistent.
    pub(crate) fn check(&self) -> Result<(), DocumentError> {
        let config = self.config();
        if let Some(peak) = self.peak_gain
            && config.trough_gain < MIN_GAIN
        {
            let fix = "; give at most 1.99, or a trough_gain";
            let reason = Reason::of(peak.as_f64()).words(format!(" {TOO_LARGE_A_PEAK}{fix}"));
            return Err(DocumentError::new("peak_gain", reason));
        }
        let (window, probe) = (config.rtprop_window, config.probe_rtt_duration);
        if window >= MIN_RTPROP_WINDOW && window > probe {
            return Ok(());
        }
        Err(match self.rtprop_window {
            Some(_) => {
                let reason = format!(
                    " is too short; give at least {MIN_RTPROP_WINDOW}, and more than probe_rtt_duration, which is {probe}"
                );
                DocumentError::new("rtprop_window", Reason::of(window).words(reason))
            }
            None => {
                let reason =
                    format!(" is too long; give less than rtprop_window, which is {window}");
                DocumentError::new("probe_rtt_duration", Reason::of(probe).words(reason))
            }
        })
    }

    /// Returns the controller's settings.
    pub fn config(&self) -> Config {
        let base = match self.variant {
            Variant::Linux => Config::linux(),
            Variant::Linux419 => Config::linux_4_19(),
            Variant::Paper => Config::paper(),
        };
        Config {
            high_gain: self.high_gain.unwrap_or(base.high_gain),
            drain_gain: (self.drain_gain)
                .or(self.high_gain.map(Ratio::inverse))
                .unwrap_or(base.drain_gain),
            startup_rounds: (self.startup_rounds)
                .and_then(|rounds| rounds.try_into().ok())
                .unwrap_or(base.startup_rounds),
            peak_gain: self.peak_gain.unwrap_or(base.peak_gain),
            trough_gain: (self.trough_gain)
                .or(self.peak_gain.map(opposite))
                .unwrap_or(base.trough_gain),
            cycle_phases: (self.cycle_phases)
                .and_then(|phases| phases.try_into().ok())
                .unwrap_or(base.cycle_phases),
            is_first_phase_random: (self.is_first_phase_random)
                .unwrap_or(base.is_first_phase_random),
            btl_bw_window: self.btl_bw_window.unwrap_or(base.btl_bw_window),
            rtprop_window: self.rtprop_window.unwrap_or(base.rtprop_window),
            probe_rtt_duration: self.probe_rtt_duration.unwrap_or(base.probe_rtt_duration),
            cwnd_gain: self.cwnd_gain.unwrap_or(base.cwnd_gain),
            has_policer_model: self.has_policer_model.unwrap_or(base.has_policer_model),
            conserves_packets: self.conserves_packets.unwrap_or(base.conserves_packets),
            has_departure_model: self.has_departure_model.unwrap_or(base.has_departure_model),
            does_equal_rtt_renew: (self.does_equal_rtt_renew).unwrap_or(base.does_equal_rtt_renew),
            has_probe_room: self.has_probe_room.unwrap_or(base.has_probe_room),
            is_end_host_budgeted: (self.is_end_host_budgeted).unwrap_or(base.is_end_host_budgeted),
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scenario;

    fn scenario(controller: &str, bbr1: &str) -> Result<Scenario, DocumentError> {
        let flow = format!("[[flow]]\ncontroller = \"{controller}\"\nbbr1 = {bbr1}\n");
        format!("name = \"x\"\nduration = \"1s\"\n{flow}").parse()
    }

    #[test]
    fn a_variant_and_what_is_different_about_it() {
        let text = "{ variant = \"paper\", cwnd_gain = 1, policer_model = false, departure_model = true, \
                    equal_rtt_renews = true, window_room = true, probe_room = false, random_phase = false, \
                    packet_conservation = false, startup_rounds = 2 }";
        let read = scenario("bbr1", text).unwrap();
        let config = read.flows[0].bbr1.unwrap().config();
        let expected = Config {
            cwnd_gain: config.cwnd_gain,
            has_policer_model: false,
            has_departure_model: true,
            does_equal_rtt_renew: true,
            is_end_host_budgeted: true,
            has_probe_room: false,
            is_first_phase_random: false,
            conserves_packets: false,
            startup_rounds: 2,
            ..Config::paper()
        };
        assert_eq!(config, expected);
        assert!(config.cwnd_gain == Ratio::ONE);
        assert_eq!(read.to_string().parse(), Ok(read));
        for (name, config) in [
            ("linux", Config::linux()),
            ("linux-4.19", Config::linux_4_19()),
            ("paper", Config::paper()),
        ] {
            let named = scenario("bbr1", &format!("{name:?}")).unwrap();
            let spec = named.flows[0].bbr1.unwrap();
            assert_eq!((spec.config(), spec.variant.name()), (config, name));
            assert_eq!(named.to_string().parse(), Ok(named));
        }
        let of_its_time = Config::linux_4_19();
        assert!(!of_its_time.has_departure_model && of_its_time.does_equal_rtt_renew);
        assert_eq!(of_its_time.extra_acked_gain, Ratio::ZERO);
    }

    #[test]
    fn a_gain_brings_its_counterpart_and_windows_are_as_given() {
        let text = "{ high_gain = 2, peak_gain = 1.1, cycle_phases = 6, btl_bw_window = 5, \
                    rtprop_window = \"2s\", probe_rtt_duration = \"50ms\" }";
        let read = scenario("bbr1", text).unwrap();
        let expected = Config {
            high_gain: Ratio::new(2, 1),
            drain_gain: Ratio::new(1, 2),
            peak_gain: Ratio::new(11, 10),
            trough_gain: Ratio::new(9, 10),
            cycle_phases: 6,
            btl_bw_window: 5,
            rtprop_window: Duration::from_secs(2),
            probe_rtt_duration: Duration::from_millis(50),
            ..Config::linux()
        };
        assert_eq!(read.flows[0].bbr1.unwrap().config(), expected);
        assert_eq!(read.to_string().parse(), Ok(read));
        let own = scenario(
            "bbr1",
            "{ peak_gain = 1.995, trough_gain = 0.9, drain_gain = 0.5 }",
        );
        let own = own.unwrap().flows[0].bbr1.unwrap().config();
        assert_eq!(own.trough_gain, Ratio::new(9, 10));
        assert_eq!(own.drain_gain, Ratio::new(1, 2));
        assert_eq!(own.high_gain, Config::linux().high_gain);
    }

    #[test]
    fn what_makes_no_sense_is_answered() {
        for (text, reason) in [
            ("\"papers\"", "flow.bbr1: papers is not a known variant"),
            (
                "{ cwnd_gain = 0.5 }",
                "flow.bbr1.cwnd_gain: 0.5 does not fill the pipe",
            ),
            ("{ high_gain = 1 }", "flow.bbr1.high_gain: 1 does not let"),
            (
                "{ high_gain = 5 }",
                "flow.bbr1.high_gain: 5 is too large; give a number such as 1.25; at most 4.29",
            ),
            (
                "{ cwnd_gain = \"two\" }",
                "flow.bbr1.cwnd_gain: \"two\": give a number such as 1.25; at most 4.29",
            ),
            (
                "{ drain_gain = 0.009 }",
                "flow.bbr1.drain_gain: 0.009 all but stops the flow; give at least 0.01 and at most 1, such as 0.35",
            ),
            (
                "{ peak_gain = 2 }",
                "flow.bbr1.peak_gain: 2 is too large: the next phase could not drain its queue; give at least 1 and less than 2, such as 1.25",
            ),
            ("{ peak_gain = 9 }", "flow.bbr1.peak_gain: 9 is too large: "),
            (
                "{ peak_gain = 1.995 }",
                "flow.bbr1.peak_gain: 1.995 is too large: the next phase could not drain its queue; give at most 1.99, or a trough_gain",
            ),
            (
                "{ peak_gain = 0.9 }",
                "flow.bbr1.peak_gain: 0.9 is less than 1 and probes for nothing; give",
            ),
            (
                "{ trough_gain = 1.2 }",
                "flow.bbr1.trough_gain: 1.2 drains no queue; give at least 0.01 and at most 1, such as 0.75",
            ),
            (
                "{ cycle_phases = 256 }",
                "flow.bbr1.cycle_phases: 256 is out of range: a cycle has 2 to 255 phases",
            ),
            ("{ btl_bw_window = 0 }", "flow.bbr1.btl_bw_window: 0 round"),
            (
                "{ startup_rounds = 0 }",
                "flow.bbr1.startup_rounds: 0 rounds are no plateau; give 1 to 255",
            ),
            (
                "{ rtprop_window = \"0s\" }",
                "flow.bbr1.rtprop_window: 0s is too short; give at least 100ms",
            ),
            (
                "{ rtprop_window = \"99ms\", probe_rtt_duration = \"50ms\" }",
                "flow.bbr1.rtprop_window: 99ms is too short; give at least 100ms, and more than probe_rtt_duration, which is 50ms",
            ),
            (
                "{ rtprop_window = \"200ms\" }",
                "flow.bbr1.rtprop_window: 200ms is too short; give at least 100ms, and more than probe_rtt_duration, which is 200ms",
            ),
            (
                "{ probe_rtt_duration = \"10s\" }",
                "flow.bbr1.probe_rtt_duration: 10s is too long; give less than rtprop_window, which is 10s",
            ),
            (
                "{ probe_rtt_duration = \"0s\" }",
                "flow.bbr1.probe_rtt_duration",
            ),
            ("{ cwnd = 2 }", "flow.bbr1.cwnd: unknown key"),
        ] {
            let error = scenario("bbr1", text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
