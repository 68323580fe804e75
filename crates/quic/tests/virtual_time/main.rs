//! Our controllers inside noq, over modelled paths, in virtual time.

mod ecn;
mod goodput;
mod meaning;
mod pacing;
mod pitfalls;
mod recorder;
mod recovery;
mod rtprop;
mod world;
