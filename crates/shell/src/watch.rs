//! Observes a running tunnel, on a separate thread.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration as StdDuration, Instant};

use emulator::DirectionCounters;
use emulator::tunnel::{Direction as Towards, Tunnel, TunnelCounters, WayCounters};
use units::{Bytes, Duration};

use super::flows::FlowWatch;
use super::summary::{ConnectionSummary, WaySummary};
use record::{PathRecorder, PathSample, PathTotals, Point, Series};
use scenario::PathSpec;

/// The sampling interval of queues, short enough for the shortest queue that matters to a person.
const POLL_INTERVAL: StdDuration = StdDuration::from_millis(5);
/// The samples of queues for each sample of connections, for which the kernel writes a message about each.
const POLLS_PER_FLOW_SAMPLE: u64 = 10;

/// A sample of one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WaySample {
    /// The time from the start.
    pub at: Duration,
    /// The bytes in the buffer.
    pub queue: Bytes,
    /// The queueing delay of a packet arriving now.
    pub delay: Duration,
    /// The bytes of IP packets delivered so far.
    pub delivered: Bytes,
}

impl Point for WaySample {
    fn at(&self) -> Duration {
        self.at
    }

    fn is_news(&self, _previous: &WaySample) -> bool {
        false
    }

    fn level(&self) -> Option<Duration> {
        Some(self.delay)
    }
}

/// The observations of one direction.
#[derive(Debug, Clone)]
pub(super) struct SeenWay {
    pub summary: WaySummary,
    pub samples: Vec<WaySample>,
}

/// The observations until the end.
#[derive(Debug)]
pub(super) struct Seen {
    pub duration: Duration,
    pub up: SeenWay,
    pub down: SeenWay,
    pub flows: Vec<ConnectionSummary>,
}

/// A thread that observes a tunnel until it is told to take it down.
#[derive(Debug)]
pub(super) struct Watch {
    /// Open while the tunnel should run.
    running: Sender<()>,
    thread: JoinHandle<Seen>,
}

impl Watch {
    /// Starts observing the tunnel and its connections. `paths` are the directions away from the command and towards
    /// it.
    pub fn start(tunnel: Tunnel, paths: [PathSpec; 2], flows: FlowWatch) -> io::Result<Watch> {
        let (running, stop) = mpsc::channel::<()>();
        let mut looking = Looking {
            began: Instant::now(),
            up: WayRecorder::new(paths[0].clone()),
            down: WayRecorder::new(paths[1].clone()),
            flows,
        };
        let thread = thread::Builder::new().name("watch".into()).spawn(move || {
            for poll in 0u64.. {
                looking.look(&tunnel);
                if poll.is_multiple_of(POLLS_PER_FLOW_SAMPLE) {
                    looking.look_at_flows();
                }
                match stop.recv_timeout(POLL_INTERVAL) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => break,
                }
            }
            looking.finish(tunnel)
        })?;
        Ok(Watch { running, thread })
    }

    /// Takes the tunnel down, and returns the observations. Fails if the thread panicked, which was reported then.
    pub fn finish(self) -> io::Result<Seen> {
        drop(self.running);
        self.thread
            .join()
            .map_err(|_| io::Error::other("the thread that looks at the path is gone"))
    }
}

struct Looking {
    began: Instant,
    up: WayRecorder,
    down: WayRecorder,
    flows: FlowWatch,
}

impl Looking {
    fn at(&self) -> Duration {
        self.began.elapsed().into()
    }

    fn look(&mut self, tunnel: &Tunnel) {
        let counters = tunnel.counters();
        let at = self.at();
        for (towards, recorder, counters) in [
            (Towards::Forward, &mut self.up, &counters.forward),
            (Towards::Reverse, &mut self.down, &counters.reverse),
        ] {
            let queued = tunnel.queued(towards, 0);
            recorder.note(
                WaySample {
                    at,
                    queue: queued.bytes,
                    delay: queued.delay,
                    delivered: Bytes::new(counters.tun.written_bytes),
                },
                counters,
            );
        }
    }

    fn look_at_flows(&mut self) {
        let at = self.at();
        self.flows.look(at);
    }

    fn finish(mut self, tunnel: Tunnel) -> Seen {
        // The last sample of a connection that has just ended.
        self.look_at_flows();
        self.look(&tunnel);
        let duration = self.at();
        let TunnelCounters { forward, reverse } = tunnel.stop();
        Seen {
            duration,
            up: self.up.finish(duration, forward),
            down: self.down.finish(duration, reverse),
            flows: self.flows.finish(),
        }
    }
}

/// Records one direction.
struct WayRecorder {
    path: PathRecorder,
    series: Series<WaySample>,
}

impl WayRecorder {
    fn new(path: PathSpec) -> WayRecorder {
        WayRecorder {
            path: PathRecorder::new(path, Duration::ZERO),
            series: Series::new(),
        }
    }

    fn note(&mut self, sample: WaySample, counters: &WayCounters) {
        self.series.push(sample);
        self.path.sample(PathSample {
            at: sample.at,
            queue: sample.queue,
            delay: sample.delay,
        });
        self.path.totals(sample.at, totals(counters));
    }

    fn finish(self, end: Duration, counters: WayCounters) -> SeenWay {
        // Packets are only known to be IP.
        let (path, _) = self.path.finish(end, 1.0);
        SeenWay {
            summary: WaySummary {
                path,
                link: link(&counters),
                tun: counters.tun,
            },
            samples: self.series.finish(),
        }
    }
}

/// The only link of a direction.
fn link(counters: &WayCounters) -> DirectionCounters {
    counters.links.first().copied().unwrap_or_default()
}

fn totals(counters: &WayCounters) -> PathTotals {
    let link = link(counters);
    PathTotals {
        packets: None,
        transmitted: Bytes::new(link.transmitted_bytes),
        drops: Some(link.buffer_drops + link.policer_drops),
        marks: Some(link.marked_packets),
        random_losses: Some(link.random_losses),
        corrupted: Some(link.corrupted_packets),
        too_big: Some(link.too_big_packets),
        late_packets: Some(counters.tun.late_packets),
        released_packets: Some(counters.tun.written_packets),
        lateness: Some(Duration::from_nanos(counters.tun.lateness_total_ns)),
        // A full TUN device is like a full queue of the sending host: TCP loses nothing.
        overflows: None,
    }
}
