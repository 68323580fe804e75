//! The bounds of rules in the kernel's program.

macro_rules! bounds {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)+) => {
        $($(#[$doc])* pub const $name: usize = $value;)+

        /// All of these bounds with their names, which `crates/kernel/bpf/steer/bounds.h` defines, too.
        pub const PROGRAM_BOUNDS: &[(&str, usize)] = &[$((stringify!($name), $name)),+];
    };
}

bounds! {
    /// The maximum number of rules.
    MAX_RULES = 32;
    /// The maximum number of arms of a rule or a plan.
    MAX_ARMS = 8;
    /// The maximum number of port ranges of each side.
    MAX_PORT_RANGES = 8;
    /// The maximum number of interfaces of a rule or a plan.
    MAX_INTERFACES = 8;
    /// The length of a controller's name in the kernel in bytes, including a zero at the end (`TCP_CA_NAME_MAX`).
    CONTROLLER_NAME_BYTES = 16;
    /// The length of an interface's name in the kernel in bytes, including a zero at the end (`IFNAMSIZ`).
    INTERFACE_NAME_BYTES = 16;
    /// The length of a rule's name in the program in bytes, including a zero at the end.
    RULE_NAME_BYTES = 64;
}

const _: () = {
    assert!(
        MAX_RULES <= 64,
        "a network has a word with a bit for each rule"
    );
    assert!(
        MAX_ARMS.is_power_of_two(),
        "the program masks the index of an arm"
    );
    assert!(
        CONTROLLER_NAME_BYTES == 16 && INTERFACE_NAME_BYTES == 16,
        "the program reads these names as two words"
    );
};

/// True if a kernel can have a controller of this name.
pub fn can_be_controller(name: &str) -> bool {
    (1..CONTROLLER_NAME_BYTES).contains(&name.len()) && name.chars().all(|c| c.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controllers_name_is_short_and_printable() {
        for name in ["bbr", "fullpipe_bbr3", "fifteen-letters"] {
            assert!(can_be_controller(name), "{name}");
        }
        for name in ["", "sixteen-letters-", "b r", "bbr\n", "bbrä"] {
            assert!(!can_be_controller(name), "{name}");
        }
    }
}
