//! Applications in virtual time, over a network that is a rate and a delay.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use proptest::prelude::*;
use transport::app::{
    App, Config, Connections, Pause, Poisson, RateLimited, Requests, Sizes, Transfer, Video,
};
use units::{Bytes, Duration, Rate, Ratio, Time};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn mbit(rate: u64) -> Rate {
    Rate::from_bits_per_sec(rate * 1_000_000)
}

fn kb(size: u64) -> Bytes {
    Bytes::new(size * 1_000)
}

/// The bytes delivered so far in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Delivered {
    Requests(u64),
    Data(u64),
}

/// An application and its network: data leave at `rate`, and everything is delayed by `delay`.
struct Run {
    app: App,
    rate: Rate,
    delay: Duration,
    /// The time at which the last byte of data written so far has left.
    left: Time,
    data: u64,
    requests: u64,
    under_way: BinaryHeap<Reverse<(Time, Delivered)>>,
    transfers: Vec<Transfer>,
}

impl Run {
    fn new(config: &Config, rate: Rate, delay: Duration) -> Run {
        Run {
            app: App::new(config, 1, Time::ZERO).unwrap(),
            rate,
            delay,
            left: Time::ZERO,
            data: 0,
            requests: 0,
            under_way: BinaryHeap::new(),
            transfers: Vec::new(),
        }
    }

    fn until(&mut self, end: Time) {
        self.write(Time::ZERO);
        while let Some(now) = self.next_event().filter(|at| *at <= end) {
            if self.app.next_timer().is_some_and(|at| at <= now) {
                self.app.on_timer(now);
            }
            while let Some(Reverse((at, delivered))) = self.under_way.peek().copied()
                && at <= now
            {
                self.under_way.pop();
                match delivered {
                    Delivered::Requests(received) => self.app.on_requests_delivered(received),
                    Delivered::Data(received) => {
                        let transfers = &mut self.transfers;
                        self.app
                            .on_data_delivered(now, received, |transfer| transfers.push(transfer));
                    }
                }
            }
            self.write(now);
        }
    }

    fn next_event(&self) -> Option<Time> {
        let arrival = self.under_way.peek().map(|Reverse((at, _))| *at);
        arrival.into_iter().chain(self.app.next_timer()).min()
    }

    fn write(&mut self, now: Time) {
        let data = self.app.data_waiting();
        if !data.is_zero() {
            self.app.on_data_written(data);
            self.data += data.get();
            self.left = self.left.max(now) + self.rate.time_for(data);
            let arrival = (self.left + self.delay, Delivered::Data(self.data));
            self.under_way.push(Reverse(arrival));
        }
        let requests = self.app.requests_waiting();
        if !requests.is_zero() {
            self.app.on_requests_written(requests);
            self.requests += requests.get();
            let arrival = (now + self.delay, Delivered::Requests(self.requests));
            self.under_way.push(Reverse(arrival));
        }
    }
}

fn millis(time: Time) -> f64 {
    time.as_nanos() as f64 / 1e6
}

#[test]
fn bulk_has_no_end() {
    let mut app = App::new(&Config::Bulk, 1, Time::ZERO).unwrap();
    app.on_data_written(Bytes::new(1 << 40));
    assert_eq!(app.data_waiting(), Bytes::MAX);
    assert_eq!((app.is_finished(), app.next_timer()), (false, None));
}

#[test]
fn a_transfer_is_one_object() {
    let bytes = kb(125);
    let mut app = App::new(&Config::Transfer { bytes }, 1, Time::from_nanos(5)).unwrap();
    assert_eq!(app.data_waiting(), bytes);
    app.on_data_written(kb(100));
    assert_eq!((app.data_waiting(), app.is_finished()), (kb(25), false));
    app.on_data_written(kb(25));
    assert!(app.is_finished());
    let mut transfers = Vec::new();
    app.on_data_delivered(Time::from_nanos(70), 124_999, |transfer| {
        transfers.push(transfer)
    });
    assert!(transfers.is_empty());
    app.on_data_delivered(Time::from_nanos(80), 125_000, |transfer| {
        transfers.push(transfer)
    });
    let whole = Transfer {
        id: 0,
        size: bytes,
        start: Time::from_nanos(5),
        end: Time::from_nanos(80),
    };
    assert_eq!(transfers, [whole]);
    assert_eq!(app.stats().completed, 1);
}

