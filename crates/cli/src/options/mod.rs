//! The input of the user: options, files, and stdin.

pub mod address;
pub mod awake_option;
pub mod client_names;
pub mod command_line;
pub mod connection_option;
pub mod engines;
pub mod input;
pub mod other_file;
pub mod override_option;
pub mod path_options;
pub mod plan_file;
pub mod several;
pub mod stdin_file;
pub mod study_options;
pub mod ticket;
pub mod usage;
