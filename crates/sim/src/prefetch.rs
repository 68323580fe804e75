//! Memory asked for before it is needed.
//!
//! The one place in the workspace that is `unsafe`: the intrinsic takes a raw pointer, and Rust's own form of it
//! (`core::hint::prefetch_read`) is not stable yet.
#![expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]

use std::ops::Range;

/// The bytes that a cache holds or fetches together.
const LINE: usize = 64;

/// Asks the processor to fetch these bytes of a value into its second-level cache. That changes nothing but how long it
/// will take to read them. Does nothing where the instruction is not at hand.
#[inline]
pub(crate) fn prefetch<T>(value: &T, bytes: Range<usize>) {
    #[cfg(target_arch = "x86_64")]
    for offset in bytes.step_by(LINE) {
        use std::arch::x86_64::{_MM_HINT_T2, _mm_prefetch};
        let line = std::ptr::from_ref(value).cast::<i8>().wrapping_add(offset);
        // SAFETY: a hint, which reads nothing that the program can see and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T2>(line) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (value, bytes);
}