/// 12.5 kB at 10 Mbit/s take 10 ms, the round trip 40 ms, the pause 50 ms.
#[test]
fn requests_wait_for_each_other() {
    let config = Config::Requests(Requests {
        response: Sizes::Fixed(Bytes::new(12_500)),
        think: Pause::Fixed(ms(50)),
        count: Some(4),
        ..Requests::default()
    });
    let mut run = Run::new(&config, mbit(10), ms(20));
    run.until(Time::MAX);
    let times: Vec<_> = run
        .transfers
        .iter()
        .map(|transfer| (transfer.id, millis(transfer.start), millis(transfer.end)))
        .collect();
    assert_eq!(
        times,
        [
            (0, 0.0, 50.0),
            (1, 100.0, 150.0),
            (2, 200.0, 250.0),
            (3, 300.0, 350.0)
        ]
    );
    assert!(run.app.is_finished());
    assert_eq!(run.requests, 4 * 200);
}

#[test]
fn pipelined_requests_do_not_wait() {
    let config = Config::Requests(Requests {
        response: Sizes::Fixed(Bytes::new(12_500)),
        outstanding: 3,
        count: Some(7),
        ..Requests::default()
    });
    let mut run = Run::new(&config, mbit(10), ms(20));
    run.until(Time::MAX);
    let starts: Vec<_> = run.transfers.iter().map(|t| millis(t.start)).collect();
    assert_eq!(starts, [0.0, 0.0, 0.0, 70.0, 70.0, 70.0, 140.0]);
    assert!(run.app.is_finished());
}

/// A response is written when the request's last byte has arrived, and not before.
#[test]
fn a_request_crosses_the_network() {
    let config = Config::Requests(Requests::default());
    let mut app = App::new(&config, 1, Time::ZERO).unwrap();
    app.on_timer(Time::ZERO);
    assert_eq!(app.requests_waiting(), Bytes::new(200));
    app.on_requests_written(Bytes::new(150));
    assert_eq!(app.requests_waiting(), Bytes::new(50));
    app.on_requests_written(Bytes::new(50));
    app.on_requests_delivered(199);
    assert_eq!(app.data_waiting(), Bytes::ZERO);
    app.on_requests_delivered(200);
    assert_eq!(app.data_waiting(), kb(100));
}

fn poisson(interval: Duration, connections: Connections, count: Option<u64>) -> Config {
    Config::Poisson(Poisson {
        interval,
        sizes: Sizes::Fixed(Bytes::new(12_500)),
        connections,
        count,
    })
}

/// Poisson arrivals of one size at one server are the queue M/D/1: at a load of 0.7 the mean wait is
/// 0.7 / (2 × (1 − 0.7)) of the service time (Pollaczek and Khinchine).
#[test]
fn poisson_arrivals_queue_as_theory_says() {
    let service = ms(10);
    let interval = Duration::from_nanos(service.as_nanos() * 10 / 7);
    let config = poisson(interval, Connections::Kept, Some(200_000));
    let mut run = Run::new(&config, mbit(10), ms(20));
    run.until(Time::MAX);
    assert_eq!(run.transfers.len(), 200_000);
    assert!(run.app.is_finished());
    let took: f64 = run.transfers.iter().map(|t| t.took().as_millis_f64()).sum();
    let wait = took / 200_000.0 - 10.0 - 20.0;
    let theory = 10.0 * 0.7 / (2.0 * 0.3);
    assert!((wait / theory - 1.0).abs() < 0.05, "{wait} {theory}");
    let last = run.transfers.last().unwrap().start.as_nanos() as f64;
    let mean = last / 200_000.0 / interval.as_nanos() as f64;
    assert!((mean - 1.0).abs() < 0.012, "{mean}");
}

