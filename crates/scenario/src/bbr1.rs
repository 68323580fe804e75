//! A group's own settings of BBR, for where that is its controller: `bbr1`.

use congestion::bbr1::Config;
use serde::{Deserialize, Deserializer, Serialize};
use units::Ratio;
use units::bounds::refused;

/// How the group's BBR is different from that of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bbr1Spec {
    /// `variant`: whose BBR it is.
    pub variant: Variant,
    /// `cwnd_gain`: from the estimated BDP to the window once the pipe is full.
    #[serde(deserialize_with = "filling")]
    pub cwnd_gain: Option<Ratio>,
    /// `policer_model`: whether to look for a policer.
    #[serde(rename = "policer_model")]
    pub has_policer_model: Option<bool>,
    /// `departure_model`: whether phases end by what will be in the network at the next departure.
    #[serde(rename = "departure_model")]
    pub has_departure_model: Option<bool>,
}

/// Whose BBR it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "variant", rename_all = "lowercase")]
pub enum Variant {
    /// `linux`: with what the kernel adds.
    #[default]
    Linux,
    /// `linux-4.19`: as the kernel was in the years of the publications.
    #[serde(rename = "linux-4.19")]
    Linux419,
    /// `paper`: as published in 2016.
    Paper,
}

/// A name is short for a table with that variant.
impl From<Variant> for Bbr1Spec {
    fn from(variant: Variant) -> Bbr1Spec {
        Bbr1Spec {
            variant,
            ..Bbr1Spec::default()
        }
    }
}

fn filling<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    let gain = Ratio::deserialize(deserializer)?;
    if gain < Ratio::ONE {
        Err(refused("does not fill the pipe; give 1 or more"))
    } else {
        Ok(Some(gain))
    }
}

impl Bbr1Spec {
    /// What the controller is told.
    pub fn config(&self) -> Config {
        let base = match self.variant {
            Variant::Linux => Config::linux(),
            Variant::Linux419 => Config::linux_4_19(),
            Variant::Paper => Config::paper(),
        };
        Config {
            cwnd_gain: self.cwnd_gain.unwrap_or(base.cwnd_gain),
            has_policer_model: self.has_policer_model.unwrap_or(base.has_policer_model),
            has_departure_model: self.has_departure_model.unwrap_or(base.has_departure_model),
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, ScenarioError};

    fn scenario(controller: &str, bbr1: &str) -> Result<Scenario, ScenarioError> {
        let flow = format!("[[flow]]\ncontroller = \"{controller}\"\nbbr1 = {bbr1}\n");
        format!("name = \"x\"\nduration = \"1s\"\n{flow}").parse()
    }

    #[test]
    fn a_variant_and_what_is_different_about_it() {
        let text =
            "{ variant = \"paper\", cwnd_gain = 1, policer_model = false, departure_model = true }";
        let read = scenario("bbr1", text).unwrap();
        let config = read.flows[0].bbr1.unwrap().config();
        let expected = Config {
            cwnd_gain: config.cwnd_gain,
            has_policer_model: false,
            has_departure_model: true,
            ..Config::paper()
        };
        assert_eq!(config, expected);
        assert!(config.cwnd_gain == Ratio::ONE);
        assert_eq!(read.to_string().parse(), Ok(read));
        for (name, config) in [
            ("linux", Config::linux()),
            ("linux-4.19", Config::linux_4_19()),
        ] {
            let named = scenario("bbr1", &format!("{name:?}")).unwrap();
            assert_eq!(named.flows[0].bbr1.unwrap().config(), config);
            assert_eq!(named.to_string().parse(), Ok(named));
        }
        let of_its_time = Config::linux_4_19();
        assert!(!of_its_time.has_departure_model);
        assert_eq!(of_its_time.extra_acked_gain, Ratio::ZERO);
    }

    #[test]
    fn what_makes_no_sense_is_answered() {
        for (text, reason) in [
            ("\"papers\"", "flow.bbr1: papers is no known variant"),
            (
                "{ cwnd_gain = 0.5 }",
                "flow.bbr1.cwnd_gain: 0.5 does not fill the pipe",
            ),
            ("{ cwnd = 2 }", "flow.bbr1.cwnd: unknown key"),
        ] {
            let error = scenario("bbr1", text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
