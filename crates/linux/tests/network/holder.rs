//! A process that holds networks and commands, until it is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command as Process, ExitCode, Stdio};
use std::time::Duration;

use libtest_mimic::Trial;
use linux::command::{Command, Init};
use linux::{Host, Network, NetworkConfig};
use nix::sys::stat::fstat;

use crate::support::eventually;
use crate::{HOLDER, INIT, shell, trial};

/// A variable of the holder's environment, which all its descendants inherit.
const MARK: &str = "FULLPIPE_TEST_HOLDER";

pub fn trials() -> Vec<Trial> {
    vec![trial("a process that is killed leaves nothing", killed)]
}

/// Runs the holder: a network with commands stays, others come and go.
pub fn main() -> ExitCode {
    let hold = || -> Result<(), linux::Error> {
        linux::privilege::acquire()?;
        let init = Init::subcommand(INIT);
        let kept = Network::create(&NetworkConfig::default())?;
        let daemons = shell(
            "for i in 1 2 3; do (setsid sleep 1000 &); done; trap '' TERM HUP INT; sleep 1000",
        );
        let _service = Command::new(&daemons).service().spawn(&kept.far, &init)?;
        let _command = Command::new(&daemons).spawn(&kept.near, &init)?;
        println!("{} {}", namespace(&kept.near), namespace(&kept.far));
        loop {
            // With limits, the next network may have to wait until the kernel has removed the last.
            if let Ok(network) = Network::create(&NetworkConfig::default()) {
                let _command = Command::new(&daemons).spawn(&network.near, &init);
            }
        }
    };
    let Err(error) = hold() else {
        return ExitCode::SUCCESS;
    };
    eprintln!("{error}");
    ExitCode::FAILURE
}

/// The namespace as /proc names it.
fn namespace(host: &Host) -> String {
    format!(
        "net:[{}]",
        fstat(host.namespace()).expect("a namespace").st_ino
    )
}

/// A holder that is killed.
pub struct Holder {
    process: Child,
    mark: String,
    namespaces: Vec<String>,
}

impl Holder {
    /// Starts a holder, the `number`th of this process, and waits until it holds something.
    ///
    /// # Errors
    ///
    /// The holder's error, if it does not get to hold anything.
    pub fn start(number: u64) -> Result<Holder, String> {
        let mark = format!("{MARK}={}-{number}", std::process::id());
        let (name, value) = mark.split_once('=').expect("a variable");
        let mut process = Process::new("/proc/self/exe")
            .arg(HOLDER)
            .env(name, value)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("this program starts once more");
        let mut line = String::new();
        let output = process.stdout.take().expect("a pipe");
        BufReader::new(output)
            .read_line(&mut line)
            .expect("what the holder says");
        let namespaces: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        if line.is_empty() {
            let output = process.wait_with_output().expect("its end");
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
        Ok(Holder {
            process,
            mark,
            namespaces,
        })
    }

    /// Kills it after this time.
    pub fn kill(mut self, after: Duration) {
        assert!(self.left() > 2, "a holder and its commands");
        std::thread::sleep(after);
        self.process.kill().expect("a signal");
        self.process.wait().expect("its end");
        let none_left = || match self.left() {
            0 => Ok(()),
            left => Err(left),
        };
        eventually(none_left).expect("nothing is left");
    }

    /// The number of processes that descend from the holder or are in one of its namespaces.
    fn left(&self) -> usize {
        let processes = fs::read_dir("/proc")
            .expect("/proc")
            .flatten()
            .map(|entry| entry.path());
        processes.filter(|process| self.began(process)).count()
    }

    fn began(&self, process: &Path) -> bool {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        let marked = environment
            .split(|&byte| byte == 0)
            .any(|variable| variable == self.mark.as_bytes());
        let network = fs::read_link(process.join("ns/net")).unwrap_or_default();
        marked
            || self
                .namespaces
                .iter()
                .any(|namespace| network.as_os_str() == namespace.as_str())
    }
}

/// The times of the kill, in milliseconds after the first network exists, spread over the life of the networks.
pub const MOMENTS: [u64; 5] = [0, 3, 11, 29, 71];

fn killed() {
    for (number, moment) in (0..).zip(MOMENTS) {
        Holder::start(number)
            .expect("a holder")
            .kill(Duration::from_millis(moment));
    }
}