#[test]
fn each_arrival_may_have_a_connection_of_its_own() {
    let config = poisson(ms(10), Connections::New, Some(100));
    let mut app = App::new(&config, 1, Time::ZERO).unwrap();
    assert_eq!(app.poll_connection(Time::ZERO), None);
    let mut last = Time::ZERO;
    for id in 0..100 {
        let at = app.next_timer().unwrap();
        let arrival = app.poll_connection(at).unwrap();
        assert_eq!((arrival.id, arrival.start), (id, at));
        assert!(at >= last);
        last = at;

        let mut own = App::of_arrival(&arrival);
        assert_eq!(own.data_waiting(), Bytes::new(12_500));
        own.on_data_written(own.data_waiting());
        assert!(own.is_finished());
        let mut ids = Vec::new();
        own.on_data_delivered(at + ms(30), 12_500, |transfer| {
            ids.push((transfer.id, transfer.took()));
        });
        assert_eq!(ids, [(id, ms(30))]);
    }
    assert_eq!((app.next_timer(), app.is_finished()), (None, true));
    assert_eq!(app.data_waiting(), Bytes::ZERO);
    assert_eq!(app.stats().started, 100);
}

/// Nothing is ever delivered: memory stays bounded, and refused objects are counted.
#[test]
fn overload_is_refused_and_counted() {
    let config = poisson(Duration::from_micros(1), Connections::Kept, Some(100_000));
    let mut app = App::new(&config, 1, Time::ZERO).unwrap();
    while let Some(at) = app.next_timer() {
        app.on_timer(at);
    }
    let stats = app.stats();
    assert_eq!(stats.started + stats.refused, 100_000);
    assert_eq!(stats.started, 65_536);
    assert_eq!(app.data_waiting(), Bytes::new(12_500 * 65_536));
}

#[test]
fn the_same_seed_draws_the_same() {
    let run = |seed| {
        let config = poisson(ms(1), Connections::New, Some(50));
        let mut app = App::new(&config, seed, Time::ZERO).unwrap();
        let mut arrivals = Vec::new();
        while let Some(at) = app.next_timer() {
            arrivals.extend(app.poll_connection(at));
        }
        assert_eq!(arrivals.len(), 50);
        // A late call gives the same result.
        let mut late = App::new(&config, seed, Time::ZERO).unwrap();
        let told: Vec<_> = std::iter::from_fn(|| late.poll_connection(Time::MAX)).collect();
        assert_eq!(arrivals, told);
        arrivals
    };
    assert_eq!(run(4), run(4));
    assert_ne!(run(4), run(5));
}

fn encoder(deadline: Option<Duration>) -> Config {
    Config::RateLimited(RateLimited {
        rate: mbit(3),
        write: Bytes::new(1_000),
        backlog: Bytes::new(5_000),
        deadline,
    })
}

/// Frames come every 8/3 ms; after hours the rounding to nanoseconds has not added up.
#[test]
fn frames_keep_their_rate() {
    let mut app = App::new(&encoder(None), 1, Time::ZERO).unwrap();
    for frame in 0..1_500_000u64 {
        let at = app.next_timer().unwrap();
        assert_eq!(at.as_nanos(), (frame * 8_000_000).div_ceil(3));
        app.on_timer(at);
        assert_eq!(app.data_waiting(), Bytes::new(1_000));
        app.on_data_written(Bytes::new(1_000));
        app.on_data_delivered(at, (frame + 1) * 1_000, |_| {});
    }
    assert_eq!(app.stats().completed, 1_500_000);
}

#[test]
fn frames_are_skipped_when_the_backlog_is_full() {
    let mut app = App::new(&encoder(None), 1, Time::ZERO).unwrap();
    for _ in 0..8 {
        let at = app.next_timer().unwrap();
        app.on_timer(at);
    }
    assert_eq!(app.data_waiting(), Bytes::new(5_000));
    assert_eq!(app.stats().skipped, 3);
    app.on_data_written(Bytes::new(1_000));
    let at = app.next_timer().unwrap();
    app.on_timer(at);
    assert_eq!(app.data_waiting(), Bytes::new(5_000));
    assert_eq!((app.stats().started, app.stats().skipped), (6, 3));
}

