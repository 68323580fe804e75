//! Whole transfers over loopback.

mod disk;
mod ecn;
mod flood;
mod hostile;
mod hostile_receiver;
mod links;
mod many;
#[cfg(target_os = "linux")]
mod mtu;
mod names;
mod network;
mod outage;
mod resume;
mod slow;
mod whole;

use std::fs;
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use noq_proto::congestion::CubicConfig;
use quic::System;
use quic::connection::Connection;
use tempfile::TempDir;
use tokio::sync::Notify;

use network::Network;
use slow::slow;

use super::*;
use crate::disk::{Disk, RealDisk};
use crate::tree::BLOCK;

/// The maximum size of a datagram over IPv4.
const MAX_DATAGRAM_BYTES: u64 = 65_507;

/// A directory to send from, and one to receive in.
struct World {
    dir: TempDir,
}

impl World {
    fn new() -> World {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("from")).unwrap();
        World { dir }
    }

    /// Creates a source file whose content `seed` determines.
    fn file(&self, name: &str, size: u64, seed: u64) -> PathBuf {
        let path = self.dir.path().join("from").join(name);
        fs::write(&path, content(size, seed)).unwrap();
        path
    }

    fn out(&self) -> PathBuf {
        self.dir.path().join("out")
    }

    fn state(&self) -> PathBuf {
        self.out().join(STATE_FOLDER)
    }

    fn config(&self) -> ReceiverConfig {
        ReceiverConfig {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            advertise: Vec::new(),
            out: self.out(),
            overwrite: false,
            rename: false,
            fresh: false,
            keep: false,
        }
    }

    async fn receiver(&self) -> Receiver {
        self.receiver_with(|_| ()).await
    }

    /// A receiver whose configuration is changed.
    async fn receiver_with(&self, change: impl FnOnce(&mut ReceiverConfig)) -> Receiver {
        let mut config = self.config();
        change(&mut config);
        Receiver::bind(config).await.unwrap()
    }

    /// A receiver that writes to `disk`.
    async fn receiver_writing_to(&self, disk: impl Disk + 'static) -> Receiver {
        let receiver = Receiver::bind_on(self.config(), Box::new(disk), Arc::new(System));
        receiver.await.unwrap()
    }

    /// A receiver in virtual time, on `network`.
    async fn receiver_on(&self, network: &Network, disk: Box<dyn Disk>) -> Receiver {
        let config = ReceiverConfig {
            listen: (network::RECEIVER, 0).into(),
            ..self.config()
        };
        let host = network.host(network::RECEIVER);
        let receiver = Receiver::bind_on(config, disk, host);
        receiver.await.unwrap()
    }

    /// A new receiver after a crash of the one with `ticket`, as soon as that has released lock and port.
    async fn receiver_again(&self, ticket: &Ticket) -> Receiver {
        loop {
            if UdpSocket::bind(ticket.addresses()[0]).is_ok() {
                match Receiver::bind(self.config()).await {
                    Err(Error::Busy(_)) => {}
                    receiver => {
                        let receiver = receiver.unwrap();
                        assert_eq!(receiver.ticket(), ticket);
                        assert_eq!(receiver.resumption(), Resumption::SameTicket);
                        return receiver;
                    }
                }
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The names in the output directory, without the state folder.
    fn arrived(&self) -> Vec<String> {
        let entries = fs::read_dir(self.out()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != STATE_FOLDER)
            .collect();
        names.sort();
        names
    }

    /// The remaining parts.
    fn parts(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.state()).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "part")
        });
        paths
    }
}

/// A network in memory, in virtual time, on which a receiver waits for a file.
struct Scene {
    world: World,
    network: Network,
    receiver: Receiver,
    ticket: Ticket,
    files: [PathBuf; 1],
}

impl Scene {
    /// A scene whose file has this many blocks.
    async fn of(blocks: u64) -> Scene {
        Scene::with_disk(blocks, Box::new(RealDisk)).await
    }

    /// A scene whose receiver writes to `disk`.
    async fn with_disk(blocks: u64, disk: Box<dyn Disk>) -> Scene {
        let world = World::new();
        let files = [world.file("big", blocks * BLOCK, 1)];
        let network = Network::new();
        let receiver = world.receiver_on(&network, disk).await;
        let ticket = receiver.ticket().clone();
        Scene {
            world,
            network,
            receiver,
            ticket,
            files,
        }
    }
}

fn content(size: u64, seed: u64) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.finalize_xof().fill(&mut bytes);
    bytes
}

fn sender_config() -> SenderConfig {
    SenderConfig {
        controllers: Arc::new(CubicConfig::default()),
        restart: false,
        skip: false,
    }
}

fn restart() -> SenderConfig {
    SenderConfig {
        restart: true,
        ..sender_config()
    }
}

/// Records the events of one side of a transfer, and signals when a certain amount is verified.
#[derive(Default)]
struct Log {
    connection: Mutex<Option<Connection>>,
    begun: Mutex<Status>,
    turned_away: AtomicU64,
    interrupted: Mutex<Vec<String>>,
    stop_at: Option<u64>,
    stop_when_complete: bool,
    stop: Notify,
}

