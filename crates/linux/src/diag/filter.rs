//! The filter of a dump, and its encoding for the kernel.

use std::ops::RangeInclusive;

/// The filter of a dump; by default all sockets with a connection pass.
///
/// The kernel applies it before it takes the socket's lock, so excluded sockets cost little.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// The local ports; `None` stands for all.
    pub local_ports: Option<RangeInclusive<u16>>,
    /// The remote ports; `None` stands for all.
    pub remote_ports: Option<RangeInclusive<u16>>,
}

/// `INET_DIAG_BC_S_GE`, `S_LE`, `D_GE`, `D_LE`: is the local (S) or remote (D) port at least, at most …
const LOCAL_AT_LEAST: u8 = 2;
const LOCAL_AT_MOST: u8 = 3;
const REMOTE_AT_LEAST: u8 = 4;
const REMOTE_AT_MOST: u8 = 5;

/// The length of a comparison with a port: two `struct inet_diag_bc_op`, of which the second only carries the port.
const COMPARISON: u8 = 8;

/// A jump this far beyond the end of the program rejects the socket.
const REJECT: u16 = 4;

impl Filter {
    /// Appends the filter as the kernel's bytecode (`INET_DIAG_REQ_BYTECODE`); nothing if everything passes.
    ///
    /// A comparison that holds jumps to the next one; one that does not hold jumps past the end (`inet_diag_bc_run`
    /// in `net/ipv4/inet_diag.c`).
    pub(super) fn append_bytecode(&self, program: &mut Vec<u8>) {
        let mut left = self.bytecode_length();
        for (code, port) in self.comparisons() {
            program.extend([code, COMPARISON]);
            program.extend(left.saturating_add(REJECT).to_ne_bytes());
            program.extend([0, 0]);
            program.extend(port.to_ne_bytes());
            left = left.saturating_sub(COMPARISON.into());
        }
    }

    /// The length of the bytecode, in bytes.
    pub(super) fn bytecode_length(&self) -> u16 {
        self.comparisons().map(|_| u16::from(COMPARISON)).sum()
    }

    /// The comparisons that all must hold: the operation and the port of each.
    fn comparisons(&self) -> impl Iterator<Item = (u8, u16)> {
        let sides = [
            (&self.local_ports, LOCAL_AT_LEAST, LOCAL_AT_MOST),
            (&self.remote_ports, REMOTE_AT_LEAST, REMOTE_AT_MOST),
        ];
        sides.into_iter().flat_map(|(ports, at_least, at_most)| {
            ports
                .iter()
                .flat_map(move |ports| [(at_least, *ports.start()), (at_most, *ports.end())])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytecode(filter: &Filter) -> Vec<u8> {
        let mut program = Vec::new();
        filter.append_bytecode(&mut program);
        assert_eq!(program.len(), usize::from(filter.bytecode_length()));
        program
    }

    #[test]
    fn without_conditions_there_is_no_program() {
        assert!(bytecode(&Filter::default()).is_empty());
    }

    #[test]
    fn a_failed_comparison_jumps_past_the_end() {
        let filter = Filter {
            local_ports: None,
            remote_ports: Some(0x1234..=0x1235),
        };
        let jump = |left: u16| left.to_ne_bytes();
        let port = |port: u16| port.to_ne_bytes();
        let expected: Vec<u8> = [
            &[4, 8][..],
            &jump(20),
            &[0, 0],
            &port(0x1234),
            &[5, 8],
            &jump(12),
            &[0, 0],
            &port(0x1235),
        ]
        .concat();
        assert_eq!(bytecode(&filter), expected);
    }
}
