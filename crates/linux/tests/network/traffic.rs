//! Real TCP between the hosts, whose devices the test connects.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use libtest_mimic::Trial;
use linux::{Family, Network, NetworkConfig};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use crate::trial;

pub fn trials() -> Vec<Trial> {
    vec![trial(
        "TCP connects every pair of addresses, both families",
        every_pair,
    )]
}

/// A thread that carries every packet from each device to the other.
pub struct Joined {
    stop: Arc<AtomicBool>,
    carrier: Option<JoinHandle<()>>,
}

impl Joined {
    pub fn new(network: &Network) -> Joined {
        let device = |host: &linux::Host| File::from(host.tun().try_clone().expect("a descriptor"));
        let (near, far) = (device(&network.near), device(&network.far));
        let stop = Arc::new(AtomicBool::new(false));
        let carrier = thread::spawn({
            let stop = Arc::clone(&stop);
            move || {
                while !stop.load(Ordering::Relaxed) {
                    let readable = |file| PollFd::new(file, PollFlags::POLLIN);
                    let mut devices = [readable(near.as_fd()), readable(far.as_fd())];
                    poll(&mut devices, PollTimeout::from(10_u8)).expect("poll");
                    carry(&near, &far);
                    carry(&far, &near);
                }
            }
        });
        Joined {
            stop,
            carrier: Some(carrier),
        }
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(carrier) = self.carrier.take() {
            carrier.join().expect("the carrier");
        }
    }
}

/// Copies packets from one device to the other: the offload header has the same meaning on both.
fn carry(mut from: &File, mut to: &File) {
    let mut packet = [0; 1 << 17];
    loop {
        match from.read(&mut packet) {
            Ok(length) => to
                .write_all(&packet[..length])
                .expect("a packet is taken whole"),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(error) => panic!("{error}"),
        }
    }
}

fn every_pair() {
    const GROUPS: u16 = 3;
    let network = Network::create(&NetworkConfig {
        groups: GROUPS,
        ..NetworkConfig::default()
    })
    .expect("three groups");
    let _joined = Joined::new(&network);
    let families = if network.near.has_ipv6() {
        &[Family::V4, Family::V6][..]
    } else {
        skipping::skip!("TCP over IPv6: this kernel has none");
        &[Family::V4]
    };
    for &family in families {
        for group in 0..GROUPS {
            echo(&network, group, family);
        }
    }
}

/// Sends a few megabytes to the far host and receives the same back.
fn echo(network: &Network, group: u16, family: Family) {
    let address = network.far.address(group, family);
    let listener = network
        .far
        .inside(|| TcpListener::bind((address, 0)))
        .expect("inside")
        .expect("listen");
    let port = listener.local_addr().expect("an address").port();
    let sent: Vec<u8> = (0..4_000_000_u32)
        .map(|number| (number % 251) as u8)
        .collect();
    let far = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accept");
        let mut received = Vec::new();
        stream.read_to_end(&mut received).expect("receive");
        stream.write_all(&received).expect("send back");
    });
    let mut stream = network
        .near
        .inside(|| TcpStream::connect((address, port)))
        .expect("inside")
        .expect("connect");
    stream.write_all(&sent).expect("send");
    stream.shutdown(Shutdown::Write).expect("shut down");
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("receive");
    assert!(received == sent, "{address}: not what was sent");
    far.join().expect("the far end");
}
