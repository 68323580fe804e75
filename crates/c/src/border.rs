//! What is between C and Rust: pointers that are looked at before they are used, and panics that stay here.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// How a call ended.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It did what it says.
    Ok = 0,
    /// A pointer is null or misaligned, a size is too small, a value makes no sense, or the flow is not initialised.
    Invalid = 1,
    /// The library has an error of its own. Every later call refuses the flow with the same.
    Panicked = 2,
}

/// Runs `act` so that no panic leaves it.
pub(crate) fn guarded(act: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(status)) => status,
        Err(_) => Status::Panicked,
    }
}

/// Reads what a pointer points to.
///
/// # Safety
/// If it is neither null nor misaligned, it points to a value of this type.
pub(crate) unsafe fn read<'p, T>(pointer: *const T) -> Result<&'p T, Status> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Status::Invalid);
    }
    // SAFETY: neither null nor misaligned, and the caller vouches for the rest.
    Ok(unsafe { &*pointer })
}

/// Writes to where a pointer points.
///
/// # Safety
/// If it is neither null nor misaligned, a value of this type may be written there.
pub(crate) unsafe fn write<T>(pointer: *mut T, value: T) -> Result<(), Status> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Status::Invalid);
    }
    // SAFETY: neither null nor misaligned, and the caller vouches for the rest.
    unsafe { pointer.write(value) };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_status() {
        assert_eq!(guarded(|| panic!("of the test's own")), Status::Panicked);
        assert_eq!(guarded(|| Err(Status::Invalid)), Status::Invalid);
        assert_eq!(guarded(|| Ok(())), Status::Ok);
    }
}
