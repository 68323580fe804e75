//! The byte stream between the application and the network: positions only, no contents.

use congestion::Bytes;

/// ```text
///  0 ────── una ────── next ────── written ────── una + limit
///    acked      sent       waiting         room
/// ```
#[derive(Debug, Clone)]
pub struct Stream {
    /// The end of the cumulatively acknowledged data (SND.UNA).
    una: u64,
    /// The end of the sent data (SND.NXT).
    next: u64,
    written: u64,
    limit: u64,
    /// Whether the application had to stop writing, and waits for room.
    is_blocked: bool,
    is_finished: bool,
}

impl Stream {
    pub fn new(limit: Bytes) -> Stream {
        Stream {
            una: 0,
            next: 0,
            written: 0,
            limit: limit.get(),
            is_blocked: false,
            is_finished: false,
        }
    }

    pub fn una(&self) -> u64 {
        self.una
    }

    pub fn next(&self) -> u64 {
        self.next
    }

    /// The end position of the written data.
    pub fn written(&self) -> u64 {
        self.written
    }

    /// The bytes that were written and never sent.
    #[inline]
    pub fn unsent(&self) -> u64 {
        self.written - self.next
    }

    /// The bytes that the application may write: the room in the send buffer. An application that has filled it has
    /// no room until a third is free (Linux `sk_stream_write_space`).
    pub fn room(&self) -> Bytes {
        if self.is_blocked {
            Bytes::ZERO
        } else {
            Bytes::new(self.limit.saturating_sub(self.held()))
        }
    }

    /// The bytes in the send buffer.
    fn held(&self) -> u64 {
        self.written - self.una
    }

    /// Whether the application has more data than fit.
    #[inline]
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Appends as many bytes as fit; returns their number.
    #[inline]
    pub fn write(&mut self, bytes: Bytes) -> Bytes {
        let space = Bytes::new(u64::MAX - self.written);
        let taken = if self.is_finished {
            Bytes::ZERO
        } else {
            bytes.min(self.room()).min(space)
        };
        self.written += taken.get();
        self.is_blocked |= taken < bytes;
        taken
    }

    /// Notes that no more data will be written.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Whether nothing more will be written and everything is acknowledged.
    #[inline]
    pub fn is_done(&self) -> bool {
        self.is_finished && self.una == self.written
    }

    /// Notes that `bytes` of unsent data are sent.
    #[inline]
    pub fn send(&mut self, bytes: u64) {
        debug_assert!(bytes <= self.unsent());
        self.next += bytes.min(self.unsent());
    }

    /// Notes that everything before `position` has arrived; returns whether that was unknown.
    #[inline]
    pub fn acknowledge(&mut self, position: u64) -> bool {
        debug_assert!(position <= self.next);
        let is_progress = position > self.una;
        self.una = self.una.max(position.min(self.next));
        self.is_blocked &= self.held() > self.limit / 3 * 2;
        is_progress
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_is_not_acknowledged() {
        let mut stream = Stream::new(Bytes::new(100));
        assert_eq!(stream.write(Bytes::new(70)), Bytes::new(70));
        assert_eq!(stream.write(Bytes::new(70)), Bytes::new(30));
        assert_eq!(stream.room(), Bytes::ZERO);
        stream.send(60);
        assert!(stream.acknowledge(40));
        assert!(!stream.acknowledge(40));
        assert_eq!((stream.room(), stream.unsent()), (Bytes::new(40), 40));
    }

    #[test]
    fn who_has_filled_the_buffer_is_woken_when_a_third_is_free() {
        let mut stream = Stream::new(Bytes::new(300));
        assert_eq!(stream.write(Bytes::new(300)), Bytes::new(300));
        stream.send(300);
        stream.acknowledge(10);
        assert_eq!(stream.room(), Bytes::new(10), "it has not had to wait yet");
        assert_eq!(stream.write(Bytes::new(11)), Bytes::new(10));
        stream.acknowledge(109);
        assert_eq!(
            (stream.room(), stream.write(Bytes::new(9))),
            (Bytes::ZERO, Bytes::ZERO)
        );
        stream.acknowledge(110);
        assert_eq!(stream.room(), Bytes::new(100));
    }

    #[test]
    fn is_done_when_all_is_acknowledged_and_no_more_will_come() {
        let mut stream = Stream::new(Bytes::MAX);
        stream.write(Bytes::new(10));
        stream.send(10);
        stream.acknowledge(10);
        assert!(!stream.is_done());
        stream.finish();
        assert!(stream.is_done());
        assert_eq!(stream.write(Bytes::new(1)), Bytes::ZERO);
    }
}
