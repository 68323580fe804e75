//! Data without content: sent from one buffer, received into none.
//!
//! Many copies of a short buffer in one call cost a third of the processor time of a long buffer, whose copying misses the
//! cache, and less than `sendfile` or `MSG_ZEROCOPY`, which count pages instead of copying them (and a TUN device copies
//! what `MSG_ZEROCOPY` left in place). Receiving with `MSG_TRUNC` costs half of copying.

use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::TcpStream;

use nix::libc;
use socket2::SockRef;

/// What is sent. It is short enough to stay in a processor's cache while it is copied into the kernel again and again.
static CONTENT: [u8; 64 << 10] = [0; 64 << 10];

/// How many copies of it one system call takes.
const COPIES: usize = 16;

/// The most that one system call discards. The buffer that the call names is never written, nor its pages touched by the
/// kernel; it only bounds the length.
const DISCARDED: usize = 128 << 10;

/// Sends up to `most` bytes; how many the send buffer took.
///
/// # Errors
///
/// `WouldBlock` if it is full; else what ended the connection.
pub fn send(stream: &TcpStream, most: usize) -> io::Result<usize> {
    let socket = SockRef::from(stream);
    until_blocked(most, COPIES * CONTENT.len(), |length| {
        let whole = length / CONTENT.len();
        let rest = CONTENT.get(..length % CONTENT.len()).unwrap_or_default();
        let mut slices = [IoSlice::new(&CONTENT); COPIES];
        let used = slices.get_mut(..=whole.min(COPIES - 1)).unwrap_or_default();
        if let Some(last) = used.get_mut(whole) {
            *last = IoSlice::new(rest);
        }
        socket.send_vectored_with_flags(used, libc::MSG_NOSIGNAL)
    })
}

/// Takes up to `most` received bytes without copying them anywhere (`MSG_TRUNC`, tcp(7)); how many. Zero: the other side
/// has ended its direction.
///
/// # Errors
///
/// `WouldBlock` if nothing is there; else what ended the connection.
pub fn discard(stream: &TcpStream, most: usize) -> io::Result<usize> {
    let socket = SockRef::from(stream);
    let mut nowhere = [MaybeUninit::uninit(); DISCARDED];
    until_blocked(most, DISCARDED, |length| {
        let nowhere = nowhere.get_mut(..length).unwrap_or_default();
        socket.recv_with_flags(nowhere, libc::MSG_TRUNC)
    })
}

/// Repeats `call`, which moves up to the given number of bytes and never more than `at_once`, until `most` bytes are moved
/// or it moved less than it might have. An error counts only if nothing was moved: it comes again.
fn until_blocked(
    most: usize,
    at_once: usize,
    mut call: impl FnMut(usize) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut moved = 0;
    while moved < most {
        let length = at_once.min(most - moved);
        match call(length) {
            Ok(bytes) => {
                moved += bytes;
                if bytes < length {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if moved == 0 => return Err(error),
            Err(_) => break,
        }
    }
    Ok(moved)
}
