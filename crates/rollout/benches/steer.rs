//! The cost of steering a server's connections: the set-up of a connection, a table of a million networks, and the rate
//! of connections that the machine and the policy's process sustain. With nginx and wrk, also an HTTP server's cost.
//!
//! `cargo bench -p fullpipe-rollout --features load --bench steer [-- [--document FILE] CONNECTIONS [NETWORKS]]`, as
//! root. With `--document`, the tables go into that file, between its lines `<!-- steer-cost: begin -->` and `<!--
//! steer-cost: end -->`.
//!
//! Connections are over the loopback device of a network namespace of the benchmark's own. They come from addresses of
//! different networks, have no data, and end with a reset. Both ends are this process, whose time is shown, because the
//! kernel does not run such a program without a connection (`BPF_PROG_TEST_RUN`). While the program's own time is
//! measured, `kernel.bpf_stats_enabled` is on.

#[path = "../tests/study/group.rs"]
#[expect(dead_code, reason = "tests make it anew, too")]
mod group;
#[path = "steer/http.rs"]
mod http;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use experiment::policy::Policy;
use experiment::{Key, Shares, Unit};
use fleet::Systems;
use kernel::{Attached, DrawnUnit, Steering, SteeringRule};
use linux::socket::{ConnectOptions, Listener, abort_on_close, connect_here, listen_here};
use linux::{Network, NetworkConfig};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use report::Marks;
use rollout::steer::Steer;
use rules::{Conditions, Networks, Ports, Prefix, Quantity, Span};

use group::Group;

/// The number of measured rounds, in which the arrangements take turns. One more before them warms up.
const ROUNDS: usize = 7;

/// The time for which connections come as fast as they can.
const CHURN_TIME: Duration = Duration::from_secs(10);

/// The interval between the policy's steps, as in the command.
const STEP_INTERVAL: Duration = Duration::from_millis(200);

/// The kernel's numbers of kinds of maps and programs (<uapi/linux/bpf.h>).
const LPM_TRIE: u64 = 11;
const SOCK_OPS: u64 = 13;

/// The setting that makes the kernel count programs' time.
const STATISTICS: &str = "/proc/sys/kernel/bpf_stats_enabled";

/// The default controller of a network namespace.
const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// The marks of the tables in a document.
const MARKS: Marks = Marks("steer-cost");

/// A row of a table: the measured thing and the value.
type Row = (String, String);

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

