//! The thread of a direction, or of both: it reads frames at one end, and writes them at the other when they are due.

use std::io::{self, PipeReader};
use std::os::fd::OwnedFd;
use std::sync::Arc;

use path::Queued;
use rustix::event::{PollFd, PollFlags};
use units::{Duration, Time};

use super::counters::{TunCounters, WayCounters};
use super::frame::{Inbox, Received};
use super::network::{Departure, Network, TooBig};
use super::outbox::{Outbox, is_gone};
use crate::clock::Clock;
use crate::view::View;
use crate::wakeup::{MAX_VIEW_AGE, ask_for_precise_wakeups, timespec};

/// The interval at which a busy thread checks for its stop, and updates its visible state.
const CHECK_INTERVAL: Duration = Duration::from_millis(1);

/// A sleep ends this long after its time: the median on a virtual machine, where it is worse than on others. So the
/// thread sleeps for less, and is awake when something is due. Shorter waits are slept through: where packets follow
/// each other closely, late ones share a wake-up.
const WAKE_UP_LATENCY: Duration = Duration::from_micros(20);

/// The state of one direction that observers can read.
#[derive(Debug, Default)]
pub(crate) struct ObservedWay {
    pub(crate) counters: WayCounters,
    pub(crate) queued: Vec<Queued>,
}

/// A direction that a thread serves: from one device to the other.
pub(crate) struct Carried {
    device: Arc<OwnedFd>,
    inbox: Inbox,
    outbox: Outbox,
    counters: TunCounters,
    pub(crate) observed: View<ObservedWay>,
}

impl Carried {
    pub(crate) fn new(from: Arc<OwnedFd>, to: Arc<OwnedFd>) -> Carried {
        Carried {
            device: from,
            inbox: Inbox::new(),
            outbox: Outbox::new(to),
            counters: TunCounters::default(),
            observed: View::default(),
        }
    }
}

/// The state of the thread.
pub(crate) struct Worker {
    clock: Clock,
    network: Network,
    /// The network's ways, in its order.
    ways: Vec<Carried>,
    /// The time of the last update for observers.
    shown_at: Time,
    /// True if anything has happened since then.
    changed: bool,
    /// True if packets waited at a bottleneck then.
    queueing: bool,
    /// The due time for which the thread last slept.
    dozed_for: Time,
    stop: PipeReader,
}

/// The thread must end: it was told to, or a device is gone.
struct End;

impl Worker {
    /// Returns a worker that moves frames over a network's ways until the other end of `stop` is closed.
    pub(crate) fn new(
        clock: Clock,
        network: Network,
        ways: Vec<Carried>,
        stop: PipeReader,
    ) -> Worker {
        let mut worker = Worker {
            clock,
            network,
            ways,
            shown_at: Time::ZERO,
            changed: false,
            queueing: false,
            dozed_for: Time::MAX,
            stop,
        };
        worker.show(Time::ZERO);
        worker
    }

    /// Works until the end.
    pub(crate) fn run(mut self) {
        ask_for_precise_wakeups();
        while self.turn().is_ok() {}
        self.show(self.clock.now());
    }

    /// Takes a frame of each way if there is one, writes the packets that are due, and waits if nothing came.
    ///
    /// It takes one frame at a time: a device has no call that reads several, and due packets should not wait for more.
    fn turn(&mut self) -> Result<(), End> {
        let mut came = false;
        let mut now = self.clock.now();
        for way in 0..self.ways.len() {
            let Carried { device, inbox, .. } = &mut self.ways[way];
            let received = match inbox.read(&*device) {
                Ok(Received::End) => return Err(End),
                Ok(received) => Some(received),
                Err(error) if is_gone(&error) => return Err(End),
                Err(_) => None,
            };
            came |= received.is_some();
            now = self.clock.now();
            self.pass(now, way, received).map_err(|_| End)?;
        }
        if !came {
            return self.wait();
        }
        if now.since(self.shown_at) < CHECK_INTERVAL {
            return Ok(());
        }
        self.show(now);
        self.poll(Duration::ZERO)
    }

