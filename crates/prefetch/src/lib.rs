//! Memory asked for before it is needed: what thousands of connections keep is in no cache when its turn comes, and a
//! processor that waits for it does nothing else meanwhile.
//!
//! ```
//! let table = vec![[0u8; 256]; 10_000];
//! if size_of_val(&table[..]) > prefetch::NEAR {
//!     prefetch::prefetch(&table[4_711]);
//! }
//! ```
//!
//! The one place in the workspace that is `unsafe`: the intrinsic takes a raw pointer, and Rust's own form of it
//! (`core::hint::prefetch_read`) is not stable yet.
#![no_std]
#![expect(unsafe_code, reason = "the intrinsic takes a raw pointer")]

/// The bytes that a cache holds or fetches together.
const LINE: usize = 64;

/// What the second-level cache of a processor holds, more or less: what takes no more memory than this need not be asked
/// for.
pub const NEAR: usize = 1 << 20;

/// Asks the processor to fetch a value into its second-level cache. That changes nothing but how long it will take to read
/// it. Does nothing where the instruction is not at hand.
#[inline]
pub fn prefetch<T>(value: &T) {
    let first = core::ptr::from_ref(value).cast::<i8>();
    let mut offset = 0;
    while offset < size_of::<T>() {
        prefetch_line(first.wrapping_add(offset));
        offset += LINE;
    }
    // The value need not begin with a line: one more may hold its end.
    prefetch_line(first.wrapping_add(size_of::<T>().saturating_sub(1)));
}

#[inline]
fn prefetch_line(address: *const i8) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T2, _mm_prefetch};
        // SAFETY: a hint, which reads nothing that the program can see and faults at no address.
        unsafe { _mm_prefetch::<_MM_HINT_T2>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
