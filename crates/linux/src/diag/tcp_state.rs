//! The state of a connection, and that of its loss recovery.

use std::fmt;

/// The state of a connection (RFC 9293, "State Machine Overview"); numbers of `include/net/tcp_states.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TcpState {
    /// `TCP_ESTABLISHED`, 1.
    Established,
    /// `TCP_SYN_SENT`, 2.
    SynSent,
    /// `TCP_SYN_RECV`, 3.
    SynReceived,
    /// `TCP_FIN_WAIT1`, 4.
    FinWait1,
    /// `TCP_FIN_WAIT2`, 5.
    FinWait2,
    /// `TCP_TIME_WAIT`, 6.
    TimeWait,
    /// `TCP_CLOSE`, 7: no connection.
    Closed,
    /// `TCP_CLOSE_WAIT`, 8.
    CloseWait,
    /// `TCP_LAST_ACK`, 9.
    LastAck,
    /// `TCP_LISTEN`, 10.
    Listen,
    /// `TCP_CLOSING`, 11.
    Closing,
    /// Any other number.
    Other(u8),
}

impl From<u8> for TcpState {
    fn from(number: u8) -> TcpState {
        match number {
            1 => TcpState::Established,
            2 => TcpState::SynSent,
            3 => TcpState::SynReceived,
            4 => TcpState::FinWait1,
            5 => TcpState::FinWait2,
            6 => TcpState::TimeWait,
            7 => TcpState::Closed,
            8 => TcpState::CloseWait,
            9 => TcpState::LastAck,
            10 => TcpState::Listen,
            11 => TcpState::Closing,
            other => TcpState::Other(other),
        }
    }
}

impl fmt::Display for TcpState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            TcpState::Established => "established",
            TcpState::SynSent => "syn-sent",
            TcpState::SynReceived => "syn-received",
            TcpState::FinWait1 => "fin-wait-1",
            TcpState::FinWait2 => "fin-wait-2",
            TcpState::TimeWait => "time-wait",
            TcpState::Closed => "closed",
            TcpState::CloseWait => "close-wait",
            TcpState::LastAck => "last-ack",
            TcpState::Listen => "listen",
            TcpState::Closing => "closing",
            TcpState::Other(number) => return write!(out, "state-{number}"),
        };
        out.write_str(name)
    }
}

/// The state of loss recovery: `enum tcp_ca_state` in `include/uapi/linux/tcp.h`. The state machine is described
/// above `tcp_fastretrans_alert` in `net/ipv4/tcp_input.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaState {
    /// Nothing unusual (`TCP_CA_Open`).
    Open,
    /// SACKs or duplicate ACKs have arrived; whether it is loss or reordering is undecided (`TCP_CA_Disorder`).
    Disorder,
    /// The window is being reduced for a reason other than loss: an ECN mark, a full local queue (`TCP_CA_CWR`).
    Cwr,
    /// Fast recovery: packets are marked lost and are being retransmitted (`TCP_CA_Recovery`).
    Recovery,
    /// After a retransmission timeout (`TCP_CA_Loss`).
    Loss,
    /// Any other number.
    Other(u8),
}

impl From<u8> for CaState {
    fn from(number: u8) -> CaState {
        match number {
            0 => CaState::Open,
            1 => CaState::Disorder,
            2 => CaState::Cwr,
            3 => CaState::Recovery,
            4 => CaState::Loss,
            other => CaState::Other(other),
        }
    }
}

impl fmt::Display for CaState {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            CaState::Open => "open",
            CaState::Disorder => "disorder",
            CaState::Cwr => "cwr",
            CaState::Recovery => "recovery",
            CaState::Loss => "loss",
            CaState::Other(number) => return write!(out, "state-{number}"),
        };
        out.write_str(name)
    }
}
