//! The program that sets connections' controllers, on a control group of the test.

use std::fs::{self, File};
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use kernel::{DrawnUnit, Steering, SteeringCounts, SteeringRule};
use nix::sys::pthread::{pthread_kill, pthread_self};
use nix::sys::signal::Signal;
use nix::sys::statfs::{CGROUP2_SUPER_MAGIC, statfs};
use rules::{
    Conditions, MAX_INTERFACES, MAX_PORT_RANGES, MAX_RULES, Networks, Ports, Prefix, Quantity, Span,
};
use signal_hook::consts::SIGUSR1;
use signal_hook::flag;
use units::Duration;

/// A control group, which is removed with this value.
pub struct Group(pub PathBuf);

impl Group {
    /// `None`, with a message, if the kernel lacks something, or a control group of version 2 cannot be made.
    pub fn make(what: &str) -> Option<Group> {
        let mut lacks = kernel::check_steering().into_iter();
        if let Some(lack) = lacks.find_map(|required| required.lack) {
            skipping::skip!("steering of connections: {lack}");
            return None;
        }
        let made = Group::make_at(what);
        if made.is_none() {
            skipping::skip!("steering of connections: no control group of version 2 can be made");
        }
        made
    }

    /// Runs `f` while this process is in the group. Sockets that it makes belong to the group.
    pub fn inside<T>(&self, f: impl FnOnce() -> T) -> T {
        let own = fs::read_to_string("/proc/self/cgroup").expect("its groups");
        let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
        let root = self.0.parent().expect("the root of all groups");
        let enter = |group: &Path| {
            let process = std::process::id().to_string();
            fs::write(group.join("cgroup.procs"), process).expect("it enters");
        };
        enter(&self.0);
        let done = f();
        enter(&root.join(own.expect("a group of version 2")));
        done
    }

    fn make_at(what: &str) -> Option<Group> {
        let places = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];
        let is_v2 = |place: &&str| {
            statfs(*place).is_ok_and(|found| found.filesystem_type() == CGROUP2_SUPER_MAGIC)
        };
        let place = places.into_iter().find(is_v2)?;
        let group =
            PathBuf::from(place).join(format!("fullpipe-test-{what}-{}", std::process::id()));
        fs::create_dir(&group).ok()?;
        Some(Group(group))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

pub fn ports(first: u16, last: u16) -> Ports {
    Ports::new(first, last).expect("a range")
}

fn steering(networks: u32) -> Steering {
    let rule = SteeringRule {
        name: "one".to_owned(),
        conditions: Conditions::new(
            vec![ports(443, 443), ports(8000, 8010)],
            vec![ports(80, 80)],
            Vec::new(),
        ),
        objects: Some(0),
        arms: vec![(1 << 31, "reno".to_owned()), (1 << 32, "cubic".to_owned())],
    };
    let network = |number: u32| {
        let address = std::net::Ipv4Addr::from_bits(number << 8);
        (Prefix::around(address.into(), 24), 1)
    };
    Steering {
        key: [1, 2],
        unit: DrawnUnit::Prefix(24, 48),
        rules: vec![rule; MAX_RULES],
        networks: Networks::new((0..networks).map(network), 0),
    }
}

#[test]
fn the_kernel_takes_the_program_and_other_rules() {
    let Some(group) = Group::make("rules") else {
        return;
    };
    let open = File::open(&group.0).expect("a directory");
    let mut attached = kernel::attach(&open, &steering(1)).expect("the kernel takes it");
    attached.renew(Duration::from_millis(1)).expect("a lease");
    assert_eq!(attached.lapsed(), Duration::ZERO);
    let second = Duration::from_secs(1);
    thread::sleep(Duration::from_millis(20).into());
    attached
        .replace(&steering(1000), second)
        .expect("other rules");
    assert!(attached.lapsed() >= Duration::from_millis(19));
    assert_eq!(attached.lapsed(), Duration::ZERO);
    assert_eq!(
        attached.counts().expect("counters"),
        SteeringCounts::default()
    );
    assert!(attached.ended().expect("a ring").is_empty());
    assert!(attached.objects().is_empty());
    attached.connections().expect("a map");
    // The program has this map only if a rule needs it.
    let has_memory = |attached: &kernel::Attached| attached.memory().expect("a look").is_some();
    assert!(!has_memory(&attached));
    let mut lossy = steering(1);
    for (rule, from) in lossy.rules.iter_mut().zip(1..) {
        let span = Span::new(from, Some(20_000));
        rule.conditions = rule.conditions.clone().with(Quantity::Resent, span);
    }
    attached.replace(&lossy, second).expect("other rules");
    assert!(has_memory(&attached));
    // There is another program beside it, because others may steer too.
    drop(kernel::attach(&open, &steering(1)).expect("a second one"));
    let file = File::open("/").expect("a directory");
    let refused = kernel::attach(&file, &steering(1)).expect_err("no control group");
    let refused = refused.to_string();
    assert!(
        refused.contains("control group") && refused.contains("os error"),
        "{refused}"
    );
}

/// The kernel gives up on a program that is too much for it. How much it is does not depend on the rules.
#[test]
fn the_kernel_takes_as_much_as_a_policy_may_have() {
    let Some(group) = Group::make("large") else {
        return;
    };
    let mut all = steering(1);
    for (place, rule) in (1_u16..).zip(&mut all.rules) {
        let ranges = |begin: u16| {
            let begins = (begin..).step_by(1000).take(MAX_PORT_RANGES);
            begins.map(|at| ports(at + place, at + 2 * place)).collect()
        };
        let names = (0..MAX_INTERFACES).map(|link| format!("eth{place}.{link}"));
        let interfaces = names.map(|name| name.parse().expect("a name")).collect();
        let of = Conditions::new(ranges(0), ranges(10_000), interfaces);
        let span = Span::new(place.into(), Some(u64::MAX - u64::from(place)));
        rule.conditions = Quantity::ALL
            .into_iter()
            .fold(of, |of, quantity| of.with(quantity, span));
    }
    let open = File::open(&group.0).expect("a directory");
    kernel::attach(&open, &all).expect("the kernel takes it");
}

/// The kernel ends the verification of a program when a signal comes.
#[test]
fn a_flood_of_signals_is_no_refusal() {
    let Some(group) = Group::make("signals") else {
        return;
    };
    let open = File::open(&group.0).expect("a directory");
    let (came, is_over) = (Arc::new(AtomicBool::new(false)), AtomicBool::new(false));
    flag::register(SIGUSR1, Arc::clone(&came)).expect("a handler");
    let this = pthread_self();
    thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                pthread_kill(this, Signal::SIGUSR1).expect("it lives");
            }
        });
        let mut outcomes = Vec::new();
        let attached = kernel::attach(&open, &steering(1));
        if let Ok(mut attached) = attached {
            outcomes.extend((0..3).map(|_| {
                attached
                    .replace(&steering(1), Duration::from_secs(1))
                    .map_err(|error| error.to_string())
            }));
        }
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(outcomes, vec![Ok(()); 3]);
    });
    assert!(came.load(Ordering::Relaxed));
}

