//! Properties that hold for any bytes from outside: a peer's messages, a ticket from a chat, the files of an earlier
//! run.
//!
//! These are fuzz targets: the programs of `fuzz/fuzz_targets` call them, and so do the tests below.

use std::fmt::Debug;
use std::path::{Component, Path};

use quic::endpoint::Identity;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::message::{Answer, Offer, Reply};
use crate::name;
use crate::plan::{HASH_LEN, Plan, Step};
use crate::receiver::journal::Records;
use crate::receiver::offer;
use crate::receiver::store::SavedIdentity;
use crate::refusal::Refusal;
use crate::sender::conversation::begun;
use crate::ticket::{self, Ticket};
use crate::tree::BLOCK;
use crate::wire;

/// The most steps of a plan that are checked.
const MAX_STEPS: usize = 10_000;

/// Messages: every decoded message can be encoded and decodes to the same value, and takes memory only for bytes that
/// are present. A message that passes the checks gives a plan that both sides can follow.
pub fn messages(bytes: &[u8]) {
    reads_as_written::<Offer>(bytes);
    reads_as_written::<Answer>(bytes);
    if let Some(Reply::Failed(refusal)) = reads_as_written(bytes) {
        is_one_line(&refusal);
    }
    if let Ok((offer, answer)) = wire::decode(bytes) {
        conversation(offer, answer);
    }
}

fn reads_as_written<T: Serialize + DeserializeOwned + Debug + PartialEq>(
    bytes: &[u8],
) -> Option<T> {
    let message: T = wire::decode(bytes).ok()?;
    let frame = wire::encode(&message, bytes.len());
    let body = frame.as_deref().and_then(|frame| frame.get(4..));
    assert_eq!(body.map(wire::decode).as_ref(), Some(&Ok(message)));
    wire::decode(bytes).ok()
}

fn is_one_line(refusal: &Refusal) {
    let line = refusal.to_string();
    assert!(!line.chars().any(char::is_control), "{line:?}");
}

/// An offer and the receiver's answer.
fn conversation(offer: Offer, answer: Answer) {
    if let Err(refusal) = offer::check(&offer.files) {
        return is_one_line(&refusal);
    }
    for file in &offer.files {
        let mut components = Path::new(&file.path).components();
        assert!(components.all(|part| matches!(part, Component::Normal(_))));
        assert!(name::parents(&file.path).all(|parent| name::check_path(parent).is_ok()));
        assert!(file.holes.bytes(file.size) <= file.size);
    }
    let Answer::Accepted(held) = answer else {
        return;
    };
    let Ok(begun) = begun(&offer.files, &held) else {
        return;
    };
    let sizes = offer.files.iter().map(|file| u128::from(file.size));
    assert!(u128::from(begun.bytes) <= sizes.sum());
    assert!(begun.files <= offer.files.len() as u64);
    let count = offer.files.len();
    let plan = Plan::new(offer.files.into(), held.into());
    let lens = plan.lens();
    for step in plan.take(MAX_STEPS) {
        assert!(lens.of(&step) <= BLOCK as usize + HASH_LEN);
        match step {
            Step::Batch(files) => assert!(files.iter().all(|file| (*file as usize) < count)),
            Step::Block { file, .. } | Step::Seal { file } => assert!((file as usize) < count),
        }
    }
}

/// Tickets: an accepted ticket is printed as it was read.
pub fn tickets(bytes: &[u8]) {
    if let Some(ticket) = ticket::decode(bytes) {
        assert_eq!(ticket.to_string().parse(), Ok(ticket));
    }
    if let Ok(text) = str::from_utf8(bytes) {
        match text.parse::<Ticket>() {
            Ok(ticket) => assert_eq!(ticket.to_string(), text.trim()),
            Err(error) => assert!(!error.to_string().contains('\n')),
        }
    }
}

/// The receiver's state: a journal of any bytes gives the records that fit, and an identity of any bytes is used or
/// rejected.
pub fn state(bytes: &[u8]) {
    let records = Records::parse(bytes);
    assert!(records.encode().len() <= bytes.len());
    let sorted = records.encode();
    assert_eq!(Records::parse(&sorted).encode(), sorted);
    if let Ok(saved) = wire::decode::<SavedIdentity>(bytes) {
        let _ = Identity::from_der(saved.certificate, saved.key).is_sound();
    }
}

#[cfg(test)]
mod tests {
    use quic::endpoint::Fingerprint;

    use super::*;
    use crate::message::{Held, Kind, Offered, Progress, State};
    use crate::ranges::Ranges;
    use crate::ticket::Secret;

    fn offered(path: &str, size: u64, kind: Kind, holes: Ranges) -> Offered {
        let path = path.to_owned();
        Offered {
            path,
            size,
            kind,
            holes,
        }
    }

    fn offer() -> Offer {
        let file = |executable, sparse| Kind::File { executable, sparse };
        Offer {
            restart: false,
            files: vec![
                offered("a", 0, Kind::Directory, Ranges::default()),
                offered("a/small", 5, file(true, false), Ranges::default()),
                offered(
                    "a/large",
                    9 * BLOCK + 1,
                    file(false, true),
                    Ranges::of([2, 3, 7]),
                ),
                offered("b", BLOCK, file(false, false), Ranges::default()),
            ],
        }
    }

    fn accepted() -> Answer {
        let (blocks, digest) = (Ranges::of([0, 5]), [7; 32]);
        let held = |file, state| Held { file, state };
        Answer::Accepted(vec![
            held(1, State::Complete { hash: [3; 32] }),
            held(2, State::Part { blocks, digest }),
        ])
    }

    #[test]
    fn any_messages() {
        let refusal = Refusal::OtherTransfer {
            names: vec!["a".to_owned()],
            more: 2,
        };
        let progress = Reply::Progress(Progress {
            bytes: 300,
            files: 1,
        });
        let corpus = [
            postcard::to_stdvec(&offer()),
            postcard::to_stdvec(&accepted()),
            postcard::to_stdvec(&(offer(), accepted())),
            postcard::to_stdvec(&(offer(), Answer::Refused(refusal.clone()))),
            postcard::to_stdvec(&progress),
            postcard::to_stdvec(&Reply::Failed(refusal)),
        ];
        fuzzing::run("transfer_messages", &corpus.map(Result::unwrap), messages);
    }

    #[test]
    fn any_tickets() {
        let addresses = ["192.0.2.1:4433", "[2001:db8::1]:9"].map(|text| text.parse().unwrap());
        let fingerprint = Fingerprint::from_bytes([7; 32]);
        let text = Ticket::new(addresses, fingerprint, Secret([9; 16])).to_string();
        let content = data_encoding::BASE32_NOPAD.decode(text[3..].to_uppercase().as_bytes());
        let mut content = content.unwrap();
        content.truncate(content.len() - 4);
        assert!(ticket::decode(&content).is_some());
        fuzzing::run("transfer_tickets", &[text.into_bytes(), content], tickets);
    }

    #[test]
    fn any_state() {
        let identity = Identity::generate().unwrap();
        let saved = SavedIdentity {
            certificate: identity.certificate_der().to_vec(),
            key: identity.key_der().to_vec(),
            secret: [1; 16],
            port: 4433,
        };
        let corpus = [postcard::to_stdvec(&saved).unwrap(), vec![5; 200]];
        fuzzing::run("transfer_state", &corpus, state);
    }
}
