//! The kernel's structures: integers in native byte order, each at its offset; `None` past the end.

use units::{Bytes, Duration, Rate};

/// Defines a structure of the kernel. Each field has a type, an offset, and a function that reads it there.
macro_rules! native {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$field_about:meta])* pub $field:ident: $type:ty = $offset:literal => $read:expr,)*
        }
    ) => {
        $(#[$about])*
        pub struct $name {
            $($(#[$field_about])* pub $field: $type,)*
        }

        impl $name {
            /// Reads the structure at `offset`; `None` if it is cut short.
            pub(super) fn at(bytes: &[u8], offset: usize) -> Option<$name> {
                Some($name {
                    $($field: $read(bytes, offset + $offset)?,)*
                })
            }
        }
    };
}
pub(super) use native;

/// The byte at `offset`.
pub(super) fn u8_at(bytes: &[u8], offset: usize) -> Option<u8> {
    bytes.get(offset).copied()
}

/// The `__u16` at `offset`.
pub(super) fn u16_at(bytes: &[u8], offset: usize) -> Option<u16> {
    array_at(bytes, offset).map(u16::from_ne_bytes)
}

/// The `__u32` at `offset`.
pub(super) fn u32_at(bytes: &[u8], offset: usize) -> Option<u32> {
    array_at(bytes, offset).map(u32::from_ne_bytes)
}

/// The `__u64` at `offset`.
pub(super) fn u64_at(bytes: &[u8], offset: usize) -> Option<u64> {
    array_at(bytes, offset).map(u64::from_ne_bytes)
}

/// The `N` bytes at `offset`.
pub(super) fn array_at<const N: usize>(bytes: &[u8], offset: usize) -> Option<[u8; N]> {
    bytes.get(offset..)?.first_chunk().copied()
}

/// The number in two `__u32` at `offset`, the low one first.
pub(super) fn two_words(bytes: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from(u32_at(bytes, offset)?) | u64::from(u32_at(bytes, offset + 4)?) << 32)
}

/// The microseconds in the `__u32` at `offset`.
pub(super) fn micros(bytes: &[u8], offset: usize) -> Option<Duration> {
    u32_at(bytes, offset).map(|micros| Duration::from_micros(micros.into()))
}

/// The microseconds in the `__u64` at `offset`.
pub(super) fn micros64(bytes: &[u8], offset: usize) -> Option<Duration> {
    u64_at(bytes, offset).map(Duration::from_micros)
}

/// The milliseconds in the `__u32` at `offset`.
pub(super) fn millis(bytes: &[u8], offset: usize) -> Option<Duration> {
    u32_at(bytes, offset).map(|millis| Duration::from_millis(millis.into()))
}

/// The microseconds in the `__u32` at `offset`; the largest number means that there is no sample yet.
pub(super) fn min_rtt(bytes: &[u8], offset: usize) -> Option<Option<Duration>> {
    let is_none = u32_at(bytes, offset)? == u32::MAX;
    Some(micros(bytes, offset).filter(|_| !is_none))
}

/// The bytes in the `__u32` at `offset`.
pub(super) fn size(bytes: &[u8], offset: usize) -> Option<Bytes> {
    u32_at(bytes, offset).map(|size| Bytes::new(size.into()))
}

/// The bytes in the `__u64` at `offset`.
pub(super) fn size64(bytes: &[u8], offset: usize) -> Option<Bytes> {
    u64_at(bytes, offset).map(Bytes::new)
}

/// The bytes per second in the `__u64` at `offset`.
pub(super) fn rate(bytes: &[u8], offset: usize) -> Option<Rate> {
    u64_at(bytes, offset).map(Rate::from_bytes_per_sec)
}

/// Makes a field optional that an older kernel does not have.
pub(super) fn later<T>(
    read: fn(&[u8], usize) -> Option<T>,
) -> impl Fn(&[u8], usize) -> Option<Option<T>> {
    move |bytes, offset| Some(read(bytes, offset))
}