impl Log {
    fn stop_at(bytes: u64) -> Log {
        Log {
            stop_at: Some(bytes),
            ..Log::default()
        }
    }

    /// The callback for the events.
    fn watch(&self) -> impl Fn(Event<'_>) + Sync {
        |event: Event<'_>| self.hear(event)
    }

    fn hear(&self, event: Event<'_>) {
        match event {
            Event::Connected(connection) => {
                *self.connection.lock().unwrap() = Some(connection.clone());
            }
            Event::Begun(status) => *self.begun.lock().unwrap() = status.clone(),
            Event::Verified { bytes } => {
                if self.stop_at.is_some_and(|at| bytes >= at) {
                    self.stop.notify_one();
                }
            }
            Event::Complete { files } => {
                if self.stop_when_complete && files == self.begun.lock().unwrap().files {
                    self.stop.notify_one();
                }
            }
            Event::TurnedAway { others, .. } => {
                self.turned_away.fetch_add(1 + others, Ordering::Relaxed);
            }
            Event::Reconnecting
            | Event::Received(_)
            | Event::Skipped { .. }
            | Event::Unsendable { .. }
            | Event::Renamed { .. } => {}
            Event::Interrupted(error) => {
                self.interrupted.lock().unwrap().push(error.to_string());
            }
        }
    }

    /// Waits until the transfer has been interrupted `times` times.
    async fn interrupted(&self, times: usize) {
        while self.interrupted.lock().unwrap().len() < times {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// The bytes of UDP payload that this side sent, without probes of the path MTU. Each probe counts as a datagram of
    /// the maximum size. In total, this subtracts less than [`MAX_DATAGRAM_BYTES`] too much, because each probe halves
    /// the difference.
    fn sent(&self) -> u64 {
        let connection = self.connection.lock().unwrap();
        let path = connection.as_ref().unwrap().path_stats();
        let probes = path.sent_plpmtud_probes * MAX_DATAGRAM_BYTES;
        path.udp_tx.bytes.saturating_sub(probes)
    }
}

/// Runs `future` to its end (`Some`), or until `log` signals a stop: then it is dropped, like a killed process.
async fn until_stopped<T>(log: &Log, future: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = log.stop.notified() => {
            // The log would keep the connection open.
            log.connection.lock().unwrap().take();
            None
        }
        done = future => Some(done),
    }
}

/// Runs both sides of a transfer that must succeed. Returns the results of the receiver and the sender.
async fn both(
    receiver: Receiver,
    files: &[PathBuf],
    log: &Log,
) -> (Vec<Transferred>, Vec<Transferred>) {
    let ticket = receiver.ticket().clone();
    let running = receiver.run(&|_| ());
    sent_to(running, &ticket, files, sender_config(), &log.watch()).await
}

/// Sends `files` to the running receiver with `ticket`. Both sides must succeed.
async fn sent_to(
    running: impl Future<Output = Result<Vec<Transferred>, Error>>,
    ticket: &Ticket,
    files: &[PathBuf],
    config: SenderConfig,
    watch: Watch<'_>,
) -> (Vec<Transferred>, Vec<Transferred>) {
    // If the sender fails, the test must not wait for the receiver, which goes on waiting for a sender.
    let sending = async { send(files, ticket, config, watch).await.unwrap() };
    let (received, sent) = tokio::join!(running, sending);
    (received.unwrap(), sent)
}

/// Sends `files` to a receiver that is dropped at the signal `stop`. Returns its ticket, and the sender's error.
async fn interrupted_receiver(
    world: &World,
    files: &[PathBuf],
    stop: &Log,
    watch: Watch<'_>,
) -> (Ticket, Error) {
    let receiver = world.receiver().await;
    let ticket = receiver.ticket().clone();
    let (received, sent) = tokio::join!(
        until_stopped(stop, receiver.run(watch)),
        send(files, &ticket, slow(), &|_| ()),
    );
    assert!(received.is_none());
    (ticket, sent.unwrap_err())
}

/// The refusal of a receiver.
async fn refused(receiver: Receiver, files: &[PathBuf]) -> Error {
    let ticket = receiver.ticket().clone();
    let mut running = std::pin::pin!(receiver.run(&|_| ()));
    refusal(&mut running, files, &ticket, sender_config()).await
}

/// The refusal of a receiver that goes on waiting.
async fn refusal(
    receiver: &mut std::pin::Pin<&mut impl Future<Output = Result<Vec<Transferred>, Error>>>,
    files: &[PathBuf],
    ticket: &Ticket,
    config: SenderConfig,
) -> Error {
    tokio::select! {
        ended = receiver => panic!("the receiver ended: {ended:?}"),
        sent = send(files, ticket, config, &|_| ()) => sent.unwrap_err(),
    }
}

fn same_content(left: &Path, right: &Path) -> bool {
    fs::read(left).unwrap() == fs::read(right).unwrap()
}