/// At 2 Mbit/s a frame takes 4 ms and the next comes after 8/3: frame `n` takes 4 + 4n/3 ms and 20 of delay.
#[test]
fn late_frames_are_counted() {
    let mut run = Run::new(&encoder(Some(ms(30))), mbit(2), ms(20));
    run.until(Time::ZERO + ms(60));
    let late = run.transfers.iter().filter(|t| t.took() > ms(30)).count() as u64;
    assert_eq!(run.app.stats().late, late);
    assert_eq!(run.transfers.len(), 10);
    assert_eq!(late, 5);
}

fn video(ladder: &[u64], length: Option<Duration>) -> Config {
    Config::Video(Video {
        chunk: ms(4_000),
        ladder: ladder
            .iter()
            .map(|kbit| Rate::from_bits_per_sec(kbit * 1_000))
            .collect(),
        startup: ms(8_000),
        max_buffer: ms(20_000),
        length,
        request: Bytes::new(500),
    })
}

/// Chunks of 1 MB at 10 Mbit/s take 0.8 s and 40 ms of round trip. Two are fetched before the start, then one after
/// the other until the buffer is full, then one every 4 s.
#[test]
fn a_player_fills_its_buffer_and_then_goes_on_and_off() {
    let mut run = Run::new(&video(&[2_000], None), mbit(10), ms(20));
    run.until(Time::ZERO + ms(100_000));
    let playback = run.app.stats().playback;
    assert_eq!(playback.startup, Some(ms(1_680)));
    assert_eq!((playback.stalls, playback.stalled), (0, ms(0)));
    let starts: Vec<f64> = run.transfers.iter().map(|t| millis(t.start)).collect();
    assert_eq!(&starts[..5], [0.0, 840.0, 1_680.0, 2_520.0, 3_360.0]);
    for pair in starts[6..].windows(2) {
        assert_eq!(pair[1] - pair[0], 4_000.0, "{starts:?}");
    }
}

/// The rate is half of the video's. Each chunk takes 8.04 s and plays for 4 s. With two chunks at the start, the
/// player stalls again and again for as long as two chunks take, less the part of the first of them that was fetched
/// during playback.
#[test]
fn a_slow_network_makes_stalls() {
    let mut run = Run::new(&video(&[2_000], Some(ms(40_000))), mbit(1), ms(20));
    run.until(Time::MAX);
    let playback = run.app.stats().playback;
    assert_eq!(playback.startup, Some(ms(2 * 8_040)));
    assert_eq!(playback.played, ms(40_000));
    assert_eq!(run.transfers.len(), 10);
    // Chunks 2k and 2k+1 play together for 8 s while all but the last 40 ms of chunk 2k+2 arrive; the last two play
    // at once.
    assert_eq!(playback.stalls, 4);
    assert_eq!(playback.stalled, ms(4 * (2 * 8_040 - 8_000)));
    assert!(run.app.is_finished());
    assert_eq!(run.app.next_timer(), None);
}

#[test]
fn a_player_takes_the_bitrate_that_the_network_carries() {
    let mut run = Run::new(&video(&[500, 1_000, 2_500, 5_000], None), mbit(4), ms(20));
    run.until(Time::ZERO + ms(120_000));
    let sizes: Vec<u64> = run.transfers.iter().map(|t| t.size.get()).collect();
    let of = |kbit: u64| kbit * 1_000 / 8 * 4;
    assert_eq!(sizes[0], of(500), "the lowest first");
    assert!(
        sizes[5..].iter().all(|size| *size == of(2_500)),
        "{sizes:?}"
    );
    assert_eq!(run.app.stats().playback.stalls, 0);
}

#[test]
fn a_player_follows_the_network() {
    let mut run = Run::new(&video(&[500, 1_000, 2_500, 5_000], None), mbit(10), ms(20));
    let of = |kbit: u64| Bytes::new(kbit * 1_000 / 8 * 4);
    for (minute, rate, kbit) in [(2, 10, 5_000), (4, 2, 1_000), (6, 4, 2_500), (8, 1, 500)] {
        run.rate = mbit(rate);
        run.until(Time::ZERO + ms(60_000 * minute));
        assert_eq!(
            run.transfers.last().unwrap().size,
            of(kbit),
            "{rate} Mbit/s"
        );
    }
}

