//! The input of the user: options, files, and stdin.

pub mod address;
pub mod client_names;
pub mod connection_option;
pub mod input;
pub mod option_meant;
pub mod other_file;
pub mod override_option;
pub mod path_options;
pub mod plan_file;
pub mod several;
pub mod stdin_file;
pub mod ticket;
