//! Joins requests in access logs to the recorded connections and objects of a study.
//!
//! A log knows where one response ends and the next begins. The kernel knows when the data was acknowledged. The
//! server's time ends when the server has given the last byte to the kernel. A response that fits into the send buffer
//! ends at once by this time. So if exactly one request matches one object, or some in a row, the size comes from the
//! log and the time from the kernel. A log also counts data that never arrived, so the size of a response that was cut
//! short comes from the kernel.

use std::collections::HashMap;
use std::ops::{Range, RangeInclusive};

use experiment::Scope;
use serde::Serialize;
use units::Duration;

use super::log::{LogCounts, Request};

/// The maximum difference between the log's clock and the study's clock, in seconds.
const MAX_CLOCK_DIFFERENCE_S: f64 = 2.0;

/// The maximum time since the last look at an open connection, in seconds.
const MAX_UNSEEN_S: f64 = 60.0;

/// The maximum time by which an object may begin before the logged beginning of its request, in seconds: a server logs
/// times in whole milliseconds.
const MAX_LEAD_S: f64 = 0.002;

/// The maximum time by which an object may begin after the logged end of its request, in seconds: a server logs the
/// time at which its event loop's round began.
const MAX_LAG_S: f64 = 0.020;

/// The factor and the bytes by which an object may exceed its answer, because of encryption and framing.
const MAX_OVERHEAD: f64 = 1.05;
const MAX_OVERHEAD_BYTES: u64 = 8192;

/// The maximum number of objects that are compared with one answer. Without it, an answer of a very long request would
/// be compared with all objects.
const MAX_COMPARED_OBJECTS: usize = 1000;

/// The maximum number of requests in memory, at 40 bytes each.
const MAX_REQUESTS: usize = 10_000_000;

/// The lifetime of a connection, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Life {
    pub set_up: f64,
    pub last: f64,
    pub has_ended: bool,
}

impl Life {
    fn has(&self, request: &Request) -> bool {
        let behind = if self.has_ended { 0.0 } else { MAX_UNSEEN_S };
        let begun = request.ended_unix_s - request.took_s;
        self.set_up - MAX_CLOCK_DIFFERENCE_S <= request.ended_unix_s
            && begun <= self.last + behind + MAX_CLOCK_DIFFERENCE_S
    }
}

/// The numbers of requests in the logs by their outcome.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Joined {
    /// Each log's name and counts.
    pub logs: Vec<(String, LogCounts)>,
    /// Requests on connections of the study.
    pub joined: u64,
    /// The joined requests whose time is the kernel's.
    pub timed_by_kernel: u64,
    /// Requests on no connection of the study.
    pub of_others: u64,
    /// Requests that match several connections.
    pub ambiguous: u64,
    /// Requests above the memory limit.
    pub too_many: u64,
    /// Requests that an earlier log has, too: one that was given twice, or was copied in part when it was rotated.
    pub repeated: u64,
}

/// The answer to a request, from a log.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Answer {
    pub ended: f64,
    /// The maximum delay of its real end, as the log's times are coarse, in seconds.
    pub resolution: f64,
    pub took: f64,
    pub bytes: u64,
}

/// An object as the kernel saw it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Sent {
    pub begun: f64,
    pub busy: Duration,
    pub bytes: u64,
    pub is_whole: bool,
}

/// The part of an answer that is evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Timed {
    pub scope: Scope,
    pub begun: f64,
    pub bytes: u64,
    pub busy: Duration,
    pub is_by_kernel: bool,
}

/// A study's connections by the hashes of their clients' address and port, with the answers that belong to them.
#[derive(Debug)]
pub(super) struct Join<C> {
    ends: HashMap<u64, Vec<(C, Life)>>,
    pub answers: HashMap<C, Vec<Answer>>,
    /// The answers of the log that is being read.
    fresh: HashMap<C, Vec<Answer>>,
    pub joined: Joined,
}

