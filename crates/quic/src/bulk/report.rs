//! The receiver's report on a stripe.

use super::BulkError;

/// The receiver's report on a stripe.
pub(super) struct Report {
    pub(super) bytes: u64,
    pub(super) is_complete: bool,
    pub(super) digest: blake3::Hash,
}

/// The bytes of an encoded report: count, completeness, digest.
pub(super) const REPORT_SIZE: usize = 8 + 1 + 32;

impl Report {
    pub(super) fn encode(&self) -> [u8; REPORT_SIZE] {
        let mut encoded = [0; REPORT_SIZE];
        encoded[..8].copy_from_slice(&self.bytes.to_be_bytes());
        encoded[8] = self.is_complete.into();
        encoded[9..].copy_from_slice(self.digest.as_bytes());
        encoded
    }

    /// True if the report is possible for a stripe of which this many bytes were written.
    pub(super) fn may_be(&self, written: u64) -> bool {
        self.bytes == written || self.bytes < written && !self.is_complete
    }

    /// # Errors
    /// The size is not that of a report.
    pub(super) fn decode(encoded: &[u8]) -> Result<Report, BulkError> {
        let encoded: &[u8; REPORT_SIZE] = encoded.try_into().map_err(|_| BulkError::Report)?;
        let (count, rest) = encoded.split_first_chunk().ok_or(BulkError::Report)?;
        let (is_complete, digest) = rest.split_first().ok_or(BulkError::Report)?;
        Ok(Report {
            bytes: u64::from_be_bytes(*count),
            is_complete: *is_complete != 0,
            digest: blake3::Hash::from_slice(digest).map_err(|_| BulkError::Report)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_written_and_read() {
        let report = Report {
            bytes: 1 << 40,
            is_complete: true,
            digest: blake3::hash(b"abc"),
        };
        let encoded = report.encode();
        let decoded = Report::decode(&encoded).unwrap();
        assert_eq!((decoded.bytes, decoded.is_complete), (1 << 40, true));
        assert_eq!(decoded.digest, report.digest);
        assert!(Report::decode(&encoded[1..]).is_err());
        assert!(decoded.may_be(1 << 40));
        assert!(!decoded.may_be((1 << 40) - 1));
        // A part is not complete.
        assert!(!decoded.may_be((1 << 40) + 1));
    }
}
