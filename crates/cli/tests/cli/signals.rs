//! Every command ends on Ctrl-C or on the system's signal, whatever it reads or does.

use crate::ends::Busy::{self, Never, Pipe, Says, Unasked};
use crate::ends::{each_ends, none_is_forgotten};

/// Every command, with arguments that keep it busy.
const COMMANDS: [(&str, &str, Busy); 31] = [
    ("run", "pipe", Pipe),
    ("run", "long.toml", Says("long: ")),
    ("run", "many.toml", Says("many: ")),
    ("sweep", "pipe", Pipe),
    ("sweep", "sweep.toml", Says("on engine sim")),
    ("race", "--duration 5min", Says("RTprop")),
    ("advise", "--from pipe", Pipe),
    ("evaluate", "cubic --against pipe", Pipe),
    ("evaluate", "cubic --quick", Says("runs of cubic")),
    ("play", "", Says("open this address")),
    ("probe", "pipe", Pipe),
    ("probe", "--serve --listen 127.0.0.1:0", Says("receiving")),
    ("send", "pipe", Never),
    ("recv", "--listen 127.0.0.1:0", Says("waiting for")),
    ("recv", "--listen 127.0.0.1:0 --keep", Says("waiting for")),
    (
        "emulate",
        "--listen 127.0.0.1:0 --to 127.0.0.1:9",
        Says("relaying"),
    ),
    ("trace", "pipe", Pipe),
    ("rates", "pipe", Pipe),
    ("diagnose", "pipe", Pipe),
    ("doctor", "", Never),
    ("watch", "--once --as pipe", Never),
    ("study", "pipe --out study", Never),
    ("study report", "pipe", Never),
    ("study stop", "", Unasked),
    ("steer", "pipe", Never),
    ("steer learn", "pipe", Never),
    ("steer why", "10.0.0.1 pipe", Never),
    ("steer rollback", "pipe --journal pipe", Never),
    ("steer stop", "pipe", Never),
    ("shell", "--trace pipe -- sleep 300", Never),
    ("kernel status", "", Never),
];

/// The other commands.
const OTHERS: [(&str, Busy); 4] = [
    ("kernel check", Unasked),
    ("kernel load", Unasked),
    ("kernel unload", Unasked),
    ("kernel default", Unasked),
];

#[test]
fn no_command_is_forgotten_here() {
    none_is_forgotten(&COMMANDS, &OTHERS);
}

#[test]
fn every_command_ends_when_it_is_told_to() {
    each_ends(&COMMANDS);
}
