//! Counters that the kernel keeps for a whole network namespace.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek};

use crate::error::Context;
use crate::{Error, Host};

/// The counters of one network namespace at one moment, by the kernel's names: those of `/proc/net/netstat`
/// (`net/ipv4/proc.c`) and, of `/proc/net/snmp`, those of TCP.
///
/// They distinguish what `tcp_info` sums up. A selection worth recording:
///
/// | name | meaning |
/// | --- | --- |
/// | `RetransSegs`, `OutSegs` | packets retransmitted; sent for the first time |
/// | `TCPFastRetrans`, `TCPSlowStartRetrans` | retransmitted in fast recovery; after a timeout |
/// | `TCPTimeouts`, `TCPSpuriousRTOs` | retransmission timeouts; those that F-RTO found spurious |
/// | `TCPLossProbes`, `TCPLossProbeRecovery` | tail loss probes; losses repaired by a probe |
/// | `TCPSackRecovery` | fast recoveries |
/// | `TCPFullUndo`, `TCPPartialUndo`, `TCPDSACKUndo`, `TCPLossUndo` | undone window reductions, by how they were
/// found spurious |
/// | `TCPLostRetransmit` | retransmissions that were lost again |
/// | `TCPSACKReorder`, `TCPTSReorder` | reordering found by SACK; by timestamps |
/// | `TCPDSACKRecv` | duplicates reported by receivers |
/// | `TCPSpuriousRtxHostQueues` | retransmissions held back because the original was still in a local queue |
/// | `TCPSynRetrans` | retransmitted SYNs and SYN-ACKs |
/// | `TCPHystartTrainDetect`, `TCPHystartDelayDetect` | slow starts ended by HyStart, by ACK train; by delay |
/// | `TCPRcvQDrop`, `TCPBacklogDrop`, `ListenDrops` | packets refused by receivers: buffer full; backlog full; no room for a connection |
/// | `TCPAckCompressed` | ACKs omitted by receivers |
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counters {
    values: BTreeMap<String, u64>,
}

impl Counters {
    /// The counter of that name; `None` if this kernel has none.
    pub fn get(&self, name: &str) -> Option<u64> {
        self.values.get(name).copied()
    }

    /// All counters and their names, in alphabetic order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.values
            .iter()
            .map(|(name, &value)| (name.as_str(), value))
    }

    /// The increase of each counter since `earlier`.
    pub fn since(&self, earlier: &Counters) -> Counters {
        let increase = |(name, value): (&str, u64)| {
            let before = earlier.get(name).unwrap_or_default();
            (name.to_owned(), value.saturating_sub(before))
        };
        Counters {
            values: self.iter().map(increase).collect(),
        }
    }

    /// Adds the counters of `table`: pairs of lines that begin with the same word, the first with the names and the
    /// second with the values. Other lines and negative values are skipped.
    fn add(&mut self, table: &str, groups: &[&str]) {
        let mut lines = table.lines();
        while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
            let (Some((group, names)), Some((again, values))) =
                (names.split_once(':'), values.split_once(':'))
            else {
                continue;
            };
            if group != again || !groups.contains(&group) {
                continue;
            }
            let pairs = names.split_whitespace().zip(values.split_whitespace());
            self.values.extend(
                pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))),
            );
        }
    }
}

/// Reads the counters of the namespace in which it was opened, from any thread.
#[derive(Debug)]
pub struct CounterReader {
    netstat: File,
    snmp: File,
}

impl CounterReader {
    /// Opens the counters of `host`'s namespace.
    ///
    /// # Errors
    ///
    /// The namespace cannot be entered, or `/proc` is not mounted.
    pub fn open(host: &Host) -> Result<CounterReader, Error> {
        host.inside(CounterReader::open_here)?
    }

    /// Opens the counters of the calling thread's network namespace.
    ///
    /// # Errors
    ///
    /// `/proc` is not mounted.
    pub fn open_here() -> Result<CounterReader, Error> {
        let open = |path: &str| {
            File::open(path).context(format!("cannot open {path} (is /proc mounted?)"))
        };
        Ok(CounterReader {
            netstat: open("/proc/thread-self/net/netstat")?,
            snmp: open("/proc/thread-self/net/snmp")?,
        })
    }

    /// The counters now.
    ///
    /// # Errors
    ///
    /// The kernel's files cannot be read.
    pub fn read(&mut self) -> Result<Counters, Error> {
        let mut counters = Counters::default();
        let mut table = String::new();
        for (file, groups) in [
            (&mut self.netstat, &["TcpExt", "IpExt"][..]),
            (&mut self.snmp, &["Tcp"]),
        ] {
            table.clear();
            file.rewind()
                .and_then(|()| file.read_to_string(&mut table))
                .context("cannot read the namespace's counters")?;
            counters.add(&table, groups);
        }
        Ok(counters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETSTAT: &str = "TcpExt: TCPTimeouts TCPLossProbes\nTcpExt: 4 2\nIpExt: InOctets\nIpExt: 9\nMPTcpExt: Subflows\nMPTcpExt: 7\n";

    fn counters(table: &str) -> Counters {
        let mut counters = Counters::default();
        counters.add(table, &["TcpExt", "IpExt"]);
        counters
    }

    #[test]
    fn names_and_values_stand_in_two_lines() {
        let read = counters(NETSTAT);
        let all: Vec<_> = read.iter().collect();
        assert_eq!(
            all,
            [("InOctets", 9), ("TCPLossProbes", 2), ("TCPTimeouts", 4)]
        );
    }

    #[test]
    fn what_is_no_table_has_no_counters() {
        for odd in [
            "",
            "TcpExt:",
            "TcpExt: A\n",
            "TcpExt: A\nIpExt: 1\n",
            "A\nB\n",
            "TcpExt: A\nTcpExt: -1\n",
        ] {
            assert_eq!(counters(odd), Counters::default(), "{odd:?}");
        }
    }

    #[test]
    fn the_difference_of_two_readings_is_what_was_counted_between_them() {
        let later = counters("TcpExt: TCPTimeouts TCPLossProbes New\nTcpExt: 6 2 1\n");
        let between = later.since(&counters(NETSTAT));
        assert_eq!(between.get("TCPTimeouts"), Some(2));
        assert_eq!(between.get("TCPLossProbes"), Some(0));
        assert_eq!(between.get("New"), Some(1));
        assert_eq!(between.get("Absent"), None);
    }
}
