//! One connection: an application, and the two sockets for its data and its requests.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use linux::socket;
use transport::app::{self, App};
use units::{Bytes, Time};

use super::shared::SharedConnection;

/// The most bytes that one connection moves before the next one has its turn.
const MAX_TURN_BYTES: usize = 256 << 10;

/// One of the two sockets.
#[derive(Debug)]
pub(super) struct End {
    pub stream: TcpStream,
    /// Whether there may be something to read, and room to write.
    pub readable: bool,
    pub writable: bool,
}

impl End {
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn new(stream: TcpStream) -> io::Result<End> {
        // Unsent data would outlive the run, and keep its namespace alive.
        socket::abort_on_close(&stream)?;
        Ok(End {
            stream,
            readable: false,
            writable: false,
        })
    }

    /// Writes up to `most` bytes; returns how many the kernel took.
    fn write(&mut self, most: u64) -> io::Result<u64> {
        let most = usize::try_from(most)
            .unwrap_or(MAX_TURN_BYTES)
            .min(MAX_TURN_BYTES);
        if !self.writable || most == 0 {
            return Ok(0);
        }
        match socket::send(&self.stream, most) {
            Ok(written) => {
                self.writable = written == most;
                Ok(written as u64)
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.writable = false;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads the data that have arrived.
    fn read(&mut self) -> io::Result<Read> {
        if !self.readable {
            return Ok(Read::Nothing);
        }
        match socket::discard(&self.stream, MAX_TURN_BYTES) {
            Ok(0) => {
                self.readable = false;
                Ok(Read::End)
            }
            Ok(bytes) => Ok(Read::Bytes(bytes as u64)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(Read::Nothing)
            }
            Err(error) => Err(error),
        }
    }
}

enum Read {
    Nothing,
    Bytes(u64),
    End,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub shared: Arc<SharedConnection>,
    pub app: App,
    /// The end that sends data, and the end that receives them. The accepting end is `None` until the handshake
    /// reaches it.
    pub sender: Option<End>,
    pub receiver: Option<End>,
    /// The time of its application's scheduled timer.
    pub timer: Option<Time>,
    /// Whether it is in the queue of connections that can make progress.
    pub is_queued: bool,
    requests_received: u64,
    has_ended_data: bool,
}

/// The state of a connection after its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It waits for its sockets or its application's timer.
    Waits,
    /// It can go on at once.
    GoesOn,
    /// Everything has been delivered.
    Complete,
}

impl Connection {
    pub fn new(shared: Arc<SharedConnection>, app: App) -> Connection {
        Connection {
            shared,
            app,
            sender: None,
            receiver: None,
            timer: None,
            is_queued: false,
            requests_received: 0,
            has_ended_data: false,
        }
    }

    /// The sending end, or the receiving end.
    pub fn end(&mut self, is_sender: bool) -> &mut Option<End> {
        if is_sender {
            &mut self.sender
        } else {
            &mut self.receiver
        }
    }

    /// Makes all possible progress: reads what has arrived at both ends, and writes what their applications offer.
    ///
    /// # Errors
    ///
    /// The connection has failed.
    pub fn turn(&mut self, now: Time, note: impl FnMut(app::Transfer)) -> io::Result<Outcome> {
        self.app.on_timer(now);
        self.take_requests()?;
        if self.take_data(now, note)? {
            return Ok(Outcome::Complete);
        }
        self.write_requests()?;
        self.write_data()?;
        let is_ready = |end: &Option<End>, waiting: Bytes| {
            end.as_ref()
                .is_some_and(|end| end.readable || end.writable && !waiting.is_zero())
        };
        let goes_on = is_ready(&self.sender, self.app.data_waiting())
            || is_ready(&self.receiver, self.app.requests_waiting());
        Ok(if goes_on {
            Outcome::GoesOn
        } else {
            Outcome::Waits
        })
    }

    fn take_requests(&mut self) -> io::Result<()> {
        let Some(sender) = &mut self.sender else {
            return Ok(());
        };
        match sender.read()? {
            Read::Nothing => {}
            Read::Bytes(bytes) => {
                self.requests_received += bytes;
                self.app.on_requests_delivered(self.requests_received);
            }
            Read::End => return Err(io::ErrorKind::ConnectionAborted.into()),
        }
        Ok(())
    }

    /// Reads data; returns whether the stream has ended.
    fn take_data(&mut self, now: Time, note: impl FnMut(app::Transfer)) -> io::Result<bool> {
        let Some(receiver) = &mut self.receiver else {
            return Ok(false);
        };
        match receiver.read()? {
            Read::Nothing => {}
            Read::Bytes(bytes) => {
                self.shared.add_received(bytes);
                self.app
                    .on_data_delivered(now, self.shared.received(), note);
            }
            Read::End if self.has_ended_data => return Ok(true),
            Read::End => return Err(io::ErrorKind::ConnectionAborted.into()),
        }
        Ok(false)
    }

    fn write_requests(&mut self) -> io::Result<()> {
        if let Some(receiver) = &mut self.receiver {
            let written = receiver.write(self.app.requests_waiting().get())?;
            self.app.on_requests_written(Bytes::new(written));
        }
        Ok(())
    }

    fn write_data(&mut self) -> io::Result<()> {
        let Some(sender) = &mut self.sender else {
            return Ok(());
        };
        let written = sender.write(self.app.data_waiting().get())?;
        self.app.on_data_written(Bytes::new(written));
        self.shared.add_written(written);
        let has_more = !self.app.data_waiting().is_zero();
        self.shared.note_waiting(has_more && !sender.writable);
        if self.app.is_finished() && !self.has_ended_data {
            // A shutdown before the handshake is complete would abort it.
            match sender.stream.shutdown(std::net::Shutdown::Write) {
                Ok(()) => self.has_ended_data = true,
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