fn main() -> Outcome<()> {
    // As a test, it asserts nothing.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let lack = kernel::check_steering()
        .into_iter()
        .find_map(|required| required.lack);
    if let Some(lack) = lack {
        skipping::skip!("what steering costs: {lack}");
        return Ok(());
    }
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|text| text.parse().ok())
        .collect();
    let connections = numbers.first().copied().unwrap_or(20_000).max(1);
    let networks = numbers.get(1).copied().unwrap_or(1_000_000).max(1);
    let Some(group) = Group::make() else {
        skipping::skip!("what steering costs: no control group of version 2 can be made");
        return Ok(());
    };
    let document = std::env::args()
        .skip_while(|argument| argument != "--document")
        .nth(1);
    if let Some(file) = &document {
        // A document without the marks fails before the work.
        MARKS.section(&fs::read_to_string(file)?)?;
    }
    let made = made(connections, networks, document.as_deref())?;
    let mut rows = vec![draws()];
    let directory = tempfile::tempdir()?;
    let (policy, read) = policy_of(directory.path(), &group, networks)?;
    rows.extend(read);
    let network = Network::create(&NetworkConfig::default())?;
    let has_tools = ["nginx", "wrk"].map(|tool| Command::new(tool).arg("-v").output().is_ok());
    let mut requests = Vec::new();
    let arrangements = network.near.inside(|| {
        // As on most servers, the controller of some arms is the default, which costs less. Reno is never restricted
        // (tcp_set_default_congestion_control).
        fs::write(DEFAULT, "reno")?;
        if has_tools == [true; 2] {
            requests = http::rows(&group, directory.path())?;
        } else {
            skipping::skip!("what steering costs an HTTP server: nginx or wrk is not installed");
        }
        let arrangements = set_up(&group, connections, networks)?;
        rows.extend(churn(&group, policy)?);
        Ok::<_, Box<dyn Error + Send + Sync>>(arrangements)
    })??;
    let program = arrangements
        .last()
        .and_then(|cells| cells.get(3)?.parse::<f64>().ok());
    rows.push((
        "decisions a second on one processor, by the program's time for a whole connection, with all networks".to_owned(),
        program.map_or_else(String::new, |micros| format!("{:.0}", 1e6 / micros)),
    ));
    let mut section = format!("{made}\n\n");
    if !requests.is_empty() {
        section += http::HEAD;
        for cells in requests {
            writeln!(section, "| {} |", cells.join(" | "))?;
        }
        section += "\n";
    }
    section += ARRANGEMENTS;
    for cells in arrangements {
        writeln!(section, "| {} |", cells.join(" | "))?;
    }
    section += "\n| what | measured |\n| --- | --- |\n";
    for (what, measured) in rows {
        writeln!(section, "| {what} | {measured} |")?;
    }
    print!("{section}");
    if let Some(file) = document {
        let text = MARKS.replace(&fs::read_to_string(&file)?, &section)?;
        fs::write(file, text)?;
    }
    Ok(())
}

/// The second table's head. This process sets up and ends connections, and has both ends.
const ARRANGEMENTS: &str = "\
| arrangement | a connection, µs (least–most) | more than not steered, µs (least to most) | of it the program, µs | its calls | attached in, s | the table of networks, MB |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// The way and the machine of the measurement.
fn made(connections: usize, networks: usize, document: Option<&str>) -> Outcome<String> {
    let read = |path: &str| fs::read_to_string(path);
    let processors = read("/proc/cpuinfo")?;
    let kind = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let kind = kind.unwrap_or("").trim_start_matches([' ', '\t', ':']);
    let load = read("/proc/loadavg")?;
    let option = document
        .map(|file| format!("--document {file} "))
        .unwrap_or_default();
    Ok(format!(
        "Made with `cargo bench -p fullpipe-rollout --features load --bench steer -- {option}{connections} {networks}` on {} × {kind}, Linux \
         {}, fullpipe {}; load average before {}.",
        thread::available_parallelism()?,
        read("/proc/sys/kernel/osrelease")?.trim(),
        env!("CARGO_PKG_VERSION"),
        load.split(' ').next().unwrap_or_default()
    ))
}

/// The cost of the draw that decides who explores, without the kernel.
fn draws() -> Row {
    const DRAWS: u32 = 5_000_000;
    let (key, shares) = (Key::of_seed("a"), Shares::of(&[0.98, 0.02]));
    let unit = Unit::Prefix { v4: 24, v6: 48 };
    let begin = Instant::now();
    let mut exploring = 0;
    for number in 0..DRAWS {
        let client = IpAddr::from(Ipv4Addr::from_bits(number << 8));
        let draw = key.draw(unit.subject(0, black_box(client), units::Duration::ZERO));
        exploring += shares.arm(draw);
    }
    let each = begin.elapsed().as_nanos() as f64 / f64::from(DRAWS);
    black_box(exploring);
    ("a draw in Rust".to_owned(), format!("{each:.1} ns"))
}

/// Different networks, scattered over all addresses of IPv4.
fn network(number: usize) -> Ipv4Addr {
    // An odd factor maps numbers one to one, and almost so the upper 24 bits for as many numbers as are used here.
    let scattered = (number as u32).wrapping_mul(0x9e37_79b1);
    Ipv4Addr::from_bits(scattered & 0xffff_ff00)
}

