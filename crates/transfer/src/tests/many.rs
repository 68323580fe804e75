//! Trees, many files, files with holes, and many transfers.

use super::*;

/// A tree of directories below `root`, with content that its paths determine. Returns its files and its empty
/// directories.
fn tree(root: &Path) -> Vec<(String, Option<Vec<u8>>)> {
    let mut tree = Vec::new();
    let file = |path: String, size: u64| {
        let seed = path.len() as u64 + size;
        (path, Some(content(size, seed)))
    };
    for i in 0..300 {
        tree.push(file(format!("a/{}/file {i}", i % 7), i * 17 % 3000));
    }
    tree.push(file("a/large".to_owned(), 3 * BLOCK + 5));
    tree.push(file("a/exactly".to_owned(), BLOCK));
    tree.push(file("b".to_owned(), 0));
    tree.push(("c/empty".to_owned(), None));
    for (path, content) in &tree {
        let path = root.join(path);
        match content {
            Some(content) => {
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            None => fs::create_dir_all(path).unwrap(),
        }
    }
    tree
}

fn assert_same_tree(root: &Path, tree: &[(String, Option<Vec<u8>>)]) {
    for (path, content) in tree {
        match content {
            Some(content) => assert!(fs::read(root.join(path)).unwrap() == *content, "{path}"),
            None => assert_eq!(fs::read_dir(root.join(path)).unwrap().count(), 0, "{path}"),
        }
    }
}

#[tokio::test]
async fn a_tree_arrives_as_it_is() {
    let world = World::new();
    let root = world.dir.path().join("from/tree");
    let tree = tree(&root);
    let single = world.file("single", 5, 5);
    let (received, sent) = both(
        world.receiver().await,
        &[root, single.clone()],
        &Log::default(),
    )
    .await;
    assert_eq!(received.len(), sent.len());
    assert_same_tree(&world.out().join("tree"), &tree);
    assert!(same_content(&world.out().join("single"), &single));
    assert_eq!(world.arrived(), ["single", "tree"]);
    for (received, sent) in received.iter().zip(&sent) {
        assert_eq!((&received.name, received.hash), (&sent.name, sent.hash));
        let content = fs::read(&received.path).unwrap();
        assert_eq!(received.hash, Some(*blake3::hash(&content).as_bytes()));
    }
}

#[tokio::test]
async fn links_are_named_and_not_sent_and_permission_to_execute_is_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let world = World::new();
    let root = world.dir.path().join("from/tree");
    fs::create_dir_all(root.join(".fullpipe")).unwrap();
    fs::write(root.join(".fullpipe/identity"), "secret").unwrap();
    for (name, mode) in [("run", 0o755), ("read", 0o644)] {
        fs::write(root.join(name), name).unwrap();
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("/etc", root.join("link")).unwrap();
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let skipped = Mutex::new(Vec::new());
    let watch = |event: Event<'_>| {
        if let Event::Skipped { path, why } = event {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            skipped.lock().unwrap().push((name, why));
        }
    };
    let files = [root];
    let running = receiver.run(&|_| ());
    sent_to(running, &ticket, &files, sender_config(), &watch).await;
    let expected = [
        (".fullpipe".to_owned(), Skipped::State),
        ("link".to_owned(), Skipped::Link),
    ];
    assert_eq!(skipped.into_inner().unwrap(), expected);
    let mode = |name: &str| {
        let path = world.out().join("tree").join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o111
    };
    assert_ne!(mode("run"), 0);
    assert_eq!(mode("read"), 0);
    assert_eq!(fs::read_dir(world.out().join("tree")).unwrap().count(), 2);
}

#[tokio::test]
async fn a_link_on_the_way_is_not_followed() {
    let world = World::new();
    let root = world.dir.path().join("from/tree");
    tree(&root);
    let outside = world.dir.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(world.out().join("tree")).unwrap();
    std::os::unix::fs::symlink(&outside, world.out().join("tree/a")).unwrap();
    let error = refused(world.receiver().await, &[root]).await;
    assert!(
        matches!(&error, Error::Refused(Refusal::NotADirectory { name }) if name == "tree/a"),
        "{error}"
    );
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
}

