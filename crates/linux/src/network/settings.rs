//! The TCP settings of a host.

use std::fs;
use std::io;

use units::{Bytes, Duration};

use crate::Error;

/// The TCP settings of both namespaces. Everything else is the kernel's default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The maximum memory of a socket's send buffer (the last of `tcp_wmem`); autotuning grows the buffer as the
    /// window needs.
    pub send_buffer: Bytes,
    /// The maximum memory of a socket's receive buffer (the last of `tcp_rmem`). It holds packets with their
    /// overhead: the receive window is about half of it.
    pub receive_buffer: Bytes,
    /// The initial congestion window in segments (the route's `initcwnd`); `None`: the kernel's default, ten.
    pub initial_cwnd: Option<u32>,
    /// The minimum retransmission timeout, in whole milliseconds (the route's `rto_min`); `None`: the kernel's
    /// default, 200 ms. It also bounds the delay of ACKs (tcp_delack_max in net/ipv4/tcp_output.c).
    pub min_rto: Option<Duration>,
    /// Whether connections negotiate ECN (`tcp_ecn`).
    pub ecn: bool,
    /// Further sysctls of the namespace by name and value, such as `net.ipv4.tcp_sack` and `0`. They are written last.
    pub sysctls: Vec<(String, String)>,
}

impl Default for Settings {
    /// The kernel's defaults, except for buffers that may grow beyond any window of an emulated path.
    fn default() -> Settings {
        Settings {
            send_buffer: Bytes::new(256 << 20),
            receive_buffer: Bytes::new(256 << 20),
            initial_cwnd: None,
            min_rto: None,
            ecn: false,
            sysctls: Vec::new(),
        }
    }
}

impl Settings {
    /// Writes the sysctls of the calling thread's namespace.
    ///
    /// # Errors
    ///
    /// The first sysctl that the kernel does not have or refuses.
    pub(super) fn apply(&self) -> Result<(), Error> {
        // A new connection does not use what an earlier one to the same address has learnt.
        write_if_present("net.ipv4.tcp_no_metrics_save", "1")?;
        raise("net.ipv4.tcp_wmem", self.send_buffer)?;
        raise("net.ipv4.tcp_rmem", self.receive_buffer)?;
        if self.ecn {
            write("net.ipv4.tcp_ecn", "1")?;
        }
        for (name, value) in &self.sysctls {
            // Others would apply to the whole machine.
            if !name.starts_with("net.") || name.contains('/') {
                let source = io::Error::from(io::ErrorKind::InvalidInput);
                return Err(Error::system(
                    format!("sysctl {name}: not of a network namespace (net.…)"),
                    source,
                ));
            }
            write(name, value)?;
        }
        Ok(())
    }
}

/// Sets the maximum of the three values (minimum, default, maximum) of `name`.
fn raise(name: &str, most: Bytes) -> Result<(), Error> {
    let most = most.get().min(i32::MAX as u64);
    let old = fs::read_to_string(file(name)).map_err(|source| failed(name, source))?;
    let values: Vec<u64> = old
        .split_whitespace()
        .filter_map(|value| value.parse().ok())
        .collect();
    let [least, default, _] = values[..] else {
        return Err(failed(
            name,
            io::Error::other(format!("three values expected, not {old:?}")),
        ));
    };
    write(
        name,
        &format!("{} {} {most}", least.min(most), default.min(most)),
    )
}

pub(super) fn write(name: &str, value: &str) -> Result<(), Error> {
    fs::write(file(name), value).map_err(|source| failed(&format!("{name} = {value}"), source))
}

/// Writes a sysctl that not every kernel has.
pub(super) fn write_if_present(name: &str, value: &str) -> Result<(), Error> {
    if fs::exists(file(name)).unwrap_or(false) {
        write(name, value)
    } else {
        Ok(())
    }
}

/// The file of a sysctl (sysctl(8)).
fn file(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}

fn failed(what: &str, source: io::Error) -> Error {
    let why = match source.kind() {
        io::ErrorKind::NotFound => "this kernel has no such sysctl",
        io::ErrorKind::ReadOnlyFilesystem => {
            "/proc/sys is read-only (in a container: `--security-opt systempaths=unconfined`)"
        }
        _ => "the kernel refuses",
    };
    Error::system(format!("sysctl {what}: {why}"), source)
}