/// A policy whose networks are in a file, and the cost of reading it.
fn policy_of(directory: &Path, group: &Group, networks: usize) -> Outcome<(Policy, [Row; 2])> {
    let mut text = String::new();
    for number in 0..networks {
        text += &format!("{}/24\n", network(number));
    }
    let file = directory.join("lossy.txt");
    File::create(&file)?.write_all(text.as_bytes())?;
    drop(text);
    let before = resident()?;
    let begin = Instant::now();
    let mut policy = Policy::parse(&format!(
        "cgroup = {:?}\nexplore = \"2%\"\n[[rule]]\nname = \"lossy\"\nprefix_file = \"lossy.txt\"\nlisten = [\"1-65535\"]\n\
         controller = \"cubic\"\n[[rule]]\nname = \"rest\"\nlisten = [\"1-65535\"]\ncontroller = \"reno\"\n",
        group.0
    ))?;
    policy.place_lists(|name| {
        let opened = File::open(directory.join(name)).map_err(fleet::SystemsError::from);
        opened.and_then(Systems::list)
    })?;
    let read = begin.elapsed();
    let begin = Instant::now();
    let count = policy.lowered().networks.entries().len();
    let of = format!("of {networks} lines with {count} networks");
    let rows = [
        (
            format!("a policy {of}"),
            format!(
                "read in {:.2} s, put in order in {:.2} s",
                read.as_secs_f64(),
                begin.elapsed().as_secs_f64()
            ),
        ),
        (
            "by that, this process grew".to_owned(),
            format!("by {:.0} MB", (resident()? - before) / 1e6),
        ),
    ];
    Ok((policy, rows))
}

/// The memory of this process, in bytes.
fn resident() -> Outcome<f64> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|text| text.split_whitespace().next());
    Ok(kilobytes.unwrap_or("0").parse::<f64>()? * 1024.0)
}

/// Rules with these conditions for all connections, and a table of `networks` networks.
fn steering_by(rules: Vec<Conditions>, networks: usize) -> Steering {
    let bits = (1 << rules.len()) - 1;
    let rule = |conditions| SteeringRule {
        name: "lossy".to_owned(),
        conditions,
        objects: None,
        arms: vec![(1 << 32, "reno".to_owned())],
    };
    let all: BTreeMap<Ipv4Addr, ()> = (0..networks).map(|number| (network(number), ())).collect();
    let part = |address: &Ipv4Addr| (Prefix::around((*address).into(), 24), bits);
    Steering {
        key: [1, 2],
        unit: DrawnUnit::Prefix(24, 48),
        rules: rules.into_iter().map(rule).collect(),
        networks: Networks::new(all.keys().map(part), bits),
    }
}

/// The conditions of a rule for all connections.
fn all_connections() -> Conditions {
    let ports = Ports::new(1, u16::MAX).into_iter().collect();
    Conditions::new(ports, Vec::new(), Vec::new())
}

/// One rule for all connections, and a table of `networks` networks.
fn steering(networks: usize) -> Steering {
    steering_by(vec![all_connections()], networks)
}

/// The same with a rule before it for networks that resend more, whose share is unknown.
fn with_share(networks: usize) -> Steering {
    let lossy = all_connections().with(Quantity::Resent, Span::new(10_000, None));
    steering_by(vec![lossy, all_connections()], networks)
}

