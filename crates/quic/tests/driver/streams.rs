//! What streams promise.

use noq::{ConnectionError, EndpointConfig, ReadError, ReadToEndError, WriteError};
use quic::driver::Connection;
use quic::endpoint::Identity;

use super::{PATIENCE, client, echo_all, round_trip, server};

/// Two ends of a connection, and what keeps them alive.
async fn pair() -> (Connection, Connection, impl Sized) {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    let (endpoint, connecting) = client(&identity).connect(server.local_addr()).unwrap();
    let accepting = async { server.accept().await.unwrap().await.unwrap() };
    let (connected, accepted) = tokio::join!(connecting.into_future(), accepting);
    (connected.unwrap(), accepted, (endpoint, server))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_streams_at_once() {
    let identity = Identity::generate().unwrap();
    let server = server(&identity, EndpointConfig::default());
    echo_all(&server);
    let (_endpoint, connecting) = client(&identity).connect(server.local_addr()).unwrap();
    let connection = connecting.await.unwrap();
    // More than may be open at a time, and longer than the windows.
    let exchanges: Vec<_> = (0..300)
        .map(|number| {
            let connection = connection.clone();
            let bytes = if number % 50 == 0 { 5_000_000 } else { 5_000 };
            tokio::spawn(async move { round_trip(&connection, bytes).await })
        })
        .collect();
    for exchange in exchanges {
        exchange.await.unwrap();
    }
}

#[tokio::test]
async fn ends_of_streams_are_told() {
    let (here, there, _alive) = pair().await;
    // What was sent before the end is there first.
    let mut to = here.open_uni().await.unwrap();
    to.write_all(b"whole").await.unwrap();
    to.finish().unwrap();
    assert!(to.finish().is_err());
    let mut from = there.accept_uni().await.unwrap();
    assert_eq!(from.read_to_end(5).await.unwrap(), b"whole");
    assert_eq!(from.read_chunk(1).await.unwrap(), None);
    to.stopped().await;
    // Dropped is finished.
    let mut to = here.open_uni().await.unwrap();
    to.write_all(b"too long").await.unwrap();
    drop(to);
    let mut from = there.accept_uni().await.unwrap();
    let error = from.read_to_end(7).await.unwrap_err();
    assert!(matches!(error, ReadToEndError::TooLong));
    // A reset is no end.
    let mut to = here.open_uni().await.unwrap();
    to.write_all(b"half").await.unwrap();
    let mut from = there.accept_uni().await.unwrap();
    let mut read = [0; 4];
    from.read_exact(&mut read).await.unwrap();
    to.reset(5u32.into()).unwrap();
    for _ in 0..2 {
        let error = from.read_chunk(9).await.unwrap_err();
        assert_eq!(error, ReadError::Reset(5u32.into()));
    }
    // Who wants no more is not written to.
    let mut to = here.open_uni().await.unwrap();
    to.write_all(b"some").await.unwrap();
    let mut from = there.accept_uni().await.unwrap();
    from.stop(6u32.into()).unwrap();
    let error = loop {
        if let Err(error) = to.write_all(&[0; 1000]).await {
            break error;
        }
    };
    assert_eq!(error, WriteError::Stopped(6u32.into()));
}

#[tokio::test]
async fn a_connection_lives_as_long_as_it_is_used() {
    let (here, there, _alive) = pair().await;
    let mut to = here.open_uni().await.unwrap();
    drop(here);
    // The stream still holds it.
    to.write_all(b"here").await.unwrap();
    let mut from = there.accept_uni().await.unwrap();
    let mut read = [0; 4];
    from.read_exact(&mut read).await.unwrap();
    assert!(there.close_reason().is_none());
    drop(to);
    let error = tokio::time::timeout(PATIENCE, there.closed())
        .await
        .unwrap();
    assert!(matches!(error, ConnectionError::ApplicationClosed(_)));
    assert!(there.open_uni().await.is_err());
    assert!(matches!(
        from.read_chunk(1).await,
        Err(ReadError::ConnectionLost(_)) | Ok(None)
    ));
}

#[tokio::test]
async fn those_who_wait_learn_that_it_is_over() {
    let (here, there, _alive) = pair().await;
    let (mut to, mut from) = here.open_bi().await.unwrap();
    let waiting = [
        tokio::spawn(async move { while to.write_all(&[0; 100_000]).await.is_ok() {} }),
        tokio::spawn(async move { while from.read_chunk(1).await.is_ok() {} }),
        tokio::spawn({
            let here = here.clone();
            async move { while here.accept_bi().await.is_ok() {} }
        }),
    ];
    tokio::task::yield_now().await;
    there.close(3u32.into(), b"enough");
    for waiting in waiting {
        let over = tokio::time::timeout(PATIENCE, waiting).await;
        over.unwrap().unwrap();
    }
    match here.closed().await {
        ConnectionError::ApplicationClosed(close) => {
            assert_eq!(
                (close.error_code, &close.reason[..]),
                (3u32.into(), &b"enough"[..])
            );
        }
        error => panic!("{error}"),
    }
    assert_eq!(there.closed().await, ConnectionError::LocallyClosed);
}
