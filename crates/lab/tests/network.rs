//! Networks of links with names, in virtual time.

use lab::{Cancel, Engine, Sim};
use record::measure::{Measure, Select, Subject};
use record::{FlowSummary, PathSummary, Record};
use scenario::Scenario;

fn run(text: &str) -> Record {
    let scenario: Scenario = text
        .parse()
        .unwrap_or_else(|error| panic!("{error} in\n{text}"));
    Sim::new()
        .run(&scenario, &|_| {}, &Cancel::new())
        .unwrap_or_else(|error| panic!("{error} in\n{text}"))
}

/// The summary as text, without what a network has in addition, and without the elapsed time.
fn told(record: &Record) -> String {
    let mut summary = record.summary.clone();
    summary.wall_s = 0.0;
    for path in std::iter::once(&mut summary.path).chain(&mut summary.next) {
        (path.name, path.packets) = (None, None);
    }
    for flow in &mut summary.flows {
        flow.rtprop_ms = None;
    }
    format!("{summary:?}")
}

fn link<'r>(record: &'r Record, name: &str) -> &'r PathSummary {
    let summary = &record.summary;
    let mut links = std::iter::once(&summary.path).chain(&summary.next);
    let found = links.find(|link| link.name.as_deref() == Some(name));
    found.unwrap_or_else(|| panic!("no link {name}"))
}

fn goodputs(record: &Record) -> Vec<f64> {
    let mega = |flow: &FlowSummary| flow.goodput_bps as f64 / 1e6;
    record.summary.flows.iter().map(mega).collect()
}

const FIRST: &str = "rate = '20mbit'\nrtt = '20ms'\nforward_delay = '7ms'\nbuffer = '1bdp'\nloss = '0.1%'\nack_loss = '0.1%'\n\
                     jitter = '1ms'\nuplink = { rate = '2mbit', buffer = '50p' }\n";
const SECOND: &str = "rate = '10mbit'\nrtt = '11ms'\nbuffer = '60p'\nqueue = 'codel'\nchange = [{ at = '3s', rate = '5mbit', rtt = '30ms' }]\n";

/// A chain, and its flows in both directions.
fn chain() -> String {
    format!(
        "name = 'x'\nduration = '6s'\nseed = 5\n[path]\n{FIRST}[[path.next]]\n{SECOND}\
         [[flow]]\ncontroller = 'bbr1'\n[[flow]]\ncontroller = 'cubic'\nhops = '1'\n\
         [[flow]]\ncontroller = 'reno'\nreverse = true\nrtt = '45ms'\ncount = 2\nstagger = '7ms'\n\
         [[flow]]\ncontroller = 'bbr3'\napp = {{ kind = 'requests', response = '30kb' }}\n"
    )
}

/// The same links with names.
fn named() -> String {
    format!(
        "name = 'x'\nduration = '6s'\nseed = 5\n\
         [[link]]\nname = 'first'\nfrom = 'a'\nto = 'b'\n{FIRST}[[link]]\nname = 'second'\nfrom = 'b'\nto = 'c'\n{SECOND}\
         [[flow]]\ncontroller = 'bbr1'\nfrom = 'a'\nto = 'c'\n[[flow]]\ncontroller = 'cubic'\nfrom = 'b'\nto = 'c'\n\
         [[flow]]\ncontroller = 'reno'\nfrom = 'c'\nto = 'a'\nrtt = '45ms'\ncount = 2\nstagger = '7ms'\n\
         [[flow]]\ncontroller = 'bbr3'\nroute = ['first', 'second']\napp = {{ kind = 'requests', response = '30kb' }}\n"
    )
}

/// `[path]` and `[[path.next]]` are a short form, and nothing else: every number and every sample is the same.
#[test]
fn a_chain_is_the_same_run_as_its_links_with_names() {
    let (chain, named) = (chain(), named());
    // The sites of a chain share one sending host in each direction; here, each group has its own.
    let own =
        |text: &str| text.replace("controller =", "host = { scheduler = 'fq' }\ncontroller =");
    let [chain, named] = [own(&chain), own(&named)].map(|text| run(&text));
    assert_eq!(link(&named, "first.uplink").rate_bps, Some(2_000_000));
    let mut without = named.clone();
    // The chain's record has no row of an uplink.
    without.summary.next.remove(0);
    without.paths.remove(1);
    assert_eq!(told(&chain), told(&without));
    assert_eq!(chain.paths, without.paths);
    assert_eq!(format!("{:?}", chain.flows), format!("{:?}", named.flows));
    let (transfers, others) = (&chain.transfers.rows, &named.transfers.rows);
    assert!(transfers.len() > 10, "{}", transfers.len());
    assert_eq!(format!("{transfers:?}"), format!("{others:?}"));
}

