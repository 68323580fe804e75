//! Files that belong to another command. TOML is recognised by its keys, and captures by their first bytes.

use std::io::{self, Cursor, Read};

use document::tree::Node;

/// The number of bytes that identify a file.
const MAGIC_LEN: usize = 4;

/// The first bytes of captures: pcap in both byte orders, with microseconds and nanoseconds, and pcapng (its Section
/// Header Block reads the same in both).
const CAPTURES: [[u8; MAGIC_LEN]; 5] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// The first bytes of compressed files (RFC 1952, RFC 8878), and the method of compression.
const COMPRESSED: [(&[u8], &str); 2] =
    [(&[0x1f, 0x8b], "gzip"), (&[0x28, 0xb5, 0x2f, 0xfd], "zstd")];

/// Keys that only the files of one command have, the kind of such a file, and the command.
type Kind = (&'static [&'static str], &'static str, &'static str);

/// The files of `fullpipe`.
const FILES: [Kind; 5] = [
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

/// The files of `fullpipe-proof`. They also have keys of sweeps and of plans of studies, but none of scenarios.
const OF_PROOF: [Kind; 5] = [
    (&["claim"], "the table of claims", "claims --scenarios DIR"),
    (&["case"], "a set of cases", "calibrate --scenarios DIR"),
    (&["caption"], "the study of a figure", "figures"),
    (
        &["access"],
        "a population of access networks",
        "figures paper-9 --scenarios DIR",
    ),
    (&["traffic", "network"], "a small CDN", "cdn"),
];

/// The kind of the text and the command for it: `is a sweep; use fullpipe sweep`. `None` if it may be a file of `own`,
/// or of no command.
pub fn kind_and_command(text: &str, own: &str) -> Option<String> {
    // JSON-SEQ begins with a record separator (RFC 7464).
    let is_json = text
        .trim_start_matches(['\u{1e}', '\u{feff}'])
        .trim_start()
        .starts_with('{');
    if is_json && text.contains("\"qlog_version\"") {
        return Some(
            "is a QUIC log (qlog); use `fullpipe diagnose` or `fullpipe trace`".to_owned(),
        );
    }
    if is_json && own == "run" {
        return Some(
            "is JSON; give a scenario, or the summary of a run to `fullpipe advise --from`"
                .to_owned(),
        );
    }
    if own == "run" && is_rates(text) {
        return Some(
            "is CSV; give a scenario, whose path.trace may name recorded rates, or see them with `fullpipe rates`"
                .to_owned(),
        );
    }
    let entries = Node::from_toml(text).ok()?;
    let has = |keys: &[&str]| entries.iter().any(|entry| keys.contains(&&*entry.key));
    // `advise` takes the path of a scenario.
    let own = if own == "advise" { "run" } else { own };
    let find = |files: &'static [Kind]| files.iter().find(|(keys, ..)| has(keys));
    let mut all = FILES.iter();
    let is_own = all.any(|(keys, _, command)| *command == own && has(keys));
    let of_proof = find(&OF_PROOF).filter(|_| !(is_own && own == "run"));
    if let Some((_, what, command)) = of_proof {
        return Some(format!("is {what}; use `fullpipe-proof {command}`"));
    }
    let (_, what, command) = find(&FILES).filter(|_| !is_own)?;
    Some(format!("is {what}; use `fullpipe {command}`"))
}

/// True if the text has rows that begin with a number and a comma, possibly after headings.
fn is_rates(text: &str) -> bool {
    let mut rows = text.lines().filter(|row| !row.trim().is_empty()).take(3);
    let is_row = |row: &str| {
        let first = row
            .split_once(',')
            .map(|(first, _)| first.trim().parse::<f64>());
        first.is_some_and(|first| first.is_ok())
    };
    let begins = rows
        .next()
        .is_some_and(|row| is_row(row) || row.contains(','));
    begins && rows.next().is_some_and(is_row)
}

/// Reads the first bytes. Returns the [kind of the file](no_text), if it is binary, and a reader of all its bytes.
pub fn begin(mut from: impl Read) -> io::Result<(Option<String>, impl Read)> {
    let mut first = Vec::new();
    from.by_ref()
        .take(MAGIC_LEN as u64)
        .read_to_end(&mut first)?;
    Ok((no_text(&first), Cursor::new(first).chain(from)))
}

/// The kind of a binary file with these first bytes, and the command for it.
pub fn no_text(first: &[u8]) -> Option<String> {
    if CAPTURES.iter().any(|magic| first.starts_with(magic)) {
        return Some(
            "is a capture; use `fullpipe diagnose`, or `fullpipe trace` and what it writes with --scenario or --ranges"
                .to_owned(),
        );
    }
    let (_, with) = COMPRESSED
        .iter()
        .find(|(magic, _)| first.starts_with(magic))?;
    Some(format!(
        "is compressed with {with}; if it is a capture, use `fullpipe diagnose` or `fullpipe trace`, and else decompress it"
    ))
}

#[cfg(test)]
mod tests {
    use super::kind_and_command;

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
            (
                "[[arm]]\n[[traffic]]\n[[network]]\n",
                "study",
                Some("is a small CDN; use `fullpipe-proof cdn`"),
            ),
            (
                "case = \"x\"\n[scenario]\n",
                "sweep",
                Some("is a set of cases; use `fullpipe-proof calibrate --scenarios DIR`"),
            ),
            (
                "[[claim]]\nid = \"x\"\n",
                "run",
                Some("is the table of claims; use `fullpipe-proof claims --scenarios DIR`"),
            ),
            ("network = 1\n[[flow]]\n", "run", None),
            ("colour = \"red\"", "run", None),
            ("no TOML", "run", None),
            (
                "time_s,rate_mbps\n0,10\n1,20\n",
                "run",
                Some(
                    "is CSV; give a scenario, whose path.trace may name recorded rates, or see them with `fullpipe rates`",
                ),
            ),
            (scenario, "advise", None),
            ("{\"flows\": []}", "advise", None),
            (
                "{\"flows\": []}",
                "run",
                Some(
                    "is JSON; give a scenario, or the summary of a run to `fullpipe advise --from`",
                ),
            ),
            (
                "\u{1e}{\"qlog_version\": \"0.3\"}",
                "run",
                Some("is a QUIC log (qlog); use `fullpipe diagnose` or `fullpipe trace`"),
            ),
        ] {
            assert_eq!(
                kind_and_command(text, own).as_deref(),
                answer,
                "{own}: {text}"
            );
        }
    }
}