#[tokio::test]
async fn an_existing_file_within_a_tree_is_kept() {
    let world = World::new();
    let root = world.dir.path().join("from/tree");
    let tree = tree(&root);
    fs::create_dir_all(world.out().join("tree/a")).unwrap();
    fs::write(world.out().join("tree/a/large"), "mine").unwrap();
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    {
        let mut running = std::pin::pin!(receiver.run(&|_| ()));
        let files = std::slice::from_ref(&root);
        let error = refusal(&mut running, files, &ticket, sender_config()).await;
        assert!(
            matches!(&error, Error::Refused(Refusal::Exists { name }) if name == "tree/a/large"),
            "{error}"
        );
        assert_eq!(fs::read(world.out().join("tree/a/large")).unwrap(), b"mine");
        fs::remove_file(world.out().join("tree/a/large")).unwrap();
        sent_to(running, &ticket, files, sender_config(), &|_| ()).await;
    }
    assert_same_tree(&world.out().join("tree"), &tree);
}

/// More files than a process may have open.
#[tokio::test]
async fn ten_thousand_files() {
    let world = World::new();
    let root = world.dir.path().join("from/many");
    fs::create_dir_all(&root).unwrap();
    for i in 0..10_000 {
        fs::write(root.join(i.to_string()), i.to_string()).unwrap();
    }
    let log = Log::default();
    let (received, _) = both(world.receiver().await, &[root], &log).await;
    assert_eq!(received.len(), 10_000);
    for i in (0..10_000).step_by(97) {
        let path = world.out().join("many").join(i.to_string());
        assert_eq!(fs::read_to_string(path).unwrap(), i.to_string());
    }
    // A stream for each file would need ten thousand, and a round trip for each as many packets of their own.
    let connection = log.connection.lock().unwrap();
    let streams = connection.as_ref().unwrap().stats().frame_tx.stream;
    assert!(streams < 2_000, "{streams} frames of streams");
}

#[tokio::test]
async fn an_interrupted_tree_continues() {
    let world = World::new();
    let root = world.dir.path().join("from/tree");
    let tree = tree(&root);
    let files = [root];
    let stop = Log::stop_at(BLOCK);
    let (ticket, _) = interrupted_receiver(&world, &files, &stop, &stop.watch()).await;
    let log = Log::default();
    let (received, _) = both(world.receiver_again(&ticket).await, &files, &log).await;
    assert_same_tree(&world.out().join("tree"), &tree);
    let resumed: u64 = received.iter().map(|file| file.resumed).sum();
    assert!(resumed >= BLOCK, "resumed {resumed}");
    assert!(!world.state().exists());
}

/// Like `cp --sparse`: holes at the sender take no room at the receiver, and are not sent.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn holes_stay_holes() {
    use std::os::unix::fs::{FileExt, MetadataExt};
    let world = World::new();
    let path = world.dir.path().join("from/sparse");
    let file = fs::File::create(&path).unwrap();
    let size = 400 * BLOCK + 77;
    file.set_len(size).unwrap();
    file.write_all_at(&content(10_000, 1), 5 * BLOCK + 100)
        .unwrap();
    file.write_all_at(&content(3 * BLOCK, 2), 200 * BLOCK - 50)
        .unwrap();
    file.sync_all().unwrap();
    let room = |path: &Path| fs::metadata(path).unwrap().blocks() * 512;
    if room(&path) > size / 2 {
        skipping::skip!("this file system has no holes");
        return;
    }
    let files = [path.clone()];
    // The transfer is interrupted, and also with a damaged hole.
    for damage in [false, true] {
        let _ = fs::remove_dir_all(world.out());
        let stop = Log::stop_at(2 * BLOCK);
        let (ticket, _) = interrupted_receiver(&world, &files, &stop, &stop.watch()).await;
        let receiver = world.receiver_again(&ticket).await;
        if damage && let [part] = world.parts().as_slice() {
            let part = fs::OpenOptions::new().write(true).open(part).unwrap();
            part.write_all_at(b"damage", 50 * BLOCK + 9).unwrap();
        }
        let log = Log::default();
        let (received, _) = both(receiver, &files, &log).await;
        let received = &received[0];
        assert!(same_content(&received.path, &path));
        // Nobody has hashed the holes.
        assert_eq!(received.hash, None);
        assert!(received.data < 6 * BLOCK && received.resumed <= received.data);
        assert!(room(&received.path) <= room(&path) + 16 * 4096);
        assert!(log.sent() < 8 * BLOCK, "sent {}", log.sent());
    }
}