/// A run on a parking lot with such queues: one flow crosses both bottlenecks, each of the others one of them. All have
/// one RTprop.
fn parking_lot(controller: &str, queue: &str, seed: u64) -> Record {
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[[link]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nrate = '20mbit'\nrtt = '20ms'\nbuffer = '300p'\nqueue = {queue}\n"
        )
    };
    let flow = |from: &str, to: &str| {
        format!(
            "[[flow]]\ncontroller = '{controller}'\nfrom = '{from}'\nto = '{to}'\nrtt = '40ms'\n"
        )
    };
    let text = format!(
        "name = 'x'\nduration = '60s'\nwarmup = '10s'\nseed = {seed}\n{}{}{}{}{}",
        link("one", "a", "b"),
        link("two", "b", "c"),
        flow("a", "c"),
        flow("a", "b"),
        flow("b", "c"),
    );
    run(&text)
}

/// Queues that are fair to flows give max-min shares: half of each bottleneck to everybody (D. Bertsekas and R.
/// Gallager, "Data Networks", section 6.5.2).
#[test]
fn fair_queues_share_a_parking_lot_by_max_min() {
    for controller in ["reno", "cubic", "bbr1"] {
        let shares = goodputs(&parking_lot(controller, "'fq_codel'", 1));
        let fair = 10.0 * 1448.0 / 1500.0;
        for share in &shares {
            assert!((share / fair - 1.0).abs() < 0.1, "{controller}: {shares:?}");
        }
    }
}

/// Without fair queues, the flow over both bottlenecks waits and loses at both, and has less. Reno's rate is proportional
/// to 1 / (RTT × √p) (M. Mathis and others, "The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm", 1997),
/// so twice the losses at equal RTTs give 0.71 of the others' rate. The queues drop at random, so that all flows see the
/// same share of losses.
#[test]
fn reno_has_the_share_of_its_losses_on_a_parking_lot() {
    let queue = "{ kind = 'red', min = '15kb', max = '300kb', probability = '2%' }";
    let ratios = (1..=4).map(|seed| {
        let record = parking_lot("reno", queue, seed);
        let windows = record.summary.flows.iter().map(|flow| {
            let rtt = flow.rtt_ms.mean.expect("flows measure RTTs");
            flow.goodput_bps as f64 * rtt
        });
        let windows: Vec<f64> = windows.collect();
        windows[0] / ((windows[1] + windows[2]) / 2.0)
    });
    let ratios: Vec<f64> = ratios.collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!((mean - 0.5f64.sqrt()).abs() < 0.05, "{ratios:?}");
}

/// Data in both directions over one link: each direction has a queue and counters of its own, and its row in the report.
#[test]
fn a_link_carries_data_in_both_directions() {
    let text = "name = 'x'\nduration = '20s'\nwarmup = '5s'\n[[link]]\nname = 'line'\nfrom = 'home'\nto = 'street'\nrate = '2mbit'\n\
                rtt = '10ms'\nbuffer = '30p'\nuplink = { rate = '20mbit', buffer = '30p' }\n\
                [[link]]\nname = 'core'\nfrom = 'street'\nto = 'server'\nrtt = '30ms'\n\
                [[flow]]\ncontroller = 'cubic'\nfrom = 'home'\nto = 'server'\n\
                [[flow]]\ncontroller = 'bbr1'\nfrom = 'server'\nto = 'home'\n";
    let record = run(text);
    let [up, down] = [link(&record, "line"), link(&record, "line.uplink")];
    assert_eq!(up.rate_bps, Some(2_000_000));
    assert!(up.utilization > Some(0.9) && up.drops > Some(0), "{up:?}");
    // The ACKs of the download wait behind the upload.
    assert!(down.utilization > Some(0.5), "{down:?}");
    for one in [up, down] {
        let bits = one.packets.unwrap() as f64 * 12_000.0;
        let carried = one.utilization.unwrap() * one.rate_bps.unwrap() as f64 * 15.0;
        assert!((0.9..15.0).contains(&(bits / carried)), "{one:?}");
    }
    let core = link(&record, "core");
    assert_eq!((core.utilization, core.drops), (None, Some(0)));
    assert!(core.packets > up.packets.map(|packets| packets / 2));
    let rtts = record
        .summary
        .flows
        .iter()
        .map(|flow| flow.rtt_ms.min.unwrap());
    assert!(
        rtts.clone().all(|rtt| (40.0..60.0).contains(&rtt)),
        "{:?}",
        rtts.collect::<Vec<_>>()
    );
}