impl<C: Copy + Eq + std::hash::Hash> Join<C> {
    /// An empty join with these connections, each with the hash of its client's address and port.
    pub fn of(connections: impl Iterator<Item = (u64, C, Life)>) -> Join<C> {
        let mut ends: HashMap<u64, Vec<(C, Life)>> = HashMap::new();
        for (end, connection, life) in connections {
            ends.entry(end).or_default().push((connection, life));
        }
        Join {
            ends,
            answers: HashMap::new(),
            fresh: HashMap::new(),
            joined: Joined::default(),
        }
    }

    /// True if no connection has such a hash.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Adds a request whose client has one of these hashes.
    pub fn add(&mut self, ends: &[u64], request: &Request) {
        let known = ends.iter().filter_map(|end| self.ends.get(end)).flatten();
        let mut there = known.filter(|(_, life)| life.has(request));
        let (found, other) = (there.next(), there.next());
        let counts = &mut self.joined;
        match (found, other) {
            (None, _) => counts.of_others += 1,
            (Some(_), Some(_)) => counts.ambiguous += 1,
            (Some(_), None) if counts.joined >= MAX_REQUESTS as u64 => counts.too_many += 1,
            (Some((connection, _)), None) => {
                counts.joined += 1;
                self.fresh.entry(*connection).or_default().push(Answer {
                    ended: request.ended_unix_s,
                    resolution: request.resolution_s,
                    took: request.took_s,
                    bytes: request.bytes,
                });
            }
        }
    }
}

impl<C: Copy + Eq + std::hash::Hash> Join<C> {
    /// The log was read to its end. Answers of an earlier log do not count again. Two equal lines are two requests.
    pub fn end_log(&mut self) {
        for (connection, mut fresh) in self.fresh.drain() {
            let known = self.answers.entry(connection).or_default();
            if known.is_empty() {
                *known = fresh;
                continue;
            }
            known.sort_unstable_by_key(Answer::key);
            fresh.sort_unstable_by_key(Answer::key);
            let all = fresh.len();
            let mut earlier = known.iter().map(Answer::key).peekable();
            fresh.retain(|one| {
                while earlier.next_if(|key| *key < one.key()).is_some() {}
                earlier.next_if(|key| *key == one.key()).is_none()
            });
            let repeated = (all - fresh.len()) as u64;
            self.joined.repeated += repeated;
            self.joined.joined -= repeated;
            known.extend(fresh);
        }
    }
}

impl Answer {
    /// The same for the same line of a log.
    fn key(&self) -> (u64, u64, u64) {
        (self.ended.to_bits(), self.took.to_bits(), self.bytes)
    }

    /// The times at which an object of the answer may begin.
    fn times(&self) -> RangeInclusive<f64> {
        self.ended - self.took - MAX_LEAD_S..=self.ended + self.resolution + MAX_LAG_S
    }

    /// The possible numbers of bytes of its objects.
    fn sizes(&self) -> RangeInclusive<u64> {
        let largest = (self.bytes as f64 * MAX_OVERHEAD) as u64;
        self.bytes..=largest.saturating_add(MAX_OVERHEAD_BYTES)
    }

    /// The objects that may be the answer, as indices: the first one of its size, or else the first consecutive ones
    /// that have it together. The kernel splits a response where the server pauses, or where the client sends
    /// something.
    fn find(&self, objects: &[Sent]) -> Option<Range<usize>> {
        let (times, sizes) = (self.times(), self.sizes());
        let first = objects.partition_point(|one| one.begun < *times.start());
        let many = objects[first..].partition_point(|one| one.begun <= *times.end());
        let end = first + many.min(MAX_COMPARED_OBJECTS);
        let one = (first..end).find(|&place| sizes.contains(&objects[place].bytes));
        if let Some(place) = one {
            return Some(place..place + 1);
        }
        let (mut from, mut sum) = (first, 0_u64);
        for to in first..end {
            sum = sum.saturating_add(objects[to].bytes);
            while sum > *sizes.end() {
                sum -= objects[from].bytes.min(sum);
                from += 1;
            }
            if from < to && sizes.contains(&sum) {
                return Some(from..to + 1);
            }
        }
        None
    }
}

