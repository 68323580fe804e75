//! Tests of connections as tasks use them.

use std::net::{Ipv4Addr, UdpSocket};
use std::time::Duration;

use bytes::Bytes;
use noq_proto::congestion::CubicConfig;
use noq_proto::{ApplicationClose, ClosedStream};
use tokio::time::timeout;

use super::*;
use crate::driver::System;
use crate::endpoint::{Client, Identity, listen, server_config, transport};
use crate::server;

const ALPN: &[u8] = b"test";
const TIMEOUT: Duration = Duration::from_secs(30);

fn listener() -> (Listener, Client) {
    let identity = Identity::generate().unwrap();
    let config = server_config(&identity, ALPN, Arc::new(server::transport())).unwrap();
    let here = (Ipv4Addr::LOCALHOST, 0).into();
    let listener = listen(Arc::new(System), here, config, &identity).unwrap();
    let (pinned, controllers) = (identity.fingerprint(), Arc::new(CubicConfig::default()));
    let client = Client::new(Arc::new(System), pinned, ALPN, controllers, transport).unwrap();
    (listener, client)
}

/// Both ends of a connection. The listener stays open.
async fn pair() -> (Listener, Connection, Connection) {
    let (listener, client) = listener();
    let sending = client.connect(listener.local_addr()).unwrap();
    let accepting = async { listener.accept().await.unwrap().accept().await.unwrap() };
    let (connected, receiving) = tokio::join!(sending.connected(), accepting);
    connected.unwrap();
    (listener, sending, receiving)
}

fn closed_with(code: u32) -> impl Fn(&ConnectionError) -> bool {
    move |error| {
        matches!(error, ConnectionError::ApplicationClosed(ApplicationClose { error_code, .. })
            if *error_code == VarInt::from_u32(code))
    }
}

#[tokio::test]
async fn streams_carry_what_is_written_to_their_end() {
    let (_listener, sending, receiving) = pair().await;
    // This is far more than any window.
    let all: Vec<u8> = (0..20_000_000_u32)
        .map(|place| (place % 251) as u8)
        .collect();
    let send = async {
        let (mut to, mut from) = sending.open_bi().await.unwrap();
        for piece in all.chunks(100_001) {
            to.write_all(piece).await.unwrap();
        }
        to.finish().unwrap();
        assert_eq!(to.finish(), Err(ClosedStream::default()));
        assert_eq!(to.stopped().await, Ok(None));
        from.read_to_end(5).await.unwrap()
    };
    let receive = async {
        let (mut to, mut from) = receiving.accept_bi().await.unwrap();
        let mut got = vec![0; all.len()];
        from.read_exact(&mut got).await.unwrap();
        assert_eq!(from.read_chunk(1).await, Ok(None));
        assert_eq!(
            from.read_exact(&mut [0]).await,
            Err(ReadExactError::FinishedEarly(0))
        );
        to.write_all(b"hello").await.unwrap();
        got
    };
    let (answer, got) = timeout(TIMEOUT, async { tokio::join!(send, receive) })
        .await
        .unwrap();
    assert!(got == all);
    assert_eq!(answer, b"hello");
}

/// Returns the result of `future`, and how often it was polled.
async fn counted<T>(future: impl Future<Output = T>) -> (T, usize) {
    let mut future = std::pin::pin!(future);
    let mut count = 0;
    let ask = std::future::poll_fn(|context| {
        count += 1;
        future.as_mut().poll(context)
    });
    (ask.await, count)
}

#[tokio::test]
async fn a_task_is_woken_once_for_a_whole_stream() {
    // Each piece takes many datagrams, and all of them take more than any window.
    const PIECE: usize = 100_000;
    let (_listener, sending, receiving) = pair().await;
    let sender = tokio::spawn(async move {
        for number in 0..400_u32 {
            let piece = Bytes::from(vec![number as u8; PIECE]);
            let priority = i32::MAX - number as i32;
            let pieces = vec![piece.clone(), piece];
            sending.send_uni(priority, pieces).await.unwrap();
        }
        sending.closed().await
    });
    let receive = async {
        let mut asked = 0;
        for number in 0..400_u32 {
            let mut stream = receiving.accept_uni_to_end(2 * PIECE).await.unwrap();
            let (read, count) = counted(stream.read_to_end(2 * PIECE)).await;
            assert!(read.unwrap() == vec![number as u8; 2 * PIECE]);
            asked += count;
        }
        // Twice each: before the stream is there, and then. A wake-up that came late may ask once more.
        assert!(asked <= 2 * 400 + 40, "asked {asked} times");
    };
    timeout(TIMEOUT, receive).await.unwrap();
    receiving.close(VarInt::from_u32(1), b"");
    assert!(closed_with(1)(&sender.await.unwrap()));
}

