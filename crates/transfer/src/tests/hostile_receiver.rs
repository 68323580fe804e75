//! Receivers that attack a sender.

use quic::connection::{Listener, RecvStream, SendStream};
use quic::endpoint::{self, Identity};
use quic::{Environment, System};

use super::*;
use crate::code;
use crate::limits::{MAX_OFFER, max_answer};
use crate::message::{Answer, Held, Offer, Progress, Reply, State};
use crate::proof::OPENING_LEN;
use crate::ranges::Ranges;
use crate::ticket::Secret;
use crate::transport::transport;
use crate::wire;

/// The socket of a hostile receiver.
struct Trap {
    listener: Listener,
    ticket: Ticket,
}

/// A sender's connection, on the receiver's side.
struct Prey {
    connection: Connection,
    replies: SendStream,
    offer: Offer,
    _control: RecvStream,
}

impl Trap {
    fn new() -> Trap {
        let identity = Identity::generate().unwrap();
        let config = Arc::new(transport(Arc::new(CubicConfig::default())));
        let config = endpoint::server_config(&identity, wire::ALPN, config).unwrap();
        let environment: Arc<dyn Environment> = Arc::new(System);
        let here = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let listener = endpoint::listen(environment, here, config, &identity).unwrap();
        let addresses = [listener.local_addr()];
        let ticket = Ticket::new(addresses, identity.fingerprint(), Secret([1; 16]));
        Trap { listener, ticket }
    }

    async fn prey(&self) -> Prey {
        let incoming = self.listener.accept().await.unwrap();
        let connection = incoming.accept().await.unwrap();
        let (replies, mut control) = connection.accept_bi().await.unwrap();
        control.read_exact(&mut [0; OPENING_LEN]).await.unwrap();
        let offer = wire::read(&mut control, MAX_OFFER).await.unwrap();
        Prey {
            connection,
            replies,
            offer,
            _control: control,
        }
    }
}

impl Prey {
    async fn say(&mut self, message: &impl serde::Serialize) {
        let frame = wire::encode(message, usize::MAX).unwrap();
        // The sender may have closed the connection.
        let _ = self.replies.write_all(&frame).await;
    }

    async fn accept(&mut self, held: Vec<Held>) {
        self.say(&Answer::Accepted(held)).await;
    }
}

/// The error of a sender of a large file with a hole, a small file and a directory, when the receiver does this.
async fn caught(attack: impl AsyncFnOnce(&mut Prey)) -> Error {
    use std::os::unix::fs::FileExt;
    let world = World::new();
    let root = world.dir.path().join("from/in");
    fs::create_dir_all(&root).unwrap();
    let large = fs::File::create(root.join("large")).unwrap();
    large.set_len(8 * BLOCK).unwrap();
    large.write_all_at(&content(3 * BLOCK, 1), 0).unwrap();
    fs::write(root.join("small"), content(1000, 2)).unwrap();
    let (trap, files) = (Trap::new(), [root]);
    let receive = async {
        let mut prey = trap.prey().await;
        attack(&mut prey).await;
        prey.connection.closed().await;
    };
    let (sent, ()) = tokio::join!(
        send(&files, &trap.ticket, sender_config(), &|_| ()),
        receive
    );
    sent.unwrap_err()
}

fn is_protocol(error: &Error) -> bool {
    matches!(error, Error::Protocol(_))
}

#[tokio::test]
async fn garbage_and_messages_without_end_are_refused() {
    for garbage in [
        &[0xff; 4][..],
        &[1, 0, 0, 0, 9],
        &[0, 0, 0, 0],
        &[6, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f],
    ] {
        let error = caught(async |prey| {
            prey.replies.write_all(garbage).await.unwrap();
        });
        let error = error.await;
        assert!(is_protocol(&error), "{garbage:?}: {error}");
    }
    let error = caught(async |prey| {
        let name = "x".repeat(1 << 20);
        prey.say(&Answer::Refused(Refusal::Exists { name })).await;
    });
    let error = error.await;
    assert!(is_protocol(&error), "{}", error.to_string().len());
}

