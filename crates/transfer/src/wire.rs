//! The framing of messages.
//!
//! A message is a length (four bytes, little-endian), followed by that many bytes of [postcard]. Every kind of message
//! has a maximum size, and memory is allocated only as bytes arrive.

use quic::connection::{ReadExactError, RecvStream};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::Error;
use crate::wire_error::WireError;

/// The protocol and its version, agreed on in the handshake.
pub const ALPN: &[u8] = b"fullpipe-transfer/4";

/// The frame of `message`. `None` if it is larger than `max`.
pub fn encode(message: &impl Serialize, max: usize) -> Option<Vec<u8>> {
    let body = postcard::to_stdvec(message).ok()?;
    let length = u32::try_from(body.len())
        .ok()
        .filter(|_| body.len() <= max)?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(body);
    Some(frame)
}

/// Decodes `body`, which must hold exactly one message.
pub fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T, WireError> {
    match postcard::take_from_bytes(body) {
        Ok((message, [])) => Ok(message),
        _ => Err(WireError::Format),
    }
}

/// Reads the next message, of at most `max` bytes.
pub async fn read<T: DeserializeOwned>(stream: &mut RecvStream, max: usize) -> Result<T, Error> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).await?;
    let length = u32::from_le_bytes(length) as usize;
    if length > max {
        return Err(WireError::TooLong.into());
    }
    let mut body = Vec::new();
    while body.len() < length {
        let chunk = stream.read_chunk(length - body.len()).await?;
        body.extend(chunk.ok_or(ReadExactError::FinishedEarly(body.len()))?);
    }
    Ok(decode(&body)?)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::limits::{MAX_OFFER, MAX_REPLY};
    use crate::message::{Kind, Offer, Offered};
    use crate::ranges::Ranges;

    proptest! {
        #[test]
        fn round_trip(restart: bool, files in prop::collection::vec(any::<(String, u64, bool)>(), 0..20)) {
            let offered = |(path, size, executable)| Offered {
                path,
                size,
                kind: Kind::File { executable, sparse: !executable },
                holes: Ranges::of([1, 3]),
            };
            let files = files.into_iter().map(offered).collect();
            let offer = Offer { restart, files };
            let frame = encode(&offer, MAX_OFFER).unwrap();
            prop_assert_eq!(decode(&frame[4..]), Ok(offer.clone()));
            let mut longer = frame[4..].to_vec();
            longer.push(0);
            prop_assert_eq!(decode::<Offer>(&longer), Err(WireError::Format));
            prop_assert_eq!(decode::<Offer>(&frame[4..frame.len() - 1]), Err(WireError::Format));
        }

    }

    #[test]
    fn an_enormous_length_takes_no_memory() {
        // Postcard's lengths are variable-length integers: this one claims 2^63 files.
        let mut body = vec![0];
        body.extend([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]);
        assert_eq!(decode::<Offer>(&body), Err(WireError::Format));
        assert!(encode(&vec![0u8; MAX_REPLY], MAX_REPLY).is_none());
    }
}
