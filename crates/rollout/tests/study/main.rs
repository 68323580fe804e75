//! A study of an ordinary HTTP server, in a control group and a network that the test makes. Tests that arms are those
//! that are drawn, that everything is undone when the study is stopped or killed, and that the recorded data can be
//! read.
//!
//! The study runs in another process, so that it can be killed: this program, with the test `runs_a_study`.

mod faults;
mod force;
mod group;
mod guard;
mod handshake;
mod objects;
mod policy;
#[path = "../process/mod.rs"]
mod process;
mod resent;
mod server;
mod stale;

use std::fs::{self, File};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use experiment::Unit;
use linux::command::Init;
use linux::diag::{Diag, Filter};
use linux::{Network, NetworkConfig};
use nix::sched::{CloneFlags, unshare};
use rollout::study::{Log, Lookup, Step, StudyDirectory};
use rustix::process::Signal;
use socket2::{Domain, Socket, Type};

use group::Group;
use process::{Running, begin_study, begun, now, read, wait_for};
use server::{LOG, PORT, Server};

/// The number of client networks.
const CLIENTS: u8 = 40;

#[test]
#[ignore = "the process that the test below starts"]
fn runs_a_study() {
    let Some(directory) = process::directory() else {
        return;
    };
    let mut study = begin_study(&directory, &Init::subcommand(""));
    loop {
        let step = study.step(clock(&directory), |trouble| {
            eprintln!("trouble: {trouble}");
        });
        if let Step::Over(why) | Step::Failed(why) = &step {
            eprintln!("over: {why}");
        }
        if step != Step::On || directory.join("stop").exists() {
            break;
        }
        thread::sleep(Duration::from_millis(200));
    }
    let finished = study.finish(now(), None);
    eprintln!("assigned: {}", finished.assigned);
    finished.saved.expect("it ends");
}

/// The clock of the process in the directory: the machine's clock, changed by the seconds in the file `clock`.
fn clock(directory: &Path) -> f64 {
    let set = fs::read_to_string(directory.join("clock"));
    now() + set.ok().and_then(|text| text.parse().ok()).unwrap_or(0.0)
}

fn plan(group: &Path) -> String {
    format!(
        "name = \"test\"\ncgroup = {group:?}\nunit = \"prefix\"\nduration = \"1h\"\naddress = \"full\"\n\
         [connections]\nlisten = [{PORT}]\nexcept = [\"127.9.0.0/16\"]\ninterface = [\"lo\"]\n\
         [[arm]]\ncontroller = \"cubic\"\nshare = \"50%\"\n[[arm]]\ncontroller = \"reno\"\nshare = \"50%\"\n"
    )
}

fn client(number: u8) -> IpAddr {
    Ipv4Addr::new(127, 1, number, 1).into()
}

/// Connects from this address to the server.
fn connect(from: IpAddr) -> TcpStream {
    connect_to(from, SocketAddr::from((Ipv4Addr::LOCALHOST, PORT)))
}

fn connect_to(from: IpAddr, to: SocketAddr) -> TcpStream {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket
        .bind(&SocketAddr::new(from, 0).into())
        .expect("its address");
    socket.connect(&to.into()).expect("the server listens");
    socket.into()
}

/// Opens one connection from each of these addresses. Returns the controllers of the server's sockets.
fn controllers(from: &[IpAddr]) -> Vec<String> {
    let streams: Vec<TcpStream> = from.iter().map(|&address| connect(address)).collect();
    let mut found = vec![String::new(); from.len()];
    let mut diag = Diag::open_here().expect("sock_diag");
    let addresses: Vec<SocketAddr> = streams
        .iter()
        .map(|stream| stream.local_addr().expect("bound"))
        .collect();
    diag.sockets(&Filter::default(), |socket| {
        let is_of_server = socket.local.port() == PORT;
        let remote = SocketAddr::new(socket.remote.ip().to_canonical(), socket.remote.port());
        if let (true, Some(place)) = (
            is_of_server,
            addresses.iter().position(|one| *one == remote),
        ) {
            socket.controller.as_str().clone_into(&mut found[place]);
        }
    })
    .expect("a look");
    found
}

