//! Checks whether something listens at the far end.

use std::fs;

use linux::Host;

use super::error::ShellError;

/// Whether a socket of the host listens at `port`, or at any port if none is given.
///
/// /proc/net/{tcp,udp}{,6} has one line for each socket. The second field is its address and port, the fourth its state
/// (include/net/tcp_states.h): 0A, TCP_LISTEN, or for a UDP socket that is bound but not connected 07, TCP_CLOSE.
pub(super) fn is_listening(host: &Host, port: Option<u16>) -> Result<bool, ShellError> {
    let tables = [("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")];
    Ok(host.inside(|| {
        tables.iter().any(|(table, state)| {
            // A kernel without IPv6 has no such tables.
            let sockets = fs::read_to_string(format!("/proc/thread-self/net/{table}"));
            sockets.is_ok_and(|sockets| has_listener(&sockets, state, port))
        })
    })?)
}

fn has_listener(table: &str, state: &str, port: Option<u16>) -> bool {
    table.lines().skip(1).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let bound = fields.next().and_then(|local| {
            let (_, port) = local.rsplit_once(':')?;
            u16::from_str_radix(port, 16).ok()
        });
        let is_waiting = fields.nth(1) == Some(state);
        is_waiting && bound.is_some_and(|bound| port.is_none_or(|port| port == bound))
    })
}

#[cfg(test)]
mod tests {
    use super::has_listener;

    #[test]
    fn listeners_are_told_from_connections() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue\n\
                     0: 00000000:1F40 00000000:0000 0A 00000000:00000000 00:00000000\n\
                     1: 0100C80A:A1F2 0101C80A:1F41 01 00000000:00000000 00:00000000\n";
        assert!(has_listener(table, "0A", None));
        assert!(has_listener(table, "0A", Some(8000)));
        assert!(!has_listener(table, "0A", Some(8001)));
        assert!(!has_listener(table, "07", None));
        let empty = table.lines().next().unwrap();
        assert!(!has_listener(empty, "0A", None));
    }
}
