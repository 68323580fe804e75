//! Impossible names, and names that collide.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::Mode;

use super::*;
use crate::directory::Directory;

/// A file system that ignores case in tests of names.
struct Caseless;

impl Disk for Caseless {
    fn write(&self, file: &File, data: &[u8], at: u64) -> io::Result<()> {
        file.write_all_at(data, at)
    }

    fn free(&self, _directory: &Directory) -> Option<u64> {
        None
    }

    fn claim(&self, directory: &Directory, name: &str) -> io::Result<bool> {
        let made = directory.create(&name.to_lowercase(), Mode::RUSR);
        Ok(made.is_ok())
    }
}

/// A tree with names that collide for [`Caseless`], and its paths with their contents.
fn tree(world: &World) -> (PathBuf, Vec<&'static str>) {
    let root = world.dir.path().join("from/in");
    let paths = vec!["Dir/f", "README", "Readme", "dir/f", "dir/g", "plain"];
    for path in &paths {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, path.strip_prefix(&root).unwrap().to_str().unwrap()).unwrap();
    }
    (root, paths)
}

async fn caseless(config: ReceiverConfig) -> Receiver {
    let bound = Receiver::bind_on(config, Box::new(Caseless), Arc::new(System));
    bound.await.unwrap()
}

#[tokio::test]
async fn names_that_are_one_are_both_named_before_the_first_byte() {
    for overwrite in [false, true] {
        let world = World::new();
        let (root, _) = tree(&world);
        let config = ReceiverConfig {
            overwrite,
            ..world.config()
        };
        let receiver = caseless(config).await;
        let ticket = receiver.ticket().clone();
        let mut running = std::pin::pin!(receiver.run(&|_| ()));
        let files = [root.clone()];
        let error = refusal(&mut running, &files, &ticket, sender_config()).await;
        let Error::Refused(Refusal::OneName {
            first,
            second,
            more,
        }) = &error
        else {
            panic!("{error}");
        };
        assert_eq!([first, second], ["in/Dir", "in/dir"]);
        assert_eq!(*more, 1);
        assert_eq!(world.arrived(), Vec::<String>::new());
        // The ticket remains valid for the repaired tree.
        fs::rename(root.join("README"), root.join("other")).unwrap();
        fs::remove_dir_all(root.join("dir")).unwrap();
        let (received, sent) = sent_to(running, &ticket, &files, sender_config(), &|_| ()).await;
        assert_eq!(received.len(), sent.len());
    }
}

#[tokio::test]
async fn both_of_two_names_that_are_one_are_kept_if_that_is_wanted() {
    let world = World::new();
    let (root, paths) = tree(&world);
    let config = ReceiverConfig {
        rename: true,
        ..world.config()
    };
    let receiver = caseless(config).await;
    let ticket = receiver.ticket().clone();
    let renamed = Mutex::new(Vec::new());
    let watch = |event: Event<'_>| {
        if let Event::Renamed { from, to } = event {
            renamed.lock().unwrap().push(format!("{from} {to}"));
        }
    };
    let files = [root];
    let running = receiver.run(&watch);
    let (received, sent) = sent_to(running, &ticket, &files, sender_config(), &|_| ()).await;
    assert_eq!(received.len(), sent.len());
    let expected = ["in/Readme in/Readme (2)", "in/dir in/dir (2)"];
    assert_eq!(renamed.into_inner().unwrap(), expected);
    for path in paths {
        let there = match path {
            "Readme" => "Readme (2)".to_owned(),
            path => path.replace("dir/", "dir (2)/"),
        };
        let content = fs::read_to_string(world.out().join("in").join(there));
        assert_eq!(content.unwrap(), path);
    }
    assert!(!world.state().exists());
}

#[tokio::test]
async fn all_that_cannot_be_sent_is_named_at_once_and_can_be_skipped() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let root = world.dir.path().join("from/in");
    fs::create_dir_all(root.join("deep")).unwrap();
    let not_text = std::ffi::OsStr::from_bytes(b"\xff.txt");
    for name in [
        "B::Concise.3perl",
        r"dev-disk-by\x2duuid.device",
        "a\nb",
        "\u{202e}txt.exe",
        "deep/.FullPipe",
        "fine",
    ] {
        fs::write(root.join(name), name).unwrap();
    }
    fs::write(root.join(not_text), "").unwrap();
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let events = Mutex::new(Vec::new());
    let watch = |event: Event<'_>| match event {
        Event::Unsendable { path, why } => {
            let name = path.file_name().unwrap().to_owned();
            events.lock().unwrap().push((name, why));
        }
        Event::Skipped { .. } => events.lock().unwrap().clear(),
        _ => {}
    };
    let files = [root];
    let error = send(&files, &ticket, sender_config(), &watch).await;
    let error = error.unwrap_err();
    let Error::Unsendable(unsendable) = &error else {
        panic!("{error}");
    };
    assert_eq!(unsendable.len(), 4);
    assert_eq!(events.lock().unwrap().len(), 4);
    assert!(error.to_string().contains("3 more"), "{error}");
    assert!(!error.to_string().contains('\n'), "{error}");
    let config = SenderConfig {
        skip: true,
        ..sender_config()
    };
    let running = receiver.run(&|_| ());
    let (received, sent) = sent_to(running, &ticket, &files, config, &watch).await;
    assert_eq!(sent.len(), 3);
    assert_eq!(events.into_inner().unwrap().len(), 0);
    let names: Vec<String> = received.into_iter().map(|file| file.name).collect();
    assert_eq!(
        names,
        [
            "in/B::Concise.3perl",
            r"in/dev-disk-by\x2duuid.device",
            "in/fine"
        ]
    );
}

/// Files without a meaningful size, such as those that the kernel generates during the read.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_whose_size_is_not_so_is_refused() {
    let world = World::new();
    let receiver = world.receiver().await;
    let mut tried = 0;
    for path in [
        "/proc/cpuinfo",
        "/proc/self/status",
        "/sys/kernel/uevent_seqnum",
    ] {
        if !Path::new(path).exists() {
            skipping::skip!("there is no {path}");
            continue;
        }
        tried += 1;
        let files = [PathBuf::from(path)];
        let error = send(&files, receiver.ticket(), sender_config(), &|_| ()).await;
        let error = error.unwrap_err();
        assert!(
            matches!(&error, Error::Unsendable(all) if all[0].1 == Skipped::Size),
            "{error}"
        );
    }
    assert!(tried > 0);
    assert_eq!(world.arrived(), Vec::<String>::new());
}
