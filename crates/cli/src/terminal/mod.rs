//! What people see while they wait, and what they get.

pub mod bars;
pub mod connections;
pub mod groups;
pub mod human;
pub mod interrupt;
pub mod lanes;
pub mod live;
pub mod output;
pub mod processor;
pub mod progress;
pub mod relay_report;
pub mod relay_status;
pub mod signals;
pub mod work_bar;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is shown, also if a thread that held it has ended badly: nothing leaves it half-changed.
fn lock<T>(shown: &Mutex<T>) -> MutexGuard<'_, T> {
    shown.lock().unwrap_or_else(PoisonError::into_inner)
}
