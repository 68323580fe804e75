//! QUIC connections: what a capture shows of them without keys, and their details with a key log or a qlog.

mod connection;
mod copies;
mod course;
mod delays;
mod frames;
mod hello;
mod key_log;
mod loss_bits;
mod offload;
mod protection;
pub(crate) mod qlog;
mod spin;
mod summary;
mod table;
#[cfg(test)]
mod tests;
mod wire;

pub use connection::QuicConnection;
pub use hello::ClientHello;
pub use key_log::{KeyLog, KeyLogError};
pub use summary::{LossShares, QuicFlow, QuicSummary, SpinSummary};
pub(crate) use table::Table;
pub use wire::Version;

/// Reads bytes with all parsers of QUIC. For fuzzing.
#[cfg(any(test, fuzzing))]
pub(crate) fn any(bytes: &[u8]) {
    let mut read = Vec::new();
    frames::read(bytes, 3, &mut read);
    assert!(read.len() <= bytes.len());
    hello::Pieces::default().add(bytes);
    delays::Delays::of(bytes);
    let mut lengths = offload::Lengths::default();
    let mut rest = bytes;
    while let Some(header) = wire::Header::parse(rest) {
        let len = u32::try_from(rest.len()).unwrap_or(u32::MAX);
        for (len, id_len) in [
            (len, Some(0)),
            (len, Some(8)),
            (65_000, None),
            (9_600, Some(3)),
        ] {
            let one = offload::Joined {
                len,
                data: rest,
                header,
                id_len,
            };
            if let offload::Division::Into(size) = lengths.divide(&one, Some(&mut |_| false)) {
                assert!(
                    0 < size && size < len && len.div_ceil(size) <= 128,
                    "{size} of {len}"
                );
            }
        }
        let wire::Header::Long(_, behind) = header else {
            break;
        };
        rest = behind;
    }
}