/// Waits until new connections have these controllers.
fn wait_until(what: &str, from: &[IpAddr], wanted: &[String]) {
    wait_for(what, || {
        let found = controllers(from);
        let is_so = found == wanted;
        is_so
            .then_some(())
            .ok_or_else(|| format!("{found:?}, and not {wanted:?}"))
    });
}

/// The drawn arms of these addresses.
fn drawn(place: &StudyDirectory, from: &[IpAddr]) -> Vec<usize> {
    let (key, shares) = (place.key(), place.plan.shares());
    assert_eq!(place.plan.unit, Unit::Prefix { v4: 24, v6: 48 });
    from.iter()
        .map(|&address| {
            shares.arm(key.draw(place.plan.unit.subject(0, address, units::Duration::ZERO)))
        })
        .collect()
}

/// Downloads twice from each of these addresses with curl, over one connection if the server allows it.
fn download(from: &[IpAddr]) {
    for address in from {
        let status = Command::new("curl")
            .args([
                "-s",
                "-S",
                "-o",
                "/dev/null",
                "--interface",
                &address.to_string(),
            ])
            .args([format!("http://127.0.0.1:{PORT}/4mb"), "-o".to_owned()])
            .args([
                "/dev/null".to_owned(),
                format!("http://127.0.0.1:{PORT}/4mb"),
            ])
            .status()
            .expect("curl runs");
        assert!(status.success(), "{status}");
    }
}

/// Runs a test with its own control group, in the near host of its own network, or reports that it is skipped.
fn alone(what: &str, test: impl FnOnce(&Group) + Send) {
    alone_between(what, |group, network| {
        network.near.inside(|| test(group)).expect("inside");
    });
}