#[test]
fn a_video_shorter_than_its_startup_buffer_is_played() {
    let mut run = Run::new(&video(&[2_000], Some(ms(4_000))), mbit(10), ms(20));
    run.until(Time::MAX);
    let playback = run.app.stats().playback;
    assert_eq!(playback.startup, Some(ms(840)));
    assert_eq!((playback.played, playback.stalls), (ms(4_000), 0));
}

/// The player may be called late; the stall began when the buffer ran empty.
#[test]
fn a_stall_begins_when_nothing_is_left() {
    let mut app = App::new(&video(&[2_000], None), 1, Time::ZERO).unwrap();
    let chunk = 1_000_000;
    let at = |seconds: u64| Time::ZERO + Duration::from_secs(seconds);
    app.on_timer(at(0));
    app.on_data_delivered(at(1), chunk, |_| {});
    app.on_timer(at(1));
    app.on_data_delivered(at(2), 2 * chunk, |_| {});
    app.on_timer(at(2));
    // 8 s of video from second 2 on.
    app.on_data_delivered(at(15), 3 * chunk, |_| {});
    app.on_timer(at(15));
    app.on_data_delivered(at(16), 4 * chunk, |_| {});
    let playback = app.stats().playback;
    assert_eq!(playback.startup, Some(ms(2_000)));
    assert_eq!((playback.stalls, playback.stalled), (1, ms(6_000)));
    assert_eq!(playback.played, ms(8_000));
}

#[test]
fn settings_that_make_no_sense() {
    let refused = |config: Config| App::new(&config, 1, Time::ZERO).unwrap_err().to_string();
    let requests = Requests::default();
    let arrivals = Poisson {
        interval: ms(10),
        sizes: Sizes::Fixed(kb(1)),
        connections: Connections::New,
        count: None,
    };
    let pareto = |min: u64, shape, max: u64| {
        Config::Poisson(Poisson {
            sizes: Sizes::Pareto {
                min: kb(min),
                shape,
                max: kb(max),
            },
            ..arrivals.clone()
        })
    };
    for (config, text) in [
        (
            Config::Transfer { bytes: Bytes::ZERO },
            "bytes of no bytes sends nothing; give at least 1b",
        ),
        (
            Config::Requests(Requests {
                outstanding: 0,
                ..requests.clone()
            }),
            "outstanding of 0 is out of range; give 1 to 1024",
        ),
        (
            Config::Requests(Requests {
                response: Sizes::List(vec![kb(1), Bytes::ZERO]),
                ..requests.clone()
            }),
            "response[1] of no bytes is not an object; give at least 1b",
        ),
        (
            Config::Requests(Requests {
                count: Some(0),
                ..requests
            }),
            "count of 0 sends nothing; give at least 1, or none for no end",
        ),
        (
            Config::Poisson(Poisson {
                interval: ms(0),
                ..arrivals.clone()
            }),
            "interval of 0s has no end of arrivals at once; give a mean time such as 10ms",
        ),
        (
            pareto(2, Ratio::ONE, 1),
            "sizes.max of 1kb is below the smallest size; give at least 2kb",
        ),
        (
            pareto(1, Ratio::ZERO, 2),
            "sizes.shape of 0 is not a power law; give a number above 0, such as 1.2",
        ),
        (
            Config::RateLimited(RateLimited {
                rate: Rate::ZERO,
                write: kb(1),
                backlog: kb(1),
                deadline: None,
            }),
            "rate of 0bit never sends; give a rate such as 2mbit",
        ),
        (
            Config::RateLimited(RateLimited {
                rate: mbit(1),
                write: kb(2),
                backlog: kb(1),
                deadline: None,
            }),
            "backlog of 1kb takes no frame; give at least 2kb",
        ),
        (
            Config::Video(Video {
                ladder: vec![mbit(2), mbit(1)],
                ..Video::default()
            }),
            "ladder is out of order; give the lowest bitrate first",
        ),
        (
            Config::Video(Video {
                startup: ms(30_000),
                ..Video::default()
            }),
            "startup of 30s is never reached in a buffer of 7 chunks; give at most 28s",
        ),
        (
            Config::Video(Video {
                max_buffer: ms(3_000),
                ..Video::default()
            }),
            "max_buffer of 3s holds no chunk; give at least 4s",
        ),
    ] {
        assert_eq!(refused(config), text);
    }
}

