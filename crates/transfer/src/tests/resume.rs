//! Transfers that are interrupted and continued.

use super::*;
use crate::receiver::journal::RECORD_LEN;

const SIZE: u64 = 64 * BLOCK + 321;

/// Begins a transfer of `files`; drops the sender when `verified` bytes of the first have arrived.
async fn interrupted_sender(world: &World, files: &[PathBuf], verified: u64) -> Ticket {
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    {
        let log = Log::stop_at(verified);
        let heard = Log::default();
        let (watch, hear) = (log.watch(), heard.watch());
        let mut running = std::pin::pin!(receiver.run(&hear));
        tokio::select! {
            ended = &mut running => panic!("the receiver ended: {ended:?}"),
            stopped = until_stopped(&log, send(files, &ticket, slow(), &watch)) => {
                assert!(stopped.is_none(), "sent before it could be stopped");
            }
        }
        // The receiver notices it, and waits.
        tokio::select! {
            ended = &mut running => panic!("the receiver ended: {ended:?}"),
            () = heard.interrupted(1) => {}
        }
    }
    assert_eq!(world.arrived(), Vec::<String>::new());
    assert_eq!(world.parts().len(), 1);
    ticket
}

/// Asserts that the transfer succeeded and that the `resumed` bytes were not sent again.
fn assert_continued(log: &Log, resumed: u64, at_least: u64) {
    assert!((at_least..SIZE).contains(&resumed), "resumed {resumed}");
    let sent = log.sent();
    let missing = SIZE - resumed;
    assert!(
        sent + MAX_DATAGRAM_BYTES > missing && sent < missing + missing / 4 + 100_000,
        "sent {sent} bytes for the {missing} that were missing"
    );
}

#[tokio::test]
async fn after_the_sender_is_gone() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let (log, heard) = (Log::default(), Log::default());
    let hear = heard.watch();
    let sending = async {
        let first = Log::stop_at(4 * BLOCK);
        let watch = first.watch();
        let sent = until_stopped(&first, send(&files, &ticket, slow(), &watch)).await;
        assert!(sent.is_none());
        // Until the receiver knows of it, the transfer belongs to the first sender.
        heard.interrupted(1).await;
        let watch = log.watch();
        send(&files, &ticket, sender_config(), &watch)
            .await
            .unwrap()
    };
    let (received, sent) = tokio::join!(receiver.run(&hear), sending);
    let received = received.unwrap();
    assert!(same_content(&received[0].path, &files[0]));
    assert_eq!(received[0].resumed, sent[0].resumed);
    assert_continued(&log, received[0].resumed, 4 * BLOCK);
}

#[tokio::test]
async fn after_the_receiver_is_gone() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let stop = Log::stop_at(4 * BLOCK);
    let (ticket, error) = interrupted_receiver(&world, &files, &stop, &stop.watch()).await;
    assert!(matches!(error, Error::PeerClosed(_)), "{error}");

    let log = Log::default();
    let (received, _) = both(world.receiver_again(&ticket).await, &files, &log).await;
    assert!(same_content(&received[0].path, &files[0]));
    assert_continued(&log, received[0].resumed, 4 * BLOCK);
}

#[tokio::test]
async fn a_running_transfer_belongs_to_the_sender_that_began_it() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let sending = async {
        let stop = Log::stop_at(4 * BLOCK);
        let watch = stop.watch();
        let mut first = Box::pin(send(&files, &ticket, slow(), &watch));
        tokio::select! {
            ended = &mut first => panic!("{ended:?}"),
            () = stop.stop.notified() => {}
        }
        // The first sender is slow, but its connection is kept alive.
        let thief = world.file("other", BLOCK, 2);
        for config in [restart(), sender_config()] {
            let second = send(std::slice::from_ref(&thief), &ticket, config, &|_| ()).await;
            assert!(matches!(second, Err(Error::InUse)), "{second:?}");
        }
        first.await.unwrap()
    };
    let (received, _) = tokio::join!(receiver.run(&|_| ()), sending);
    assert!(same_content(&received.unwrap()[0].path, &files[0]));
    assert_eq!(world.arrived(), ["big"]);
}

#[tokio::test]
async fn a_finished_file_is_not_sent_again() {
    let world = World::new();
    let files = [
        world.file("small", 3 * BLOCK, 1),
        world.file("empty", 0, 1),
        world.file("big", SIZE, 2),
    ];
    let stop = Log::default();
    let slept = AtomicU64::new(0);
    let watch = |event: Event<'_>| match event {
        // Complete files get their names after waiting for others.
        Event::Verified { bytes }
            if bytes > 4 * BLOCK && slept.fetch_add(1, Ordering::Relaxed) == 0 =>
        {
            std::thread::sleep(Duration::from_millis(1_100));
        }
        Event::Complete { files: 2 } => stop.stop.notify_one(),
        event => stop.hear(event),
    };
    let (ticket, _) = interrupted_receiver(&world, &files, &stop, &watch).await;
    assert_eq!(world.arrived(), ["empty", "small"]);

    let log = Log::default();
    let (received, _) = both(world.receiver_again(&ticket).await, &files, &log).await;
    assert_eq!(received[0].resumed, 3 * BLOCK);
    assert_continued(&log, received[2].resumed, BLOCK);
    assert_eq!(world.arrived(), ["big", "empty", "small"]);
    for (file, received) in files.iter().zip(received) {
        assert!(same_content(file, &received.path));
    }
}

