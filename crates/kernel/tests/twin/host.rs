//! The algorithm in C as a program of the host.

use std::env;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;

use tempfile::TempDir;

use crate::event::Event;

/// The words of `struct snapshot`.
pub const WORDS: usize = 12;

/// The snapshot of a controller.
pub type SnapshotWords = [u64; WORDS];

/// The compiled program.
pub struct Host {
    directory: TempDir,
}

impl Host {
    /// Compiles the algorithm that `header` defines.
    pub fn of(header: &str) -> Host {
        Host::compile("host.c", &[&format!("-DCONTROLLER=\"{header}\"")])
    }

    /// Compiles a program. Undefined behaviour ends it.
    pub fn compile(source: &str, definitions: &[&str]) -> Host {
        let directory = tempfile::tempdir().expect("a directory");
        let compiler = env::var_os("CC").unwrap_or_else(|| "cc".into());
        let status = Command::new(&compiler)
            .args("-std=gnu11 -O2 -Wall -Wextra -Werror -fwrapv".split(' '))
            .args("-fsanitize=undefined -fsanitize-undefined-trap-on-error".split(' '))
            .args(definitions)
            .arg(
                Path::new(env!("CARGO_MANIFEST_DIR"))
                    .join("bpf")
                    .join(source),
            )
            .arg("-o")
            .arg(directory.path().join("host"))
            .status()
            .unwrap_or_else(|error| panic!("{}: {error}", compiler.display()));
        assert!(status.success(), "{}: {status}", compiler.display());
        Host { directory }
    }

    /// The program's output for this input.
    pub fn answer(&self, input: &[u8]) -> Vec<u8> {
        let mut child = self.start();
        let mut pipe = child.stdin.take().expect("a pipe");
        thread::scope(|scope| {
            scope.spawn(move || pipe.write_all(input).expect("it reads on"));
            child.wait_with_output().expect("it ends").stdout
        })
    }

    fn start(&self) -> Child {
        Command::new(self.directory.path().join("host"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// The snapshots after each event, with these settings.
    pub fn run(
        &self,
        settings: &[u64],
        events: &[Event],
        mut see: impl FnMut(usize, SnapshotWords),
    ) {
        let mut child = self.start();
        let input = child.stdin.take().expect("a pipe");
        thread::scope(|scope| {
            let writer = scope.spawn(move || write(input, settings, events));
            read(&mut child, events, &mut see);
            writer.join().expect("a writer").expect("it reads on");
        });
        let status = child.wait().expect("it ends");
        assert!(status.success(), "{status}");
    }
}

fn write(input: ChildStdin, settings: &[u64], events: &[Event]) -> io::Result<()> {
    let mut input = BufWriter::new(input);
    for word in settings {
        input.write_all(&word.to_ne_bytes())?;
    }
    for event in events {
        input.write_all(&event.words().bytes())?;
    }
    input.flush()
}

fn read(child: &mut Child, events: &[Event], see: &mut impl FnMut(usize, SnapshotWords)) {
    let mut output = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut seen = SnapshotWords::default();
    for index in 0..events.len() {
        for word in &mut seen {
            let mut bytes = [0; 8];
            output.read_exact(&mut bytes).expect("a snapshot");
            *word = u64::from_ne_bytes(bytes);
        }
        see(index, seen);
    }
}
