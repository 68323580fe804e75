//! Numbers in network byte order.

/// The 16 bits at `at`.
#[inline]
pub fn half(bytes: &[u8], at: usize) -> Option<u16> {
    let (bytes, _) = bytes.get(at..)?.split_first_chunk::<2>()?;
    Some(u16::from_be_bytes(*bytes))
}

/// The 32 bits at `at`.
#[inline]
pub fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let (bytes, _) = bytes.get(at..)?.split_first_chunk::<4>()?;
    Some(u32::from_be_bytes(*bytes))
}
