//! Two hosts in namespaces and commands in them: as this user, and as a user without privileges.
//!
//! It has no standard harness: only a process with one thread can enter a user namespace, and some tests are about
//! processes that are killed. This program plays each of them, selected by its first argument.

mod addresses;
mod commands;
mod confined;
mod holder;
mod outside;
mod settings;
mod support;
mod traffic;

use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Trial};
use linux::{Network, NetworkConfig};
use nix::unistd::geteuid;

/// The user who owns no file.
const NOBODY: u32 = 65534;

/// The argument by which this program acts as the init instead of running tests.
const INIT: &str = "as-init";
const HOLDER: &str = "as-holder";
const CONFINED: &str = "as-confined";

fn main() -> ExitCode {
    let mut arguments = env::args_os().skip(1);
    match arguments.next().as_ref().and_then(|first| first.to_str()) {
        Some(INIT) => return ExitCode::from(linux::command::init_main(arguments)),
        Some(HOLDER) => return holder::main(),
        Some(CONFINED) => return confined::main(),
        _ => (),
    }
    let missing = linux::privilege::acquire()
        .and_then(|()| Network::create(&NetworkConfig::default()).map(drop));
    if let Err(error) = missing {
        skipping::skip!("every test of namespaces: {error}");
        return ExitCode::SUCCESS;
    }
    let mut trials = Vec::new();
    trials.extend(addresses::trials());
    trials.extend(settings::trials());
    trials.extend(traffic::trials());
    trials.extend(outside::trials());
    trials.extend(commands::trials());
    trials.extend(holder::trials());
    trials.push(if geteuid().is_root() {
        trial("unprivileged", || {
            rerun(Command::new("/proc/self/exe").uid(NOBODY).gid(NOBODY))
        })
    } else {
        trial("confined", || {
            rerun(Command::new("/proc/self/exe").arg(CONFINED))
        })
    });
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// A test that fails by panicking.
fn trial(name: &str, test: fn()) -> Trial {
    Trial::test(name, move || {
        test();
        Ok(())
    })
}

/// Runs this program again, and fails as it does. What it skips is noted here: it may not write to the list of skips.
fn rerun(command: &mut Command) {
    command.env_remove(skipping::FILE);
    let output = command.output().expect("this program starts once more");
    let (told, complained) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    eprint!("{complained}");
    for skip in complained
        .lines()
        .filter(|line| line.starts_with(skipping::MARK))
    {
        skipping::skip!("of another user: {skip}");
    }
    assert!(output.status.success(), "{told}\n{complained}");
}

/// The arguments of a command line.
fn shell(script: &str) -> Vec<OsString> {
    ["sh", "-c", script].map(OsString::from).to_vec()
}