/// A listening socket of the control group, which its accepted sockets inherit.
fn listener(group: &Group) -> Outcome<Listener> {
    let own = fs::read_to_string("/proc/self/cgroup")?;
    let own = own.lines().find_map(|line| line.strip_prefix("0::/"));
    let root = fleet::who::root().ok_or("no control groups of version 2")?;
    let move_to = |directory: &Path| {
        fs::write(
            directory.join("cgroup.procs"),
            std::process::id().to_string(),
        )
    };
    move_to(&group.0)?;
    let listener = listen_here(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    move_to(&root.join(own.ok_or("this process is in no control group of version 2")?))?;
    Ok(listener?)
}

/// Sets up one connection from one of many networks, and ends it.
fn connect(listener: &Listener, number: usize) -> Outcome<()> {
    let [_, a, b, _] = network(number).octets();
    let from = IpAddr::from(Ipv4Addr::new(127, a, b, 1));
    let options = ConnectOptions {
        controller: "cubic",
        mss: None,
    };
    let near = connect_here(from, listener.address(), &options)?;
    abort_on_close(&near)?;
    let far = loop {
        match listener.accept() {
            Ok((far, _)) => break far,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => thread::yield_now(),
            Err(error) => return Err(error.into()),
        }
    };
    drop(near);
    drop(far);
    Ok(())
}

/// The processor time of this process, in microseconds.
fn own_time() -> Outcome<f64> {
    let own = getrusage(UsageWho::RUSAGE_SELF)?;
    Ok((own.user_time().num_microseconds() + own.system_time().num_microseconds()) as f64)
}

/// The sum of a field over all kernel objects of a kind that this process holds.
fn held(kind: &str, number: u64, field: &str) -> Outcome<u64> {
    let mut sum = 0;
    for entry in fs::read_dir("/proc/self/fdinfo")? {
        // One of them was the directory's own.
        let Ok(text) = fs::read_to_string(entry?.path()) else {
            continue;
        };
        let value = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.split_once(':'));
            let found = lines.find(|(key, _)| *key == name);
            found.and_then(|(_, value)| value.trim().parse::<u64>().ok())
        };
        if value(kind) == Some(number) {
            sum += value(field).unwrap_or(0);
        }
    }
    Ok(sum)
}

/// The cost of one connection: a row for each arrangement.
fn set_up(group: &Group, connections: usize, networks: usize) -> Outcome<Vec<Vec<String>>> {
    let listener = listener(group)?;
    let directory = File::open(&group.0)?;
    let tables = [
        ("not steered", None),
        ("1 network", Some(steering(1))),
        (
            "1 network, its share of resent packets asked",
            Some(with_share(1)),
        ),
        ("all networks", Some(steering(networks))),
    ];
    let attach = |steering: &Steering| -> Outcome<Attached> {
        let attached = kernel::attach(&directory, steering)?;
        attached.renew(units::Duration::from_secs(3600))?;
        Ok(attached)
    };
    let mut all = tables.each_ref().map(|_| Vec::new());
    for round in 0..=ROUNDS {
        for ((_, steering), times) in tables.iter().zip(&mut all) {
            let attached = steering.as_ref().map(attach).transpose()?;
            let before = own_time()?;
            connect_all(&listener, connections, attached.as_ref())?;
            if round > 0 {
                times.push((own_time()? - before) / connections as f64);
            }
        }
    }
    let own = all[0].clone();
    let mut rows = Vec::new();
    for ((name, _), times) in tables.iter().zip(&all) {
        let [least, middle, most] = spread(times.iter().copied());
        let more = times.iter().zip(&own).map(|(one, own)| one - own);
        let [low, median, high] = spread(more);
        rows.push(vec![
            (*name).to_owned(),
            format!("{middle:.2} ({least:.2}–{most:.2})"),
            format!("{median:.2} ({low:.2} to {high:.2})"),
        ]);
    }
    let _counted = Counted::begin()?;
    for ((_, steering), row) in tables.iter().zip(&mut rows) {
        let Some(steering) = steering else {
            row.resize(7, "–".to_owned());
            continue;
        };
        let begin = Instant::now();
        let attached = attach(steering)?;
        let loaded = begin.elapsed();
        connect_all(&listener, connections, Some(&attached))?;
        let calls = held("prog_type", SOCK_OPS, "run_cnt")? as f64 / connections as f64;
        let spent = held("prog_type", SOCK_OPS, "run_time_ns")? as f64 / connections as f64;
        let table = held("map_type", LPM_TRIE, "memlock")? as f64 / 1e6;
        row.extend([
            format!("{:.2}", spent / 1e3),
            format!("{calls:.1}"),
            format!("{:.2}", loaded.as_secs_f64()),
            format!("{table:.1}"),
        ]);
    }
    Ok(rows)
}

