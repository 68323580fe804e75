//! Properties of every scenario and of every text.

use path::{
    Aggregation, CoDel, Demand, Discipline, Distribution, DualPi2, Effects, FqCoDel,
    GilbertElliott, Jitter, Loss, LossAt, Mtu, Policer, Red, Reorder,
};
use proptest::prelude::*;
use scenario::{
    BufferSpec, ChangeSpec, Hops, HostChangeSpec, HostSpec, LinkSpec, PathSpec, Scenario,
};
use transport::app::{self, Connections, Pause, Sizes};
use transport::scheduler::Pacing;
use transport::scheduler::SmallQueues;
use transport::sender::{FastOpen, LossDetection, SynTimer};
use units::{Bytes, Duration, Rate, Ratio};

const KEYS: &str = "name duration warmup seed path host flow rate rtt buffer loss loss_at ack_loss corruption mtu jitter reorder duplicate \
                    policer demand aggregation change trace queue uplink controller count bytes app at x";

const MINIMAL: &str = "name = \"x\"\nduration = \"10s\"\n[[flow]]\ncontroller = \"cubic\"\n";

fn share() -> impl Strategy<Value = Ratio> {
    (0u32..=100_000).prop_map(|parts| Ratio::new(parts, 100_000))
}

fn span() -> impl Strategy<Value = Duration> {
    (1u64..100_000_000).prop_map(Duration::from_micros)
}

prop_compose! {
    fn any_path()(
        rate in 1_000u64..100_000_000_000, rtt in span(), thousandths in 1_000u64..100_000,
        loss in share(), ack_loss in share(), up_to in span(), reorders: bool, by in span(), interval in span(),
        at in span(), within in span(), parts in prop::collection::vec(any::<bool>(), 8),
    ) -> PathSpec {
        let rate = Rate::from_bytes_per_sec(rate);
        let mut path = PathSpec { rtt, ack_loss, ..PathSpec::default() };
        path.data.rate = Some(rate);
        path.data.buffer = parts[0].then_some(BufferSpec::Bdp { thousandths });
        path.data.effects.loss = if parts[1] {
            Loss::GilbertElliott(GilbertElliott { p: loss, r: ack_loss, loss_good: Ratio::ZERO, loss_bad: loss })
        } else {
            Loss::Independent(loss)
        };
        path.data.effects.corruption = if parts[2] { loss } else { Ratio::ZERO };
        path.data.effects.mtu = if parts[3] { Mtu::new(2_000) } else { None };
        path.data.effects.loss_at = if parts[6] { LossAt::Exit } else { LossAt::Entry };
        path.data.effects.jitter = parts[2].then_some(Jitter { reorders, distribution: if parts[6] { Distribution::Pareto } else { Distribution::Uniform }, ..Jitter::from(up_to) });
        path.data.effects.reorder = parts[3].then_some(Reorder { share: loss, by });
        path.data.effects.policer = parts[4].then_some(Policer { rate, burst: Bytes::new(1500 + thousandths) });
        path.data.effects.demand = parts[7].then_some(Demand { interval, within, least: rate });
        path.aggregation = parts[5].then_some(Aggregation { interval });
        path.set("change", &format!("at={at},rtt={by}")).unwrap();
        path
    }
}

fn any_queue() -> impl Strategy<Value = Discipline> {
    let any_codel = || {
        (1u64..1_000_000, any::<bool>()).prop_map(|(micros, ecn)| CoDel {
            target: Duration::from_micros(micros),
            interval: Duration::from_micros(micros * 20),
            ecn,
        })
    };
    let any_red = (
        1u64..1 << 30,
        1u64..1 << 30,
        share(),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(min, more, probability, gentle, ecn)| Red {
            probability,
            gentle,
            ecn,
            ..Red::new(Bytes::new(min), Bytes::new(min + more))
        });
    let any_dualpi2 = (
        1u64..1_000_000,
        1_000u64..1_000_000,
        share(),
        share(),
        share(),
    )
        .prop_map(
            |(target, tupdate, alpha, beta, classic_protection)| DualPi2 {
                target: Duration::from_micros(target),
                tupdate: Duration::from_micros(tupdate),
                alpha,
                beta,
                step_thresh: Duration::from_micros(tupdate),
                classic_protection,
                ..DualPi2::default()
            },
        );
    prop_oneof![
        Just(Discipline::DropTail),
        any_codel().prop_map(Discipline::CoDel),
        (1u32..=65_536, 256u64..100_000, any_codel()).prop_map(|(flows, quantum, codel)| {
            Discipline::FqCoDel(FqCoDel {
                flows,
                quantum: Bytes::new(quantum),
                target: codel.target,
                interval: codel.interval,
                ecn: codel.ecn,
            })
        }),
        any_red.prop_map(Discipline::Red),
        any_dualpi2.prop_map(Discipline::DualPi2),
        (1u64..1 << 40).prop_map(|at| Discipline::Red(Red::threshold(Bytes::new(at)))),
    ]
}

