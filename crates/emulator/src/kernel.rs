//! Losses in the kernel before the relay could read.

#[cfg(target_os = "linux")]
use std::collections::HashSet;
use std::os::fd::BorrowedFd;

/// Returns the number of datagrams that the kernel dropped for lack of room in these sockets' receive buffers: the
/// `drops` column of Linux's `/proc/net/udp` and `/proc/net/udp6` (`Documentation/networking/proc_net_tcp.rst`
/// describes the format that they share with TCP; a socket is found by its inode). The tables have a line for each
/// socket of the machine, so they are read once for all.
#[cfg(target_os = "linux")]
pub(crate) fn overflows<'a>(sockets: impl Iterator<Item = BorrowedFd<'a>>) -> u64 {
    let inodes: HashSet<u64> = sockets
        .filter_map(|socket| Some(rustix::fs::fstat(socket).ok()?.st_ino))
        .collect();
    if inodes.is_empty() {
        return 0;
    }
    ["/proc/self/net/udp", "/proc/self/net/udp6"]
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .flat_map(|table| table.lines().filter_map(drops).collect::<Vec<_>>())
        .filter_map(|(inode, drops)| inodes.contains(&inode).then_some(drops))
        .sum()
}

/// Other systems do not report a socket's losses.
#[cfg(not(target_os = "linux"))]
pub(crate) fn overflows<'a>(_sockets: impl Iterator<Item = BorrowedFd<'a>>) -> u64 {
    0
}

/// Returns a line's tenth column, the inode, and its last one, the drops.
#[cfg(target_os = "linux")]
fn drops(line: &str) -> Option<(u64, u64)> {
    let mut columns = line.split_whitespace();
    let inode = columns.nth(9)?.parse().ok()?;
    Some((inode, columns.last()?.parse().ok()?))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::iter::once;
    use std::net::UdpSocket;
    use std::os::fd::AsFd;

    #[test]
    fn an_unread_socket_overflows() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = receiver.local_addr().unwrap();
        assert_eq!(super::overflows(once(receiver.as_fd())), 0);
        socket2::SockRef::from(&receiver)
            .set_recv_buffer_size(4096)
            .unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..100 {
            sender.send_to(&[0; 1200], to).unwrap();
        }
        let lost = super::overflows(once(receiver.as_fd()));
        assert!((1..=100).contains(&lost), "{lost}");
        let both = [sender.as_fd(), receiver.as_fd()];
        assert_eq!(super::overflows(both.into_iter()), lost);
    }
}
