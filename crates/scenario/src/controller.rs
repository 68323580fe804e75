//! The congestion control of a flow: `controller`.

use std::fmt;
use std::str::FromStr;

use arrayvec::ArrayString;
use congestion::ControllerKind;
use units::UnknownName;

/// A flow's congestion control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Controller {
    /// `bbr1`, `cubic`, `reno`: one of Fullpipe's own. Engine `linux` uses the kernel's of the same algorithm.
    Ours(ControllerKind),
    /// `kernel:NAME`: one that only a kernel has, by the kernel's name.
    Kernel(KernelController),
    /// `python:NAME`: one that is a class of the Python program that runs the scenario.
    Python(ClassController),
    /// `js:NAME`: one that is a class in JavaScript, of the page that runs the scenario.
    JavaScript(ClassController),
    /// `rust:NAME`: one that is a type of the Rust program that runs the scenario.
    Rust(ClassController),
}

/// The prefix of the kernel's controllers in a scenario.
const KERNEL_PREFIX: &str = "kernel:";

/// The maximum length of the name of a kernel's controller: `TCP_CA_NAME_MAX` in Linux's `net/tcp.h`, without the
/// terminating zero.
const MAX_KERNEL_NAME_LEN: usize = 15;

/// A controller by the kernel's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct KernelController {
    /// The name in scenarios: `kernel:` and the kernel's name.
    name: ArrayString<{ KERNEL_PREFIX.len() + MAX_KERNEL_NAME_LEN }>,
}

impl KernelController {
    /// The kernel's name of it.
    pub fn name(&self) -> &str {
        self.name.strip_prefix(KERNEL_PREFIX).unwrap_or_default()
    }
}

/// The prefix of Python's classes in a scenario, which is the longest.
const PYTHON_PREFIX: &str = "python:";

/// The prefix of JavaScript's classes in a scenario.
const JAVASCRIPT_PREFIX: &str = "js:";

/// The prefix of Rust's types in a scenario.
const RUST_PREFIX: &str = "rust:";

/// Makes the controller of a class.
type OfClass = fn(ClassController) -> Controller;

/// The prefixes of classes and types, each with its controller.
const CLASSES: [(&str, OfClass); 3] = [
    (PYTHON_PREFIX, Controller::Python),
    (JAVASCRIPT_PREFIX, Controller::JavaScript),
    (RUST_PREFIX, Controller::Rust),
];

/// The maximum length of a class's name.
const MAX_CLASS_NAME_LEN: usize = 17;

/// A controller by the name of its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClassController {
    /// The name in scenarios: the language's prefix and the class's name.
    name: ArrayString<{ PYTHON_PREFIX.len() + MAX_CLASS_NAME_LEN }>,
}

impl ClassController {
    /// The name of the class.
    pub fn name(&self) -> &str {
        let (_, name) = self.name.split_once(':').unwrap_or_default();
        name
    }

    /// The class `name` of the language with this prefix.
    fn of(prefix: &str, name: &str) -> Result<ClassController, ControllerError> {
        let may_have = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if !(1..=MAX_CLASS_NAME_LEN).contains(&name.len()) || !name.chars().all(may_have) {
            return Err(ControllerError::NoClass);
        }
        let name = format!("{prefix}{name}");
        let name = ArrayString::from(&name).map_err(|_| ControllerError::NoClass)?;
        Ok(ClassController { name })
    }
}

impl Controller {
    /// The name in scenarios and records.
    pub fn name(&self) -> &str {
        match self {
            Controller::Ours(kind) => kind.name(),
            Controller::Kernel(kernel) => kernel.name.as_str(),
            Controller::Python(class) | Controller::JavaScript(class) | Controller::Rust(class) => {
                class.name.as_str()
            }
        }
    }

    /// The kernel's name of it, or of the kernel's own with the same algorithm.
    pub fn kernel_name(&self) -> &str {
        match self {
            Controller::Ours(kind) => kind.kernel_name(),
            Controller::Kernel(kernel) => kernel.name(),
            Controller::Python(class) | Controller::JavaScript(class) | Controller::Rust(class) => {
                class.name()
            }
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
        // The name after a prefix is someone else's, so its case counts.
        let after = |prefix: &str| {
            let (start, name) = text.split_at_checked(prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then_some(name)
        };
        for (prefix, controller) in CLASSES {
            if let Some(name) = after(prefix) {
                return ClassController::of(prefix, name).map(controller);
            }
        }
        let Some(name) = after(KERNEL_PREFIX) else {
            return Ok(Controller::Ours(text.parse()?));
        };
        // These are names of modules and algorithms: `tcp_set_congestion_control` would use, or load, any that it
        // finds.
        let may_have = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        match ArrayString::from(&format!("{KERNEL_PREFIX}{name}")) {
            Ok(whole) if !name.is_empty() && name.chars().all(may_have) => {
                Ok(Controller::Kernel(KernelController { name: whole }))
            }
            _ => Err(ControllerError::NoKernelName),
        }
    }
}

units::as_text!(Controller);

/// A text names no controller. The message has the known names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ControllerError {
    /// Fullpipe has none with this name.
    #[error("{0}, and kernel:NAME for any of the kernel's")]
    Unknown(#[from] UnknownName),
    /// The text after `kernel:` cannot be a controller's name.
    #[error(
        "no name of a kernel's controller; give 1 to {MAX_KERNEL_NAME_LEN} letters, digits, _ or -, such as kernel:bbr"
    )]
    NoKernelName,
    /// The text after `python:`, `js:` or `rust:` cannot be the name of a class or a type.
    #[error(
        "no name of a class; give 1 to {MAX_CLASS_NAME_LEN} letters, digits or _, such as python:Gentle or js:Gentle"
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
            "js:Gentle",
            "rust:Gentle",
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
            for (prefix, _) in CLASSES {
                let error = format!("{prefix}{name}").parse::<Controller>();
                assert_eq!(error, Err(ControllerError::NoClass), "{name}");
            }
        }
    }
}
