//! Correct transports with unusual behaviour.

use std::collections::VecDeque;

use congestion::{Bytes, Duration, Time};
use testkit::{End, Transport};

/// Reads ACKs only at ticks of a clock. All ACKs of a tick have the same time.
pub struct InBatches<T: Transport> {
    inner: T,
    tick: Duration,
    waiting: VecDeque<T::Packet>,
    due: Option<Time>,
}

impl<T: Transport> InBatches<T> {
    pub fn new(inner: T, tick: Duration) -> InBatches<T> {
        InBatches {
            inner,
            tick,
            waiting: VecDeque::new(),
            due: None,
        }
    }
}

impl<T: Transport> Transport for InBatches<T> {
    type Packet = T::Packet;

    fn write(&mut self, now: Time, bytes: u64) {
        self.inner.write(now, bytes);
    }

    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, T::Packet)> {
        self.inner.poll_transmit(now, end)
    }

    fn receive(&mut self, now: Time, end: End, packet: T::Packet) {
        match end {
            End::Sender => {
                self.waiting.push_back(packet);
                let ticks = now.as_nanos().div_ceil(self.tick.as_nanos());
                self.due = Some(Time::from_nanos(ticks * self.tick.as_nanos()));
            }
            End::Receiver => self.inner.receive(now, end, packet),
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let timers = [self.due, self.inner.next_timer()];
        timers.into_iter().flatten().min()
    }

    fn on_timer(&mut self, now: Time) {
        if self.due.take_if(|due| *due <= now).is_some() {
            for packet in self.waiting.drain(..) {
                self.inner.receive(now, End::Sender, packet);
            }
        }
        if self.inner.next_timer().is_some_and(|at| at <= now) {
            self.inner.on_timer(now);
        }
    }

    fn received(&self) -> u64 {
        self.inner.received()
    }
}

/// Sends a keep-alive packet when no packet has left for a while.
pub struct KeptAlive<T> {
    inner: T,
    after: Duration,
    last_sent: Option<Time>,
}

impl<T: Transport> KeptAlive<T> {
    pub fn new(inner: T, after: Duration) -> KeptAlive<T> {
        KeptAlive {
            inner,
            after,
            last_sent: None,
        }
    }

    fn due(&self) -> Option<Time> {
        self.last_sent.map(|last| last + self.after)
    }
}

impl<T: Transport> Transport for KeptAlive<T> {
    type Packet = T::Packet;

    fn write(&mut self, now: Time, bytes: u64) {
        self.inner.write(now, bytes);
    }

    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, T::Packet)> {
        let packet = self.inner.poll_transmit(now, end)?;
        if end == End::Sender {
            self.last_sent = Some(now);
        }
        Some(packet)
    }

    fn receive(&mut self, now: Time, end: End, packet: T::Packet) {
        self.inner.receive(now, end, packet);
    }

    fn next_timer(&self) -> Option<Time> {
        let timers = [self.due(), self.inner.next_timer()];
        timers.into_iter().flatten().min()
    }

    fn on_timer(&mut self, now: Time) {
        if self.due().is_some_and(|at| at <= now) {
            self.last_sent = Some(now);
            self.inner.write(now, 1);
        }
        if self.inner.next_timer().is_some_and(|at| at <= now) {
            self.inner.on_timer(now);
        }
    }

    fn received(&self) -> u64 {
        self.inner.received()
    }
}
