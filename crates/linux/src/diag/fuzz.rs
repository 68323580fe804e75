//! What must hold for any datagram that comes as the kernel's answer: a fuzz target, which `fuzz/fuzz_targets` and the test
//! below call.

use super::dump::{Answer, Answers};
use super::{EndedSocket, SocketState};

/// The number of the question that the datagram is taken for an answer to.
const SEQUENCE: u32 = 7;

/// The walk through a datagram ends, and each socket in it is read or refused; so it is if it tells of one that goes.
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
