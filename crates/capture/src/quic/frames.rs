//! The frames of a packet's payload (RFC 9000, section 19) that show sent and acknowledged data.

use super::wire::{Id, Reader};

/// The most ranges of one ACK frame that are read.
const MAX_RANGES: usize = 1024;

/// A frame, as far as it matters here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// An ACK frame.
    Ack {
        /// The ranges of packet numbers, first and last, the highest range first.
        ranges: Vec<(u64, u64)>,
        /// The ACK delay of the largest number, in microseconds.
        delay_us: u64,
    },
    /// A STREAM frame.
    Stream {
        /// The stream ID.
        id: u64,
        /// The offset of the data in the stream.
        offset: u64,
        /// The length of the data.
        len: u64,
    },
    /// MAX_DATA: the flow control limit of the connection.
    MaxData(u64),
    /// MAX_STREAM_DATA: the flow control limit of a stream.
    MaxStreamData(u64, u64),
    /// RESET_STREAM.
    Reset(u64),
    /// A new connection ID of the sender.
    NewId(Id),
    /// Another frame that elicits an acknowledgement.
    Other,
}

/// Appends the frames of a payload, up to the first unknown one. ACK delays are in units of two to the power of `exponent`
/// microseconds.
pub fn read(payload: &[u8], exponent: u8, frames: &mut Vec<Frame>) {
    let mut reader = Reader {
        data: payload,
        at: 0,
    };
    frames.clear();
    while reader.has_more() {
        match frame(&mut reader, exponent) {
            Some(Some(frame)) => frames.push(frame),
            Some(None) => {}
            None => {
                frames.push(Frame::Other);
                return;
            }
        }
    }
}

/// The next frame. `Some(None)` for padding and other frames without meaning here, `None` for unknown frames.
fn frame(reader: &mut Reader<'_>, exponent: u8) -> Option<Option<Frame>> {
    let kind = reader.number()?;
    let numbers = |reader: &mut Reader<'_>, count: u8| {
        (0..count).try_for_each(|_| reader.number().map(|_| ()))
    };
    let frame = match kind {
        0x00 => return Some(None),
        0x02 | 0x03 => ack(reader, kind == 0x03, exponent)?,
        0x04 => {
            let id = reader.number()?;
            numbers(reader, 2)?;
            Frame::Reset(id)
        }
        0x05 | 0x11 | 0x15 => {
            let (id, number) = (reader.number()?, reader.number()?);
            if kind == 0x11 {
                Frame::MaxStreamData(id, number)
            } else {
                Frame::Other
            }
        }
        0x06 => {
            numbers(reader, 1)?;
            let len = reader.number()?;
            reader.skip(len)?;
            Frame::Other
        }
        0x07 => {
            let len = reader.number()?;
            reader.skip(len)?;
            Frame::Other
        }
        0x08..=0x0f => stream(reader, kind)?,
        0x10 => Frame::MaxData(reader.number()?),
        0x12..=0x14 | 0x16 | 0x17 | 0x19 => {
            numbers(reader, 1)?;
            Frame::Other
        }
        0x18 => {
            numbers(reader, 2)?;
            let len = reader.byte()?;
            let id = Id::new(reader.bytes(len.into())?)?;
            reader.skip(16)?;
            Frame::NewId(id)
        }
        0x1a | 0x1b => {
            reader.skip(8)?;
            Frame::Other
        }
        // CONNECTION_CLOSE, which is not acknowledged.
        0x1c | 0x1d => {
            numbers(reader, if kind == 0x1c { 2 } else { 1 })?;
            let len = reader.number()?;
            reader.skip(len)?;
            return Some(None);
        }
        0x01 | 0x1e | 0x1f => Frame::Other,
        // DATAGRAM (RFC 9221).
        0x30 => {
            reader.at = reader.data.len();
            Frame::Other
        }
        0x31 => {
            let len = reader.number()?;
            reader.skip(len)?;
            Frame::Other
        }
        // ACK_FREQUENCY (draft-ietf-quic-ack-frequency, "ACK_FREQUENCY Frame").
        0xaf => {
            numbers(reader, 4)?;
            Frame::Other
        }
        _ => return None,
    };
    Some(Some(frame))
}

fn stream(reader: &mut Reader<'_>, kind: u64) -> Option<Frame> {
    let id = reader.number()?;
    let offset = if kind & 4 != 0 { reader.number()? } else { 0 };
    let len = if kind & 2 != 0 {
        reader.number()?
    } else {
        (reader.data.len() - reader.at) as u64
    };
    reader.skip(len)?;
    Some(Frame::Stream { id, offset, len })
}

/// The rest of an ACK frame.
pub fn ack(reader: &mut Reader<'_>, has_ecn: bool, exponent: u8) -> Option<Frame> {
    let largest = reader.number()?;
    let delay = reader.number()?;
    let more = reader.number()?;
    let mut last = largest;
    let mut first = last.checked_sub(reader.number()?)?;
    let mut ranges = vec![(first, last)];
    for _ in 0..more {
        last = first.checked_sub(reader.number()?)?.checked_sub(2)?;
        first = last.checked_sub(reader.number()?)?;
        if ranges.len() < MAX_RANGES {
            ranges.push((first, last));
        }
    }
    if has_ecn {
        (0..3).try_for_each(|_| reader.number().map(|_| ()))?;
    }
    Some(Frame::Ack {
        ranges,
        delay_us: delay.saturating_mul(1 << exponent.min(20)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_follow_each_other() {
        let mut frames = Vec::new();
        // PADDING, an ACK of 10 to 12 and 5 to 7, MAX_DATA, three bytes of STREAM 4 at 100, and PING.
        let payload = [
            0, 2, 12, 25, 1, 2, 1, 2, 0x10, 0x40, 0x64, 0x0e, 4, 0x40, 0x64, 3, 1, 2, 3, 1,
        ];
        read(&payload, 3, &mut frames);
        let ack = Frame::Ack {
            ranges: vec![(10, 12), (5, 7)],
            delay_us: 200,
        };
        let stream = Frame::Stream {
            id: 4,
            offset: 100,
            len: 3,
        };
        assert_eq!(frames, [ack, Frame::MaxData(100), stream, Frame::Other]);
        for end in 0..payload.len() {
            read(&payload[..end], 3, &mut frames);
        }
        // The range of the ACK is impossible.
        read(&[2, 1, 0, 0, 5], 3, &mut frames);
        assert_eq!(frames, [Frame::Other]);
    }
}
