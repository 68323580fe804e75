//! Undisturbed transfers, and transfers that do not begin.

use super::*;

#[tokio::test]
async fn several_files_arrive() {
    let world = World::new();
    let sizes = [0, 1, BLOCK, BLOCK + 1, 3 * BLOCK, 20 * BLOCK + 12_345];
    let files: Vec<PathBuf> = (0..)
        .zip(sizes)
        .map(|(i, size)| world.file(&format!("file {i}"), size, i))
        .collect();
    let receiver = world.receiver().await;
    assert_eq!(receiver.resumption(), Resumption::None);
    let (received, sent) = both(receiver, &files, &Log::default()).await;
    assert_eq!(received.len(), files.len());
    for ((file, received), sent) in files.iter().zip(&received).zip(&sent) {
        let content = fs::read(file).unwrap();
        assert_eq!(fs::read(&received.path).unwrap(), content);
        assert_eq!(received.hash, Some(*blake3::hash(&content).as_bytes()));
        assert_eq!(received.hash, sent.hash);
        assert_eq!(received.size, content.len() as u64);
        assert_eq!((received.resumed, sent.resumed), (0, 0));
    }
    assert!(!world.state().exists(), "the ticket is spent");
    assert_eq!(world.arrived().len(), files.len());
}

#[tokio::test]
async fn a_file_has_its_name_only_when_it_is_whole() {
    let world = World::new();
    let files = [
        world.file("a", 10 * BLOCK, 1),
        world.file("b", 10 * BLOCK, 2),
    ];
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let events = AtomicU64::new(0);
    let watch = |event: Event<'_>| {
        let arrived = world.arrived();
        for name in &arrived {
            assert!(same_content(
                &world.out().join(name),
                &world.dir.path().join("from").join(name)
            ));
        }
        if let Event::Complete { files } = event {
            assert_eq!(arrived.len() as u64, files);
            events.fetch_add(1, Ordering::Relaxed);
        }
    };
    let running = receiver.run(&watch);
    sent_to(running, &ticket, &files, sender_config(), &|_| ()).await;
    assert!(events.into_inner() > 0);
}

#[tokio::test]
async fn an_existing_file_is_kept_unless_told_otherwise() {
    let world = World::new();
    let files = [world.file("new", BLOCK, 1), world.file("old", BLOCK, 2)];
    fs::create_dir(world.out()).unwrap();
    let old = world.out().join("old");
    fs::write(&old, "mine").unwrap();

    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let error = refused(receiver, &files).await;
    assert!(
        matches!(&error, Error::Refused(Refusal::Exists { name }) if name == "old"),
        "{error}"
    );
    assert_eq!(fs::read(&old).unwrap(), b"mine");
    assert_eq!(world.arrived(), ["old"]);

    drop(world.receiver_again(&ticket).await);
    while UdpSocket::bind(ticket.addresses()[0]).is_err() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let receiver = world.receiver_with(|config| config.overwrite = true).await;
    both(receiver, &files, &Log::default()).await;
    assert!(same_content(&old, &files[1]));
}

#[tokio::test]
async fn a_directory_is_never_replaced() {
    let world = World::new();
    let files = [world.file("x", BLOCK, 1)];
    fs::create_dir_all(world.out().join("x")).unwrap();
    let receiver = world.receiver_with(|config| config.overwrite = true).await;
    let error = refused(receiver, &files).await;
    assert!(
        matches!(error, Error::Refused(Refusal::IsDirectory { .. })),
        "{error}"
    );
}

#[tokio::test]
async fn what_cannot_be_sent_is_said_before_anything_happens() {
    let world = World::new();
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let file = world.file("a", 1, 1);
    let missing = world.dir.path().join("missing");
    let same = world.dir.path().join("a");
    fs::write(&same, "other").unwrap();
    let attempt = async |files: &[PathBuf]| {
        send(files, &ticket, sender_config(), &|_| ())
            .await
            .unwrap_err()
    };
    assert!(matches!(attempt(&[]).await, Error::NoFiles));
    let socket = world.dir.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    assert!(matches!(attempt(&[socket]).await, Error::NotAFile(_)));
    let error = attempt(&[file.clone(), missing.clone()]).await;
    assert!(
        matches!(&error, Error::Source { path, .. } if *path == missing),
        "{error}"
    );
    assert!(matches!(
        attempt(&[file.clone(), same]).await,
        Error::SameName { .. }
    ));
    let reserved = world.file(STATE_FOLDER, 1, 1);
    assert!(matches!(attempt(&[reserved]).await, Error::Unsendable(_)));
}

#[tokio::test]
async fn one_receiver_for_a_directory() {
    let world = World::new();
    let _first = world.receiver().await;
    let second = Receiver::bind(world.config()).await;
    assert!(matches!(second.err(), Some(Error::Busy(_))));
}

#[tokio::test]
async fn a_ticket_has_addresses_that_can_be_used() {
    let world = World::new();
    let listen = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
    let config = ReceiverConfig {
        listen,
        ..world.config()
    };
    let receiver = Receiver::bind(config.clone()).await.unwrap();
    let found = receiver.ticket().addresses().to_vec();
    assert!(!found.is_empty());
    assert!(
        found
            .iter()
            .all(|a| !a.ip().is_unspecified() && a.port() != 0)
    );

    let world = World::new();
    let public = SocketAddr::from(([192, 0, 2, 7], 0));
    let forwarded = SocketAddr::from(([192, 0, 2, 8], 99));
    let receiver = Receiver::bind(ReceiverConfig {
        advertise: vec![public, forwarded],
        out: world.out(),
        ..config
    });
    let receiver = receiver.await.unwrap();
    let [first, second] = receiver.ticket().addresses() else {
        panic!("{:?}", receiver.ticket());
    };
    assert!(first.ip() == public.ip() && first.port() != 0);
    assert_eq!(*second, forwarded);
}

#[tokio::test]
async fn a_receiver_that_cannot_start_leaves_nothing_behind() {
    let world = World::new();
    let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let config = ReceiverConfig {
        listen: taken.local_addr().unwrap(),
        ..world.config()
    };
    let error = Receiver::bind(config).await.err();
    assert!(matches!(error, Some(Error::Endpoint(_))), "{error:?}");
    assert!(!world.state().exists());
}

#[tokio::test]
async fn a_state_folder_that_others_can_read_is_closed() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    fs::create_dir_all(world.state()).unwrap();
    fs::set_permissions(world.state(), fs::Permissions::from_mode(0o777)).unwrap();
    let _receiver = world.receiver().await;
    let mode = fs::metadata(world.state()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

#[tokio::test]
async fn the_identity_is_its_owners() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::new();
    let _receiver = world.receiver().await;
    let mode = |path: PathBuf| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(world.state()), 0o700);
    assert_eq!(mode(world.state().join("identity")), 0o600);
}