#[tokio::test]
async fn a_receiver_that_died_right_before_the_end_only_says_so() {
    let world = World::new();
    let files = [world.file("a", 3 * BLOCK, 1), world.file("empty", 0, 1)];
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let stop = Log {
        stop_when_complete: true,
        ..Log::default()
    };
    let watch = stop.watch();
    // The sender may or may not hear of the last file.
    let (received, _) = tokio::join!(
        until_stopped(&stop, receiver.run(&watch)),
        send(&files, &ticket, sender_config(), &|_| ()),
    );
    assert!(received.is_none());
    let log = Log::default();
    let (received, _) = both(world.receiver_again(&ticket).await, &files, &log).await;
    assert_eq!(received[0].resumed, 3 * BLOCK);
    assert!(log.sent() < BLOCK);
    assert_eq!(world.arrived(), ["a", "empty"]);
    assert!(!world.state().exists());
}

#[tokio::test]
async fn a_link_in_a_parts_place_is_not_followed() {
    for extension in ["part", "journal"] {
        let world = World::new();
        let files = [world.file("big", 32 * BLOCK, 1)];
        let ticket = interrupted_sender(&world, &files, 4 * BLOCK).await;
        let victim = world.dir.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let planted = match extension {
            "part" => world.parts()[0].clone(),
            journal => world.state().join(journal),
        };
        let receiver = world.receiver_again(&ticket).await;
        fs::remove_file(&planted).unwrap();
        std::os::unix::fs::symlink(&victim, &planted).unwrap();
        let mut running = std::pin::pin!(receiver.run(&|_| ()));
        let error = refusal(&mut running, &files, &ticket, sender_config()).await;
        assert!(
            matches!(error, Error::Refused(Refusal::Damaged { .. })),
            "{error}"
        );
        assert_eq!(world.arrived(), Vec::<String>::new());
        let (received, _) = sent_to(running, &ticket, &files, restart(), &|_| ()).await;
        assert!(same_content(&received[0].path, &files[0]));
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }
}

#[tokio::test]
async fn damaged_blocks_are_fetched_again_and_no_others() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let ticket = interrupted_sender(&world, &files, 8 * BLOCK).await;
    let part = &world.parts()[0];
    let mut damaged = fs::read(part).unwrap();
    damaged[(2 * BLOCK + 7) as usize] ^= 1;
    damaged[5 * BLOCK as usize] ^= 1;
    fs::write(part, damaged).unwrap();
    // The journal's last record is also torn.
    let journal = world.state().join("journal");
    let mut records = fs::read(&journal).unwrap();
    let verified = (records.len() / RECORD_LEN) as u64 * BLOCK;
    records.extend([1; RECORD_LEN - 1]);
    fs::write(&journal, records).unwrap();

    let log = Log::default();
    let (received, _) = both(world.receiver_again(&ticket).await, &files, &log).await;
    assert!(same_content(&received[0].path, &files[0]));
    assert_eq!(received[0].resumed, verified - 2 * BLOCK);
    assert_continued(&log, received[0].resumed, 6 * BLOCK);
}

#[tokio::test]
async fn a_changed_source_is_not_mixed_with_what_it_was() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let ticket = interrupted_sender(&world, &files, 4 * BLOCK).await;
    let part = world.parts()[0].clone();
    let before = fs::read(&part).unwrap();
    let receiver = world.receiver_again(&ticket).await;
    let mut running = std::pin::pin!(receiver.run(&|_| ()));

    for (size, seed) in [(SIZE, 2), (SIZE + 1, 1), (SIZE - 1, 1)] {
        world.file("big", size, seed);
        let error = refusal(&mut running, &files, &ticket, sender_config()).await;
        assert!(
            matches!(&error, Error::Refused(Refusal::SourceChanged { name }) if name == "big"),
            "{error}"
        );
    }
    assert_eq!(fs::read(&part).unwrap(), before);
    assert_eq!(world.arrived(), Vec::<String>::new());

    let (received, sent) = sent_to(running, &ticket, &files, restart(), &|_| ()).await;
    assert_eq!(sent[0].resumed, 0);
    assert!(same_content(&received[0].path, &files[0]));
}

