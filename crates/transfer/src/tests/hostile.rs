//! Hostile peers, without and with the ticket.

use quic::connection::{RecvStream, SendStream};

use super::*;
use crate::code;
use crate::limits::{MAX_OFFER, MAX_REPLY, MAX_SIZE, max_answer};
use crate::message::{Answer, Kind, Offer, Offered, Reply};
use crate::proof::{self, SenderId};
use crate::ranges::Ranges;
use crate::ticket::Secret;
use crate::transport::transport;
use crate::tree;
use crate::wire;
use quic::endpoint::{self, Identity};
use quic::{Environment, System};

/// A handmade sender.
pub struct Client {
    pub connection: Connection,
    pub control: SendStream,
    pub replies: RecvStream,
}

impl Client {
    async fn connect(ticket: &Ticket) -> Client {
        Client::try_connect(Arc::new(System), ticket).await.unwrap()
    }

    /// `None` if the receiver refuses the connection.
    pub async fn try_connect(environment: Arc<dyn Environment>, ticket: &Ticket) -> Option<Client> {
        let (server, controllers) = (ticket.fingerprint(), Arc::new(CubicConfig::default()));
        let client = endpoint::Client::new(environment, server, wire::ALPN, controllers, transport);
        let connection = client.unwrap().connect(ticket.addresses()[0]).unwrap();
        connection.connected().await.ok()?;
        let (control, replies) = connection.open_bi().await.ok()?;
        Some(Client {
            connection,
            control,
            replies,
        })
    }

    pub async fn prove(&mut self, ticket: &Ticket) {
        let sender = SenderId::generate().unwrap();
        let opening = proof::opening(&self.connection, ticket.secret(), sender).unwrap();
        self.control.write_all(&opening).await.unwrap();
    }

    async fn offer(&mut self, files: &[(&str, u64)]) -> Answer {
        let files = files.iter().map(|(name, size)| offered(name, *size));
        self.offer_all(files.collect()).await
    }

    async fn offer_all(&mut self, files: Vec<Offered>) -> Answer {
        self.write_offer(files).await;
        self.answer().await
    }

    async fn write_offer(&mut self, files: Vec<Offered>) {
        let restart = false;
        let frame = wire::encode(&Offer { restart, files }, MAX_OFFER).unwrap();
        self.control.write_all(&frame).await.unwrap();
    }

    async fn answer(&mut self) -> Answer {
        let answer = wire::read(&mut self.replies, max_answer(100));
        answer.await.unwrap()
    }

    /// The receiver's last reply, and its closing code.
    async fn end(&mut self) -> (Option<Reply>, Error) {
        let mut last = None;
        loop {
            match wire::read(&mut self.replies, MAX_REPLY).await {
                Ok(reply) => last = Some(reply),
                Err(_) => return (last, self.connection.closed().await.into()),
            }
        }
    }
}

fn offered(name: &str, size: u64) -> Offered {
    Offered {
        path: name.to_owned(),
        size,
        kind: Kind::File {
            executable: false,
            sparse: false,
        },
        holes: Ranges::default(),
    }
}

/// Runs `attack` against a receiver that must survive it and receive a file afterwards.
async fn survives(attack: impl AsyncFnOnce(&Ticket, &Log)) {
    let world = World::new();
    let files = [world.file("good", 2 * BLOCK, 1)];
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let heard = Log::default();
    let hear = heard.watch();
    let sending = async {
        attack(&ticket, &heard).await;
        assert_eq!(world.arrived(), Vec::<String>::new());
        send(&files, &ticket, restart(), &|_| ()).await.unwrap()
    };
    let (received, _) = tokio::join!(receiver.run(&hear), sending);
    assert!(same_content(&received.unwrap()[0].path, &files[0]));
    assert_eq!(world.arrived(), ["good"]);
}

pub fn wrong_secret(ticket: &Ticket) -> Ticket {
    let addresses = ticket.addresses().iter().copied();
    Ticket::new(addresses, ticket.fingerprint(), Secret([0; 16]))
}