fn sizes() -> impl Strategy<Value = Sizes> {
    prop_oneof![
        (1u64..200_000).prop_map(|size| Sizes::Fixed(Bytes::new(size))),
        prop::collection::vec(1u64..200_000, 1..5)
            .prop_map(|sizes| Sizes::List(sizes.into_iter().map(Bytes::new).collect())),
        (1u64..100_000, 0u32..300).prop_map(|(median, sigma)| Sizes::LogNormal {
            median: Bytes::new(median),
            sigma: Ratio::new(sigma, 100),
        }),
        (1u64..10_000, 1u32..300, 0u64..1_000_000).prop_map(|(min, shape, more)| Sizes::Pareto {
            min: Bytes::new(min),
            shape: Ratio::new(shape, 100),
            max: Bytes::new(min + more),
        }),
    ]
}

/// Applications that end, with the number of their objects.
fn finite() -> impl Strategy<Value = (Config, u64)> {
    let pauses = (any::<bool>(), 0u64..100_000_000).prop_map(|(is_fixed, nanos)| {
        let pause = Duration::from_nanos(nanos);
        if is_fixed {
            Pause::Fixed(pause)
        } else {
            Pause::Exponential { mean: pause }
        }
    });
    prop_oneof![
        (1u64..1_000_000).prop_map(|bytes| {
            let bytes = Bytes::new(bytes);
            (Config::Transfer { bytes }, 1)
        }),
        (1u64..2_000, sizes(), pauses, 1u64..60, 1u32..9).prop_map(
            |(request, response, think, count, outstanding)| {
                let requests = Requests {
                    request: Bytes::new(request),
                    response,
                    think,
                    count: Some(count),
                    outstanding,
                };
                (Config::Requests(requests), count)
            }
        ),
        (1u64..50_000_000, sizes(), 1u64..60).prop_map(|(interval, sizes, count)| {
            let poisson = Poisson {
                interval: Duration::from_nanos(interval),
                sizes,
                connections: Connections::Kept,
                count: Some(count),
            };
            (Config::Poisson(poisson), count)
        }),
        (1u64..30, 1u64..6, 1u64..6, 0u64..5, 1u64..60).prop_map(
            |(chunk, chunks, buffered, step, rate)| {
                let chunk = ms(chunk * 100);
                let video = Video {
                    chunk,
                    ladder: (0..=step).map(|n| mbit(rate * (n + 1))).collect(),
                    startup: chunk * buffered.min(chunks),
                    max_buffer: chunk * chunks + ms(step),
                    length: Some(chunk * 20),
                    request: Bytes::new(100),
                };
                (Config::Video(video), 20)
            }
        ),
    ]
}

proptest! {
    /// Whatever the network does, every object is written once, delivered in order, and noted once.
    #[test]
    fn nothing_is_lost_and_nothing_invented(
        (config, count) in finite(),
        rate in 1u64..1_000,
        delay in 0u64..200_000_000,
    ) {
        let mut run = Run::new(&config, mbit(rate), Duration::from_nanos(delay));
        run.until(Time::MAX);
        prop_assert!(run.app.is_finished());
        prop_assert_eq!(run.app.next_timer(), None);
        let ids: Vec<u64> = run.transfers.iter().map(|transfer| transfer.id).collect();
        prop_assert_eq!(ids, (0..count).collect::<Vec<_>>());
        let bytes: Bytes = run.transfers.iter().map(|transfer| transfer.size).sum();
        prop_assert_eq!(bytes.get(), run.data);
        prop_assert!(run.transfers.iter().all(|transfer| transfer.start + run.delay <= transfer.end));
        prop_assert!(run.transfers.is_sorted_by_key(|transfer| transfer.end));
        let stats = run.app.stats();
        prop_assert_eq!((stats.started, stats.completed, stats.refused), (count, count, 0));
        if let Config::Video(video) = &config {
            let playback = stats.playback;
            prop_assert_eq!(playback.played, video.chunk * 20);
            // At every time, the player has been starting, stalled or playing.
            prop_assert!(playback.startup.is_some());
            prop_assert!(playback.stalls > 0 || playback.stalled.is_zero());
        }
    }
}
