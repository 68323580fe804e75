//! The errors of a transfer.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use noq_proto::{ClosedStream, ConnectionError, VarInt};
use quic::connection::{ReadError, ReadExactError, ReadToEndError, WriteError};

use crate::code;
use crate::refusal::Refusal;
use crate::skipped::Skipped;
use crate::ticket::TicketError;
use crate::wire_error::WireError;
use quic::endpoint::EndpointError;

/// A failed transfer. The `Display` form is one line for people, and names a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ticket cannot be read.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// No socket, or no TLS.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    /// A source file cannot be opened or read.
    #[error("cannot read {path:?}: {source}")]
    Source {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A source is a device or another special file.
    #[error("{0:?} is neither a file nor a directory; send its content with `-`, from stdin")]
    NotAFile(PathBuf),
    /// Some sources cannot be sent. [`Event::Unsendable`](crate::Event::Unsendable) has reported each.
    #[error(
        "nothing was sent, because {} cannot be sent; mend the causes above, or send the rest with --skip", first(.0)
    )]
    Unsendable(Vec<(PathBuf, Skipped)>),
    /// Two sources have the same name.
    #[error("{}", same_name(.first, .second))]
    SameName {
        /// A file.
        first: PathBuf,
        /// Another one.
        second: PathBuf,
    },
    /// A source file changed while it was being sent.
    #[error(
        "{0:?} changed while it was being sent, and nothing appeared under its name; send it again with --restart"
    )]
    SourceChanged(PathBuf),
    /// The list of sources is empty, or all were skipped.
    #[error("nothing is left to send: all that was named is skipped")]
    NoFiles,
    /// The transfer has too many files.
    #[error("{0} files are too many for one transfer (at most {max}); send an archive of them", max = crate::limits::MAX_FILES)]
    TooManyFiles(usize),
    /// The paths of the files are too long in total.
    #[error("the names of so many files are too long for one transfer; send an archive of them")]
    LongNames,
    /// The receiver cannot be reached at any of its addresses.
    #[error("cannot reach the receiver at {}: {reason}", list(.addresses))]
    Unreachable {
        /// Its addresses, as in the ticket.
        addresses: Vec<SocketAddr>,
        /// The failure at the last address.
        reason: String,
    },
    /// The peer's certificate is not the ticket's.
    #[error(
        "wrong ticket: who answers at {0} does not have the certificate that the ticket names; nothing was sent"
    )]
    WrongReceiver(SocketAddr),
    /// The receiver did not accept the ticket's secret.
    #[error("wrong ticket: the receiver does not accept its secret; nothing was sent")]
    WrongSecret,
    /// A connection did not prove in time that it knows the ticket's secret.
    #[error("no proof of the ticket's secret came")]
    NoProof,
    /// Another sender is using the ticket.
    #[error("another sender is using this ticket; its transfer goes on, and nothing was sent")]
    InUse,
    /// The peer has been silent for too long.
    #[error("the connection is cut: the peer went silent")]
    Cut,
    /// The peer ended the connection.
    #[error("the peer ended the transfer ({0})")]
    PeerClosed(String),
    /// Another connection of the same sender has replaced this one.
    #[error("another sender with the same ticket took over")]
    TakenOver,
    /// The sender reports that its file has changed.
    #[error("the sender's file changed while it was being sent; nothing appeared under its name")]
    SenderFileChanged,
    /// The peer violates the protocol.
    #[error("the peer does not follow the protocol: {0}; is it the same version of Fullpipe?")]
    Protocol(String),
    /// The receiver rejects the files. Both sides report the same error.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The receiver's own state cannot be read or written.
    #[error("cannot use {path:?}: {source}")]
    State {
        /// The file or directory.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The receiver's own state is damaged.
    #[error(
        "{0:?}, state of an unfinished transfer, is damaged or of another version; begin anew with --fresh, with a new ticket"
    )]
    Damaged(PathBuf),
    /// The receiver's state folder belongs to another user.
    #[error("{0:?} belongs to another user; receive into another directory with --out")]
    Foreign(PathBuf),
    /// Another receiver uses the same output directory.
    #[error("another `fullpipe recv` is using {0:?}; give this one another --out")]
    Busy(PathBuf),
    /// The system provides no randomness for a secret, or no thread for a file.
    #[error("the system fails: {0}")]
    System(String),
}

