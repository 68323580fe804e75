//! Our controllers inside noq, over modelled paths, in virtual time.

mod goodput;
mod meaning;
mod pacing;
mod recorder;
mod world;
