//! The cost of steering and of studies to an HTTP server: nginx in the control group, under wrk's full load. Each
//! request has a connection of its own, which ends with its answer.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use experiment::Plan;
use experiment::policy::Policy;
use linux::command::Init;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use rollout::steer::Steer;
use rollout::study::{Lookup, Study, StudyDirectory};

use crate::group::Group;
use crate::{Counted, Outcome, SOCK_OPS, STEP_INTERVAL, held, spread, unix_s};

/// The number of measured rounds, in which the arrangements take turns. One more before them warms up.
const ROUNDS: usize = 7;

/// The duration of wrk's load, in seconds.
const LOAD_SECONDS: u32 = 3;

/// The port and the size of the file that nginx serves, in a network namespace of the benchmark's own.
const PORT: u16 = 8000;
const BYTES: usize = 20_000;

/// The first table's head.
pub const HEAD: &str = "\
| arrangement | requests a second (least–most) | nginx and wrk, µs a request | more than not steered (least to most) | of it the program | its calls | this process, µs a request |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
";

/// An arrangement, and the controllers of its connections.
#[derive(Debug, Clone, Copy)]
enum Arrangement {
    NotSteered,
    Steered { explore: &'static str },
    Studied,
}

/// The assignment in force during wrk's load.
enum InForce {
    Nothing,
    Policy(Box<Steer>),
    Study(Box<Study>),
}

impl Arrangement {
    const ALL: [(&'static str, Arrangement); 4] = [
        ("not steered", Arrangement::NotSteered),
        (
            "a policy that explores nothing",
            Arrangement::Steered { explore: "0%" },
        ),
        (
            "a policy that explores 2 %",
            Arrangement::Steered { explore: "2%" },
        ),
        ("a study of two arms", Arrangement::Studied),
    ];

    fn begin(self, group: &Group, directory: &Path) -> Outcome<InForce> {
        // As on most servers, one of two controllers is the default, which costs less.
        let default = kernel::default()?;
        let other = if default == "reno" { "cubic" } else { "reno" };
        match self {
            Arrangement::NotSteered => Ok(InForce::Nothing),
            Arrangement::Steered { explore } => {
                let policy = Policy::parse(&format!(
                    "cgroup = {:?}\nexplore = {explore:?}\n[[rule]]\nname = \"one\"\nlisten = [{PORT}]\nprefix = [\"10.0.0.0/8\"]\n\
                     controller = {other:?}\n[[rule]]\nname = \"rest\"\nlisten = [{PORT}]\ncontroller = {default:?}\n",
                    group.0
                ))?;
                let lease = units::Duration::from_secs(600);
                Ok(InForce::Policy(Box::new(Steer::begin(
                    policy,
                    lease,
                    None,
                    unix_s(),
                )?)))
            }
            Arrangement::Studied => {
                let text = format!(
                    "name = \"cost\"\ncgroup = {:?}\nunit = \"connection\"\nduration = \"10h\"\n[connections]\nlisten = [{PORT}]\n\
                     [[arm]]\ncontroller = {default:?}\nshare = \"50%\"\n[[arm]]\ncontroller = {other:?}\nshare = \"50%\"\n",
                    group.0
                );
                let plan = Plan::parse(&text)?;
                let out = directory.join("study");
                fs::remove_dir_all(&out).or_else(|_| fs::create_dir_all(directory))?;
                let place = StudyDirectory::make(&out, &text, &plan, unix_s())?;
                let keep = units::Bytes::new(1_000_000_000);
                let study = Study::begin(place, keep, Lookup::default(), &Init::subcommand(""))?;
                Ok(InForce::Study(Box::new(study)))
            }
        }
    }
}

impl InForce {
    /// Takes a step, as its command does.
    fn step(&mut self) {
        let tell = |trouble: &str| eprintln!("{trouble}");
        match self {
            InForce::Nothing => {}
            InForce::Policy(steer) => drop(steer.step(unix_s(), tell)),
            InForce::Study(study) => drop(study.step(unix_s(), tell)),
        }
    }

    fn finish(self) {
        match self {
            InForce::Nothing => {}
            InForce::Policy(steer) => steer.finish(unix_s()),
            InForce::Study(study) => drop(study.finish(unix_s(), None)),
        }
    }
}

/// nginx with one process, which ends when this is dropped.
struct Server(Child);

impl Server {
    fn start(group: &Group, directory: &Path) -> Outcome<Server> {
        let at = directory.display();
        fs::write(directory.join("file"), vec![b'x'; BYTES])?;
        let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
        let temporary = kinds.map(|kind| format!("{kind}_temp_path {at}/{kind};"));
        fs::write(
            directory.join("nginx.conf"),
            format!(
                "daemon off; master_process off; pid {at}/nginx.pid; error_log stderr crit; events {{ worker_connections 4096; }}\n\
                 http {{ access_log off; sendfile on; {} server {{ listen 127.0.0.1:{PORT} backlog=4096; root {at}; }} }}\n",
                temporary.concat()
            ),
        )?;
        let enter = format!(
            "echo $$ > '{}/cgroup.procs' && exec nginx -e stderr -c '{at}/nginx.conf'",
            group.0.display()
        );
        let child = Command::new("sh").args(["-c", &enter]).spawn()?;
        thread::sleep(Duration::from_secs(1));
        Ok(Server(child))
    }

