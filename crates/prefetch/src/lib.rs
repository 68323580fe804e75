//! Prefetching: requests memory before it is needed. The state of thousands of connections is in no cache when its turn
//! comes, and the processor would wait for it.
//!
//! ```
//! let table = vec![[0u8; 256]; 10_000];
//! if size_of_val(&table[..]) > prefetch::NEAR {
//!     prefetch::prefetch(&table[4_711]);
//! }
//! ```
//!
//! The only `unsafe` code of the workspace for this: the intrinsic takes a raw pointer, and Rust's own function
//! (`core::hint::prefetch_read`) is not stable yet.
#![no_std]

/// The size of a cache line in bytes.
const LINE: usize = 64;

/// The approximate size of a processor's second-level cache in bytes. Smaller data need no prefetching.
pub const NEAR: usize = 1 << 20;

/// Asks the processor to fetch a value into its second-level cache. This only affects the time of a later read. Does
/// nothing where the instruction is not available.
#[inline]
pub fn prefetch<T>(value: &T) {
    let first = core::ptr::from_ref(value).cast::<i8>();
    let mut offset = 0;
    while offset < size_of::<T>() {
        prefetch_line(first.wrapping_add(offset));
        offset += LINE;
    }
    // The value need not begin at a line: one more may hold its end.
    prefetch_line(first.wrapping_add(size_of::<T>().saturating_sub(1)));
}

#[inline]
fn prefetch_line(address: *const i8) {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]
    {
        use core::arch::x86_64::{_MM_HINT_T2, _mm_prefetch};
        // SAFETY: a hint, which reads nothing that the program can see and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T2>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