/// The time of objects together, without the time between them.
fn busy(objects: &[Sent]) -> Duration {
    let times = objects.iter().map(|one| one.busy);
    times.fold(Duration::ZERO, |sum, busy| sum + busy)
}

/// The evaluated sizes and times of a connection's answers. An answer's time is the time of the whole objects that
/// match the answer, unless one of them also matches another answer. If the connection has cut an object short, the
/// last answer that has no such time, and was not over before this object, consists of this object and those of its
/// time before it.
pub(super) fn timed(answers: &[Answer], objects: &[Sent]) -> Vec<Timed> {
    let (mut objects, cut): (Vec<Sent>, Vec<Sent>) =
        objects.iter().copied().partition(|one| one.is_whole);
    objects.sort_by(|one, other| one.begun.total_cmp(&other.begun));
    let mut claims = vec![0_u32; objects.len()];
    let mut own = Vec::with_capacity(answers.len());
    for answer in answers {
        let found = answer.find(&objects);
        for claims in &mut claims[found.clone().unwrap_or_default()] {
            *claims += 1;
        }
        own.push(found);
    }
    let each = |(answer, own): (&Answer, Option<Range<usize>>)| {
        let own = own.filter(|places| claims[places.clone()].iter().all(|&claims| claims == 1));
        let own = own.map(|places| &objects[places]);
        let logged = || Duration::from_secs_f64(answer.took);
        Timed {
            scope: Scope::Object,
            begun: own.map_or(answer.ended - answer.took, |own| own[0].begun),
            bytes: answer.bytes,
            busy: own.map_or_else(logged, busy),
            is_by_kernel: own.is_some(),
        }
    };
    let mut all: Vec<Timed> = answers.iter().zip(own).map(each).collect();
    for cut in cut.iter().filter(|cut| cut.bytes > 0) {
        let there = all.iter_mut().zip(answers);
        let there = there.filter(|(one, of)| !one.is_by_kernel && *of.times().end() >= cut.begun);
        if let Some((one, of)) = there.max_by(|(_, a), (_, b)| a.ended.total_cmp(&b.ended)) {
            let before = *of.times().start()..cut.begun;
            let parts = objects.iter().zip(&claims);
            let parts =
                parts.filter(|(part, claims)| **claims == 0 && before.contains(&part.begun));
            let parts: Vec<Sent> = parts.map(|(part, _)| *part).chain([*cut]).collect();
            *one = Timed {
                scope: Scope::Part,
                begun: parts[0].begun,
                bytes: parts.iter().map(|part| part.bytes).sum(),
                busy: busy(&parts),
                is_by_kernel: true,
            };
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn request(ended: f64, took: f64, bytes: u64) -> Request {
        Request {
            client: "192.0.2.7".parse().unwrap(),
            port: 7,
            ended_unix_s: ended,
            resolution_s: 0.0,
            bytes,
            took_s: took,
        }
    }

    fn answer(ended: f64, took: f64, bytes: u64) -> Answer {
        let resolution = 0.0;
        Answer {
            ended,
            resolution,
            took,
            bytes,
        }
    }

    fn sent(begun: f64, millis: u64, bytes: u64) -> Sent {
        Sent {
            begun,
            busy: Duration::from_millis(millis),
            bytes,
            is_whole: true,
        }
    }

    #[test]
    fn a_request_finds_its_connection_by_end_and_time() {
        let life = |set_up, last, has_ended| Life {
            set_up,
            last,
            has_ended,
        };
        // Two connections with the same client address and port, one after the other; and an open connection.
        let lives = [
            (1, 'a', life(100.0, 110.0, true)),
            (1, 'b', life(150.0, 160.0, true)),
            (2, 'c', life(100.0, 110.0, false)),
        ];
        let mut join = Join::of(lives.into_iter());
        for (ends, ended, took) in [
            (&[1][..], 105.0, 1.0),
            (&[1], 159.0, 1.0),
            (&[2, 9], 165.0, 1.0),
            // Requests of other connections: unknown client, too early, between the two, too late.
            (&[9], 105.0, 1.0),
            (&[1], 97.0, 1.0),
            (&[1], 130.0, 1.0),
            (&[2], 180.0, 1.0),
            // Ambiguous: the request's time spans both connections.
            (&[1], 155.0, 50.0),
        ] {
            join.add(ends, &request(ended, took, 7));
        }
        join.end_log();
        let found = &join.answers;
        assert_eq!(found[&'a'], [answer(105.0, 1.0, 7)]);
        assert_eq!((found[&'b'].len(), found[&'c'].len()), (1, 1));
        let counts = &join.joined;
        assert_eq!(
            (counts.joined, counts.of_others, counts.ambiguous),
            (3, 4, 1)
        );
    }

    #[test]
    fn what_several_logs_have_counts_once() {
        let life = Life {
            set_up: 100.0,
            last: 110.0,
            has_ended: true,
        };
        let mut join = Join::of([(1, 'a', life)].into_iter());
        // A log; the same with more lines, as copied when it was rotated; and another one.
        for log in [
            &[101.0, 102.0, 102.0][..],
            &[102.0, 101.0, 102.0, 103.0],
            &[104.0, 103.0],
        ] {
            for ended in log {
                join.add(&[1], &request(*ended, 0.5, 7));
            }
            join.end_log();
        }
        let mut ends: Vec<f64> = join.answers[&'a'].iter().map(|one| one.ended).collect();
        ends.sort_by(f64::total_cmp);
        assert_eq!(ends, [101.0, 102.0, 102.0, 103.0, 104.0]);
        assert_eq!((join.joined.joined, join.joined.repeated), (5, 4));
    }

    #[test]
    fn the_kernel_has_the_time_where_one_stands_beside_one() {
        // Answers, objects, and for each answer the time of its object in milliseconds.
        type Case<'c> = (&'c [Answer], &'c [Sent], &'c [Option<f64>]);
        let cases: [Case<'_>; 8] = [
            // The whole answer fitted into the send buffer at once. Earlier, the handshake has sent an object.
            (
                &[answer(10.001, 0.001, 5000)],
                &[sent(9.9, 50, 4000), sent(10.001, 80, 5200)],
                &[Some(80.0)],
            ),
            // Two answers at the same time, in one object.
            (
                &[answer(20.5, 0.5, 40_000), answer(20.6, 0.6, 50_000)],
                &[sent(20.1, 900, 90_500)],
                &[None, None],
            ),
            // An object that is much larger than the answer.
            (
                &[answer(30.1, 0.1, 1000)],
                &[sent(30.05, 900, 900_000)],
                &[None],
            ),
            // No object.
            (&[answer(40.1, 0.1, 1000)], &[], &[None]),
            // Two answers in quick succession, as a nearby client asks for them.
            (
                &[
                    answer(50.010, 0.010, 4_000_000),
                    answer(50.021, 0.010, 4_000_000),
                ],
                &[sent(50.001, 11, 4_000_000), sent(50.012, 12, 4_000_001)],
                &[Some(11.0), Some(12.0)],
            ),
            // An answer in three pieces, as the server paused: all of the time in which it was busy.
            (
                &[answer(60.6, 0.6, 3_000_000)],
                &[
                    sent(60.001, 100, 1_000_000),
                    sent(60.25, 110, 1_500_000),
                    sent(60.5, 90, 520_000),
                ],
                &[Some(300.0)],
            ),
            // The same behind another answer, whose own object is no piece of it.
            (
                &[answer(70.1, 0.1, 5000), answer(70.6, 0.45, 40_000)],
                &[
                    sent(70.01, 20, 5100),
                    sent(70.2, 30, 21_000),
                    sent(70.5, 40, 20_000),
                ],
                &[Some(20.0), Some(70.0)],
            ),
            // Pieces that are too few, or that two answers may have.
            (
                &[
                    answer(80.5, 0.5, 90_000),
                    answer(81.5, 0.5, 30_000),
                    answer(81.6, 0.6, 30_000),
                ],
                &[
                    sent(80.1, 10, 40_000),
                    sent(80.3, 10, 40_000),
                    sent(81.1, 10, 15_000),
                    sent(81.3, 10, 16_000),
                ],
                &[None, None, None],
            ),
        ];
        let answers: Vec<Answer> = cases.iter().flat_map(|case| case.0).copied().collect();
        let objects: Vec<Sent> = cases.iter().flat_map(|case| case.1).copied().collect();
        let expected = cases.iter().flat_map(|case| case.2);
        // All cases are on one connection: no answer takes the object of another case.
        for ((one, answer), millis) in timed(&answers, &objects).iter().zip(&answers).zip(expected)
        {
            assert_eq!(
                (one.bytes, one.is_by_kernel),
                (answer.bytes, millis.is_some()),
                "{answer:?}"
            );
            let millis = millis.unwrap_or(answer.took * 1000.0);
            assert!(
                (one.busy.as_millis_f64() - millis).abs() < 1e-6,
                "{answer:?}: {one:?}"
            );
        }
    }

    #[test]
    fn what_was_cut_short_has_no_completion() {
        let cut = Sent {
            is_whole: false,
            ..sent(10.0, 80, 5000)
        };
        let found = timed(&[answer(10.1, 0.1, 4900)], &[cut]);
        assert_eq!(found[0].scope, Scope::Part);
        // The log has all bytes that the server gave to the kernel. The answer before is complete.
        let cut = Sent {
            bytes: 3_000_000,
            ..cut
        };
        let answers = [answer(10.4, 0.4, 5_000_000), answer(9.01, 0.01, 5000)];
        let found = timed(&answers, &[sent(9.001, 20, 5000), cut]);
        let found = found.iter().map(|one| (one.scope, one.bytes));
        let expected = [(Scope::Part, 3_000_000), (Scope::Object, 5000)];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        // The pieces before the cut one are of the same answer.
        let piece = Sent {
            begun: 10.01,
            ..sent(0.0, 50, 1_000_000)
        };
        let later = Sent { begun: 10.2, ..cut };
        let found = timed(&answers[..1], &[piece, later]);
        assert_eq!((found[0].scope, found[0].bytes), (Scope::Part, 4_000_000));
        assert_eq!(found[0].busy, Duration::from_millis(130));
        // No answer was under way when this object began, or nothing of it arrived.
        for cut in [Sent { begun: 11.0, ..cut }, Sent { bytes: 0, ..cut }] {
            let found = timed(&answers[..1], &[cut]);
            assert_eq!(found[0].scope, Scope::Object);
        }
    }

    #[test]
    fn a_log_in_whole_seconds_finds_the_objects_of_its_second() {
        let coarse = Answer {
            resolution: 1.0,
            ..answer(10.0, 0.3, 50_000)
        };
        let objects = [sent(10.55, 320, 50_400)];
        assert!(timed(&[coarse], &objects)[0].is_by_kernel);
        assert!(!timed(&[answer(10.0, 0.3, 50_000)], &objects)[0].is_by_kernel);
    }

    proptest! {
        #[test]
        fn no_object_is_the_time_of_two_answers(
            answers in prop::collection::vec((0.0..10.0_f64, 0.0..3.0_f64, 0..50_000_u64), 0..20),
            objects in prop::collection::vec((0.0..10.0_f64, 0..3000_u64, 0..50_000_u64), 0..20),
        ) {
            let answers: Vec<Answer> = answers.into_iter().map(|(e, t, b)| answer(e, t, b)).collect();
            // Each object has a distinct time, by which the test recognises it.
            let objects: Vec<Sent> = (0..)
                .zip(objects)
                .map(|(place, (begun, millis, bytes))| sent(begun, millis * 20 + place, bytes))
                .collect();
            let found = timed(&answers, &objects);
            prop_assert_eq!(found.len(), answers.len());
            let mut times: Vec<Duration> = found
                .iter()
                .filter(|one| one.is_by_kernel)
                .map(|one| one.busy)
                .collect();
            let all = times.len();
            times.sort_unstable();
            times.dedup();
            prop_assert_eq!(times.len(), all);
        }
    }
}