/// Makes one connection after the other, and reads the program's reports meanwhile, as the command does.
fn connect_all(listener: &Listener, count: usize, attached: Option<&Attached>) -> Outcome<()> {
    for number in 0..count {
        connect(listener, number)?;
        if number % 5000 == 0
            && let Some(attached) = attached
        {
            attached.ended()?;
        }
    }
    Ok(())
}

/// The minimum, the median and the maximum.
fn spread(values: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    [all[0], all[all.len() / 2], all[all.len() - 1]]
}

/// The kernel counts programs' time as long as this value lives.
struct Counted(String);

impl Counted {
    fn begin() -> Outcome<Counted> {
        let before = fs::read_to_string(STATISTICS)?;
        fs::write(STATISTICS, "1")?;
        Ok(Counted(before))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let _ = fs::write(STATISTICS, self.0.trim());
    }
}

/// The calendar's time, in seconds since 1970.
fn unix_s() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64()
}

/// As many connections as the machine can set up and end, with a policy in force that takes its steps.
fn churn(group: &Group, policy: Policy) -> Outcome<[Row; 4]> {
    let now = unix_s;
    let begin = Instant::now();
    let mut steer = Steer::begin(policy, units::Duration::from_secs(600), None, now())?;
    let in_force = format!(
        "in {:.2} s; this process has {:.0} MB",
        begin.elapsed().as_secs_f64(),
        resident()? / 1e6
    );
    let (stop, made) = (AtomicBool::new(false), AtomicU64::new(0));
    let workers = thread::available_parallelism()?.get();
    let listeners = (0..workers).map(|_| listener(group));
    let listeners = listeners.collect::<Outcome<Vec<Listener>>>()?;
    let work = |worker: usize, listener: &Listener| -> Outcome<()> {
        let mut number = worker;
        while !stop.load(Ordering::Relaxed) {
            connect(listener, number)?;
            number += workers;
            made.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    };
    let work = &work;
    let spent = thread::scope(|scope| -> Outcome<Duration> {
        let all = listeners.iter().enumerate();
        let started: Vec<_> = all
            .map(|(worker, listener)| scope.spawn(move || work(worker, listener)))
            .collect();
        let (begin, before) = (
            Instant::now(),
            clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?,
        );
        while begin.elapsed() < CHURN_TIME {
            thread::sleep(STEP_INTERVAL);
            steer.step(now(), |trouble| eprintln!("{trouble}"));
        }
        let spent = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)? - before;
        stop.store(true, Ordering::Relaxed);
        for worker in started {
            worker.join().map_err(|_| "a worker panicked")??;
        }
        Ok(spent.into())
    })?;
    steer.step(now(), |trouble| eprintln!("{trouble}"));
    let (made, counts) = (made.into_inner(), steer.counts());
    let seconds = CHURN_TIME.as_secs_f64();
    steer.finish(now());
    Ok([
        ("the policy is in force".to_owned(), in_force),
        (
            format!("connections from {workers} threads, as fast as they come"),
            format!("{:.0} a second", made as f64 / seconds),
        ),
        (
            "of these".to_owned(),
            format!(
                "{made} made, {} assigned, {} refused, {} ends untold",
                counts.assigned, counts.refused, counts.untold
            ),
        ),
        (
            "looking after them".to_owned(),
            format!(
                "{:.1} % of a processor, {:.2} µs a connection",
                spent.as_secs_f64() / seconds * 100.0,
                spent.as_secs_f64() / made as f64 * 1e6
            ),
        ),
    ])
}