fn size() -> impl Strategy<Value = Bytes> {
    (1u64..1 << 40).prop_map(Bytes::new)
}

fn rate() -> impl Strategy<Value = Rate> {
    (1_000u64..100_000_000_000).prop_map(Rate::from_bytes_per_sec)
}

fn any_sizes() -> impl Strategy<Value = Sizes> {
    prop_oneof![
        size().prop_map(Sizes::Fixed),
        prop::collection::vec(size(), 1..5).prop_map(Sizes::List),
        (size(), share()).prop_map(|(median, sigma)| Sizes::LogNormal { median, sigma }),
        (size(), 1u32..4_000, size()).prop_map(|(min, shape, more)| Sizes::Pareto {
            min,
            shape: Ratio::new(shape, 1_000),
            max: min + more,
        }),
    ]
}

fn any_app() -> impl Strategy<Value = app::Config> {
    let count = || prop::option::of(1u64..1 << 40);
    let pause = prop_oneof![
        span().prop_map(Pause::Fixed),
        span().prop_map(|mean| Pause::Exponential { mean })
    ];
    let requests = (size(), any_sizes(), pause, count(), 1u32..=1024).prop_map(
        |(request, response, think, count, outstanding)| {
            app::Config::Requests(app::Requests {
                request,
                response,
                think,
                count,
                outstanding,
            })
        },
    );
    let poisson = (span(), any_sizes(), any::<bool>(), count()).prop_map(
        |(interval, sizes, is_new, count)| {
            let connections = if is_new {
                Connections::New
            } else {
                Connections::Kept
            };
            app::Config::Poisson(app::Poisson {
                interval,
                sizes,
                connections,
                count,
            })
        },
    );
    let limited = (rate(), size(), size(), prop::option::of(span())).prop_map(
        |(rate, write, more, deadline)| {
            app::Config::RateLimited(app::RateLimited {
                rate,
                write,
                backlog: write + more,
                deadline,
            })
        },
    );
    let video = (
        span(),
        prop::collection::vec(rate(), 1..5),
        prop::option::of(span()),
        size(),
    )
        .prop_map(|(chunk, mut ladder, length, request)| {
            ladder.sort();
            app::Config::Video(app::Video {
                chunk,
                ladder,
                startup: chunk,
                max_buffer: chunk * 3,
                length,
                request,
            })
        });
    prop_oneof![Just(app::Config::Bulk), requests, poisson, limited, video]
}

prop_compose! {
    fn any_host()(
        parts in prop::collection::vec(any::<bool>(), 6), nic in prop::option::of(rate()), small in 0u64..=3,
        count in prop::option::of(1u64..1_000_000), buffer in prop::option::of(2_896u64..1 << 40), rto in span(),
        delay in prop::option::of(span()), flag in prop::option::of(any::<bool>()),
    ) -> HostSpec {
        let buffer = buffer.map(Bytes::new);
        let schedulers = [Pacing::Fq, Pacing::PerConnection, Pacing::None];
        let detection = if parts[0] { LossDetection::Rack } else { LossDetection::DupThreshold };
        HostSpec {
            scheduler: parts[1].then(|| schedulers[small as usize % 3]),
            nic,
            mss: parts[2].then_some(1_400 + small),
            initial_cwnd: count,
            send_buffer: buffer,
            receive_buffer: buffer,
            initial_receive_buffer: buffer,
            delayed_ack: delay,
            ack_every: count,
            aggregation_delay: delay,
            sack_blocks: parts[3].then_some(small),
            compressed_acks: parts[3].then_some(small * 20),
            min_rto: parts[4].then_some(rto),
            max_rto: parts[4].then_some(rto * 2),
            loss_detection: parts[5].then_some(detection),
            ecn: flag,
            accurate_ecn: parts[5].then_some(parts[0]),
            ack_frequency: parts[5].then_some(parts[1]),
            fast_open: parts[5].then_some(FastOpen::Known),
            offload: flag,
            syn_timer: parts[5].then_some(SynTimer::Bsd),
            small_queues: flag.map(|_| SmallQueues::Linux419),
            change: buffer.map(|receive_buffer| vec![HostChangeSpec { at: rto, receive_buffer }; parts[0].into()]),
        }
    }
}

prop_compose! {
    fn any_uplink()(path in any_path(), queue in any_queue(), parts in prop::collection::vec(any::<bool>(), 2)) -> LinkSpec {
        LinkSpec {
            changes: vec![ChangeSpec { at: path.rtt, rate: path.data.rate, mtu: path.data.effects.mtu, ..ChangeSpec::default() }], effects: Effects {
            queue,
            loss: if parts[0] { path.data.effects.loss } else { Loss::NONE },
            duplicate: path.ack_loss,
            aggregation: path.aggregation.filter(|_| parts[1]), ..path.data.effects}, ..path.data}
    }
}

