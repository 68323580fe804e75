//! A socket's memory: its buffers and their contents.

use units::Bytes;

use super::native::{native, size, u32_at};

native! {
    /// A socket's buffers and the memory charged to them, in bytes of kernel memory: payload together with the
    /// kernel's overhead for each buffer (`skb->truesize`). `INET_DIAG_SKMEMINFO`, filled by `sk_get_meminfo` in
    /// `net/core/sock.c`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub struct Memory {
        /// Received and not yet read by the application (`SK_MEMINFO_RMEM_ALLOC`).
        pub receive_queue: Bytes = 0 => size,
        /// The current size of the receive buffer: it grows by autotuning up to `tcp_rmem`'s maximum
        /// (`SK_MEMINFO_RCVBUF`).
        pub receive_buffer: Bytes = 4 => size,
        /// Handed to the queueing discipline and the device and not yet released by them; TCP Small Queues bounds it
        /// (`SK_MEMINFO_WMEM_ALLOC`).
        pub below_tcp: Bytes = 8 => size,
        /// The current size of the send buffer: it grows with the congestion window up to `tcp_wmem`'s maximum
        /// (`SK_MEMINFO_SNDBUF`).
        pub send_buffer: Bytes = 12 => size,
        /// Reserved by the socket and not in use (`SK_MEMINFO_FWD_ALLOC`).
        pub reserved: Bytes = 16 => size,
        /// Written by the application and not yet acknowledged, sent or not (`SK_MEMINFO_WMEM_QUEUED`).
        pub send_queue: Bytes = 20 => size,
        /// Socket options, filters, control messages (`SK_MEMINFO_OPTMEM`).
        pub options: Bytes = 24 => size,
        /// Packets that arrived while the application held the socket's lock (`SK_MEMINFO_BACKLOG`).
        pub backlog: Bytes = 28 => size,
        /// Packets that the socket refused: for TCP mostly those past the end of the backlog (`SK_MEMINFO_DROPS`; a
        /// count).
        pub drops: u32 = 32 => u32_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_stands_where_the_kernel_puts_it() {
        let bytes: Vec<u8> = (1..=9u32).flat_map(u32::to_ne_bytes).collect();
        assert_eq!(
            Memory::at(&bytes, 0),
            Some(Memory {
                receive_queue: Bytes::new(1),
                receive_buffer: Bytes::new(2),
                below_tcp: Bytes::new(3),
                send_buffer: Bytes::new(4),
                reserved: Bytes::new(5),
                send_queue: Bytes::new(6),
                options: Bytes::new(7),
                backlog: Bytes::new(8),
                drops: 9,
            })
        );
        assert_eq!(Memory::at(&bytes[..35], 0), None);
    }
}
