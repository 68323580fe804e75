//! The commands. Each parses its arguments, calls the library, and prints the results.

mod agenda;
pub mod calibrate;
pub mod cdn;
pub mod claims;
pub mod evaluate;
pub mod faults;
pub mod figures;
pub mod intervals;
pub mod population;
pub mod variants;
