//! A fuzz target, called by `fuzz/fuzz_targets` and the test below: the invariants of any datagram from the kernel.

use super::dump::{Answer, Answers};
use super::{EndedSocket, SocketState};

/// The number of the request that the datagram answers.
const SEQUENCE: u32 = 7;

/// Checks that the walk through a datagram ends, and that each socket in it is parsed or refused, as a live or an
/// ended one.
pub fn answers(datagram: &[u8]) {
    let _ = EndedSocket::parse(datagram);
    let answers = Answers::new(datagram, SEQUENCE);
    let mut count = 0;
    for answer in answers {
        count += 1;
        if let Answer::Socket(payload) = answer
            && let Ok(Some(state)) = SocketState::parse(payload)
        {
            assert!(state.controller.as_str().len() < 16);
            let _ = (state.info.inflight(), state.info.controller_limited());
        }
    }
    assert!(count <= datagram.len());
}

#[cfg(test)]
mod tests {
    use crate::diag::{dump, message};

    #[test]
    fn any_answers() {
        let socket = dump::tests::message(20, super::SEQUENCE, &message::tests::captured());
        let code = (-22i32).to_ne_bytes();
        let corpus = [
            [socket.clone(), dump::tests::message(3, 7, &[0; 4])].concat(),
            [socket, dump::tests::message(2, 7, &code)].concat(),
        ];
        fuzzing::run("linux_answers", &corpus, super::answers);
    }
}
