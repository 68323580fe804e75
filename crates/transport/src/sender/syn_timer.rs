//! When a SYN is repeated and given up, in several systems.

use congestion::Duration;
use serde::{Deserialize, Serialize};

/// The first timeout of a SYN (RFC 6298, section 2.1).
const FIRST_TIMEOUT: Duration = Duration::from_secs(1);

/// The SYNs that Linux repeats with the first timeout before it doubles (since 6.5, `tcp_syn_linear_timeouts`).
const LINEAR_RETRIES: u8 = 4;

/// The SYNs that Linux repeats with a doubling timeout (`tcp_syn_retries`).
const LINUX_RETRIES: u8 = 6;

/// The first timeout of Windows 2000 and Windows Server 2003 by Microsoft's documentation (`TcpInitialRTT`).
const WINDOWS_TIMEOUT: Duration = Duration::from_secs(3);

/// The SYNs that they repeat (`TcpMaxConnectRetransmissions`).
const WINDOWS_RETRIES: u8 = 2;

/// The timeouts of the BSDs, in seconds (`tcp_syn_backoff`), with a first one of 1 s: that of macOS (XNU, `TCPTV_RTOBASE`)
/// and of later FreeBSD. In FreeBSD of 2016, it was 3 s.
const BSD_TIMEOUTS: [u64; 13] = [1, 1, 1, 1, 1, 2, 4, 8, 16, 32, 64, 64, 64];

/// The time after which the BSDs give up (`net.inet.tcp.keepinit`).
const BSD_TIMEOUT: Duration = Duration::from_secs(75);

/// A system's timer of SYNs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename = "SYN timer", rename_all = "lowercase")]
pub enum SynTimer {
    /// Linux since 6.5: eleven SYNs, given up after 131 s.
    #[default]
    Linux,
    /// Linux before: seven SYNs, given up after 127 s.
    #[serde(rename = "linux-4.19")]
    Linux419,
    /// Windows by the documented defaults of 2000 and Server 2003: three SYNs, given up after 21 s.
    Windows,
    /// macOS and later FreeBSD: eleven SYNs, given up after 75 s.
    Bsd,
}

impl SynTimer {
    /// The most SYNs.
    pub const fn max_syns(self) -> u8 {
        match self {
            SynTimer::Linux => 1 + LINEAR_RETRIES + LINUX_RETRIES,
            SynTimer::Linux419 => 1 + LINUX_RETRIES,
            SynTimer::Windows => 1 + WINDOWS_RETRIES,
            SynTimer::Bsd => BSD_TIMEOUTS.len() as u8,
        }
    }

    /// The timeout of the SYN with this number, from one.
    pub fn timeout(self, number: u8) -> Duration {
        let doubled =
            |first: Duration, before: u8| first * (1 << number.saturating_sub(before).min(31));
        match self {
            SynTimer::Linux => doubled(FIRST_TIMEOUT, 1 + LINEAR_RETRIES),
            SynTimer::Linux419 => doubled(FIRST_TIMEOUT, 1),
            SynTimer::Windows => doubled(WINDOWS_TIMEOUT, 1),
            SynTimer::Bsd => {
                let place = usize::from(number.saturating_sub(1)).min(BSD_TIMEOUTS.len() - 1);
                Duration::from_secs(BSD_TIMEOUTS[place])
            }
        }
    }

    /// The time from the first SYN after which the connection is given up, whatever the number of SYNs.
    pub const fn patience(self) -> Duration {
        match self {
            SynTimer::Bsd => BSD_TIMEOUT,
            _ => Duration::MAX,
        }
    }
}
