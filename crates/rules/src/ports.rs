//! Ports of services.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// A port, or a range of ports: `443`, `8000-8010`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ports(RangeInclusive<u16>);

impl Ports {
    /// The ports from `first` to `last`. `None` if `last` is before `first`.
    pub fn new(first: u16, last: u16) -> Option<Ports> {
        (first <= last).then_some(Ports(first..=last))
    }

    /// The first and the last port.
    pub fn ends(&self) -> (u16, u16) {
        (*self.0.start(), *self.0.end())
    }

    /// True if the port is in the range.
    pub fn has(&self, port: u16) -> bool {
        self.0.contains(&port)
    }
}

impl FromStr for Ports {
    type Err = String;

    fn from_str(text: &str) -> Result<Ports, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let port = |text: &str| text.trim().parse::<u16>().ok().filter(|&port| port > 0);
        match (port(first), port(last)) {
            (Some(first), Some(last)) if first <= last => Ok(Ports(first..=last)),
            _ => Err("expected a port from 1 to 65535, or a range such as 8000-8010".to_owned()),
        }
    }
}

impl fmt::Display for Ports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ends() {
            (first, last) if first == last => write!(f, "{first}"),
            (first, last) => write!(f, "{first}-{last}"),
        }
    }
}

units::as_text!(Ports);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_and_ranges() {
        let ports: Ports = "8000-8010".parse().unwrap();
        assert!(ports.has(8000) && ports.has(8010) && !ports.has(8011));
        for text in ["443", "1-65535"] {
            assert_eq!(text.parse::<Ports>().unwrap().to_string(), text);
        }
        for text in ["", "0", "9-8", "65536", "1-2-3", "http"] {
            assert!(text.parse::<Ports>().is_err(), "{text}");
        }
    }
}
