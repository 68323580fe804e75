//! The Internet checksum (RFC 1071) of headers.

/// Returns the checksum of data in which a word has changed: RFC 1624, section 3, equation 3. A wrong checksum stays
/// wrong.
pub(crate) fn replaced(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u32::from(!checksum) + u32::from(!old) + u32::from(new))
}

/// Returns the sum of 16-bit words. An odd byte at the end is a word's first.
pub(crate) fn sum(bytes: &[u8]) -> u32 {
    bytes
        .chunks(2)
        .map(|word| match *word {
            [high, low] => u32::from(u16::from_be_bytes([high, low])),
            [high] => u32::from(high) << 8,
            _ => 0,
        })
        .fold(0, u32::wrapping_add)
}

/// Folds a sum in ones' complement arithmetic: carries are added at the low end.
pub(crate) fn fold(sum: u32) -> u16 {
    let once = (sum & 0xffff) + (sum >> 16);
    (once + (once >> 16)) as u16
}
