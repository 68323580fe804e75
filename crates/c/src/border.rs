//! What is between C and Rust: pointers that are looked at before they are used, and panics that stay here.

use std::mem::MaybeUninit;
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

/// More than any struct of ours will have: a size beyond it is not one.
const MOST: usize = 4096;

/// Copies a struct that begins with its size and may have grown since the caller was compiled, or since this library was. The
/// caller's has `first` bytes at least. What it lacks is zero; what it has more must be zero, as nobody here knows what it asks for.
///
/// # Safety
/// If the pointer is neither null nor misaligned, a `u32` is there, and as many bytes as that says. `T` has only numbers.
pub(crate) unsafe fn read_grown<T>(pointer: *const T, first: usize) -> Result<T, Status> {
    // SAFETY: the caller vouches for it.
    let size = unsafe { size_of_grown(pointer, first) }?;
    let mut value = MaybeUninit::<T>::zeroed();
    // SAFETY: there are `size` bytes, of which no more are copied than fit; any bits are numbers.
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

/// Copies `value` to such a struct: as much as the caller's has room for. What the caller's has more stays as it is.
///
/// # Safety
/// As for [`read_grown`], and the bytes may be written.
pub(crate) unsafe fn write_grown<T>(
    pointer: *mut T,
    first: usize,
    value: &T,
) -> Result<(), Status> {
    // SAFETY: the caller vouches for it.
    let size = unsafe { size_of_grown(pointer.cast_const(), first) }?;
    // The size itself stays the caller's.
    let (from, to) = (size_of::<u32>(), size.min(size_of::<T>()));
    // SAFETY: both have so many bytes.
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
    // SAFETY: the caller vouches for it.
    let size = unsafe { pointer.cast::<u32>().read() } as usize;
    if (first..=MOST).contains(&size) {
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

    /// A struct of three versions: with one, two and three numbers.
    #[repr(C)]
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Grown<const N: usize> {
        size: u32,
        numbers: [u32; N],
    }

    /// What this library, whose version has two numbers, makes of the caller's.
    fn read_of<const N: usize>(size: usize, numbers: [u32; N]) -> Result<Grown<2>, Status> {
        let size = u32::try_from(size).expect("small");
        let theirs = Grown { size, numbers };
        // SAFETY: it has as many bytes as it says, or is refused before they are looked at.
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
        assert_eq!(of(read_of(MOST + 1, [1])), Err(Status::Invalid));
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
