//! The program's help, with its commands grouped by purpose.

use clap::Command;

/// The commands by purpose.
const GROUPS: [(&str, &[&str]); 7] = [
    (
        "Try controllers",
        &["play", "race", "run", "sweep", "evaluate"],
    ),
    ("Choose a controller", &["advise", "diagnose", "probe"]),
    ("Experiment on a server", &["study", "steer", "kernel"]),
    ("Move files", &["send", "recv"]),
    ("Put a path under traffic", &["emulate", "shell"]),
    ("Observe connections", &["watch", "trace"]),
    ("Tools", &["rates", "doctor"]),
];

/// The template of the help for these commands.
pub fn template(commands: &Command) -> String {
    let mut text = "{about}\n\n{usage-heading} {usage}\n".to_owned();
    for (heading, names) in GROUPS {
        text += &format!("\n{heading}:\n");
        for command in names
            .iter()
            .filter_map(|name| commands.find_subcommand(name))
        {
            let about = command.get_about().map(ToString::to_string);
            text += &format!(
                "  {:<10}{}\n",
                command.get_name(),
                about.unwrap_or_default()
            );
        }
    }
    text + "\nOptions:\n{options}\n\n'fullpipe COMMAND --help' explains a command.\n\
            A second program, fullpipe-proof, checks Fullpipe's results (docs/claims.md)."
}

#[cfg(test)]
mod tests {
    use clap::Subcommand;
    use program::other_program;

    use super::*;

    #[test]
    fn each_command_is_in_one_group_and_its_line_fits_a_terminal() {
        let commands = crate::Command::augment_subcommands(Command::new("fullpipe"));
        let grouped = GROUPS.iter().flat_map(|(_, names)| *names);
        let mut grouped: Vec<&str> = grouped.copied().collect();
        let mut all: Vec<&str> = commands.get_subcommands().map(Command::get_name).collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
        let (name, known) = other_program::FULLPIPE;
        assert_eq!(name, "fullpipe");
        let mut known = known.to_vec();
        known.sort_unstable();
        assert_eq!(known, all);
        let long = |line: &&str| line.chars().count() > 80;
        assert_eq!(template(&commands).lines().find(long), None);
    }
}
