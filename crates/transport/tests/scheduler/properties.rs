//! [`Fq`] always agrees with the simple model.

use proptest::prelude::*;
use transport::burst::{Burst, Kind};
use transport::scheduler::Fq;
use transport::scheduler::fq::Config;
use units::{Bytes, Duration, Time};

use crate::host::burst;
use crate::model::Model;

#[derive(Debug, Clone)]
enum Step {
    Enqueue {
        connection: u32,
        bytes: u32,
        in_micros: u64,
    },
    Dequeue,
    Drain,
    Wait {
        micros: u64,
    },
    WaitForDeparture,
}

fn step() -> impl Strategy<Value = Step> {
    let bytes = prop_oneof![1..3_000u32, Just(0), Just(65_160), 1..100_000u32];
    let in_micros = prop_oneof![3 => Just(0), 3 => 0..2_000u64, 1 => 0..12_000_000u64];
    let micros = prop_oneof![4 => 0..1_000u64, 2 => 0..100_000u64, 1 => 0..7_000_000u64];
    prop_oneof![
        8 => (0..6u32, bytes, in_micros).prop_map(|(connection, bytes, in_micros)| Step::Enqueue {
            connection,
            bytes,
            in_micros,
        }),
        6 => Just(Step::Dequeue),
        1 => Just(Step::Drain),
        3 => micros.prop_map(|micros| Step::Wait { micros }),
        2 => Just(Step::WaitForDeparture),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    let quantum = prop_oneof![Just(3_000u64), 200..10_000u64];
    (quantum, 0..20_000u64, 1..8u32).prop_map(|(quantum, initial_quantum, flow_limit)| Config {
        quantum: Bytes::new(quantum),
        initial_quantum: Bytes::new(initial_quantum),
        flow_limit,
        ..Config::default()
    })
}

/// The scheduler and the model, side by side.
struct Pair {
    fq: Fq,
    model: Model,
    now: Time,
    waiting: Vec<Burst>,
}

impl Pair {
    fn enqueue(&mut self, burst: Burst) {
        let answer = self.fq.enqueue(self.now, burst);
        assert_eq!(answer, self.model.enqueue(self.now, burst));
        if answer.is_ok() {
            self.waiting.push(burst);
        }
    }

    fn dequeue(&mut self) -> Option<Burst> {
        let burst = self.fq.dequeue(self.now);
        assert_eq!(burst, self.model.dequeue(self.now));
        match burst {
            Some(burst) => {
                assert!(burst.departure <= self.now);
                let same = |other: &Burst| other.connection == burst.connection;
                let first = self.waiting.iter().position(same).expect("it waited");
                assert_eq!(self.waiting.remove(first), burst, "out of order");
            }
            None => {
                let next = self.fq.next_departure();
                assert_eq!(next, self.model.next_departure());
                assert!(next.is_none_or(|next| next > self.now));
            }
        }
        let queued: Bytes = self.waiting.iter().map(Burst::wire_size).sum();
        assert_eq!(self.fq.queued(), queued);
        let counters = self.fq.counters();
        assert_eq!(
            counters.enqueued - counters.dequeued,
            self.waiting.len() as u64
        );
        burst
    }

    fn take(&mut self, index: usize, step: Step) {
        match step {
            Step::Enqueue {
                connection,
                bytes,
                in_micros,
            } => {
                let departure = self.now + Duration::from_micros(in_micros);
                let mut burst = burst(connection, index as u64, bytes, departure);
                if bytes == 0 {
                    burst.kind = Kind::Syn;
                }
                self.enqueue(burst);
            }
            Step::Dequeue => {
                self.dequeue();
            }
            Step::Drain => while self.dequeue().is_some() {},
            Step::Wait { micros } => self.now += Duration::from_micros(micros),
            Step::WaitForDeparture => {
                let next = self.fq.next_departure();
                if let Some(next) = next.filter(|next| *next > self.now) {
                    self.now = next;
                    assert!(self.dequeue().is_some(), "nothing left at {next:?}");
                }
            }
        }
    }
}

proptest! {
    #[test]
    fn it_does_what_the_model_does(
        config in config(),
        steps in prop::collection::vec(step(), 1..300),
    ) {
        let mut pair = Pair {
            fq: Fq::new(&config),
            model: Model::new(&config),
            now: Time::ZERO,
            waiting: Vec::new(),
        };
        for (index, step) in steps.into_iter().enumerate() {
            pair.take(index, step);
        }
        // Nothing is lost.
        pair.now += Duration::from_secs(30);
        while pair.dequeue().is_some() {}
        prop_assert!(pair.waiting.is_empty());
        prop_assert_eq!(pair.fq.next_departure(), None);
    }

    /// Memory depends on the flows that were active recently, however many there have been.
    #[test]
    fn flows_are_forgotten(gap_micros in 100..10_000u64) {
        let mut fq = Fq::new(&Config::default());
        let mut now = Time::ZERO;
        for connection in 0..20_000 {
            now += Duration::from_micros(gap_micros);
            prop_assert!(fq.enqueue(now, burst(connection, 0, 1_000, now)).is_ok());
            while fq.dequeue(now).is_some() {}
        }
        let active_in_three_seconds = 3_000_000 / gap_micros + 1;
        prop_assert!(fq.flows() as u64 <= active_in_three_seconds + 2, "{}", fq.flows());
    }
}
