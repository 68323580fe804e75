//! The memory of frames between the two devices: frames are read into it and written from it, and it is used again.

use std::io::{self, IoSlice, IoSliceMut};
use std::iter;
use std::mem;
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use path::Mtu;

use super::damage::damage;
use super::headers;
use super::layout::Layout;
use super::too_big;
use super::virtio::VIRTIO;

/// The bytes of a frame's first part: a packet of the usual size, or the headers of a large one and its first bytes.
pub(super) const HEAD_BYTES: usize = 2 << 10;

/// The bytes of each further part, so that a frame of a few segments does not take the room of the largest.
const PART_BYTES: usize = 8 << 10;

/// The maximum number of further parts. Together they hold an IP packet of 64 KiB.
const MAX_PARTS: usize = 8;

/// The maximum number of free frames, and of free parts, that are kept. Others are allocated when they are needed.
const MAX_KEPT: usize = 1 << 10;

type Part = Box<[u8; PART_BYTES]>;

/// A frame. Its copies share the memory, which is used again after the last one is dropped.
#[derive(Debug, Clone)]
pub(crate) struct Frame(Arc<Body>);

#[derive(Debug, Clone)]
struct Body {
    head: [u8; HEAD_BYTES],
    tail: Vec<Part>,
    layout: Layout,
    home: Weak<Home>,
}

/// The free frames.
#[derive(Debug, Default)]
struct Home(Mutex<Vec<Arc<Body>>>);

impl Home {
    fn give_back(&self, body: Arc<Body>) {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if free.len() < MAX_KEPT {
            free.push(body);
        }
    }

    fn take(self: &Arc<Home>) -> Arc<Body> {
        let mut free = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        free.pop().unwrap_or_else(|| {
            Arc::new(Body {
                head: [0; HEAD_BYTES],
                tail: Vec::with_capacity(MAX_PARTS),
                layout: Layout::EMPTY,
                home: Arc::downgrade(self),
            })
        })
    }
}

impl Drop for Frame {
    fn drop(&mut self) {
        // The other copies, if any, belong to the same thread, which makes no new one meanwhile.
        if Arc::strong_count(&self.0) == 1
            && let Some(home) = self.0.home.upgrade()
        {
            home.give_back(self.0.clone());
        }
    }
}

impl Frame {
    /// The frame's layout.
    pub(crate) fn layout(&self) -> &Layout {
        &self.0.layout
    }

    /// True if `other` is a copy of this frame.
    pub(crate) fn is(&self, other: &Frame) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Writes some of its segments to a device as one frame; `mark` sets "congestion experienced".
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn write(
        &self,
        device: impl AsFd,
        segments: &Range<u32>,
        mark: bool,
    ) -> io::Result<()> {
        let mut headers = [0; HEAD_BYTES];
        let slices = self.pieces(segments, mark, &mut headers)?;
        let mut vector = [IoSlice::new(&[]); 2 + MAX_PARTS];
        let mut count = 0;
        for (place, slice) in vector.iter_mut().zip(slices) {
            *place = IoSlice::new(slice);
            count += 1;
        }
        rustix::io::writev(device, vector.get(..count).unwrap_or_default())?;
        Ok(())
    }