impl Error {
    /// True if the connection was interrupted, so that another attempt can continue the transfer.
    pub fn is_interruption(&self) -> bool {
        matches!(self, Error::Cut | Error::PeerClosed(_))
    }

    pub(super) fn randomness() -> Error {
        Error::System("no randomness".to_owned())
    }

    /// The closing code for this error.
    pub(super) fn code(&self) -> VarInt {
        match self {
            Error::SourceChanged(_) => code::SOURCE_CHANGED,
            Error::WrongSecret => code::WRONG_SECRET,
            Error::Protocol(_) => code::PROTOCOL,
            Error::TakenOver => code::TAKEN_OVER,
            Error::Refused(_) => code::REFUSED,
            _ => code::FAILED,
        }
    }
}

impl From<ConnectionError> for Error {
    fn from(error: ConnectionError) -> Error {
        match error {
            ConnectionError::TimedOut | ConnectionError::Reset => Error::Cut,
            ConnectionError::ApplicationClosed(close) => match close.error_code {
                code::WRONG_SECRET => Error::WrongSecret,
                code::PROTOCOL => Error::Protocol("it says the same of this side".to_owned()),
                code::SOURCE_CHANGED => Error::SenderFileChanged,
                code::TAKEN_OVER => Error::TakenOver,
                code::IN_USE => Error::InUse,
                code::GONE => Error::PeerClosed("its program was ended".to_owned()),
                code::REFUSED => Error::PeerClosed("it refused".to_owned()),
                other => Error::PeerClosed(format!("code {other}")),
            },
            ConnectionError::LocallyClosed => Error::TakenOver,
            // The transport's error, or the peer's reason, which is escaped: it may contain anything.
            other => Error::PeerClosed(other.to_string().escape_debug().to_string()),
        }
    }
}

impl From<WireError> for Error {
    fn from(error: WireError) -> Error {
        Error::Protocol(error.to_string())
    }
}

impl From<ReadError> for Error {
    fn from(error: ReadError) -> Error {
        match error {
            ReadError::ConnectionLost(error) => error.into(),
            other => Error::Protocol(other.to_string()),
        }
    }
}

impl From<ReadExactError> for Error {
    fn from(error: ReadExactError) -> Error {
        match error {
            ReadExactError::ReadError(error) => error.into(),
            // A stream also ends like this when its sender is dropped.
            ReadExactError::FinishedEarly(_) => {
                Error::PeerClosed("it stopped in the middle".to_owned())
            }
        }
    }
}

impl From<ReadToEndError> for Error {
    fn from(error: ReadToEndError) -> Error {
        match error {
            ReadToEndError::TooLong => WireError::TooLong.into(),
            ReadToEndError::Read(error) => error.into(),
        }
    }
}

impl From<WriteError> for Error {
    fn from(error: WriteError) -> Error {
        match error {
            WriteError::ConnectionLost(error) => error.into(),
            other => Error::Protocol(other.to_string()),
        }
    }
}

impl From<ClosedStream> for Error {
    fn from(error: ClosedStream) -> Error {
        WriteError::from(error).into()
    }
}

impl From<tokio::task::JoinError> for Error {
    fn from(error: tokio::task::JoinError) -> Error {
        Error::System(error.to_string())
    }
}

fn same_name(first: &Path, second: &Path) -> String {
    if first == second {
        return format!("{first:?} is named twice; name it once");
    }
    format!("{first:?} and {second:?} would both arrive as one file; send them one after the other")
}

/// The first of them, and the number of others.
fn first(unsendable: &[(PathBuf, Skipped)]) -> String {
    let first = unsendable.first().map(|(path, _)| path.as_path());
    let first = format!("{:?}", first.unwrap_or(Path::new("")));
    match unsendable.len().saturating_sub(1) {
        0 => first,
        others => format!("{first} and {others} more"),
    }
}

fn list(addresses: &[SocketAddr]) -> String {
    let addresses: Vec<String> = addresses.iter().map(SocketAddr::to_string).collect();
    addresses.join(", ")
}

#[cfg(test)]
mod tests {
    use super::Error;

    #[test]
    fn a_file_that_is_named_twice_is_not_two_files() {
        let told = |first: &str, second: &str| {
            let (first, second) = (first.into(), second.into());
            Error::SameName { first, second }.to_string()
        };
        assert_eq!(
            told("a.csv", "a.csv"),
            "\"a.csv\" is named twice; name it once"
        );
        assert!(told("a.csv", "b/a.csv").ends_with("send them one after the other"));
    }
}
