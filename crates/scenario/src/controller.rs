//! Whose congestion control a flow has: `controller`.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayString;
use congestion::ControllerKind;
use units::UnknownName;

/// A flow's congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Controller {
    /// `bbr1`, `cubic`, `reno`: one that Fullpipe has itself. Engine `linux` takes the kernel's of the same algorithm.
    Ours(ControllerKind),
    /// `kernel:NAME`: one that only a kernel has, by the kernel's name for it.
    Kernel(KernelController),
    /// `python:NAME`: one that is a class of the Python program that runs the scenario.
    Python(PythonController),
}

/// What the names of the kernel's controllers follow in a scenario.
const PREFIX: &str = "kernel:";

/// The longest name that a kernel's controller has: `TCP_CA_NAME_MAX` in Linux's `net/tcp.h`, less the zero behind it.
const LONGEST: usize = 15;

/// A controller by the kernel's name for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelController {
    /// As scenarios have it: `kernel:` and the name.
    name: ArrayString<{ PREFIX.len() + LONGEST }>,
}

impl KernelController {
    /// The kernel's name for it.
    pub fn name(&self) -> &str {
        self.name.strip_prefix(PREFIX).unwrap_or_default()
    }
}

/// What the names of Python's classes follow in a scenario.
const PYTHON: &str = "python:";

/// The longest name of a class.
const LONGEST_CLASS: usize = 17;

/// A controller by the name of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PythonController {
    /// As scenarios have it: `python:` and the name.
    name: ArrayString<{ PYTHON.len() + LONGEST_CLASS }>,
}

impl PythonController {
    /// The name of the class.
    pub fn name(&self) -> &str {
        self.name.strip_prefix(PYTHON).unwrap_or_default()
    }
}

impl Controller {
    /// The name that it has in scenarios and records.
    pub fn name(&self) -> &str {
        match self {
            Controller::Ours(kind) => kind.name(),
            Controller::Kernel(kernel) => kernel.name.as_str(),
            Controller::Python(python) => python.name.as_str(),
        }
    }

    /// The kernel's name for it, or for its own of the same algorithm.
    pub fn kernel_name(&self) -> &str {
        match self {
            Controller::Ours(kind) => kind.kernel_name(),
            Controller::Kernel(kernel) => kernel.name(),
            Controller::Python(python) => python.name(),
        }
    }
}

impl From<ControllerKind> for Controller {
    fn from(kind: ControllerKind) -> Controller {
        Controller::Ours(kind)
    }
}

impl fmt::Display for Controller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Controller {
    type Err = ControllerError;

    fn from_str(text: &str) -> Result<Controller, ControllerError> {
        // What follows a prefix is a name of others, whose case counts.
        let after = |prefix: &str| {
            let (start, name) = text.split_at_checked(prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then_some(name)
        };
        if let Some(name) = after(PYTHON) {
            return python(name).ok_or(ControllerError::NoClass);
        }
        let Some(name) = after(PREFIX) else {
            return Ok(Controller::Ours(text.parse()?));
        };
        // Module and algorithm names: `tcp_set_congestion_control` would take what it finds by this name, or load it.
        let may_have = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match ArrayString::from(&format!("{PREFIX}{name}")) {
            Ok(whole) if !name.is_empty() && name.chars().all(may_have) => {
                Ok(Controller::Kernel(KernelController { name: whole }))
            }
            _ => Err(ControllerError::NoKernelName),
        }
    }
}

/// The class `name` of Python's.
fn python(name: &str) -> Option<Controller> {
    let may_have = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let name = ArrayString::from(&format!("{PYTHON}{name}"))
        .ok()
        .filter(|_| !name.is_empty() && name.chars().all(may_have))?;
    Some(Controller::Python(PythonController { name }))
}

units::as_text!(Controller);

/// A text names no controller. Displays the names that there are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// Fullpipe has none of this name.
    #[error("{0}, and kernel:NAME for any of the kernel's")]
    Unknown(#[from] UnknownName),
    /// What follows `kernel:` cannot be a controller's name.
    #[error(
        "no name of a kernel's controller; give 1 to {LONGEST} letters, digits, _ or -, such as kernel:bbr"
    )]
    NoKernelName,
    /// What follows `python:` cannot be a class's name.
    #[error(
        "no name of a class of Python's; give 1 to {LONGEST_CLASS} letters, digits or _, such as python:Gentle"
    )]
    NoClass,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for name in [
            "bbr1",
            "cubic",
            "reno",
            "kernel:bbr",
            "kernel:fifteen_letters",
            "python:Gentle",
        ] {
            let controller: Controller = name.parse().unwrap();
            assert_eq!(
                (controller.name(), controller.to_string().as_str()),
                (name, name)
            );
        }
        for (typed, name) in [
            ("BBR1", "bbr1"),
            ("Cubic", "cubic"),
            ("Kernel:bbr", "kernel:bbr"),
        ] {
            assert_eq!(typed.parse::<Controller>().unwrap().name(), name);
        }
        let kernel: Controller = "kernel:bbr1".parse().unwrap();
        assert_ne!(kernel, Controller::Ours(ControllerKind::Bbr1));
        match kernel {
            Controller::Kernel(kernel) => assert_eq!(kernel.name(), "bbr1"),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn what_is_no_name_is_answered_with_what_would_be_one() {
        for text in ["", "bbr", "kernel", "ünïcödé"] {
            let error = text.parse::<Controller>().unwrap_err().to_string();
            let known = ["bbr1", "cubic", "reno", "kernel:NAME"];
            assert!(known.iter().all(|name| error.contains(name)), "{error}");
        }
        for name in ["", "a b", "ünïcödé", "bbr\n", "sixteen_letters_"] {
            let error = format!("kernel:{name}").parse::<Controller>().unwrap_err();
            assert_eq!(error, ControllerError::NoKernelName, "{name}");
        }
        for name in ["", "My Reno", "<lambda>", &"x".repeat(18)] {
            let error = format!("python:{name}").parse::<Controller>().unwrap_err();
            assert_eq!(error, ControllerError::NoClass, "{name}");
        }
    }
}
