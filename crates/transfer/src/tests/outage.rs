//! Outages of the path, with and without a new source port at their end, in virtual time.

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use super::network::{RECEIVER, SENDER, STRANGER, in_virtual_time};
use super::*;
use crate::sender::send_on;

/// The time from the path's return to the end of a transfer whose path vanishes for a while, and the expected time.
/// `None` if the transfer has not ended long after.
async fn outage(length: Duration, new_port: bool) -> Option<(Duration, Duration)> {
    let scene = Scene::of(64).await;
    let (network, files, ticket) = (&scene.network, &scene.files, &scene.ticket);
    let log = Log::stop_at(8 * BLOCK);
    let watch = log.watch();
    let began = Instant::now();
    let path = async {
        log.stop.notified().await;
        let verified = began.elapsed();
        network.cut(SENDER, true);
        sleep(length).await;
        network.cut(SENDER, false);
        if new_port {
            network.rebind(SENDER);
        }
        (Instant::now(), verified * 8)
    };
    let sockets = network.host(SENDER);
    let transfer = timeout(Duration::from_secs(200), async {
        tokio::join!(
            scene.receiver.run(&|_| ()),
            send_on(sockets, files, ticket, sender_config(), &watch),
        )
    });
    let ((received, sent), (back, expected)) = match tokio::join!(transfer, path) {
        (Ok(ended), path) => (ended, path),
        (Err(_), _) => return None,
    };
    if let Err(error) = sent {
        println!("  sender: {error}");
        return None;
    }
    assert!(same_content(&received.unwrap()[0].path, &files[0]));
    Some((back.elapsed(), expected))
}

#[tokio::test(start_paused = true)]
async fn a_transfer_goes_on_within_seconds_of_the_paths_return() {
    let lengths = [0, 200, 1_000, 3_000, 7_000, 9_500, 12_000, 20_000, 30_000];
    let cases = [false, true]
        .into_iter()
        .flat_map(|new_port| lengths.map(|ms| (Duration::from_millis(ms), new_port)));
    let went = cases.map(async |(length, new_port)| {
        let went = outage(length, new_port).await;
        println!("outage {length:?}, new port: {new_port}: {went:?}");
        (length, new_port, went)
    });
    let mut went = in_virtual_time(join_all(went)).await;
    went.retain(|(_, _, went)| {
        went.is_none_or(|(took, expected)| took > expected + Duration::from_secs(6))
    });
    assert!(went.is_empty(), "late: {went:?}");
}

/// A killed sender falls silent. A new one may take over when that is certain.
#[tokio::test(start_paused = true)]
async fn a_sender_takes_over_from_one_that_is_gone() {
    let scene = Scene::of(64).await;
    let (network, files, ticket) = (&scene.network, &scene.files, &scene.ticket);
    let sending = async {
        let stop = Log::stop_at(8 * BLOCK);
        let watch = stop.watch();
        let first = send_on(network.host(SENDER), files, ticket, sender_config(), &watch);
        assert!(until_stopped(&stop, first).await.is_none());
        network.cut(SENDER, true);
        let begun = Instant::now();
        let second = Log::default();
        let watch = second.watch();
        let other = network.host(STRANGER);
        let sent = send_on(other, files, ticket, sender_config(), &watch).await;
        (sent.unwrap(), begun.elapsed())
    };
    let transfer = async { tokio::join!(scene.receiver.run(&|_| ()), sending) };
    let (received, (sent, took)) = in_virtual_time(transfer).await;
    assert!(same_content(&received.unwrap()[0].path, &files[0]));
    assert!(sent[0].resumed >= 8 * BLOCK);
    // Three seconds of silence, and the rest of the file.
    assert!(took < Duration::from_secs(15), "{took:?}");
}

/// A receiver that is killed and restarted lets the sender know that it has forgotten the connection.
#[tokio::test(start_paused = true)]
async fn a_receiver_that_was_killed_and_started_again_is_reached_at_once() {
    let scene = Scene::of(64).await;
    let (network, files, ticket) = (&scene.network, &scene.files, &scene.ticket);
    let stop = Log::stop_at(8 * BLOCK);
    let watch = stop.watch();
    let receiving = async {
        assert!(
            until_stopped(&stop, scene.receiver.run(&watch))
                .await
                .is_none()
        );
        // A killed receiver sends no closing code.
        network.cut(RECEIVER, true);
        while !network.is_free(ticket.addresses()[0]) {
            sleep(Duration::from_millis(10)).await;
        }
        let receiver = scene.world.receiver_on(network, Box::new(RealDisk)).await;
        assert_eq!(receiver.ticket(), ticket);
        network.cut(RECEIVER, false);
        let back = Instant::now();
        let connected = AtomicU64::new(u64::MAX);
        let watch = |event: Event<'_>| {
            if matches!(event, Event::Connected(_)) {
                connected.store(back.elapsed().as_millis() as u64, Ordering::Relaxed);
            }
        };
        let received = receiver.run(&watch).await.unwrap();
        (received, connected.into_inner())
    };
    let sockets = network.host(SENDER);
    let sending = send_on(sockets, files, ticket, sender_config(), &|_| ());
    let transfer = async { tokio::join!(receiving, sending) };
    let ((received, connected_ms), sent) = in_virtual_time(transfer).await;
    sent.unwrap();
    assert!(same_content(&received[0].path, &files[0]));
    assert!(received[0].resumed >= 8 * BLOCK);
    println!("connected {connected_ms} ms after the receiver's return");
    // The sender would look for the receiver by itself much later.
    assert!(connected_ms < 1_500, "{connected_ms} ms");
}
