//! What was found of one part.

use rustix::process::geteuid;
use serde_json::{Value, json};

/// How a part is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// It works.
    Ok,
    /// It works, but could be better.
    Note,
    /// It does not work.
    Lacking,
}

/// What was found of one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What the part is for.
    pub name: &'static str,
    state: State,
    detail: String,
    /// What to do, if it could be better.
    fix: Option<String>,
    /// It needs no privilege, so it has to work everywhere.
    is_basic: bool,
}

impl Finding {
    /// It works.
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

    /// The same of a part that needs no privilege.
    pub fn basic(self) -> Finding {
        Finding {
            is_basic: true,
            ..self
        }
    }

    /// Whether it does not work although it needs no privilege.
    pub fn is_broken(&self) -> bool {
        self.is_basic && self.state == State::Lacking
    }

    /// A line, and one with the fix.
    pub fn text(&self) -> String {
        let state = self.state.name();
        let mut text = format!("{state:<8} {}: {}", self.name, self.detail);
        if let Some(fix) = &self.fix {
            text += &format!("\n{:<8} fix: {fix}", "");
        }
        text
    }

    /// For programs.
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

/// The command, as this user gives it to have it run by root.
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
