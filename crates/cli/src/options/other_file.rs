//! Files that are in TOML, too, but belong to another command: their keys tell which.

use scenario::tree::Node;

/// Keys that only the files of one command have, what such a file is, and the command.
const FILES: [(&[&str], &str, &str); 5] = [
    (&["arm", "guard"], "the plan of a study", "study"),
    (&["rule"], "a policy", "steer"),
    (
        &["controllers", "destination"],
        "a plan of a probe",
        "probe",
    ),
    (&["scenario"], "a sweep", "sweep"),
    (&["flow"], "a scenario", "run"),
];

/// What the text is, and the command for it: `is a sweep; use fullpipe sweep`. Nothing if it may be a file of `own`, or of no
/// command.
pub fn told(text: &str, own: &str) -> Option<String> {
    let entries = Node::from_toml(text).ok()?;
    let has = |keys: &[&str]| entries.iter().any(|entry| keys.contains(&&*entry.key));
    let is_own = |(keys, _, command): &&(&[&str], &str, &str)| *command == own && has(keys);
    if FILES.iter().any(|file| is_own(&file)) {
        return None;
    }
    let (_, what, command) = FILES.iter().find(|(keys, ..)| has(keys))?;
    Some(format!("is {what}; use `fullpipe {command}`"))
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn the_command_of_a_file_is_told() {
        let sweep = "name = \"x\"\nscenario = \"a.toml\"\n[axes]\n\"path.loss\" = [\"1%\"]\n";
        let scenario = "name = \"x\"\n[path]\nrate = \"1mbit\"\n[[flow]]\ncontroller = \"bbr1\"\n";
        let probe =
            "controllers = [\"bbr1\"]\n[axes]\n\"path.loss\" = [\"1%\"]\n[path]\nrtt = \"1ms\"\n";
        let plan = "unit = \"prefix\"\n[[arm]]\ncontroller = \"bbr\"\nshare = \"1%\"\n";
        for (text, own, answer) in [
            (sweep, "run", Some("is a sweep; use `fullpipe sweep`")),
            (sweep, "sweep", None),
            (scenario, "sweep", Some("is a scenario; use `fullpipe run`")),
            (scenario, "study", Some("is a scenario; use `fullpipe run`")),
            (
                probe,
                "run",
                Some("is a plan of a probe; use `fullpipe probe`"),
            ),
            (
                probe,
                "study",
                Some("is a plan of a probe; use `fullpipe probe`"),
            ),
            (
                plan,
                "run",
                Some("is the plan of a study; use `fullpipe study`"),
            ),
            ("colour = \"red\"", "run", None),
            ("no TOML", "run", None),
        ] {
            assert_eq!(told(text, own).as_deref(), answer, "{own}: {text}");
        }
    }
}