/// A file of a terabyte with little data.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_hole_of_a_terabyte_costs_nothing() {
    use std::os::unix::fs::FileExt;
    let world = World::new();
    let path = world.dir.path().join("from/sparse");
    let file = fs::File::create(&path).unwrap();
    let (size, data) = (1 << 40, content(2 * BLOCK, 1));
    let tells = crate::sparse::has_data(&file, 0, size);
    if file.set_len(size).is_err() || tells.unwrap() {
        skipping::skip!("this file system has no holes of a terabyte");
        return;
    }
    file.write_all_at(&data, size / 2).unwrap();
    let files = [path];
    let log = Log::default();
    let (received, sent) = both(world.receiver().await, &files, &log).await;
    assert_eq!((received[0].size, received[0].data), (size, 2 * BLOCK));
    assert_eq!(received[0].hash, sent[0].hash);
    let mut there = vec![0; data.len()];
    let arrived = fs::File::open(&received[0].path).unwrap();
    arrived.read_exact_at(&mut there, size / 2).unwrap();
    assert!(there == data);
    // The rate counts data only.
    assert_eq!(log.begun.lock().unwrap().data, 2 * BLOCK);
}

/// A user who may write to the output directory can replace the state folder.
#[tokio::test]
async fn what_takes_the_place_of_the_state_folder_is_not_followed() {
    let world = World::new();
    let outside = world.dir.path().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::write(outside.join("identity"), "theirs").unwrap();
    let files = [world.file("big", 40 * BLOCK, 1)];
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let aside = world.out().join("aside");
    let watch = |event: Event<'_>| {
        if matches!(event, Event::Verified { .. }) && !aside.exists() {
            fs::rename(world.state(), &aside).unwrap();
            std::os::unix::fs::symlink(&outside, world.state()).unwrap();
        }
    };
    let running = receiver.run(&watch);
    let (received, _) = sent_to(running, &ticket, &files, slow(), &|_| ()).await;
    assert!(same_content(&received[0].path, &files[0]));
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
    assert_eq!(fs::read(outside.join("identity")).unwrap(), b"theirs");
    // Its old content is gone, wherever it was moved.
    assert_eq!(fs::read_dir(&aside).unwrap().count(), 0);
}

/// Runs a receiver with `keep` during `sending`. Returns the number of received transfers.
async fn kept(world: &World, sending: impl AsyncFnOnce(&Ticket)) -> u64 {
    let receiver = world.receiver_with(|config| config.keep = true).await;
    let ticket = receiver.ticket().clone();
    let received = AtomicU64::new(0);
    let told = Notify::new();
    let watch = |event: Event<'_>| {
        if matches!(event, Event::Received(_)) {
            received.fetch_add(1, Ordering::Relaxed);
            told.notify_one();
        }
    };
    tokio::select! {
        ended = receiver.run(&watch) => panic!("the receiver ended: {ended:?}"),
        () = async { sending(&ticket).await; told.notified().await } => {}
    }
    received.into_inner()
}

#[tokio::test]
async fn a_receiver_that_is_kept_takes_many_transfers() {
    let world = World::new();
    let count = kept(&world, async |ticket| {
        for i in 0..5 {
            let files = [world.file(&format!("{i}"), i * BLOCK, i)];
            send(&files, ticket, sender_config(), &|_| ())
                .await
                .unwrap();
        }
        // Concurrent senders wait for their turns.
        let files: Vec<PathBuf> = (5..9)
            .map(|i| world.file(&format!("{i}"), 8 * BLOCK, i))
            .collect();
        let sending = files
            .iter()
            .map(|file| send(std::slice::from_ref(file), ticket, sender_config(), &|_| ()));
        for sent in futures_util::future::join_all(sending).await {
            sent.unwrap();
        }
    })
    .await;
    assert!(count >= 8, "{count}");
    for i in 0..9 {
        let name = i.to_string();
        assert!(same_content(
            &world.out().join(&name),
            &world.dir.path().join("from").join(&name)
        ));
    }
}

#[tokio::test]
async fn an_unfinished_transfer_does_not_stop_others_of_a_receiver_that_is_kept() {
    let world = World::new();
    kept(&world, async |ticket| {
        let big = [world.file("big", 64 * BLOCK, 1)];
        let stop = Log::stop_at(4 * BLOCK);
        let watch = stop.watch();
        let first = until_stopped(&stop, send(&big, ticket, slow(), &watch));
        assert!(first.await.is_none());
        let other = [world.file("other", BLOCK, 2)];
        send(&other, ticket, sender_config(), &|_| ())
            .await
            .unwrap();
        assert_eq!(world.arrived(), ["other"]);
        // The interrupted transfer can be continued afterwards.
        let sent = send(&big, ticket, sender_config(), &|_| ()).await.unwrap();
        assert!(sent[0].resumed >= 4 * BLOCK, "{}", sent[0].resumed);
        assert!(same_content(&world.out().join("big"), &big[0]));
    })
    .await;
}