#[tokio::test]
async fn without_the_secret() {
    survives(async |ticket, heard| {
        let world = World::new();
        let files = [world.file("stolen", BLOCK, 1)];
        let ticket = wrong_secret(ticket);
        let error = send(&files, &ticket, sender_config(), &|_| ())
            .await
            .unwrap_err();
        assert!(matches!(error, Error::WrongSecret), "{error}");
        while heard.turned_away.load(Ordering::Relaxed) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(heard.turned_away.load(Ordering::Relaxed), 1);
        assert!(heard.connection.lock().unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn datagrams_cannot_pile_up() {
    survives(async |ticket, _| {
        let client = Client::connect(ticket).await;
        assert_eq!(client.connection.max_datagram_size(), None);
    })
    .await;
}

#[tokio::test]
async fn a_proof_is_good_for_its_own_session_only() {
    survives(async |ticket, heard| {
        let overheard = Client::connect(ticket).await;
        let sender = SenderId::generate().unwrap();
        let opening = proof::opening(&overheard.connection, ticket.secret(), sender).unwrap();
        let mut client = Client::connect(ticket).await;
        client.control.write_all(&opening).await.unwrap();
        let error = Error::from(client.connection.closed().await);
        assert!(matches!(error, Error::WrongSecret), "{error}");
        assert!(heard.connection.lock().unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn a_stranger_in_the_receivers_place_gets_nothing() {
    survives(async |ticket, _| {
        let world = World::new();
        let files = [world.file("private", BLOCK, 1)];
        let stranger = Identity::generate().unwrap().fingerprint();
        let addresses = ticket.addresses().iter().copied();
        let wrong = Ticket::new(addresses, stranger, ticket.secret());
        let heard = Log::default();
        let watch = heard.watch();
        let error = send(&files, &wrong, sender_config(), &watch)
            .await
            .unwrap_err();
        assert!(
            matches!(error, Error::WrongReceiver(address) if address == ticket.addresses()[0]),
            "{error}"
        );
        assert!(heard.connection.lock().unwrap().is_none());
    })
    .await;
}

#[tokio::test]
async fn names_that_lead_elsewhere() {
    let long = "x".repeat(100_000);
    for (name, expected) in [
        ("../escaped", NameProblem::Directory),
        ("a/../../escaped", NameProblem::Directory),
        ("/tmp/escaped", NameProblem::Path),
        ("..", NameProblem::Directory),
        ("", NameProblem::Empty),
        ("a\0b", NameProblem::Control),
        (STATE_FOLDER, NameProblem::Reserved),
        (&long, NameProblem::TooDeep),
    ] {
        survives(async |ticket, heard| {
            let mut client = Client::connect(ticket).await;
            client.prove(ticket).await;
            match client.offer(&[("fine", 1), (name, 1)]).await {
                Answer::Refused(Refusal::Name { problem, .. }) => assert_eq!(problem, expected),
                other => panic!("{other:?}"),
            }
            client.connection.close(code::REFUSED, b"");
            heard.interrupted(1).await;
        })
        .await;
    }
}

#[tokio::test]
async fn offers_that_make_no_sense() {
    survives(async |ticket, _| {
        for files in [
            &[][..],
            &[("a", 1), ("a", 1)],
            &[("a", 1), ("a/b", 1)],
            &[("a/b/c", 1), ("a/b", 1)],
            &[("huge", u64::MAX), ("too", u64::MAX)],
        ] {
            let mut client = Client::connect(ticket).await;
            client.prove(ticket).await;
            match client.offer(files).await {
                Answer::Refused(
                    Refusal::Count { .. } | Refusal::SameName { .. } | Refusal::Size { .. },
                ) => client.connection.close(code::REFUSED, b""),
                other => panic!("{other:?}"),
            }
        }
    })
    .await;
}

/// The receiver must not hash holes for hours after the sender has gone.
#[tokio::test]
async fn holes_of_a_size_that_no_disk_has() {
    survives(async |ticket, heard| {
        for (left, seal) in [(true, [0; 32]), (false, [0; 32])] {
            let mut client = Client::connect(ticket).await;
            client.prove(ticket).await;
            let mut holes = Ranges::default();
            assert!(holes.push(0, tree::blocks(MAX_SIZE)));
            let answer = client.offer_all(vec![Offered {
                path: "holes".to_owned(),
                size: MAX_SIZE,
                kind: Kind::File {
                    executable: false,
                    sparse: true,
                },
                holes,
            }]);
            match answer.await {
                // A file system with a size limit, such as ext4.
                Answer::Refused(Refusal::TooLarge { .. }) => {}
                Answer::Accepted(held) => {
                    assert_eq!(held, []);
                    client.control.write_all(&seal).await.unwrap();
                }
                other => panic!("{other:?}"),
            }
            if left {
                client.connection.close(code::FAILED, b"");
            } else {
                client.end().await;
            }
        }
        heard.interrupted(2).await;
    })
    .await;
}

#[tokio::test]
async fn bytes_that_are_no_messages() {
    survives(async |ticket, _| {
        for garbage in [
            &[0xff; 4][..],
            &[3, 0, 0, 0, 0xff, 0xff, 0xff],
            &[0, 0, 0, 0],
        ] {
            let mut client = Client::connect(ticket).await;
            client.prove(ticket).await;
            client.control.write_all(garbage).await.unwrap();
            let (_, error) = client.end().await;
            assert!(matches!(error, Error::Protocol(_)), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn content_that_is_not_what_it_claims() {
    let data = content(BLOCK + 1, 3);
    let hash = |index: u64, data: &[u8]| tree::block_hash(BLOCK + 1, index, data);
    let (first, last) = data.split_at(BLOCK as usize);
    let root = *blake3::hash(&data).as_bytes();
    let block = |parts: &[&[u8]]| parts.concat();
    let good = block(&[&hash(0, first), first]);
    let end = block(&[&hash(1, last), last]);
    for (blocks, root) in [
        // A block with a wrong hash.
        (
            [block(&[&hash(0, first), &content(BLOCK, 4)]), end.clone()],
            root,
        ),
        // A block in the wrong place.
        ([block(&[&hash(1, first), first]), end.clone()], root),
        // A wrong hash of the whole file.
        ([good.clone(), end.clone()], [0; 32]),
        // More and less than a block.
        ([good.clone(), block(&[&end, b"!"])], root),
        ([good, end[..32].to_vec()], root),
    ] {
        survives(async |ticket, heard| {
            let mut client = Client::connect(ticket).await;
            client.prove(ticket).await;
            let answer = client.offer(&[("bad", BLOCK + 1)]).await;
            assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
            // The receiver may refuse the first block, and stop every stream, before the rest is written.
            for block in &blocks {
                let Ok(mut stream) = client.connection.open_uni().await else {
                    break;
                };
                let _ = stream.write_all(block).await;
                let _ = stream.finish();
            }
            let _ = client.control.write_all(&root).await;
            // The peer gets a reply, or is disconnected.
            let end = async {
                loop {
                    match wire::read::<Reply>(&mut client.replies, MAX_REPLY).await {
                        Ok(Reply::Progress(progress)) => assert_eq!(progress.files, 0),
                        Ok(Reply::Failed(refusal)) => {
                            assert!(matches!(refusal, Refusal::Corrupt { .. }), "{refusal}");
                            break;
                        }
                        Err(_) => break,
                    }
                }
            };
            end.await;
            client.connection.close(code::REFUSED, b"");
            heard.interrupted(1).await;
        })
        .await;
    }
}

/// The connection has a valid proof, and may be one of many.
#[tokio::test]
async fn who_waits_for_its_turn_takes_little_room() {
    let world = World::new();
    let receiver = world.receiver_with(|config| config.keep = true).await;
    let ticket = receiver.ticket().clone();
    let attack = async {
        let mut first = Client::connect(&ticket).await;
        first.prove(&ticket).await;
        let answer = first.offer(&[("big", 2 * BLOCK)]).await;
        assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
        let mut second = Client::connect(&ticket).await;
        second.prove(&ticket).await;
        let name = |number: u32| offered(&format!("{number:0>200}"), 1);
        let mut writing = Box::pin(second.write_offer((0..1_000).map(name).collect()));
        // The peer writes more than the receiver may have to buffer.
        tokio::select! {
            () = &mut writing => panic!("the receiver takes it all"),
            () = tokio::time::sleep(Duration::from_millis(500)) => {}
        }
        drop(first);
        writing.await;
        let answer = second.answer().await;
        assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    };
    tokio::select! {
        ended = receiver.run(&|_| ()) => panic!("the receiver ended: {ended:?}"),
        () = attack => {}
    }
}
