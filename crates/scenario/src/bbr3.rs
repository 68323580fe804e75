//! A group's settings of BBRv3, if that is its controller: `bbr3`.

use congestion::bbr3::{Config, EcnConfig};
use serde::{Deserialize, Serialize};

/// The differences of the group's BBRv3 from the draft's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { ecn = \"linux\" }"
)]
pub struct Bbr3Spec {
    /// `ecn`: the response to marks, if any.
    pub ecn: Marks,
    /// `ignore_self_limited`: true if losses do not change the short-term bounds while the flow measures its own slower
    /// sending.
    pub ignore_self_limited: bool,
    /// `bbr1_min_rtt`: true if the least RTT is as BBRv1's.
    pub bbr1_min_rtt: bool,
}

/// The response of BBRv3 to ECN marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "ecn", rename_all = "lowercase")]
pub enum Marks {
    /// `off`: none, as in the draft.
    #[default]
    Off,
    /// `linux`: that of Linux's BBRv3.
    Linux,
}

impl Bbr3Spec {
    /// Returns the controller's settings.
    pub fn config(&self) -> Config {
        Config {
            ecn: match self.ecn {
                Marks::Off => None,
                Marks::Linux => Some(EcnConfig::linux()),
            },
            ignore_self_limited: self.ignore_self_limited,
            bbr1_min_rtt: self.bbr1_min_rtt,
            ..Config::tcp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::DocumentError;

    use crate::Scenario;

    fn scenario(bbr3: &str) -> Result<Scenario, DocumentError> {
        let flow = format!("[[flow]]\ncontroller = \"bbr3\"\nbbr3 = {bbr3}\n");
        format!("name = \"x\"\nduration = \"1s\"\n{flow}").parse()
    }

    #[test]
    fn losses_while_the_flow_is_slow_on_purpose() {
        for (text, expected) in [
            ("{}", false),
            ("{ ignore_self_limited = false }", false),
            ("{ ignore_self_limited = true }", true),
        ] {
            let read = scenario(text).unwrap();
            let config = read.flows[0].bbr3.unwrap().config();
            assert_eq!(config.ignore_self_limited, expected);
            assert_eq!(config.ecn, None);
            assert_eq!(read.to_string().parse(), Ok(read));
        }
    }

    #[test]
    fn the_least_rtt() {
        for (text, expected) in [("{}", false), ("{ bbr1_min_rtt = true }", true)] {
            let read = scenario(text).unwrap();
            let config = read.flows[0].bbr3.unwrap().config();
            assert_eq!(config.bbr1_min_rtt, expected);
            assert_eq!(read.to_string().parse(), Ok(read));
        }
    }

    #[test]
    fn an_answer_to_marks() {
        for (text, ecn) in [
            ("{}", None),
            ("{ ecn = \"off\" }", None),
            ("{ ecn = \"linux\" }", Some(EcnConfig::linux())),
        ] {
            let read = scenario(text).unwrap();
            assert_eq!(read.flows[0].bbr3.unwrap().config().ecn, ecn);
            assert_eq!(read.to_string().parse(), Ok(read));
        }
        let table = "flow.bbr3: expected a table such as { ecn = \"linux\" }";
        for (text, reason) in [
            ("{ ecn = \"on\" }", "flow.bbr3.ecn: on is not a known"),
            (
                "{ ignore_self_limited = \"yes\" }",
                "flow.bbr3.ignore_self_limited: ",
            ),
            ("1", table),
            ("\"linux\"", table),
            ("[1]", table),
        ] {
            let error = scenario(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