#[tokio::test]
async fn a_stream_that_is_longer_than_it_may_be_is_told() {
    let (_listener, sending, receiving) = pair().await;
    for (length, most) in [(5, 5), (6, 5), (0, 0)] {
        let piece = vec![Bytes::from(vec![1; length])];
        sending.send_uni(0, piece).await.unwrap();
        let stream = timeout(TIMEOUT, receiving.accept_uni_to_end(most)).await;
        let read = stream.unwrap().unwrap().read_to_end(most).await;
        assert_eq!(read.is_ok(), length <= most, "{read:?}");
    }
    sending.close(VarInt::from_u32(5), b"");
    assert!(sending.send_uni(0, Vec::new()).await.is_err());
    assert!(receiving.accept_uni_to_end(5).await.is_err());
}

#[tokio::test]
async fn each_side_learns_that_the_other_has_given_up_a_stream() {
    let (_listener, sending, receiving) = pair().await;
    let mut to = sending.open_uni().await.unwrap();
    to.write_all(b"half").await.unwrap();
    let mut from = receiving.accept_uni().await.unwrap();
    to.reset(VarInt::from_u32(7)).unwrap();
    let end = timeout(TIMEOUT, async {
        loop {
            if let Err(error) = from.read_chunk(10).await {
                return error;
            }
        }
    });
    assert_eq!(end.await.unwrap(), ReadError::Reset(VarInt::from_u32(7)));
    let mut to = sending.open_uni().await.unwrap();
    to.write_all(b"half").await.unwrap();
    drop(receiving.accept_uni().await.unwrap());
    assert_eq!(to.stopped().await, Ok(Some(VarInt::from_u32(0))));
    let stopped = WriteError::Stopped(VarInt::from_u32(0));
    assert_eq!(to.write_all(b"rest").await, Err(stopped));
}

#[tokio::test]
async fn the_end_of_a_connection_ends_all_that_waits_on_it() {
    let (listener, sending, receiving) = pair().await;
    let mut to = sending.open_uni().await.unwrap();
    to.write_all(b"half").await.unwrap();
    let mut from = receiving.accept_uni().await.unwrap();
    from.read_exact(&mut [0; 4]).await.unwrap();
    let closing = async {
        tokio::task::yield_now().await;
        sending.close(VarInt::from_u32(5), b"enough");
    };
    let waiting = async {
        tokio::join!(
            from.read_chunk(1),
            receiving.accept_bi(),
            receiving.closed(),
            to.stopped(),
        )
    };
    let ended = timeout(TIMEOUT, async { tokio::join!(waiting, closing) });
    let ((read, accepted, closed, stopped), ()) = ended.await.unwrap();
    let is_ours = closed_with(5);
    assert!(matches!(read, Err(ReadError::ConnectionLost(error)) if is_ours(&error)));
    assert!(accepted.is_err_and(|error| is_ours(&error)));
    assert!(is_ours(&closed));
    assert_eq!(stopped, Err(ConnectionError::LocallyClosed));
    assert_eq!(sending.close_reason(), Some(ConnectionError::LocallyClosed));
    timeout(TIMEOUT, sending.draining()).await.unwrap();
    timeout(TIMEOUT, listener.all_draining()).await.unwrap();
}

#[tokio::test]
async fn a_listener_closes_its_connections_and_waits_for_them() {
    let (listener, sending, receiving) = pair().await;
    assert!(
        timeout(Duration::from_millis(20), listener.all_draining())
            .await
            .is_err()
    );
    listener.close(VarInt::from_u32(3));
    let closed = timeout(TIMEOUT, sending.closed()).await.unwrap();
    assert!(closed_with(3)(&closed), "{closed:?}");
    timeout(TIMEOUT, listener.all_draining()).await.unwrap();
    assert_eq!(
        receiving.close_reason(),
        Some(ConnectionError::LocallyClosed)
    );
}

/// The end is as when the program is killed, but with a close frame.
#[tokio::test]
async fn a_dropped_connection_is_closed_and_its_port_is_free() {
    let (listener, sending, receiving) = pair().await;
    let stream = receiving.open_uni().await.unwrap();
    drop(receiving);
    let open = timeout(Duration::from_millis(50), sending.closed());
    assert!(open.await.is_err(), "a stream keeps its connection");
    let address = listener.local_addr();
    drop((stream, listener));
    let closed = timeout(TIMEOUT, sending.closed()).await.unwrap();
    assert!(closed_with(0)(&closed), "{closed:?}");
    UdpSocket::bind(address).unwrap();
}

#[tokio::test]
async fn whoever_is_not_let_in_is_told() {
    let (listener, client) = listener();
    let refused = client.connect(listener.local_addr()).unwrap();
    drop(listener.accept().await.unwrap());
    assert!(
        timeout(TIMEOUT, refused.connected())
            .await
            .unwrap()
            .is_err()
    );
    let given_up = client.connect(listener.local_addr()).unwrap();
    let accepting = listener.accept().await.unwrap().accept();
    // The future is usually dropped before the end of the handshake.
    tokio::select! {
        biased;
        _ = accepting => {}
        () = std::future::ready(()) => {}
    }
    timeout(TIMEOUT, given_up.closed()).await.unwrap();
}
