//! Controllers in the running kernel: they are offered, used, found again and removed.
//!
//! A controller is offered to the whole machine under one name, so a lock admits one test program at a time. Pins and
//! traffic stay in namespaces of the test.

mod interface;
mod soak;
mod steered;

use std::fs::File;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::{env, thread};

use kernel::{Algorithm, Error, Keeping, Registered, Settings};
use linux::{Network, NetworkConfig, socket};
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};

const VERSION: &str = "of a test";

#[test]
fn a_controller_comes_and_goes() {
    alone(|network| {
        for &algorithm in Algorithm::ALL {
            is_gone_with_its_owner(algorithm);
            for keeping in Keeping::ALL {
                is_kept_until_it_is_unloaded(algorithm, keeping, network);
                the_default_is_not_unloaded(algorithm, keeping);
            }
        }
        all_are_kept_or_none();
    });
}

/// Runs a test alone on the machine, with a network and a BPF file system of its own.
fn alone(test: impl FnOnce(&Network) + Send) {
    if let Some(lack) = kernel::check()
        .into_iter()
        .find_map(|required| required.lack)
    {
        skipping::skip!("controllers in the kernel: {lack}");
        return;
    }
    let lock = File::create(env::temp_dir().join("fullpipe-kernel-test")).expect("a file");
    lock.lock().expect("a lock");
    let test = || {
        let network = Network::create(&NetworkConfig::default()).expect("a network");
        own_files();
        test(&network);
    };
    thread::scope(|scope| scope.spawn(test).join().expect("no panic"));
}

/// Gives this thread an empty BPF file system of its own.
fn own_files() {
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    let private = MsFlags::MS_REC | MsFlags::MS_PRIVATE;
    mount(None::<&str>, "/", None::<&str>, private, None::<&str>).expect("private mounts");
    mount(
        Some("bpf"),
        "/sys/fs/bpf",
        Some("bpf"),
        MsFlags::empty(),
        None::<&str>,
    )
    .expect("an empty file system");
}

fn is_offered(algorithm: Algorithm) -> bool {
    let here = linux::controllers_here().expect("a list");
    here.iter().any(|name| name == algorithm.kernel_name())
}

fn is_gone_with_its_owner(algorithm: Algorithm) {
    let loaded = kernel::load(&[Settings::new(algorithm)], VERSION).expect("it loads");
    assert!(is_offered(algorithm));
    assert!(Registered::find(algorithm).expect("a look").is_none());
    drop(loaded);
    assert!(!is_offered(algorithm));
}

fn keep(algorithm: Algorithm, keeping: Keeping) -> Settings {
    let mut settings = Settings::new(algorithm);
    settings.set("cwnd-gain", "1.75").expect("a value");
    kernel::keep(std::slice::from_ref(&settings), VERSION, keeping).expect("it loads");
    settings
}

fn find(algorithm: Algorithm) -> Option<Registered> {
    Registered::find(algorithm).expect("a look")
}

/// If one is refused, the earlier ones are removed again.
fn all_are_kept_or_none() {
    for keeping in Keeping::ALL {
        keep(Algorithm::Bbr3, keeping);
        let all = [Algorithm::Bbr1, Algorithm::Bbr3].map(Settings::new);
        for again in Keeping::ALL {
            let refused = kernel::keep(&all, VERSION, again);
            let is_known = matches!(refused, Err(Error::AlreadyLoaded("fullpipe_bbr3")));
            assert!(is_known, "{refused:?}");
            assert!(!is_offered(Algorithm::Bbr1) && find(Algorithm::Bbr1).is_none());
            assert!(is_offered(Algorithm::Bbr3));
        }
        kernel::unload(&[Algorithm::Bbr3]).expect("it goes");
    }
}

fn is_kept_until_it_is_unloaded(algorithm: Algorithm, keeping: Keeping, network: &Network) {
    let settings = keep(algorithm, keeping);
    let found = find(algorithm).expect("a controller");
    assert_eq!(found.settings, settings);
    assert_eq!(found.version, VERSION);
    let again = kernel::load(&[settings], VERSION);
    assert!(matches!(again, Err(Error::AlreadyLoaded(_))), "{again:?}");
    let flows = kernel::flows(algorithm).expect("a look");
    assert!(flows.is_some());

    let (mut client, mut server) = network
        .near
        .inside(|| connection(algorithm.kernel_name()))
        .expect("inside");
    carry(&mut client, &mut server, 3_000_000);
    kernel::unload(&[algorithm]).expect("it goes");
    assert!(!is_offered(algorithm) && find(algorithm).is_none());
    // A connection that has the controller keeps it.
    carry(&mut client, &mut server, 3_000_000);
    let users = network
        .near
        .inside(|| kernel::users(algorithm.kernel_name()))
        .expect("inside");
    let here: u64 = users
        .expect("users")
        .iter()
        .map(|user| user.connections)
        .sum();
    assert_eq!(here, 1);
}

/// A connection of the host with itself, whose client has the controller.
fn connection(name: &str) -> (TcpStream, TcpStream) {
    let listener = socket::listen_here(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a listener");
    let client = TcpStream::connect(listener.address()).expect("a connection");
    socket::set_controller(&client, name).expect("its controller");
    // Thousands of sockets in TIME-WAIT would use up the ports.
    socket::abort_on_close(&client).expect("a socket");
    let server = loop {
        if let Ok((server, _)) = listener.accept() {
            break server;
        }
        thread::yield_now();
    };
    server.set_nonblocking(false).expect("a socket");
    (client, server)
}

fn carry(client: &mut TcpStream, server: &mut TcpStream, bytes: usize) {
    let sent = vec![7; bytes];
    thread::scope(|scope| {
        scope.spawn(|| client.write_all(&sent).expect("it is sent"));
        let mut received = vec![0; sent.len()];
        server.read_exact(&mut received).expect("it arrives");
        assert!(received == sent);
    });
}

/// The default belongs to a namespace that ends with its thread.
fn the_default_is_not_unloaded(algorithm: Algorithm, keeping: Keeping) {
    keep(algorithm, keeping);
    let of_a_namespace = || {
        unshare(CloneFlags::CLONE_NEWNET).expect("a network namespace");
        kernel::set_default("fullpipe_nothing").expect_err("no such controller");
        kernel::set_default(algorithm.kernel_name()).expect("it is there");
        assert_eq!(
            kernel::default().expect("a default"),
            algorithm.kernel_name()
        );
        let refused = kernel::unload(&[algorithm]);
        assert!(
            matches!(&refused, Err(Error::IsDefault { whose, .. }) if whose == "this namespace"),
            "{refused:?}"
        );
        assert!(is_offered(algorithm));
        kernel::set_default("reno").expect("always there");
        kernel::unload(&[algorithm]).expect("it goes");
        assert!(!is_offered(algorithm));
    };
    thread::scope(|scope| scope.spawn(of_a_namespace).join().expect("no panic"));
}
