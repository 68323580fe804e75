//! Many connections without a proof, in virtual time.

use futures_util::future::join_all;
use tokio::time::{Instant, sleep};

use super::hostile::{Client, wrong_secret};
use super::network::{Network, SENDER, STRANGER, in_virtual_time};
use super::*;
use crate::sender::send_on;
use noq_proto::Transmit;
use quic::{Environment, Waker};

/// The number of reports of rejected connections, and the number of connections in them.
#[derive(Default)]
struct Reports {
    times: AtomicU64,
    strangers: AtomicU64,
}

impl Reports {
    fn watch(&self, event: Event<'_>) {
        if let Event::TurnedAway { others, .. } = event {
            self.times.fetch_add(1, Ordering::Relaxed);
            self.strangers.fetch_add(1 + others, Ordering::Relaxed);
        }
    }
}

/// Sends a file from the host `sender` during `attack`, which signals its start. Returns the duration.
async fn transfer_during(
    sender: Ipv4Addr,
    told: &Reports,
    attack: impl AsyncFn(&Network, &Ticket, &Notify),
) -> Duration {
    let scene = Scene::of(16).await;
    let hear = |event: Event<'_>| told.watch(event);
    let goes_on = Notify::new();
    let sending = async {
        goes_on.notified().await;
        let begun = Instant::now();
        let sent = send_on(
            scene.network.host(sender),
            &scene.files,
            &scene.ticket,
            sender_config(),
            &|_| (),
        );
        sent.await.unwrap();
        begun.elapsed()
    };
    let transfer = async { tokio::join!(scene.receiver.run(&hear), sending) };
    let attack = async {
        attack(&scene.network, &scene.ticket, &goes_on).await;
        std::future::pending::<()>().await;
    };
    let (received, took) = in_virtual_time(async {
        tokio::select! {
            ended = transfer => ended,
            () = attack => unreachable!(),
        }
    })
    .await;
    assert!(same_content(&received.unwrap()[0].path, &scene.files[0]));
    took
}

#[tokio::test(start_paused = true)]
async fn wrong_proofs_do_not_end_a_running_transfer() {
    let told = Reports::default();
    let guesses = AtomicU64::new(0);
    transfer_during(SENDER, &told, async |network, ticket, goes_on| {
        goes_on.notify_one();
        let wrong = wrong_secret(ticket);
        let guess = async |stranger: Ipv4Addr| {
            let host = network.host(stranger);
            // Until the receiver is done.
            while let Some(mut client) = Client::try_connect(host.clone(), &wrong).await {
                client.prove(&wrong).await;
                if let Error::WrongSecret = client.connection.closed().await.into() {
                    guesses.fetch_add(1, Ordering::Relaxed);
                }
            }
        };
        let strangers = [SENDER, STRANGER].repeat(5);
        join_all(strangers.into_iter().map(guess)).await;
    })
    .await;
    let (guesses, times) = (guesses.into_inner(), told.times.into_inner());
    println!("{guesses} wrong proofs, reported in {times} lines");
    assert!(guesses > 150, "{guesses} wrong proofs");
    assert!(times < 5, "{times} lines");
}

#[tokio::test(start_paused = true)]
async fn silent_connections_do_not_keep_a_sender_out() {
    // The sender shares its address with most of them, and has one of its own.
    for sender in [STRANGER, SENDER] {
        let told = Reports::default();
        let came = AtomicU64::new(0);
        let took = transfer_during(sender, &told, async |network, ticket, goes_on| {
            let mut strangers = vec![STRANGER; 150];
            strangers.extend((0..50).map(|last| Ipv4Addr::new(10, 0, 1, last)));
            // Each host connects repeatedly, and never sends a proof.
            let wait = async |stranger: Ipv4Addr| {
                let host = network.host(stranger);
                loop {
                    if let Some(client) = Client::try_connect(host.clone(), ticket).await {
                        came.fetch_add(1, Ordering::Relaxed);
                        client.connection.closed().await;
                    }
                }
            };
            let begin = async {
                sleep(Duration::from_secs(2)).await;
                goes_on.notify_one();
            };
            tokio::join!(join_all(strangers.into_iter().map(wait)), begin);
        })
        .await;
        let times = told.times.into_inner();
        println!("{took:?}, {came:?} silent connections, reported in {times} lines");
        assert!(came.into_inner() > 200);
        assert!(took < Duration::from_secs(10), "{took:?}");
        assert!(times < 10, "{times} lines");
    }
}

#[tokio::test(start_paused = true)]
async fn garbage_is_ignored() {
    let told = Reports::default();
    transfer_during(SENDER, &told, async |network, ticket, goes_on| {
        goes_on.notify_one();
        let host = network.host(STRANGER);
        let (to, silent): (_, Waker) = (ticket.addresses()[0], Arc::new(|| ()));
        let port = host.sending(to, false, &silent).unwrap();
        for seed in 0..5_000 {
            let mut garbage = content(seed % 1300 + 1, seed);
            // Every type of QUIC header.
            garbage[0] ^= (seed as u8) << 4;
            if seed % 3 == 0 && garbage.len() > 5 {
                garbage[1..5].copy_from_slice(&[0, 0, 0, 1]);
            }
            let transmit = Transmit {
                destination: to,
                ecn: None,
                size: garbage.len(),
                segment_size: None,
                src_ip: None,
            };
            port.send(&transmit, &garbage).unwrap();
            if seed % 50 == 0 {
                sleep(Duration::from_millis(20)).await;
            }
        }
    })
    .await;
    assert_eq!(told.times.load(Ordering::Relaxed), 0);
}
