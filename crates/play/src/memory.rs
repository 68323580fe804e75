//! The memory of the module, of which `crates/play/module` sets the maximum.
//!
//! An allocation that does not fit would end in a trap without a text. The host throws an error for people instead, and drops the
//! instance.
#![expect(unsafe_code, reason = "an allocator, and a function of the host")]

use std::alloc::{GlobalAlloc, Layout, System};

#[link(wasm_import_module = "memory")]
unsafe extern "C" {
    /// Throws an error that says that the memory is used up.
    safe fn exhausted() -> !;
}

#[global_allocator]
static ALLOCATOR: Bounded = Bounded;

struct Bounded;

/// SAFETY: what [`System`] returns and takes is passed on.
unsafe impl GlobalAlloc for Bounded {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's contract is that of this one.
        there(unsafe { System.alloc(layout) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.alloc_zeroed(layout) })
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        there(unsafe { System.realloc(place, layout, size) })
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(place, layout) }
    }
}

fn there(place: *mut u8) -> *mut u8 {
    if place.is_null() {
        exhausted();
    }
    place
}
