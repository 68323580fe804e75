//! Integers in the machine's byte order, as the kernel lays them into its structures; none past the end.

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