prop_compose! {
    fn any_hop()(
        path in any_path(), queue in any_queue(), uplink in any_uplink(), duplicate in share(),
    ) -> PathSpec {
        let mut path = PathSpec { uplink, ..path };
        (path.data.effects.queue, path.data.effects.duplicate) = (queue, duplicate);
        // A buffer that is too small for its queue discipline is an error.
        let rtt = path.rtt;
        for link in [&mut path.data, &mut path.uplink] {
            if let (Discipline::Red(red), Some(buffer)) = (link.effects.queue, link.buffer_bytes(rtt))
                && red.min > buffer
            {
                link.buffer = None;
            }
        }
        if path.uplink.effects.loss != Loss::NONE {
            path.ack_loss = Ratio::ZERO;
        }
        if path.uplink.effects.aggregation.is_some() {
            path.aggregation = None;
        }
        path
    }
}

proptest! {
    #[test]
    fn hosts_chains_and_applications_survive_too(
        path in any_hop(), next in prop::collection::vec(any_hop(), 0..4), host in any_host(), own in any_host(),
        app in any_app(), rtt in prop::option::of(span()), reverse: bool, hops in prop::option::of((0usize..4, 0usize..4)),
    ) {
        let mut scenario: Scenario = MINIMAL.parse().unwrap();
        (scenario.path, scenario.next, scenario.host) = (path, next, host);
        let flow = &mut scenario.flows[0];
        (flow.app, flow.rtt, flow.reverse, flow.host) = (app, rtt, reverse, own);
        flow.hops = hops.and_then(|(first, last)| Hops::new(first, last));
        prop_assume!(scenario.check().is_ok());
        let text = scenario.to_string();
        let again: Scenario = text.parse().map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        prop_assert_eq!(again, scenario);
    }

    #[test]
    fn a_scenario_survives_being_written_and_read(
        path in any_path(), name in "\\PC{1,20}", seed: u64, count in 1u64..50, start in 0u64..1000, bytes in 1u64..1 << 50,
    ) {
        let mut scenario: Scenario = MINIMAL.parse().unwrap();
        scenario.path = path;
        scenario.name = name;
        scenario.seed = seed;
        scenario.flows[0].count = count;
        scenario.flows[0].start = Duration::from_millis(start);
        scenario.flows[0].bytes = Some(Bytes::new(bytes));
        prop_assume!(scenario.check().is_ok());
        let text = scenario.to_string();
        let again: Scenario = text.parse().map_err(|error| TestCaseError::fail(format!("{error} in\n{text}")))?;
        prop_assert_eq!(again, scenario);
    }

    #[test]
    fn a_link_carries_as_much_in_parts_as_at_once(
        changes in prop::collection::vec((0u64..100, prop::option::of(rate())), 0..20), from in 0u64..100, to in 0u64..100,
    ) {
        let second = |count: u64| Duration::from_secs(count);
        let changes = changes.into_iter().map(|(at, rate)| ChangeSpec { at: second(at), rate, rtt: Some(second(1)), mtu: None });
        let link = LinkSpec { rate: Some(Rate::from_bytes_per_sec(9)), changes: changes.collect(), ..LinkSpec::default() };
        let whole = link.capacity(second(from), second(to.max(from)));
        let parts = (from..to).map(|at| Some(link.rates().at(second(at))?.bytes_in(second(1))));
        prop_assert_eq!(whole, parts.sum());
    }

    #[test]
    fn any_text_is_answered(text in "\\PC*") {
        let _ = text.parse::<Scenario>();
    }

    #[test]
    fn any_value_is_answered_in_one_line(
        table in prop::sample::select(vec!["", "[path]\n", "[[flow]]\n", "[[path.change]]\n", "[host]\n"]),
        key in prop::sample::select(KEYS.split_whitespace().collect::<Vec<_>>()),
        value in prop_oneof![
            "[0-9]{1,25}(\\.[0-9]{0,9})?(%|bit|kbit|gbit|ms|s|p|bdp|kb|b)?", "\\PC{0,9}", "\\{ ?[a-z]{1,6} = [0-9] ?\\}"
        ],
        quoted: bool,
    ) {
        let text = if quoted { format!("{table}{key} = \"{value}\"\n") } else { format!("{table}{key} = {value}\n") };
        if let Err(error) = format!("{text}{MINIMAL}").parse::<Scenario>() {
            prop_assert_eq!(error.to_string().lines().count(), 1, "{}", error);
        }
        if let Err(error) = PathSpec::default().set(key, &value) {
            prop_assert_eq!(error.field.split('.').next(), Some("path"));
        }
    }
}
