//! The finding about one part.

use rustix::process::geteuid;
use serde_json::{Value, json};

/// The state of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ok,
    /// It works, but could be better.
    Note,
    /// It does not work.
    Lacking,
}

/// The finding about one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The purpose of the part.
    pub name: &'static str,
    state: State,
    detail: String,
    /// The fix, if there is something to improve.
    fix: Option<String>,
    /// True for a part without privileges, which has to work everywhere.
    is_basic: bool,
}

impl Finding {
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Finding {
        Finding {
            name,
            state: State::Ok,
            detail: detail.into(),
            fix: None,
            is_basic: false,
        }
    }

    /// It works, but could be better.
    pub fn note(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Finding {
        Finding {
            state: State::Note,
            fix: Some(fix.into()),
            ..Finding::ok(name, detail)
        }
    }

    /// It does not work.
    pub fn lacking(
        name: &'static str,
        detail: impl Into<String>,
        fix: impl Into<String>,
    ) -> Finding {
        Finding {
            state: State::Lacking,
            ..Finding::note(name, detail, fix)
        }
    }

    /// Marks a part that needs no privilege.
    pub fn basic(self) -> Finding {
        Finding {
            is_basic: true,
            ..self
        }
    }

    /// True if it does not work although it needs no privilege.
    pub fn is_broken(&self) -> bool {
        self.is_basic && self.state == State::Lacking
    }

    /// One line, and a second one with the fix.
    pub fn text(&self) -> String {
        let state = self.state.name();
        let mut text = format!("{state:<8} {}: {}", self.name, self.detail);
        if let Some(fix) = &self.fix {
            text += &format!("\n{:<8} fix: {fix}", "");
        }
        text
    }

    /// The finding as JSON.
    pub fn json(&self) -> Value {
        json!({
            "name": self.name,
            "state": self.state.name(),
            "detail": self.detail,
            "fix": self.fix,
            "needs_privilege": !self.is_basic,
        })
    }
}

impl State {
    const fn name(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Note => "note",
            State::Lacking => "lacking",
        }
    }
}

/// The command line with which this user runs the command as root.
pub fn by_root(command: &str) -> String {
    if geteuid().is_root() {
        command.to_owned()
    } else {
        format!("sudo {command}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_has_a_line_of_its_own() {
        assert_eq!(Finding::ok("sim", "runs").text(), "ok       sim: runs");
        let lacking = Finding::lacking("sim", "does not run", "mend it");
        assert_eq!(
            lacking.text(),
            "lacking  sim: does not run\n         fix: mend it"
        );
        assert!(!lacking.is_broken());
        assert!(lacking.basic().is_broken());
        assert!(!Finding::note("sim", "slow", "wait").basic().is_broken());
    }
}
