//! The machine, as named in results that were measured on it.

use std::fs;
use std::time::SystemTime;

pub use linux::machine::load;

/// The version of the code that the engine runs: ours, or the kernel's.
pub fn version(engine: lab::EngineKind) -> String {
    match engine {
        lab::EngineKind::Sim | lab::EngineKind::Quic => {
            format!("fullpipe {}", env!("CARGO_PKG_VERSION"))
        }
        lab::EngineKind::Linux => {
            let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
            format!("Linux {}", release.trim())
        }
    }
}

/// The time in the format of RFC 3339.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

/// The number and the model of the processors, if the system gives them in a file.
pub fn processor() -> String {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    let model = model.unwrap_or_else(|| std::env::consts::ARCH.to_owned());
    format!("{count} × {model}")
}