    /// Writes the packets that have arrived by `now`, takes the frame that was read, and writes the packets that have
    /// arrived by that.
    fn pass(&mut self, now: Time, way: usize, received: Option<Received>) -> io::Result<()> {
        self.deliver(now)?;
        let counters = &mut self.ways[way].counters;
        match received {
            Some(Received::Frame(frame)) => {
                let layout = frame.layout();
                let segments = 0..layout.segments();
                counters.read_frames += 1;
                counters.read_packets += u64::from(segments.end);
                counters.read_bytes += layout.wire_size(&segments) as u64;
                self.changed = true;
                if let Some(departure) = self.network.enter(now, way, frame) {
                    self.put(departure, now)?;
                }
                self.deliver(now)?;
            }
            Some(Received::Malformed) => counters.malformed_frames += 1,
            Some(Received::End) | None => {}
        }
        for TooBig {
            frame,
            segments,
            mtu,
            way,
        } in self.network.too_big()
        {
            // A report that cannot be sent is dropped, as by a busy router.
            if let Some(report) = frame.too_big(&segments, mtu) {
                let _ = rustix::io::write(&self.ways[way].device, &report);
            }
        }
        for carried in &mut self.ways {
            let Carried {
                outbox, counters, ..
            } = carried;
            outbox.flush(&mut self.network, counters)?;
        }
        Ok(())
    }

    fn deliver(&mut self, now: Time) -> io::Result<()> {
        while let Some(departure) = self.network.next(now) {
            self.put(departure, now)?;
        }
        Ok(())
    }

    fn put(&mut self, departure: Departure, now: Time) -> io::Result<()> {
        self.changed = true;
        let Carried {
            outbox, counters, ..
        } = &mut self.ways[departure.way];
        outbox.put(departure, now, &mut self.network, counters)
    }

    /// Waits until there is something to read, something is due, or observers need an update.
    fn wait(&mut self) -> Result<(), End> {
        let now = self.clock.now();
        let look = match (self.changed, self.queueing) {
            (true, _) => self.shown_at + CHECK_INTERVAL,
            (false, true) => self.shown_at + MAX_VIEW_AGE,
            (false, false) => Time::MAX,
        };
        if now >= look {
            self.show(now);
            return self.poll(Duration::ZERO);
        }
        let next = self.network.next_at();
        let due = next.since(now);
        let until_look = look.since(now);
        if due > WAKE_UP_LATENCY {
            self.dozed_for = next;
            self.poll(due.saturating_sub(WAKE_UP_LATENCY).min(until_look))
        } else if self.dozed_for == next {
            // The thread stays awake for the rest.
            Ok(())
        } else {
            self.poll(due.min(until_look))
        }
    }

    /// Waits for at most `span` until there is something to read.
    fn poll(&self, span: Duration) -> Result<(), End> {
        let devices = self
            .ways
            .iter()
            .map(|way| PollFd::new(&way.device, PollFlags::IN));
        let stop = PollFd::new(&self.stop, PollFlags::IN);
        let mut waits: Vec<PollFd> = std::iter::once(stop).chain(devices).collect();
        // A failed wait (a signal, or a temporary lack of memory) leaves all flags empty, and the loop continues.
        let _ = rustix::event::poll(&mut waits, Some(&timespec(span)));
        let mut flags = waits.iter().map(|wait| wait.revents());
        let is_told = flags.next().is_some_and(|stop| !stop.is_empty());
        let lost = PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL;
        let is_lost =
            |device: PollFlags| device.intersects(lost) && !device.contains(PollFlags::IN);
        if is_told || flags.any(is_lost) {
            Err(End)
        } else {
            Ok(())
        }
    }

    /// Updates the state that observers can read.
    fn show(&mut self, now: Time) {
        self.network.advance(now);
        self.queueing = false;
        for (way, carried) in self.ways.iter().enumerate() {
            let mut observed = carried.observed.lock();
            let ObservedWay { counters, queued } = &mut *observed;
            counters.tun = carried.counters;
            counters.links.clear();
            queued.clear();
            for (link, waiting) in self.network.observe(way) {
                counters.links.push(link);
                queued.push(waiting);
            }
            self.queueing |= queued.iter().any(|queued| queued.packets > 0);
        }
        self.shown_at = now;
        self.changed = false;
    }
}