    /// Writes one segment, damaged, as [`Frame::write`] does: its checksum does not match.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn write_damaged(
        &self,
        device: impl AsFd,
        segment: &Range<u32>,
        mark: bool,
    ) -> io::Result<()> {
        let mut headers = [0; HEAD_BYTES];
        let pieces = self.pieces(segment, mark, &mut headers)?;
        let mut frame = pieces.collect::<Vec<_>>().concat();
        damage(&mut frame);
        rustix::io::write(device, &frame)?;
        Ok(())
    }

    /// Returns a frame that reports to the sender of one of its segments that it exceeds the MTU of a link.
    pub(crate) fn too_big(&self, segment: &Range<u32>, mtu: Mtu) -> Option<Vec<u8>> {
        let mut headers = [0; HEAD_BYTES];
        let pieces = self.pieces(segment, false, &mut headers).ok()?;
        let frame = pieces.collect::<Vec<_>>().concat();
        too_big::report(self.layout().version, frame.get(VIRTIO..)?, mtu)
    }

    /// Returns some of its segments as one frame, in pieces. `mark` sets "congestion experienced". Changed headers are
    /// written to `headers`.
    fn pieces<'a>(
        &'a self,
        segments: &Range<u32>,
        mark: bool,
        headers: &'a mut [u8; HEAD_BYTES],
    ) -> io::Result<impl Iterator<Item = &'a [u8]>> {
        let Body { head, layout, .. } = &*self.0;
        let replaced = headers::write(layout, head, segments, mark, headers)
            .ok_or(io::ErrorKind::InvalidData)?;
        let body = match (replaced, &layout.large) {
            (0, _) => 0..VIRTIO + layout.length,
            (_, None) => replaced..VIRTIO + layout.length,
            (_, Some(_)) => {
                let payload = layout.payload(segments);
                VIRTIO + payload.start..VIRTIO + payload.end
            }
        };
        let headers: &[u8] = headers;
        let pieces = iter::once(headers.get(..replaced).unwrap_or_default());
        let pieces = pieces.chain(self.bytes(body));
        Ok(pieces.filter(|piece| !piece.is_empty()))
    }

    /// A range of its bytes, in pieces.
    fn bytes(&self, range: Range<usize>) -> impl Iterator<Item = &[u8]> {
        let Body { head, tail, .. } = &*self.0;
        let parts = tail.iter().map(|part| part.as_slice());
        let mut offset = 0;
        iter::once(head.as_slice()).chain(parts).map(move |part| {
            let start = range.start.saturating_sub(offset).min(part.len());
            let end = range.end.saturating_sub(offset).min(part.len());
            offset += part.len();
            part.get(start..end).unwrap_or_default()
        })
    }
}

/// The result of a read.
#[derive(Debug)]
pub(crate) enum Received {
    /// A frame.
    Frame(Frame),
    /// An invalid frame, which is dropped.
    Malformed,
    /// The other side of a socket is gone.
    End,
}

/// Reads frames into memory that is used repeatedly.
#[derive(Debug)]
pub(crate) struct Inbox {
    home: Arc<Home>,
    /// The memory of the next frame.
    landing: Arc<Body>,
    /// Unused parts.
    spare: Vec<Part>,
}

impl Inbox {
    /// Returns an inbox without frames.
    pub(crate) fn new() -> Inbox {
        let home = Arc::<Home>::default();
        Inbox {
            landing: home.take(),
            home,
            spare: Vec::new(),
        }
    }

    /// Reads a frame.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if there is no frame, or another error of the system.
    pub(crate) fn read(&mut self, device: impl AsFd) -> io::Result<Received> {
        let Inbox {
            home,
            landing,
            spare,
        } = self;
        // There is no other reference, so nothing is cloned here.
        let body = Arc::make_mut(landing);
        body.tail.resize_with(MAX_PARTS, || {
            spare.pop().unwrap_or_else(|| Box::new([0; PART_BYTES]))
        });
        let mut parts = iter::once(body.head.as_mut_slice())
            .chain(body.tail.iter_mut().map(|part| part.as_mut_slice()));
        let mut vector: [_; 1 + MAX_PARTS] =
            std::array::from_fn(|_| IoSliceMut::new(parts.next().unwrap_or_default()));
        let length = rustix::io::readv(device, &mut vector)?;
        if length == 0 {
            return Ok(Received::End);
        }
        let head = body.head.get(..length).unwrap_or(&body.head);
        let Some(layout) = Layout::of(head, length) else {
            return Ok(Received::Malformed);
        };
        body.layout = layout;
        let parts = length.saturating_sub(HEAD_BYTES).div_ceil(PART_BYTES);
        let unused = body.tail.drain(parts.min(MAX_PARTS)..);
        spare.extend(unused);
        spare.truncate(MAX_KEPT);
        Ok(Received::Frame(Frame(mem::replace(landing, home.take()))))
    }
}
