//! The boundary between C and Rust: pointers are checked before use, and panics do not cross.

use std::mem::MaybeUninit;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok = 0,
    /// A pointer is null or misaligned, a size is too small, a value is invalid, or the flow is not initialised.
    Invalid = 1,
    /// The library failed by an error of its own. Every later call with the flow returns this, too.
    Panicked = 2,
}

/// Runs `act`, and returns a panic as a status.
pub(crate) fn guarded(act: impl FnOnce() -> Result<(), Status>) -> Status {
    match catch_unwind(AssertUnwindSafe(act)) {
        Ok(Ok(())) => Status::Ok,
        Ok(Err(status)) => status,
        Err(_) => Status::Panicked,
    }
}

/// Reads the value at a pointer.
///
/// # Safety
/// If it is neither null nor misaligned, it points to a value of this type.
pub(crate) unsafe fn read<'p, T>(pointer: *const T) -> Result<&'p T, Status> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Status::Invalid);
    }
    // SAFETY: neither null nor misaligned; the caller guarantees the rest.
    Ok(unsafe { &*pointer })
}

/// Writes a value at a pointer.
///
/// # Safety
/// If it is neither null nor misaligned, a value of this type may be written there.
pub(crate) unsafe fn write<T>(pointer: *mut T, value: T) -> Result<(), Status> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Status::Invalid);
    }
    // SAFETY: neither null nor misaligned; the caller guarantees the rest.
    unsafe { pointer.write(value) };
    Ok(())
}

/// The largest plausible size of a struct, in bytes.
const MAX_STRUCT_SIZE: usize = 4096;

/// Copies a struct that begins with its size, which may be of another version than this library's. The caller's has at
/// least `first` bytes. Missing bytes are zero. Additional bytes must be zero, as their meaning is unknown here.
///
/// # Safety
/// If the pointer is neither null nor misaligned, it points to a `u32` with the size, and to that many bytes. `T` has
/// only numbers.
pub(crate) unsafe fn read_grown<T>(pointer: *const T, first: usize) -> Result<T, Status> {
    // SAFETY: guaranteed by the caller.
    let size = unsafe { size_of_grown(pointer, first) }?;
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: there are `size` bytes, of which no more are copied than fit; any bits are valid numbers.
    unsafe {
        let beyond = (size_of::<T>()..size).map(|at| pointer.cast::<u8>().add(at).read());
        if beyond.into_iter().any(|byte| byte != 0) {
            return Err(Status::Invalid);
        }
        let bytes = value.as_mut_ptr().cast::<u8>();
        bytes.copy_from_nonoverlapping(pointer.cast(), size.min(size_of::<T>()));
        Ok(value.assume_init())
    }
}

/// Copies `value` to such a struct, as far as the caller's has room. Additional bytes of the caller's stay unchanged.
///
/// # Safety
/// As for [`read_grown`], and the bytes may be written.
pub(crate) unsafe fn write_grown<T>(
    pointer: *mut T,
    first: usize,
    value: &T,
) -> Result<(), Status> {
    // SAFETY: guaranteed by the caller.
    let size = unsafe { size_of_grown(pointer.cast_const(), first) }?;
    // The size stays the caller's.
    let (from, to) = (size_of::<u32>(), size.min(size_of::<T>()));
    // SAFETY: both have this many bytes.
    unsafe {
        let source = (&raw const *value).cast::<u8>().add(from);
        let place = pointer.cast::<u8>().add(from);
        place.copy_from_nonoverlapping(source, to - from);
    }
    Ok(())
}

/// # Safety
/// If the pointer is neither null nor misaligned, a `u32` is there.
unsafe fn size_of_grown<T>(pointer: *const T, first: usize) -> Result<usize, Status> {
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Status::Invalid);
    }
    // SAFETY: guaranteed by the caller.
    let size = unsafe { pointer.cast::<u32>().read() } as usize;
    if (first..=MAX_STRUCT_SIZE).contains(&size) {
        Ok(size)
    } else {
        Err(Status::Invalid)
    }
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

    /// A struct in three versions: with one, two and three numbers.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Grown<const N: usize> {
        size: u32,
        numbers: [u32; N],
    }

    /// The caller's struct as read by this library, whose version has two numbers.
    fn read_of<const N: usize>(size: usize, numbers: [u32; N]) -> Result<Grown<2>, Status> {
        let size = u32::try_from(size).expect("small");
        let theirs = Grown { size, numbers };
        // SAFETY: it has as many bytes as it says, or is refused before they are read.
        unsafe { read_grown((&raw const theirs).cast::<Grown<2>>(), 8) }
    }

    #[test]
    fn older_and_newer_callers_are_understood() {
        let of = |read: Result<Grown<2>, Status>| read.map(|read| read.numbers);
        assert_eq!(of(read_of(8, [1])), Ok([1, 0]));
        assert_eq!(of(read_of(12, [1, 2])), Ok([1, 2]));
        assert_eq!(of(read_of(16, [1, 2, 0])), Ok([1, 2]));
        assert_eq!(of(read_of(16, [1, 2, 3])), Err(Status::Invalid));
        assert_eq!(of(read_of(4, [1])), Err(Status::Invalid));
        assert_eq!(of(read_of(MAX_STRUCT_SIZE + 1, [1])), Err(Status::Invalid));
    }

    #[test]
    fn no_more_is_written_than_the_caller_has_room_for() {
        let ours = Grown {
            size: 0,
            numbers: [7, 8],
        };
        for (size, expected) in [(8, [7, 2, 3]), (12, [7, 8, 3]), (16, [7, 8, 3])] {
            let mut theirs = Grown {
                size,
                numbers: [1, 2, 3],
            };
            // SAFETY: it has as many bytes as it says.
            let status = unsafe { write_grown((&raw mut theirs).cast::<Grown<2>>(), 8, &ours) };
            assert_eq!(
                (status, theirs),
                (
                    Ok(()),
                    Grown {
                        size,
                        numbers: expected
                    }
                )
            );
        }
    }
}
