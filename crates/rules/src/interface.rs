//! Names of network interfaces.

use std::fmt;
use std::str::FromStr;

use crate::bounds::{INTERFACE_NAME_BYTES, MAX_INTERFACES};

/// The name of a network interface, such as `eth0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interface([u8; INTERFACE_NAME_BYTES]);

impl Interface {
    /// The name.
    pub fn name(&self) -> &str {
        // It was made of a text.
        str::from_utf8(&self.0).map_or("", |name| name.trim_end_matches('\0'))
    }
}

impl FromStr for Interface {
    type Err = String;

    /// The kernel's rules for names: `dev_valid_name` of Linux.
    fn from_str(text: &str) -> Result<Interface, String> {
        let is_odd = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '/' | ':');
        if matches!(text, "" | "." | "..")
            || text.len() >= INTERFACE_NAME_BYTES
            || text.contains(is_odd)
        {
            return Err("expected the name of a network interface, such as eth0".to_owned());
        }
        let mut name = [0; INTERFACE_NAME_BYTES];
        name[..text.len()].copy_from_slice(text.as_bytes());
        Ok(Interface(name))
    }
}

impl fmt::Display for Interface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

units::as_text!(Interface);

/// Checks that the kernel's program can look through this many interfaces.
///
/// # Errors
///
/// There are more than [`MAX_INTERFACES`].
pub fn check_interfaces(interfaces: &[Interface]) -> Result<(), String> {
    match interfaces.len() {
        ..=MAX_INTERFACES => Ok(()),
        many => Err(format!("{many} interfaces; give {MAX_INTERFACES} or fewer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_that_the_kernel_allows() {
        for text in ["lo", "eth0.100", "fifteen-letters", "wg-ä"] {
            assert_eq!(text.parse::<Interface>().unwrap().to_string(), text);
        }
        for text in [
            "",
            ".",
            "..",
            "sixteen-letters-",
            "a b",
            "a/b",
            "eth0:1",
            "a\0",
        ] {
            assert!(text.parse::<Interface>().is_err(), "{text}");
        }
        assert!(check_interfaces(&["lo".parse().unwrap(); MAX_INTERFACES]).is_ok());
        let many = check_interfaces(&["lo".parse().unwrap(); MAX_INTERFACES + 1]).unwrap_err();
        assert!(many.contains("9 interfaces"), "{many}");
    }
}