/// ACKs that come back over another link: RTprop is what both routes add up to.
#[test]
fn acks_may_come_back_another_way() {
    let link = |name: &str, from: &str, to: &str, rtt: u64| {
        format!(
            "[[link]]\nname = '{name}'\nfrom = '{from}'\nto = '{to}'\nrate = '10mbit'\nrtt = '{rtt}ms'\nbuffer = '50p'\n"
        )
    };
    let text = format!(
        "name = 'x'\nduration = '5s'\n{}{}{}[[flow]]\ncontroller = 'bbr1'\nroute = ['up', 'down']\nback = ['ground']\n",
        link("up", "a", "satellite", 250),
        link("down", "satellite", "b", 250),
        link("ground", "b", "a", 20),
    );
    let record = run(&text);
    let rtt = record.summary.flows[0].rtt_ms.min.unwrap();
    assert!((260.0..264.0).contains(&rtt), "{rtt}");
    let ground = self::link(&record, "ground");
    assert!(ground.packets > Some(500), "{ground:?}");
}

/// No link of a network is the bottleneck of every flow, so it has none of the measures about the path. RTprop is each
/// flow's own.
#[test]
fn measures_of_a_network_are_not_those_of_its_first_link() {
    let head = "name = 'x'\nduration = '8s'\nwarmup = '2s'\nhost = { receive_buffer = '4mb' }\n";
    let fields =
        |rate: &str, rtt: &str| format!("rate = '{rate}'\nrtt = '{rtt}'\nbuffer = '100p'\n");
    let path = format!(
        "{head}[path]\n{}[[flow]]\ncontroller = 'bbr1'\n",
        fields("10mbit", "50ms")
    );
    let network = format!(
        "{head}[[link]]\nname = 'access'\nfrom = 'a'\nto = 'b'\n{}[[link]]\nname = 'core'\nfrom = 'b'\nto = 'c'\n{}\
         [[flow]]\ncontroller = 'bbr1'\nfrom = 'a'\nto = 'c'\n[[flow]]\ncontroller = 'bbr1'\nfrom = 'a'\nto = 'b'\n",
        fields("1gbit", "10ms"),
        fields("10mbit", "40ms"),
    );
    let (path, network) = (run(&path), run(&network));
    let of = |record: &Record, group: usize, name: &str| {
        let select = Select {
            flows: Some(record::measure::Flows::Group(group)),
            ..Select::default()
        };
        let measure = Measure::named(name).expect("a measure");
        measure.of(&Subject::new(record, &select))
    };
    for about_the_path in [
        "limit_share",
        "utilization",
        "window_share",
        "power",
        "rtt_windows",
        "rtt_buffers",
        "rtt_four_packets",
        "queue_mean",
        "queue_p95",
        "queue_p5",
        "queue_max",
        "drops",
        "startup_growth",
        "startup_queue",
        "drained",
        "btl_bw_min",
        "btl_bw_max",
    ] {
        assert!(of(&path, 0, about_the_path).is_some(), "{about_the_path}");
        assert_eq!(of(&network, 0, about_the_path), None, "{about_the_path}");
    }
    for (group, rtprop_ms) in [(0, 50.0), (1, 10.0)] {
        let of = |name: &str| of(&network, group, name).unwrap_or_else(|| panic!("no {name}"));
        let rtprops = of("rtt_p50_rtprops");
        assert!(
            (rtprops * rtprop_ms - of("rtt_p50")).abs() < 1e-9,
            "{rtprops}"
        );
        let believed = of("rtprop_p50");
        assert!((0.99..1.3).contains(&believed), "{believed}");
    }
    assert!(of(&network, 0, "goodput_share") > Some(0.8));
    assert_eq!(path.summary.flows[0].rtprop_ms, None, "that of the path");
}