/// Runs a test with a control group and an empty BPF file system.
fn kept(what: &str, test: impl FnOnce(&File) + Send) {
    let Some(group) = Group::make(what) else {
        return;
    };
    let open = File::open(&group.0).expect("a directory");
    let test = || {
        super::own_files();
        test(&open);
    };
    thread::scope(|scope| scope.spawn(test).join().expect("no panic"));
}

#[test]
fn what_another_user_has_put_there_is_neither_taken_away_nor_in_force() {
    kept("foreign", |group| {
        let mut attached = kernel::attach(group, &steering(1)).expect("attached");
        assert!(!attached.keep("steer-1").expect("kept"));
        chown("/sys/fs/bpf/fullpipe", Some(65_534), None).expect("another user's");
        let outcomes = [
            kernel::release("steer-1").map(drop),
            kernel::sweep().map(drop),
            kernel::is_kept("steer-1").map(drop),
            kernel::in_force("steer-1", [192, 0, 2, 7].into()).map(drop),
        ];
        for outcome in outcomes {
            let error = outcome
                .expect_err("a directory of another user")
                .to_string();
            assert!(error.contains("is not root's alone"), "{error}");
        }
        assert!(attached.is_attached());
    });
}

#[test]
fn what_was_left_by_a_process_that_was_killed_while_it_began_is_found() {
    kept("begun", |group| {
        let mut attached = kernel::attach(group, &steering(1)).expect("attached");
        attached.keep("steer-1").expect("kept");
        let file = |name: &str| format!("/sys/fs/bpf/fullpipe/{name}");
        fs::rename(file("steer-1"), file("steer-1-new")).expect("as if it was killed");
        assert!(kernel::is_kept("steer-1").expect("a look"));
        let in_force = kernel::in_force("steer-1", [192, 0, 2, 7].into());
        assert!(in_force.expect("a look").is_some());
        let mut next = kernel::attach(group, &steering(1)).expect("attached");
        assert!(next.keep("steer-1").expect("kept"));
        assert!(kernel::release("steer-1").expect("taken away"));
        assert!(!kernel::is_kept("steer-1").expect("a look"));
    });
}

#[test]
fn two_processes_can_begin_at_the_same_time() {
    kept("both", |group| {
        let begin = || {
            for _ in 0..8 {
                let mut attached = kernel::attach(group, &steering(1)).expect("attached");
                attached.keep("steer-1").expect("kept");
            }
        };
        thread::scope(|scope| {
            scope.spawn(begin);
            scope.spawn(begin);
        });
        assert!(kernel::release("steer-1").expect("taken away"));
    });
}
