//! The messages of libbpf, which has one callback for the whole process.

use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::{PrintLevel, set_print};

/// The messages since [`listen`].
static MESSAGES: Mutex<String> = Mutex::new(String::new());

/// Only one thread loads at a time.
static LISTENER: Mutex<()> = Mutex::new(());

/// Collects the messages of libbpf.
pub(super) struct Listener(#[expect(dead_code, reason = "held")] MutexGuard<'static, ()>);

/// Stops printing to stderr.
pub(super) fn silence() {
    set_print(None);
}

/// Begins to collect messages.
pub(super) fn listen() -> Listener {
    let guard = LISTENER.lock().unwrap_or_else(PoisonError::into_inner);
    said().clear();
    set_print(Some((PrintLevel::Info, |_, text| said().push_str(&text))));
    Listener(guard)
}

impl Listener {
    /// All collected messages.
    pub fn said(&self) -> String {
        said().clone()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        silence();
    }
}

fn said() -> MutexGuard<'static, String> {
    MESSAGES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The verifier's last message: the line before its statistics. Without a verifier's log, libbpf's last line.
pub(super) fn reason(said: &str) -> Option<&str> {
    let log = said
        .split("-- BEGIN PROG LOAD LOG --")
        .nth(1)
        .and_then(|rest| rest.split("-- END PROG LOAD LOG --").next());
    let mut lines = log.unwrap_or(said).lines().map(str::trim);
    lines.rfind(|line| !line.is_empty() && !line.starts_with("processed "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_verifiers_last_word() {
        let said = "libbpf: prog 'init': BPF program load failed: -EACCES\n\
                    libbpf: prog 'init': -- BEGIN PROG LOAD LOG --\n\
                    8: (79) r9 = *(u64 *)(r1 +0)\n\
                    dereference of modified ctx ptr R1 off=8 disallowed\n\
                    processed 8 insns (limit 1000000)\n\
                    -- END PROG LOAD LOG --\n\
                    libbpf: failed to load object\n";
        let word = "dereference of modified ctx ptr R1 off=8 disallowed";
        assert_eq!(reason(said), Some(word));
        assert_eq!(reason("libbpf: no BTF\n\n"), Some("libbpf: no BTF"));
        assert_eq!(reason(""), None);
    }
}
