//! A group's own settings of BBRv3, for where that is its controller: `bbr3`.

use congestion::bbr3::{Config, EcnConfig};
use serde::{Deserialize, Serialize};

/// How the group's BBRv3 is different from that of the draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    expecting = "a table such as { ecn = \"linux\" }"
)]
pub struct Bbr3Spec {
    /// `ecn`: whose answer to marks it has, or none.
    pub ecn: Marks,
}

/// Whose answer to ECN marks a BBRv3 has.
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
    /// What the controller is told.
    pub fn config(&self) -> Config {
        Config {
            ecn: match self.ecn {
                Marks::Off => None,
                Marks::Linux => Some(EcnConfig::linux()),
            },
            ..Config::tcp()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Scenario, ScenarioError};

    fn scenario(bbr3: &str) -> Result<Scenario, ScenarioError> {
        let flow = format!("[[flow]]\ncontroller = \"bbr3\"\nbbr3 = {bbr3}\n");
        format!("name = \"x\"\nduration = \"1s\"\n{flow}").parse()
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
            ("{ ecn = \"on\" }", "flow.bbr3.ecn: on is no known"),
            ("1", table),
            ("\"linux\"", table),
            ("[1]", table),
        ] {
            let error = scenario(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
