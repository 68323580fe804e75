//! Full and slow disks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::AtomicI64;

use super::network::{SENDER, in_virtual_time};
use super::*;
use crate::directory::Directory;
use crate::sender::send_on;
use tokio::runtime::Handle;
use tokio::time::sleep;

/// A disk with room for this many bytes.
struct Small {
    left: AtomicI64,
    /// The free space that it reports.
    free: Option<u64>,
}

impl Disk for Small {
    fn write(&self, file: &File, data: &[u8], at: u64) -> io::Result<()> {
        let left = self.left.fetch_sub(data.len() as i64, Ordering::Relaxed);
        if left < data.len() as i64 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        file.write_all_at(data, at)
    }

    fn free(&self, _directory: &Directory) -> Option<u64> {
        self.free
    }
}

#[tokio::test]
async fn a_disk_that_fills_up_keeps_what_was_verified() {
    let world = World::new();
    let files = [world.file("big", 32 * BLOCK, 1)];
    let disk = Small {
        left: AtomicI64::new(5 * BLOCK as i64 + 1),
        free: None,
    };
    let receiver = world.receiver_writing_to(disk).await;
    let ticket = receiver.ticket().clone();
    let (received, sent) = tokio::join!(
        receiver.run(&|_| ()),
        send(&files, &ticket, sender_config(), &|_| ()),
    );
    let out = world.out().canonicalize().unwrap();
    for error in [received.unwrap_err(), sent.unwrap_err()] {
        let Error::Refused(Refusal::DiskFull { disk }) = &error else {
            panic!("{error}");
        };
        assert_eq!(*disk, out.to_string_lossy());
    }
    assert_eq!(world.arrived(), Vec::<String>::new());

    let (received, _) = both(world.receiver_again(&ticket).await, &files, &Log::default()).await;
    assert_eq!(received[0].resumed, 5 * BLOCK);
    assert!(same_content(&received[0].path, &files[0]));
}

#[tokio::test]
async fn what_cannot_fit_is_not_begun() {
    let world = World::new();
    let files = [world.file("a", BLOCK, 1), world.file("b", BLOCK, 1)];
    let disk = Small {
        left: AtomicI64::new(i64::MAX),
        free: Some(2 * BLOCK - 1),
    };
    let error = refused(world.receiver_writing_to(disk).await, &files).await;
    assert!(
        matches!(
            error,
            Error::Refused(Refusal::NoSpace { needed, free, .. })
                if needed == 2 * BLOCK && free == 2 * BLOCK - 1
        ),
        "{error}"
    );
    assert_eq!(world.parts().len(), 0);
}

/// A disk that takes half a second of virtual time for each block.
struct Slow(Handle);

impl Disk for Slow {
    fn write(&self, file: &File, data: &[u8], at: u64) -> io::Result<()> {
        self.0.block_on(sleep(Duration::from_millis(500)));
        file.write_all_at(data, at)
    }

    fn free(&self, _directory: &Directory) -> Option<u64> {
        None
    }
}

/// Everything is sent long before it is written. Then the sender acknowledges the receiver's reports, and has nothing
/// of its own that would be acknowledged.
#[tokio::test(start_paused = true)]
async fn a_receiver_whose_disk_is_slow_is_not_taken_for_gone() {
    let scene = Scene::with_disk(40, Box::new(Slow(Handle::current()))).await;
    let reconnected = AtomicU64::new(0);
    let watch = |event: Event<'_>| {
        if matches!(event, Event::Reconnecting) {
            reconnected.fetch_add(1, Ordering::Relaxed);
        }
    };
    let sockets = scene.network.host(SENDER);
    let transfer = async {
        tokio::join!(
            scene.receiver.run(&|_| ()),
            send_on(
                sockets,
                &scene.files,
                &scene.ticket,
                sender_config(),
                &watch
            ),
        )
    };
    let (received, sent) = in_virtual_time(transfer).await;
    sent.unwrap();
    assert!(same_content(&received.unwrap()[0].path, &scene.files[0]));
    assert_eq!(reconnected.into_inner(), 0);
}
