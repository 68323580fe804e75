//! Independent clients: curl processes that a shell starts at their times.

use std::fs;
use std::path::Path;

use experiment::{Observation, Scope};
use linux::Host;
use linux::command::{Command, Init, Running};
use units::Duration;

use super::paths::server;
use super::server::OBJECT;
use crate::laboratory::LabError;
use crate::line::Line;
use crate::proof::write;
use crate::spec::PORT;

/// The measurements that curl reports for a complete download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Download {
    /// The index of its line.
    line: usize,
    /// The received bytes, headers included.
    bytes: u64,
    /// The time from the request to the last byte. The kernel measures an object from its first packet to the
    /// acknowledgement of the last one, which takes as long.
    took: Duration,
}

impl Download {
    /// The index of its line.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The download as an experiment observes it.
    pub fn observation(&self, groups: Vec<String>) -> Observation {
        Observation {
            scope: Scope::Connection,
            unit: 0,
            arm: 0,
            acknowledged: self.bytes,
            busy: self.took,
            packets: 0,
            resent: 0,
            rtt: None,
            groups,
        }
    }
}

/// Starts all downloads of some lines. Curl's reports go to the file `told`. Downloads that have not finished by `end`
/// are cut off.
pub(super) fn start(
    host: &Host,
    init: &Init,
    lines: &[Line],
    end: Duration,
    told: &Path,
) -> Result<Running, LabError> {
    let file = told.with_extension("sh");
    write(&file, &script(lines, end, told))?;
    Ok(Command::new(["sh".as_ref(), file.as_os_str()])
        .service()
        .spawn(host, init)?)
}

/// The shell script. Each line has one process that waits for the next download. A process for each download would keep
/// all processors busy for the first seconds.
fn script(lines: &[Line], end: Duration, told: &Path) -> String {
    // The laboratory uses neither the user's settings nor a proxy.
    let mut text = format!(
        "# Longest time, line, client, server, bytes.\nget() {{\n  exec curl --disable --noproxy '*' --silent --fail --output /dev/null \
         --max-time \"$1\" \\\n    --interface \"$3\" --range \"0-$(($5 - 1))\" --write-out \"$2 $5 %{{exitcode}} \
         %{{size_download}} %{{size_header}} %{{time_pretransfer}} %{{time_total}}\\n\" \\\n    \"http://$4:{PORT}/{OBJECT}\"\n}}\n\
         exec >'{}'\n",
        told.display()
    );
    for (place, line) in lines.iter().enumerate() {
        let mut visits: Vec<_> = line.visits.iter().collect();
        visits.sort_by_key(|visit| visit.at);
        text += "(\n";
        let mut now = Duration::ZERO;
        for visit in visits {
            text += &format!(
                "  sleep {:.3}; get {:.3} {place} {} {} {} &\n",
                visit.at.saturating_sub(now).as_secs_f64(),
                end.saturating_sub(visit.at).as_secs_f64(),
                line.client,
                server(line),
                visit.bytes.get()
            );
            now = visit.at;
        }
        text += "  wait\n) &\n";
    }
    text + "wait\n"
}

/// Reads curl's reports of the complete downloads.
pub(super) fn read(told: &Path) -> Result<Vec<Download>, LabError> {
    let text = fs::read_to_string(told).map_err(|error| LabError::file(told, error))?;
    Ok(text.lines().filter_map(download).collect())
}

/// Parses a line of the reports. `None` if the download is not complete.
fn download(line: &str) -> Option<Download> {
    let mut words = line.split(' ');
    let line = words.next()?.parse().ok()?;
    let mut whole = || words.next()?.parse::<u64>().ok();
    let (asked, exit, came, headers) = (whole()?, whole()?, whole()?, whole()?);
    let mut seconds = || {
        let seconds: f64 = words.next()?.parse().ok()?;
        std::time::Duration::try_from_secs_f64(seconds).ok()
    };
    let (asked_at, over_at) = (seconds()?, seconds()?);
    (exit == 0 && came == asked).then_some(Download {
        line,
        bytes: came + headers,
        took: over_at.saturating_sub(asked_at).into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_curl_says_is_understood_and_what_is_not_whole_is_left_out() {
        let found = download("7 3000000 0 3000000 250 0.020500 1.020500").unwrap();
        assert_eq!(found.bytes, 3_000_250);
        assert_eq!((found.line, found.took), (7, Duration::from_secs(1)));
        for broken in [
            "7 3000000 28 1000000 250 0.020500 1.020500",
            "7 3000000 0 2999999 250 0.020500 1.020500",
            "7 3000000 0 3000000 250 0.0",
            "",
        ] {
            assert_eq!(download(broken), None, "{broken}");
        }
    }
}