/// Runs a test with both hosts. Only one test at a time, because all groups would have the same name.
fn alone_between(what: &str, test: impl FnOnce(&Group, &Network)) {
    static ALONE: Mutex<()> = Mutex::new(());
    let lack = kernel::check_steering()
        .into_iter()
        .find_map(|required| required.lack);
    if let Some(lack) = lack {
        skipping::skip!("{what}: {lack}");
        return;
    }
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !has("curl") || !(has("nginx") || has("python3")) {
        skipping::skip!("{what}: there is no curl, or neither nginx nor python3");
        return;
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(group) = Group::make() else {
        skipping::skip!("{what}: no control group of version 2 can be made");
        return;
    };
    let network = Network::create(&NetworkConfig::default()).expect("a network");
    test(&group, &network);
}

/// Gives this thread and its child processes their own BPF file system, and private mounts.
fn own_mounts() {
    unshare(CloneFlags::CLONE_NEWNS).expect("a mount namespace");
    mount(&["--make-rprivate", "/"]);
    mount(&["-t", "bpf", "bpf", "/sys/fs/bpf"]);
}

fn mount(arguments: &[&str]) {
    let status = Command::new("mount").args(arguments).status();
    assert!(status.expect("mount runs").success(), "{arguments:?}");
}

#[test]
fn a_study_of_a_server_begins_holds_and_leaves_nothing() {
    alone("a study of a server", study);
}

fn study(group: &Group) {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path();
    fs::write(path.join("given.toml"), plan(&group.0)).expect("a plan");
    let server = Server::start(path, &group.0);
    let clients: Vec<IpAddr> = (0..CLIENTS).map(client).collect();
    let default = kernel::default().expect("a default");
    let before = vec![default; clients.len()];
    wait_until("before the study", &clients, &before);

    let running = Running::start(path);
    let data = path.join("data");
    let arms = drawn(&begun(&data), &clients);
    let names = ["cubic", "reno"];
    let wanted: Vec<String> = arms.iter().map(|&arm| names[arm].to_owned()).collect();
    let count = arms.iter().filter(|&&arm| arm == 1).count();
    // With 40 draws, a count below 7 or above 33 occurs with one in 40,000 seeds.
    assert!((7..=33).contains(&count), "{wanted:?}");
    wait_until("arms", &clients, &wanted);
    // Excepted clients keep their controllers.
    let excepted: Vec<IpAddr> = (0..10)
        .map(|n| Ipv4Addr::new(127, 9, n, 1).into())
        .collect();
    assert_eq!(controllers(&excepted), before[..10]);

    download(&clients);
    // Each download is an object, even if downloads share a connection.
    let findings = wait_for("data", || {
        let findings = read(&data).gathered.findings();
        let is_all = findings.observed.objects >= 2 * u64::from(CLIENTS);
        if is_all {
            Ok(findings)
        } else {
            Err(format!("{findings:?}"))
        }
    });
    join_log(&data, &path.join(LOG));
    let units: Vec<u64> = findings.arms.iter().map(|arm| arm.units).collect();
    assert_eq!(units, [u64::from(CLIENTS) - count as u64, count as u64]);
    assert!(
        findings
            .arms
            .iter()
            .all(|arm| arm.throughput_bps > Some(1e6)),
        "{findings:?}"
    );

    // The process hangs, and the lease expires.
    running.send(Signal::STOP);
    wait_until("the lease has run out", &clients, &before);
    running.send(Signal::CONT);
    wait_until("the lease is renewed", &clients, &wanted);
    let log = || fs::read_to_string(path.join("log")).expect("a log");
    wait_for("a late renewal", || {
        let is_said = log().contains("longer than its lease");
        is_said.then_some(()).ok_or_else(log)
    });
    // The process is killed.
    running.send(Signal::KILL);
    drop(running);
    wait_until("killed", &clients, &before);
    // It was stopped for longer than this, so that its duration was saved after that.
    let ran = StudyDirectory::find(&data).expect("a study").about.ran_s;
    assert!(ran > 9.0, "{ran}");

    // The draws are the same again, and more data is added.
    let mut running = Running::start(path);
    wait_until("begun again", &clients, &wanted);
    let rounds = 10;
    for _ in 0..rounds {
        assert_eq!(controllers(&clients), wanted);
    }
    // The service is started again, with a new control group.
    drop(server);
    group.make_anew();
    let server = Server::start(path, &group.0);
    wait_until("in a new control group", &clients, &wanted);
    fs::write(path.join("stop"), "").expect("a file");
    wait_until("ended", &clients, &before);
    running.0.wait().expect("it ends");
    drop(server);
    let log = log();
    // The program was attached twice. All of its connections are counted.
    let assigned = log.rsplit("assigned: ").next().expect("a number");
    let assigned: u64 = assigned.trim().parse().expect("a number");
    assert!(assigned >= (1 + rounds + 1) * u64::from(CLIENTS), "{log}");
    assert!(log.contains("control group is there again"), "{log}");
    assert!(arms_in_data(&data) >= u64::from(CLIENTS));
}

/// Each download has a line in nginx's log, and a connection in the data.
fn join_log(data: &Path, log: &Path) {
    let Ok(file) = File::open(log) else {
        skipping::skip!("joining an access log: there is no nginx");
        return;
    };
    let log = Log {
        name: "access.log".to_owned(),
        file,
        format: "nginx".parse().expect("a format"),
    };
    let read = rollout::study::read(&[data], vec![log], &mut Lookup::default()).expect("data");
    let joined = read.joined.expect("there was a log");
    assert_eq!(joined.joined, 2 * u64::from(CLIENTS), "{joined:?}");
    assert_eq!((joined.of_others, joined.ambiguous), (0, 0), "{joined:?}");
    assert_eq!(joined.logs[0].1.damaged, 0, "{joined:?}");
    eprintln!("{} of them with the kernel's time", joined.timed_by_kernel);
}

/// The number of large connections in the data.
fn arms_in_data(directory: &Path) -> u64 {
    let arms = read(directory).gathered.findings().arms;
    let large = arms.iter().filter(|arm| arm.throughput_bps.is_some());
    large.map(|arm| arm.connections).sum()
}
