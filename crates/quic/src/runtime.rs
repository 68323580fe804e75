//! The runtime of an endpoint that sends data: tokio, with a socket that keeps two promises which noq leaves open.
//!
//! - **An ACK is never taken for older than it is.** noq's endpoint looks at the clock once, then reads what has arrived, and takes
//!   the time from before for the time of arrival. If the process loses its processor in between, it reads ACKs of
//!   milliseconds later as though they had come before, and round-trip times come out shorter than the path's. What was
//!   read too long after that look at the clock is held back for the endpoint's next turn, which begins with another look.
//! - **Packets say that they are capable of ECN only if marks are answered**; see
//!   [`Controllers::responds_to_ecn`](crate::controller::Controllers::responds_to_ecn).

use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use noq::udp::{RecvMeta, Transmit};
use noq::{AsyncTimer, AsyncUdpSocket, TokioRuntime, UdpSender};

/// How far the time that noq takes for an arrival may lie before the read. To read a batch of ACKs takes a few
/// microseconds.
const TOLERANCE: Duration = Duration::from_micros(20);

thread_local! {
    /// When somebody on this thread last looked at the clock. A task's turn is spent on one thread, so in the endpoint's
    /// turn that was the endpoint: noq looks again after the first only to measure whether its turn is over, which it is
    /// after 50 µs.
    static LOOK: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// See the [module](self).
#[derive(Debug)]
pub(crate) struct Runtime {
    /// Whether packets are sent as capable of ECN.
    pub(crate) ecn: bool,
}

impl Runtime {
    /// `inner`, with the [module](self)'s promises kept.
    pub(crate) fn wrap(&self, inner: Box<dyn AsyncUdpSocket>) -> Box<dyn AsyncUdpSocket> {
        Box::new(Socket {
            inner,
            ecn: self.ecn,
            clock: now,
            held: VecDeque::new(),
        })
    }
}

impl noq::Runtime for Runtime {
    fn new_timer(&self, at: Instant) -> Pin<Box<dyn AsyncTimer>> {
        TokioRuntime.new_timer(at)
    }

    fn spawn(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) {
        TokioRuntime.spawn(future);
    }

    fn wrap_udp_socket(&self, socket: std::net::UdpSocket) -> io::Result<Box<dyn AsyncUdpSocket>> {
        Ok(self.wrap(TokioRuntime.wrap_udp_socket(socket)?))
    }

    fn now(&self) -> Instant {
        let now = now();
        LOOK.set(Some(now));
        now
    }
}

fn now() -> Instant {
    noq::Runtime::now(&TokioRuntime)
}

/// A socket that keeps the [module](self)'s promises.
#[derive(Debug)]
struct Socket {
    inner: Box<dyn AsyncUdpSocket>,
    ecn: bool,
    clock: fn() -> Instant,
    /// What was read too late for the turn in which it was read.
    held: VecDeque<(RecvMeta, Vec<u8>)>,
}

impl Socket {
    /// Hands out what was held back, as far as there is room for it.
    fn hand_out(&mut self, buffers: &mut [IoSliceMut<'_>], metas: &mut [RecvMeta]) -> usize {
        let mut count = 0;
        for (buffer, meta) in buffers.iter_mut().zip(metas) {
            let Some((held, datagrams)) = self.held.pop_front() else {
                break;
            };
            // The buffers are as large each time; were one smaller, its datagram would be cut off like one off the network.
            let length = datagrams.len().min(buffer.len());
            if let (Some(to), Some(from)) = (buffer.get_mut(..length), datagrams.get(..length)) {
                to.copy_from_slice(from);
            }
            *meta = held;
            meta.len = length;
            count += 1;
        }
        count
    }
}

impl AsyncUdpSocket for Socket {
    fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
        let sender = self.inner.create_sender();
        if self.ecn {
            sender
        } else {
            Box::pin(NotCapable(sender))
        }
    }

    fn poll_recv(
        &mut self,
        cx: &mut Context<'_>,
        buffers: &mut [IoSliceMut<'_>],
        metas: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        if !self.held.is_empty() {
            return Poll::Ready(Ok(self.hand_out(buffers, metas)));
        }
        let read = self.inner.poll_recv(cx, buffers, metas);
        let Poll::Ready(Ok(count)) = read else {
            return read;
        };
        let now = (self.clock)();
        let is_late = LOOK
            .get()
            .is_some_and(|look| now.saturating_duration_since(look) > TOLERANCE);
        if !is_late {
            return read;
        }
        let messages = metas.iter().zip(buffers.iter()).take(count);
        self.held.extend(messages.map(|(meta, buffer)| {
            let datagrams = buffer.get(..meta.len).unwrap_or_default();
            (*meta, datagrams.to_vec())
        }));
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.inner.local_addr()
    }

    fn max_receive_segments(&self) -> NonZeroUsize {
        self.inner.max_receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.inner.may_fragment()
    }
}

/// Sends packets that are not capable of ECN, whatever noq says of them.
#[derive(Debug)]
struct NotCapable(Pin<Box<dyn UdpSender>>);

impl UdpSender for NotCapable {
    fn poll_send(
        mut self: Pin<&mut Self>,
        transmit: &Transmit<'_>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let transmit = Transmit {
            ecn: None,
            ..transmit.clone()
        };
        self.0.as_mut().poll_send(&transmit, cx)
    }

    fn max_transmit_segments(&self) -> NonZeroUsize {
        self.0.max_transmit_segments()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;
    use std::sync::Arc;
    use std::task::Waker;

    use congestion::ControllerKind;
    use noq::udp::UdpSocketState;
    use tokio::io::Interest;
    use tokio::net::UdpSocket;

    use super::*;
    use crate::controller::factory;
    use crate::endpoint::{self, Client, Identity, Udp};

    thread_local! {
        static NOW: Cell<Option<Instant>> = const { Cell::new(None) };
    }

    fn clock() -> Instant {
        NOW.get().unwrap()
    }

    fn wait(micros: u64) {
        NOW.set(Some(clock() + Duration::from_micros(micros)));
    }

    /// The endpoint's turn begins.
    fn look() {
        LOOK.set(NOW.get());
    }

    /// Gives a datagram with the next number at each read, and takes its time.
    #[derive(Debug)]
    struct Slow {
        takes: VecDeque<u64>,
        number: u8,
    }

    impl AsyncUdpSocket for Slow {
        fn create_sender(&self) -> Pin<Box<dyn UdpSender>> {
            unreachable!("nothing is sent")
        }

        fn poll_recv(
            &mut self,
            _: &mut Context<'_>,
            buffers: &mut [IoSliceMut<'_>],
            metas: &mut [RecvMeta],
        ) -> Poll<io::Result<usize>> {
            let Some(takes) = self.takes.pop_front() else {
                return Poll::Pending;
            };
            wait(takes);
            self.number += 1;
            buffers[0][0] = self.number;
            (metas[0].len, metas[0].stride) = (1, 1);
            Poll::Ready(Ok(1))
        }

        fn local_addr(&self) -> io::Result<SocketAddr> {
            Ok((Ipv4Addr::LOCALHOST, 1).into())
        }
    }

    /// Before, what was read 2.5 ms after the look at the clock was taken for 2.5 ms older than it is.
    #[test]
    fn what_was_read_late_waits_for_the_next_look_at_the_clock() {
        NOW.set(Some(Instant::now()));
        let mut socket = Socket {
            inner: Box::new(Slow {
                takes: [5, 2_500, 5].into(),
                number: 0,
            }),
            ecn: false,
            clock,
            held: VecDeque::new(),
        };
        let mut read = || {
            let mut memory = [[0; 8]; 2];
            let mut buffers = memory.each_mut().map(|buffer| IoSliceMut::new(buffer));
            let mut metas = [RecvMeta::default(); 2];
            let mut cx = Context::from_waker(Waker::noop());
            match socket.poll_recv(&mut cx, &mut buffers, &mut metas) {
                Poll::Ready(count) => (count.unwrap(), metas[0].len, buffers[0][0]),
                Poll::Pending => (0, 0, 0),
            }
        };
        look();
        assert_eq!(read(), (1, 1, 1));
        // The process loses its processor while it reads the second.
        assert_eq!(read(), (0, 0, 0));
        look();
        assert_eq!(read(), (1, 1, 2));
        assert_eq!(read(), (1, 1, 3));
        assert_eq!(read(), (0, 0, 0));
    }
    #[tokio::test]
    async fn packets_are_ecn_capable_only_if_marks_are_answered() {
        for (kind, ecn) in [(ControllerKind::Bbr1, false), (ControllerKind::Cubic, true)] {
            let peer = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
            let state = UdpSocketState::new((&peer).into()).unwrap();
            let address = peer.local_addr().unwrap();
            let fingerprint = Identity::generate().unwrap().fingerprint();
            let controllers = factory(kind, 1, None);
            let sockets = Arc::new(Udp);
            let client = Client::new(
                sockets,
                fingerprint,
                b"test",
                controllers,
                endpoint::transport,
            );
            let connecting = client.unwrap().connect(address).unwrap();
            let mut memory = vec![0; 1 << 16];
            let mut metas = [RecvMeta::default()];
            let count = peer.async_io(Interest::READABLE, || {
                let mut buffers = [IoSliceMut::new(&mut memory)];
                state.recv((&peer).into(), &mut buffers, &mut metas)
            });
            assert_eq!(count.await.unwrap(), 1);
            assert_eq!(metas[0].ecn.is_some(), ecn);
            drop(connecting);
        }
    }
}