#[tokio::test]
async fn a_source_that_changes_on_its_way_does_not_arrive() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let heard = Log::default();
    let hear = heard.watch();
    {
        let mut running = std::pin::pin!(receiver.run(&hear));
        for (size, seed) in [(SIZE + 5, 1), (SIZE - 5, 1), (SIZE, 2)] {
            world.file("big", SIZE, 1);
            // Longer than the resolution of any file system's clock.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let changed = |event: Event<'_>| {
                if matches!(event, Event::Begun(_)) {
                    world.file("big", size, seed);
                }
            };
            let error = tokio::select! {
                ended = &mut running => panic!("the receiver ended: {ended:?}"),
                sent = send(&files, &ticket, restart(), &changed) => sent.unwrap_err(),
            };
            assert!(
                matches!(&error, Error::SourceChanged(path) if *path == files[0]),
                "{error}"
            );
        }
        tokio::select! {
            ended = &mut running => panic!("the receiver ended: {ended:?}"),
            () = heard.interrupted(3) => {}
        }
    }
    let heard = heard.interrupted.lock().unwrap();
    assert!(
        heard
            .iter()
            .all(|line| *line == Error::SenderFileChanged.to_string()),
        "{heard:?}"
    );
    assert_eq!(world.arrived(), Vec::<String>::new());
}

#[tokio::test]
async fn a_ticket_belongs_to_one_transfer() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let other = [world.file("other", BLOCK, 2)];
    let ticket = interrupted_sender(&world, &files, 4 * BLOCK).await;
    let receiver = world.receiver_again(&ticket).await;
    let mut running = std::pin::pin!(receiver.run(&|_| ()));
    let error = refusal(&mut running, &other, &ticket, sender_config()).await;
    assert!(
        matches!(&error, Error::Refused(Refusal::OtherTransfer { names, more: 0 }) if *names == ["big"]),
        "{error}"
    );
    assert_eq!(world.parts().len(), 1);
    // The sender's `restart` allows it.
    let (received, _) = sent_to(running, &ticket, &other, restart(), &|_| ()).await;
    assert_eq!(received.len(), 1);
    assert_eq!(world.arrived(), ["other"]);
    assert!(!world.state().exists());
}

#[tokio::test]
async fn a_fresh_receiver_forgets() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let ticket = interrupted_sender(&world, &files, 4 * BLOCK).await;
    drop(world.receiver_again(&ticket).await);
    let receiver = world.receiver_with(|config| config.fresh = true).await;
    assert_eq!(receiver.resumption(), Resumption::None);
    assert_ne!(receiver.ticket().fingerprint(), ticket.fingerprint());
    assert_ne!(receiver.ticket().secret(), ticket.secret());
    assert_eq!(world.parts().len(), 0);
    let (received, _) = both(receiver, &files, &Log::default()).await;
    assert_eq!(received[0].resumed, 0);
}

/// Every damage of the state is reported, and two commands start anew.
#[tokio::test]
async fn damaged_state_is_named_and_forgotten_on_demand() {
    let damages: [&dyn Fn(&Path); 3] = [
        &|path| {
            let mut bytes = fs::read(path).unwrap();
            let last = bytes.len() - 3;
            bytes[last] ^= 4;
            fs::write(path, bytes).unwrap();
        },
        &|path| fs::write(path, "").unwrap(),
        &|path| {
            fs::remove_file(path).unwrap();
            fs::create_dir_all(path.join("in the way")).unwrap();
        },
    ];
    for damage in damages {
        let world = World::new();
        let files = [world.file("big", SIZE, 1)];
        let ticket = interrupted_sender(&world, &files, 4 * BLOCK).await;
        let receiver = world.receiver_again(&ticket).await;
        damage(&world.state().join("offer"));
        {
            let mut running = std::pin::pin!(receiver.run(&|_| ()));
            let error = refusal(&mut running, &files, &ticket, sender_config()).await;
            let line = error.to_string();
            assert!(
                line.contains("offer") && line.contains("--restart"),
                "{line}"
            );
            let (received, sent) = tokio::join!(running, send(&files, &ticket, restart(), &|_| ()));
            sent.unwrap();
            assert!(same_content(&received.unwrap()[0].path, &files[0]));
        }
        fs::remove_file(world.out().join("big")).unwrap();

        let ticket = interrupted_sender(&world, &files, 4 * BLOCK).await;
        drop(world.receiver_again(&ticket).await);
        damage(&world.state().join("identity"));
        let error = Receiver::bind(world.config()).await.err().unwrap();
        let line = error.to_string();
        assert!(
            line.contains("identity") && line.contains("--fresh"),
            "{line}"
        );
        let receiver = world.receiver_with(|config| config.fresh = true).await;
        let (received, _) = both(receiver, &files, &Log::default()).await;
        assert_eq!(received[0].resumed, 0);
        assert!(same_content(&received[0].path, &files[0]));
        assert!(!world.state().exists());
    }
}

#[tokio::test]
async fn a_taken_port_changes_the_ticket_but_not_the_transfer() {
    let world = World::new();
    let files = [world.file("big", SIZE, 1)];
    let ticket = interrupted_sender(&world, &files, 4 * BLOCK).await;
    drop(world.receiver_again(&ticket).await);
    let taken = loop {
        match UdpSocket::bind(ticket.addresses()[0]) {
            Ok(socket) => break socket,
            Err(_) => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    };
    let receiver = world.receiver().await;
    assert_eq!(receiver.resumption(), Resumption::NewPort);
    assert_ne!(receiver.ticket(), &ticket);
    let (received, _) = both(receiver, &files, &Log::default()).await;
    assert!(received[0].resumed >= 4 * BLOCK);
    drop(taken);
}