    /// Its processor time in microseconds: the fields `utime` and `stime` (proc_pid_stat(5)), which are in 10 ms.
    fn time(&self) -> Outcome<f64> {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.0.id()))?;
        let fields = text.rsplit(')').next().unwrap_or_default();
        let mut fields = fields.split_whitespace().skip(11);
        let mut ticks = || fields.next()?.parse::<f64>().ok();
        let both = ticks().zip(ticks()).ok_or("no times of nginx")?;
        Ok((both.0 + both.1) * 10_000.0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// One round of one arrangement.
struct Round {
    requests: f64,
    a_second: f64,
    /// Processor time of nginx and wrk, and of this process, in microseconds a request.
    both: f64,
    own: f64,
    /// The program's calls and its microseconds a request, if they are counted.
    program: [f64; 2],
}

fn round(server: &Server, in_force: &mut InForce) -> Outcome<Round> {
    let children = || -> Outcome<f64> {
        let all = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        Ok((all.user_time().num_microseconds() + all.system_time().num_microseconds()) as f64)
    };
    let own = || clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID);
    let program = || -> Outcome<[f64; 2]> {
        let counts = ["run_cnt", "run_time_ns"].map(|field| held("prog_type", SOCK_OPS, field));
        let [calls, nanos] = counts;
        Ok([calls? as f64, nanos? as f64 / 1e3])
    };
    let before = (server.time()? + children()?, own()?, program()?);
    let mut wrk = Command::new("wrk")
        .args([
            "-t1",
            "-c32",
            &format!("-d{LOAD_SECONDS}s"),
            "-H",
            "Connection: close",
        ])
        .arg(format!("http://127.0.0.1:{PORT}/file"))
        .stdout(Stdio::piped())
        .spawn()?;
    while wrk.try_wait()?.is_none() {
        thread::sleep(STEP_INTERVAL);
        in_force.step();
    }
    let told = String::from_utf8(wrk.wait_with_output()?.stdout)?;
    let after = (server.time()? + children()?, own()?, program()?);
    let number = |line: &str, place: usize| -> Outcome<f64> {
        let line = told.lines().find(|one| one.contains(line));
        let word = line.and_then(|line| line.split_whitespace().nth(place));
        Ok(word
            .ok_or_else(|| format!("wrk says nothing: {told}"))?
            .parse()?)
    };
    let requests = number("requests in", 0)?.max(1.0);
    let spent: Duration = (after.1 - before.1).into();
    Ok(Round {
        requests,
        a_second: number("Requests/sec", 1)?,
        both: (after.0 - before.0) / requests,
        own: spent.as_secs_f64() * 1e6 / requests,
        program: [0, 1].map(|place| (after.2[place] - before.2[place]) / requests),
    })
}

/// A row for each arrangement.
pub fn rows(group: &Group, directory: &Path) -> Outcome<Vec<Vec<String>>> {
    let server = Server::start(group, directory)?;
    let one = |arrangement: Arrangement| -> Outcome<Round> {
        let mut in_force = arrangement.begin(group, directory)?;
        let round = round(&server, &mut in_force);
        in_force.finish();
        round
    };
    let mut all = Arrangement::ALL.map(|_| Vec::new());
    for turn in 0..=ROUNDS {
        for ((_, arrangement), rounds) in Arrangement::ALL.iter().zip(&mut all) {
            let round = one(*arrangement)?;
            if turn > 0 {
                rounds.push(round);
            }
        }
    }
    let mut rows = Vec::new();
    for ((name, _), rounds) in Arrangement::ALL.iter().zip(&all) {
        let of = |value: fn(&Round) -> f64| spread(rounds.iter().map(value));
        let [least, middle, most] = of(|round| round.a_second);
        let more = rounds
            .iter()
            .zip(&all[0])
            .map(|(one, not)| one.both - not.both);
        let [low, median, high] = spread(more);
        rows.push(vec![
            (*name).to_owned(),
            format!("{middle:.0} ({least:.0}–{most:.0})"),
            format!("{:.1}", of(|round| round.both)[1]),
            format!("{median:.1} ({low:.1} to {high:.1})"),
            format!("{:.2}", of(|round| round.own)[1]),
        ]);
    }
    let _counted = Counted::begin()?;
    for ((_, arrangement), row) in Arrangement::ALL.iter().zip(&mut rows) {
        let Round {
            program: [calls, micros],
            requests,
            ..
        } = one(*arrangement)?;
        let cells = if calls * requests < 1.0 {
            ["–".to_owned(), "–".to_owned()]
        } else {
            [format!("{micros:.2}"), format!("{calls:.1}")]
        };
        let own = row.pop();
        row.extend(cells.into_iter().chain(own));
    }
    Ok(rows)
}
