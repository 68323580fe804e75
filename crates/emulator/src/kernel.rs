//! What the kernel lost before the relay could read it.

use std::os::fd::RawFd;

/// The datagrams that the kernel threw away for want of room in this socket's receive buffer: the `drops` column of
/// Linux's `/proc/net/udp` and `/proc/net/udp6` (`Documentation/networking/proc_net_tcp.rst` describes the format that
/// they share with TCP; the socket is found by its inode). `None` where there is no such file.
#[cfg(target_os = "linux")]
pub(crate) fn overflows(socket: RawFd) -> Option<u64> {
    use std::os::unix::fs::MetadataExt;

    let inode = std::fs::metadata(format!("/proc/self/fd/{socket}"))
        .ok()?
        .ino()
        .to_string();
    ["/proc/self/net/udp", "/proc/self/net/udp6"]
        .iter()
        .filter_map(|table| std::fs::read_to_string(table).ok())
        .find_map(|table| drops(&table, &inode))
}

/// Other systems do not tell a socket's own losses.
#[cfg(not(target_os = "linux"))]
pub(crate) fn overflows(_socket: RawFd) -> Option<u64> {
    None
}

/// The last column of the line whose tenth column is `inode`.
#[cfg(target_os = "linux")]
fn drops(table: &str, inode: &str) -> Option<u64> {
    let line = table
        .lines()
        .find(|line| line.split_whitespace().nth(9) == Some(inode))?;
    line.split_whitespace().last()?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::UdpSocket;
    use std::os::fd::AsRawFd;

    #[test]
    fn an_unread_socket_overflows() {
        let receiver = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = receiver.local_addr().unwrap();
        assert_eq!(super::overflows(receiver.as_raw_fd()), Some(0));
        socket2::SockRef::from(&receiver)
            .set_recv_buffer_size(4096)
            .unwrap();
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        for _ in 0..100 {
            sender.send_to(&[0; 1200], to).unwrap();
        }
        let lost = super::overflows(receiver.as_raw_fd()).unwrap();
        assert!((1..=100).contains(&lost), "{lost}");
    }
}
