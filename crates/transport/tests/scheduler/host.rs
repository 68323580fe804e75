//! A host whose connections always have data to send. Each has a fixed number of bursts in the scheduler (TCP small
//! queues), and makes the next when one has left.

use transport::burst::{Burst, Kind};
use transport::scheduler::{Pacer, Scheduler, SchedulerConfig};
use units::{Bytes, Duration, Rate, Time};

pub const MSS: u32 = 1_448;

/// A burst that may leave at `departure`.
pub fn burst(connection: u32, seq: u64, bytes: u32, departure: Time) -> Burst {
    Burst {
        connection,
        kind: Kind::Data,
        seq,
        bytes,
        mss: MSS,
        departure,
        echo: Time::ZERO,
        is_retransmission: false,
        cwr: false,
        ends_write: false,
        ack_request: None,
    }
}

/// A connection.
pub struct Flow {
    /// The bytes of each of its bursts.
    pub burst: u32,
    /// Its pacing rate.
    pub rate: Rate,
    /// Its start.
    pub start: Time,
    pacer: Pacer,
    made: u64,
    /// Bytes on the wire that have left.
    pub left: Bytes,
    /// The end of its stream that has left.
    departed: u64,
}

impl Flow {
    pub fn new(burst: u32, rate: Rate, start: Time) -> Flow {
        let mut pacer = Pacer::default();
        // Past the initial window, which is not paced.
        pacer.on_burst(start, Bytes::ZERO, 10, rate);
        Flow {
            burst,
            rate,
            start,
            pacer,
            made: 0,
            left: Bytes::ZERO,
            departed: 0,
        }
    }

    fn make(&mut self, now: Time, connection: u32) -> Burst {
        let packets = self.burst.div_ceil(MSS);
        let size = Bytes::new(u64::from(self.burst));
        let departure = self
            .pacer
            .on_burst(now.max(self.start), size, packets, self.rate);
        let burst = burst(connection, self.made, self.burst, departure);
        self.made = burst.end();
        burst
    }
}

/// A host with a NIC.
pub struct Host {
    pub scheduler: Scheduler,
    pub flows: Vec<Flow>,
    nic: Rate,
    now: Time,
}

impl Host {
    /// Creates a host with the first `bursts` bursts of all flows in the scheduler.
    pub fn new(config: &SchedulerConfig, nic: Rate, flows: Vec<Flow>, bursts: u32) -> Host {
        let mut host = Host {
            scheduler: Scheduler::new(config),
            flows,
            nic,
            now: Time::ZERO,
        };
        for _ in 0..bursts {
            for connection in 0..host.flows.len() {
                host.enqueue(connection);
            }
        }
        host
    }

    fn enqueue(&mut self, connection: usize) {
        let burst = self.flows[connection].make(self.now, connection as u32);
        assert_eq!(self.scheduler.enqueue(self.now, burst), Ok(()));
    }

    /// Sends until `end`; calls `on_departure` for each burst that begins to leave. Checks the departures: not too
    /// early, in order, none missing.
    pub fn run(&mut self, end: Time, mut on_departure: impl FnMut(Time, &Burst)) {
        while self.now < end {
            let Some(burst) = self.scheduler.dequeue(self.now) else {
                let next = self.scheduler.next_departure().expect("bursts wait");
                assert!(next > self.now, "asked again at {next:?}");
                self.now = next;
                continue;
            };
            assert!(burst.departure <= self.now, "{burst:?} at {:?}", self.now);
            let connection = burst.connection as usize;
            let flow = &mut self.flows[connection];
            assert_eq!(burst.seq, flow.departed, "{burst:?}");
            flow.departed = burst.end();
            flow.left += burst.wire_size();
            on_departure(self.now, &burst);
            self.now += self.nic.time_for(burst.wire_size());
            self.enqueue(connection);
        }
    }
}

/// `millis` milliseconds after the start.
pub fn at_millis(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}
