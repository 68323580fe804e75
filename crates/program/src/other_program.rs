//! The commands of both programs, for people who give one of them to the other program.

/// The program that most people use, and its commands.
pub const FULLPIPE: (&str, &[&str]) = (
    "fullpipe",
    &[
        "play", "run", "sweep", "race", "advise", "evaluate", "probe", "send", "recv", "emulate",
        "trace", "rates", "diagnose", "watch", "study", "steer", "shell", "kernel", "doctor",
    ],
);

/// The program of our lab book, and its commands.
pub const PROOF: (&str, &[&str]) = (
    "fullpipe-proof",
    &[
        "claims",
        "figures",
        "calibrate",
        "cdn",
        "intervals",
        "population",
        "evaluate",
        "variants",
    ],
);

/// Which program has this command: one that the present program does not have.
pub(crate) fn told(command: &str) -> Option<String> {
    let has = |(_, commands): (&str, &[&str])| commands.contains(&command);
    if has(FULLPIPE) {
        let (program, _) = FULLPIPE;
        return Some(format!(
            "{command} is a command of {program}: {program} {command}"
        ));
    }
    let (program, _) = PROOF;
    has(PROOF).then(|| {
        format!("{command} is a command of {program}; in a clone: cargo run --release -p {program} -- {command}")
    })
}
