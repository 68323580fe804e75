//! One connection: an application, and the two sockets that carry its data and its requests.

use std::io;
use std::net::TcpStream;
use std::sync::Arc;

use linux::socket;
use transport::app::{self, App};
use units::{Bytes, Time};

use super::carried::Carried;

/// The most that is moved before another connection has its turn.
const TURN: usize = 256 << 10;

/// One of the two sockets.
#[derive(Debug)]
pub(super) struct End {
    pub stream: TcpStream,
    /// Whether there may be something to read, or room to write.
    pub readable: bool,
    pub writable: bool,
}

impl End {
    /// # Errors
    ///
    /// The kernel refuses.
    pub fn new(stream: TcpStream) -> io::Result<End> {
        // What waited for an answer would outlive the run, and its namespace with it.
        socket::abort_on_close(&stream)?;
        Ok(End {
            stream,
            readable: false,
            writable: false,
        })
    }

    /// Writes up to so much; how much was taken.
    fn write(&mut self, most: u64) -> io::Result<u64> {
        let most = usize::try_from(most).unwrap_or(TURN).min(TURN);
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

    /// Takes what has arrived.
    fn read(&mut self) -> io::Result<Read> {
        if !self.readable {
            return Ok(Read::Nothing);
        }
        match socket::discard(&self.stream, TURN) {
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

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub carried: Arc<Carried>,
    pub app: App,
    /// The end that sends data, and the end that gets them. The one that did not connect is there once the other's
    /// handshake has reached it.
    pub sender: Option<End>,
    pub receiver: Option<End>,
    /// When its application is next to be called, as far as that has been arranged.
    pub timer: Option<Time>,
    /// Whether it waits for its turn.
    pub is_queued: bool,
    requests_received: u64,
    has_ended_data: bool,
}

/// What is to become of a connection.
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
    pub fn new(carried: Arc<Carried>, app: App) -> Connection {
        Connection {
            carried,
            app,
            sender: None,
            receiver: None,
            timer: None,
            is_queued: false,
            requests_received: 0,
            has_ended_data: false,
        }
    }

    /// The end that sends data, or the one that gets them.
    pub fn end(&mut self, is_sender: bool) -> &mut Option<End> {
        if is_sender {
            &mut self.sender
        } else {
            &mut self.receiver
        }
    }

    /// Does what can be done: takes what has arrived at both ends, and writes what their applications want to.
    ///
    /// # Errors
    ///
    /// The connection is broken.
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

    /// Whether that was all.
    fn take_data(&mut self, now: Time, note: impl FnMut(app::Transfer)) -> io::Result<bool> {
        let Some(receiver) = &mut self.receiver else {
            return Ok(false);
        };
        match receiver.read()? {
            Read::Nothing => {}
            Read::Bytes(bytes) => {
                self.carried.add_received(bytes);
                self.app
                    .on_data_delivered(now, self.carried.received(), note);
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
        self.carried.add_written(written);
        let has_more = !self.app.data_waiting().is_zero();
        self.carried.note_waiting(has_more && !sender.writable);
        if self.app.is_finished() && !self.has_ended_data {
            // Before the handshake is over, this would be the end of it.
            match sender.stream.shutdown(std::net::Shutdown::Write) {
                Ok(()) => self.has_ended_data = true,
                Err(error) if error.kind() == io::ErrorKind::NotConnected => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}
