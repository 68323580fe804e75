//! A group's settings of CUBIC, if that is its controller: `cubic`.

use congestion::cubic::{self, Config, HyStartVariant};
use serde::{Deserialize, Deserializer, Serialize};
use units::Ratio;
use units::bounds::gain;

/// The differences of the group's CUBIC from the kernel's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CubicSpec {
    /// `variant`: the implementation that it follows.
    pub variant: Variant,
    /// `c`: the speed with which the window leaves and approaches its last maximum, in packets/s³.
    #[serde(deserialize_with = "rising")]
    pub c: Option<Ratio>,
    /// `beta`: the remaining share of the window after a loss or a mark.
    #[serde(deserialize_with = "reducing")]
    pub beta: Option<Ratio>,
    /// `fast_convergence`: true if a flow whose window does not reach its last maximum releases more.
    pub fast_convergence: Option<bool>,
    /// `hystart`: the variant of HyStart in slow start, if any.
    pub hystart: Option<HyStart>,
}

/// The implementation that CUBIC follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "variant", rename_all = "lowercase")]
pub enum Variant {
    /// `linux`: the kernel's, in whole packets, with its HyStart.
    #[default]
    Linux,
    /// `rfc9438`: the RFC's, in bytes, with HyStart++.
    Rfc9438,
}

/// The variant of HyStart in slow start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "HyStart", rename_all = "lowercase")]
pub enum HyStart {
    /// `off`: none.
    Off,
    /// `linux`: the kernel's, the original.
    Linux,
    /// `rfc9406`: HyStart++.
    Rfc9406,
}

/// A name stands for a table with that variant.
impl From<Variant> for CubicSpec {
    fn from(variant: Variant) -> CubicSpec {
        CubicSpec {
            variant,
            ..CubicSpec::default()
        }
    }
}

fn rising<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    let reason = "lets no window grow; give more than 0, such as 0.4";
    gain(deserializer, |c| (c == Ratio::ZERO).then_some(reason))
}

fn reducing<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Ratio>, D::Error> {
    gain(deserializer, |beta| match beta {
        beta if beta == Ratio::ZERO => {
            Some("leaves nothing of the window; give more than 0, such as 0.7")
        }
        beta if beta >= Ratio::ONE => Some("is not a reduction; give less than 1, such as 0.7"),
        _ => None,
    })
}

impl CubicSpec {
    /// Returns the controller's settings.
    pub fn config(&self) -> Config {
        let base = Config::default();
        let (variant, hystart) = match self.variant {
            Variant::Linux => (cubic::Variant::Linux, HyStartVariant::Linux),
            Variant::Rfc9438 => (cubic::Variant::Rfc9438, HyStartVariant::Rfc9406),
        };
        Config {
            variant,
            c: self.c.unwrap_or(base.c),
            beta: self.beta.unwrap_or(base.beta),
            ecn_beta: self.beta.unwrap_or(base.ecn_beta),
            fast_convergence: self.fast_convergence.unwrap_or(base.fast_convergence),
            hystart: match self.hystart {
                None => Some(hystart),
                Some(HyStart::Off) => None,
                Some(HyStart::Linux) => Some(HyStartVariant::Linux),
                Some(HyStart::Rfc9406) => Some(HyStartVariant::Rfc9406),
            },
            ..base
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::DocumentError;

    use crate::Scenario;

    fn scenario(cubic: &str) -> Result<Scenario, DocumentError> {
        let flow = format!("[[flow]]\ncontroller = \"cubic\"\ncubic = {cubic}\n");
        format!("name = \"x\"\nduration = \"1s\"\n{flow}").parse()
    }

    #[test]
    fn a_variant_and_what_is_different_about_it() {
        let own = Config {
            c: Ratio::new(4, 5),
            beta: Ratio::new(4, 5),
            ecn_beta: Ratio::new(4, 5),
            fast_convergence: false,
            hystart: None,
            ..Config::default()
        };
        let rfc = Config {
            variant: cubic::Variant::Rfc9438,
            hystart: Some(HyStartVariant::Rfc9406),
            ..Config::default()
        };
        let mixed = Config {
            hystart: Some(HyStartVariant::Rfc9406),
            ..Config::default()
        };
        let text = "{ c = 0.8, beta = 0.8, fast_convergence = false, hystart = \"off\" }";
        for (text, config) in [
            ("\"linux\"", Config::default()),
            ("\"rfc9438\"", rfc),
            (text, own),
            ("{ hystart = \"rfc9406\" }", mixed),
        ] {
            let read = scenario(text).unwrap();
            assert_eq!(read.flows[0].cubic.unwrap().config(), config);
            assert_eq!(read.to_string().parse(), Ok(read));
        }
    }

    #[test]
    fn what_makes_no_sense_is_answered() {
        for (text, reason) in [
            ("\"bic\"", "flow.cubic: bic is not a known variant"),
            ("{ beta = 0 }", "flow.cubic.beta: 0 leaves nothing"),
            ("{ beta = 1 }", "flow.cubic.beta: 1 is not a reduction"),
            ("{ beta = 5 }", "flow.cubic.beta: 5 is not a reduction"),
            (
                "{ beta = \"most\" }",
                "flow.cubic.beta: \"most\": give a number such as 1.25; at most 4.29",
            ),
            ("{ c = 0 }", "flow.cubic.c: 0 lets no window grow"),
            (
                "{ c = 4.3 }",
                "flow.cubic.c: 4.3 is too large; give a number such as 1.25; at most 4.29",
            ),
            (
                "{ hystart = \"on\" }",
                "flow.cubic.hystart: on is not a known",
            ),
        ] {
            let error = scenario(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
