//! Every command ends on Ctrl-C or on the system's signal, whatever it reads or does.

use crate::ends::Busy::{self, Never, Says, Soon};
use crate::ends::{each_ends, none_is_forgotten};

/// Every command, with arguments that keep it busy.
const COMMANDS: [(&str, &str, Busy); 8] = [
    ("claims", "--out claims", Soon),
    ("figures", "--out figures", Soon),
    ("calibrate", "--engines sim,sim", Says("runs to do")),
    ("cdn", "pipe --out cdn", Never),
    ("intervals", "--studies 1000000", Soon),
    ("population", "", Soon),
    ("evaluate", "", Soon),
    ("variants", "", Soon),
];

#[test]
fn no_command_is_forgotten_here() {
    none_is_forgotten(&COMMANDS, &[]);
}

#[test]
fn every_command_ends_when_it_is_told_to() {
    each_ends(&COMMANDS);
}
