//! The TCP of `transport`, with its packet scheduler: what the simulator runs.

use std::collections::VecDeque;

use congestion::{Bytes, Time};
use testkit::{End, Probe, Transport, Witness};
use transport::receiver::{self, Receiver};
use transport::scheduler::{Pacing, Scheduler, SchedulerConfig};
use transport::segment::Segment;
use transport::sender::{self, Sender};

pub struct Tcp {
    sender: Sender<Witness>,
    receiver: Receiver,
    scheduler: Scheduler,
    waiting: u64,
    departed: VecDeque<Segment>,
    replies: VecDeque<Segment>,
}

impl Tcp {
    pub fn new(probe: &Probe) -> Tcp {
        let config = sender::Config::default();
        let make = |about| probe.controller(about);
        let mut sender = Sender::new(Time::ZERO, 0, &config, make, 1);
        sender.open(Time::ZERO);
        Tcp {
            sender,
            receiver: Receiver::new(0, &receiver::Config::default()),
            scheduler: Scheduler::new(&SchedulerConfig::of(Pacing::Fq)),
            waiting: 0,
            departed: VecDeque::new(),
            replies: VecDeque::new(),
        }
    }

    fn pump(&mut self, now: Time) {
        let written = self.sender.write(Bytes::new(self.waiting));
        self.waiting -= written.get();
        loop {
            while let Some(burst) = self.sender.poll_burst(now) {
                self.scheduler.enqueue(now, burst).expect("room");
            }
            let Some(burst) = self.scheduler.dequeue(now) else {
                return;
            };
            self.departed.extend(burst.segments());
            self.sender.on_departed(&burst);
        }
    }
}

impl Transport for Tcp {
    type Packet = Segment;

    fn write(&mut self, _: Time, bytes: u64) {
        self.waiting = self.waiting.saturating_add(bytes);
    }

    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, Segment)> {
        let segment = match end {
            End::Sender => {
                if self.departed.is_empty() {
                    self.pump(now);
                }
                self.departed.pop_front()?
            }
            End::Receiver => self.replies.pop_front()?,
        };
        Some((segment.wire_size(), segment))
    }

    fn receive(&mut self, now: Time, end: End, segment: Segment) {
        match end {
            End::Sender => {
                self.sender.on_segment(now, &segment.body);
            }
            End::Receiver => {
                let reply = self.receiver.on_segment(now, &segment.body, false);
                self.replies.extend(reply);
            }
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let timers = [
            self.sender.next_timer(),
            self.receiver.next_timer(),
            self.scheduler.next_departure(),
        ];
        timers.into_iter().flatten().min()
    }

    fn on_timer(&mut self, now: Time) {
        if self.sender.next_timer().is_some_and(|at| at <= now) {
            self.sender.on_timer(now);
        }
        if self.receiver.next_timer().is_some_and(|at| at <= now) {
            let reply = self.receiver.on_timer(now);
            self.replies.extend(reply);
        }
    }

    fn received(&self) -> u64 {
        self.receiver.received()
    }
}