#[tokio::test]
async fn what_nobody_can_have_is_refused() {
    let part = |file, blocks| Held {
        file,
        state: State::Part {
            blocks,
            digest: [0; 32],
        },
    };
    let complete = |file| Held {
        file,
        state: State::Complete { hash: [0; 32] },
    };
    for held in [
        // The offer: a directory, the large file, whose blocks from 3 on are holes, and the small one.
        vec![complete(3)],
        vec![complete(u32::MAX)],
        vec![complete(0)],
        vec![complete(2), complete(1)],
        vec![complete(1), complete(1)],
        vec![part(2, Ranges::of([0]))],
        vec![part(1, Ranges::of([8]))],
        vec![part(1, Ranges::of([0, 5]))],
    ] {
        let shown = format!("{held:?}");
        let error = caught(async |prey| {
            let holes = &prey.offer.files[1].holes;
            if holes.is_empty() && shown.contains("start: 5") {
                skipping::skip!("this file system does not tell of holes");
            }
            prey.accept(held).await;
        });
        let error = error.await;
        assert!(
            is_protocol(&error) || matches!(error, Error::Refused(_)),
            "{shown}: {error}"
        );
    }
}

/// A receiver that claims to have everything must prove it.
#[tokio::test]
async fn a_hash_that_is_not_the_files_ends_the_transfer() {
    let states = [
        State::Complete { hash: [7; 32] },
        State::Part {
            blocks: Ranges::of([0, 1]),
            digest: [7; 32],
        },
    ];
    for state in states {
        let held = vec![Held { file: 1, state }];
        let error = caught(async |prey| prey.accept(held).await).await;
        assert!(
            matches!(error, Error::Refused(Refusal::SourceChanged { .. })),
            "{error}"
        );
    }
}

#[tokio::test]
async fn progress_that_cannot_be_is_refused() {
    let progress = |bytes, files| Reply::Progress(Progress { bytes, files });
    for replies in [
        // Everything is there before anything was sent.
        vec![progress(3 * BLOCK + 1000, 3)],
        vec![progress(u64::MAX, 0)],
        vec![progress(0, u64::MAX)],
        vec![progress(5, 0), progress(4, 0)],
        vec![progress(5, 1), progress(5, 0)],
    ] {
        let error = caught(async |prey| {
            prey.accept(Vec::new()).await;
            for reply in &replies {
                prey.say(reply).await;
            }
        });
        let error = error.await;
        assert!(is_protocol(&error), "{replies:?}: {error}");
    }
}

/// Reports without progress, again and again, without reading; then the receiver leaves.
#[tokio::test]
async fn a_receiver_that_only_talks_ends_nothing_but_its_own_transfer() {
    let error = caught(async |prey| {
        prey.accept(Vec::new()).await;
        for _ in 0..20_000 {
            let progress = Progress { bytes: 1, files: 0 };
            prey.say(&Reply::Progress(progress)).await;
        }
        prey.connection.close(code::FAILED, b"");
    });
    let error = error.await;
    assert!(matches!(error, Error::PeerClosed(_)), "{error}");
}

/// A sender reads one stream, so no other may occupy its memory.
#[tokio::test]
async fn a_receiver_opens_no_streams() {
    let error = caught(async |prey| {
        let wait = Duration::from_millis(100);
        let uni = tokio::time::timeout(wait, prey.connection.open_uni()).await;
        assert!(uni.is_err());
        let bi = tokio::time::timeout(wait, prey.connection.open_bi()).await;
        assert!(bi.is_err());
        let files = max_answer(1) as u64;
        prey.say(&Answer::Refused(Refusal::Count { files })).await;
    });
    let error = error.await;
    assert!(
        matches!(error, Error::Refused(Refusal::Count { .. })),
        "{error}"
    );
}
