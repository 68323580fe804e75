//! Controllers in virtual time, over emulated paths.

mod bbr1;
mod bbr3;
mod loss_based;
mod support;
