//! Output directories that are replaced by symbolic links during a transfer.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, symlink};
use std::sync::atomic::AtomicBool;

use super::*;
use crate::directory::Directory;

/// When the first block is written, the directory `there` is moved away and replaced by a link to `outside`.
struct Swapped {
    there: PathBuf,
    aside: PathBuf,
    outside: PathBuf,
    is_done: AtomicBool,
}

impl Disk for Swapped {
    fn write(&self, file: &File, data: &[u8], at: u64) -> io::Result<()> {
        if !self.is_done.swap(true, Ordering::Relaxed) {
            let _ = fs::rename(&self.there, &self.aside);
            fs::create_dir_all(self.there.parent().unwrap())?;
            symlink(&self.outside, &self.there)?;
        }
        file.write_all_at(data, at)
    }

    fn free(&self, directory: &Directory) -> Option<u64> {
        RealDisk.free(directory)
    }
}

#[tokio::test]
async fn a_directory_that_becomes_a_link_is_named_and_not_followed() {
    for (was_there, swapped) in [
        (false, "in"),
        (true, "in"),
        (false, "in/deep"),
        (true, "in/deep"),
    ] {
        let world = World::new();
        let root = world.dir.path().join("from/in");
        fs::create_dir_all(root.join("deep")).unwrap();
        fs::write(root.join("deep/big"), content(3 * BLOCK, 1)).unwrap();
        fs::write(root.join("small"), "small").unwrap();
        let [outside, aside] = ["outside", "aside"].map(|name| world.dir.path().join(name));
        fs::create_dir(&outside).unwrap();
        if was_there {
            fs::create_dir_all(world.out().join("in/deep")).unwrap();
        }
        let disk = Swapped {
            there: world.out().join(swapped),
            aside,
            outside: outside.clone(),
            is_done: AtomicBool::new(false),
        };
        let receiver = world.receiver_writing_to(disk).await;
        let ticket = receiver.ticket().clone();
        let files = [root];
        let mut running = std::pin::pin!(receiver.run(&|_| ()));
        let error = refusal(&mut running, &files, &ticket, sender_config()).await;
        let named = format!("the receiver has {swapped:?}, which is not a directory");
        assert!(error.to_string().contains(&named), "{error}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{swapped}");
        // The receiver goes on waiting, and the repaired tree can be sent.
        fs::remove_file(world.out().join(swapped)).unwrap();
        let (received, sent) = sent_to(running, &ticket, &files, sender_config(), &|_| ()).await;
        assert_eq!(received.len(), sent.len());
        let there = world.out().join("in/deep/big");
        assert!(same_content(&there, &files[0].join("deep/big")));
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{swapped}");
    }
}
