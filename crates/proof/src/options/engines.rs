//! `--engine` of the commands that run on several engines.

use std::str::FromStr;

use lab::EngineKind;
use units::UnknownName;

/// One engine, or all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engines {
    /// This one.
    One(EngineKind),
    /// `all`.
    All,
}

impl Engines {
    /// The requested engines, each once. Virtual time comes first, so that mistakes show before a wait.
    pub fn united(asked: &[Engines]) -> Vec<EngineKind> {
        let is_asked = |kind: &&EngineKind| {
            asked.iter().any(|one| match one {
                Engines::All => true,
                Engines::One(one) => one == *kind,
            })
        };
        EngineKind::ALL.iter().filter(is_asked).copied().collect()
    }
}

impl FromStr for Engines {
    type Err = UnknownName;
    fn from_str(name: &str) -> Result<Engines, UnknownName> {
        if name.eq_ignore_ascii_case("all") {
            return Ok(Engines::All);
        }
        let one = name.parse().map(Engines::One);
        one.map_err(|error: UnknownName| error.or("all"))
    }
}

/// `sim,linux`.
pub fn names(engines: &[EngineKind]) -> String {
    let names: Vec<&str> = engines.iter().map(|engine| engine.name()).collect();
    names.join(",")
}

#[cfg(test)]
mod tests {
    use super::Engines;
    use lab::EngineKind;

    #[test]
    fn each_once_and_in_order() {
        let asked: Vec<Engines> = ["linux", "sim", "linux"]
            .iter()
            .map(|name| name.parse().unwrap())
            .collect();
        assert_eq!(
            Engines::united(&asked),
            [EngineKind::Sim, EngineKind::Linux]
        );
        assert_eq!(Engines::united(&["all".parse().unwrap()]), EngineKind::ALL);
        assert!("ns3".parse::<Engines>().is_err());
    }
}
