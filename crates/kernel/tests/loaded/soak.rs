//! Many connections, controllers that come and go under traffic, and killed loaders leave nothing behind. Takes
//! minutes: `cargo test --release -p fullpipe-kernel --features load --test loaded -- --ignored soak --nocapture`.

use std::env;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use kernel::{Algorithm, Error, Keeping, Settings};
use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};
use linux::Network;
use linux::socket;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use crate::{VERSION, alone, carry, connection, find, is_offered};

const CONNECTIONS: u64 = 10_000;
const TURNS: u64 = 100;
const KILLS: u64 = 100;

/// Names the controller that a process of this test loads, to be killed meanwhile.
const LOADER: &str = "FULLPIPE_TEST_LOADER";

/// The timeout for the kernel to free unused objects.
const TIMEOUT: Duration = Duration::from_secs(30);

#[test]
#[ignore = "takes minutes, and the machine's own controllers of that name must not be loaded"]
fn soak_bbr1() {
    soak(Algorithm::Bbr1);
}

#[test]
#[ignore = "takes minutes, and the machine's own controllers of that name must not be loaded"]
fn soak_bbr3() {
    soak(Algorithm::Bbr3);
}

/// Not a test, but the code of the process that is killed.
#[test]
#[ignore = "a part of the others"]
fn loader() {
    let Ok(name) = env::var(LOADER) else { return };
    let algorithm: Algorithm = name.parse().expect("a controller");
    let keeping = Keeping::of_this_kernel().expect("a kernel");
    kernel::keep(&[Settings::new(algorithm)], VERSION, keeping).expect("it loads");
}

fn soak(algorithm: Algorithm) {
    alone(|network| {
        let before = Census::take();
        many_connections(algorithm, network);
        comes_and_goes_under_traffic(algorithm, network);
        loaders_are_killed(algorithm);
        let waited = before.is_reached_again();
        println!("{algorithm}: nothing is left {waited:.1?} later: {before:?}");
    });
}

/// The BPF objects of the whole machine that could be ours.
#[derive(Debug, PartialEq, Eq)]
struct Census {
    programs: usize,
    maps: usize,
    links: usize,
}

impl Census {
    fn take() -> Census {
        Census {
            programs: ProgInfoIter::default().count(),
            maps: MapInfoIter::default().count(),
            links: LinkInfoIter::default().count(),
        }
    }

    /// The time that the kernel took to free our objects.
    fn is_reached_again(&self) -> Duration {
        let started = Instant::now();
        loop {
            let now = Census::take();
            if now == *self {
                return started.elapsed();
            }
            assert!(started.elapsed() < TIMEOUT, "before {self:?}, now {now:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }
}

fn keep(algorithm: Algorithm) {
    let keeping = Keeping::of_this_kernel().expect("a kernel");
    kernel::keep(&[Settings::new(algorithm)], VERSION, keeping).expect("it loads");
}

fn unload(algorithm: Algorithm) {
    kernel::unload(&[algorithm]).expect("it goes");
    assert!(!is_offered(algorithm));
}

/// Opens, uses and closes connections, a hundred at a time.
fn many_connections(algorithm: Algorithm, network: &Network) {
    keep(algorithm);
    let name = algorithm.kernel_name();
    let started = Instant::now();
    for _ in 0..CONNECTIONS / 100 {
        let all = network.near.inside(|| {
            let all: Vec<_> = (0..100).map(|_| connection(name)).collect();
            all.into_iter()
                .map(|mut ends| {
                    carry(&mut ends.0, &mut ends.1, 10_000);
                })
                .count()
        });
        assert_eq!(all.expect("inside"), 100);
    }
    println!(
        "{algorithm}: {CONNECTIONS} connections in {:.1?}",
        started.elapsed()
    );
    unload(algorithm);
}

/// Connections take the controller whenever it is there. All sent data arrives, whenever the controller goes.
fn comes_and_goes_under_traffic(algorithm: Algorithm, network: &Network) {
    let name = algorithm.kernel_name();
    let (is_over, with, without) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let traffic = || {
        while !is_over.load(Ordering::Relaxed) {
            let (mut near, mut far) = connection("reno");
            carry(&mut near, &mut far, 100_000);
            let took = socket::set_controller(&near, name).is_ok();
            let count = if took { &with } else { &without };
            count.fetch_add(1, Ordering::Relaxed);
            carry(&mut near, &mut far, 1_000_000);
        }
    };
    thread::scope(|scope| {
        let users: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| network.near.inside(traffic).expect("inside")))
            .collect();
        for _ in 0..TURNS {
            keep(algorithm);
            thread::sleep(Duration::from_millis(30));
            unload(algorithm);
            thread::sleep(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        for user in users {
            user.join().expect("no panic");
        }
    });
    let [with, without] = [with, without].map(AtomicU64::into_inner);
    println!(
        "{algorithm}: came and went {TURNS} times; {with} connections had it, {without} did not"
    );
    assert!(with > TURNS / 2, "{with} connections");
}

/// A loader that is killed at any moment leaves a complete controller, or nothing that hinders the next loader.
fn loaders_are_killed(algorithm: Algorithm) {
    let mut random = SplitMix64::seed_from_u64(17);
    let started = Instant::now();
    assert!(start_loader(algorithm).wait().expect("it ends").success());
    let usual = started.elapsed();
    unload(algorithm);
    let mut left = 0;
    for _ in 0..KILLS {
        let mut loader = start_loader(algorithm);
        let share = random.next_u64() % 1_200;
        thread::sleep(usual * u32::try_from(share).expect("small") / 1_000);
        loader.kill().expect("it is ours");
        loader.wait().expect("it ends");
        if find(algorithm).is_some() {
            left += 1;
            assert!(is_offered(algorithm));
            unload(algorithm);
        }
        next_loads(algorithm);
    }
    println!("{algorithm}: {KILLS} loaders killed within 1.2 × {usual:.1?}; {left} had loaded it");
}

/// The kernel needs some time to free the objects of a killed loader.
fn next_loads(algorithm: Algorithm) {
    let started = Instant::now();
    let keeping = Keeping::of_this_kernel().expect("a kernel");
    loop {
        match kernel::keep(&[Settings::new(algorithm)], VERSION, keeping) {
            Ok(()) => break,
            Err(Error::AlreadyLoaded(_) | Error::Elsewhere(_)) if started.elapsed() < TIMEOUT => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(error) => panic!("{error}"),
        }
    }
    unload(algorithm);
}

fn start_loader(algorithm: Algorithm) -> Child {
    Command::new(env::current_exe().expect("this test"))
        .args(["--exact", "soak::loader", "--ignored"])
        .env(LOADER, algorithm.name())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a process")
}
