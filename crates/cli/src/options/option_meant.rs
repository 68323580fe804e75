//! Options that belong to another command, or are fields of a scenario.

use clap::{Args, Command};
use scenario::field_meant;

use crate::options::path_options::PathOptions;

/// The commands that run a scenario and replace its fields.
const OF_SCENARIOS: [&str; 2] = ["run", "sweep"];

/// The commands that have the options of a path.
const OF_PATHS: [&str; 4] = ["advise", "emulate", "race", "shell"];

/// A hint for an unknown option of this command that is the name of a scenario's field.
pub fn option_meant(command: &str, option: &str) -> Option<String> {
    let field = field_meant(&option.replace('-', "_"))?;
    if OF_SCENARIOS.contains(&command) {
        return Some(format!(
            "a field of the scenario is set with --set {field}=VALUE"
        ));
    }
    let is_of_path = OF_PATHS.contains(&command);
    let meant = option_of_path(&field).filter(|_| is_of_path)?;
    Some(format!("did you mean `--{meant}`?"))
}

/// The option of a path for this field of a scenario: `rate` for `path.rate`.
fn option_of_path(field: &str) -> Option<String> {
    let option = field.strip_prefix("path.")?.replace('_', "-");
    let all = PathOptions::augment_args(Command::new("path"));
    let is_there = all
        .get_arguments()
        .any(|argument| argument.get_long() == Some(&option));
    is_there.then_some(option)
}
