//! Valid and invalid scenarios.

use congestion::ControllerKind;
use document::Part;
use path::{
    Aggregation, Buffer, Capacity, CoDel, Demand, Discipline, GilbertElliott, Jitter, Loss, LossAt,
    Mtu, Policer, Reorder,
};
use scenario::{BufferSpec, PathSpec, Scenario};
use units::{Bytes, Duration, Rate, Ratio, Time};

const MINIMAL: &str = "name = \"x\"\nduration = \"10s\"\n[[flow]]\ncontroller = \"cubic\"\n";

const EVERYTHING: &str = r#"
name = "everything"
duration = "60s"
warmup = "5s"
seed = 7

[path]
rate = "100mbit"
rtt = "100ms"
buffer = "4bdp"
loss = { kind = "gilbert", p = "1%", r = "30%", loss_good = "0.1%" }
loss_at = "exit"
ack_loss = "2%"
queue = "droptail"
policer = { rate = "10mbit", burst = "100kb" }
demand = { within = "20ms", least = "500kbit" }
aggregation = { interval = "10ms" }
jitter = { up_to = "5ms", reorders = true }
reorder = { share = "1%", by = "10ms" }
duplicate = "0.1%"
corruption = "0.2%"
mtu = 1500
[[path.change]]
at = "20s"
rate = "20mbit"
[[path.change]]
at = "40s"
rtt = "50ms"
mtu = 1400

[[flow]]
controller = "bbr1"
count = 2
start = "1s"
stagger = "500ms"
[[flow]]
controller = "reno"
bytes = "8mb"
"#;

fn error(text: &str) -> String {
    text.parse::<Scenario>().unwrap_err().to_string()
}

/// Returns the error for a `[path]` with this line in it, which is the fifth.
fn path_error(line: &str) -> String {
    let text = format!(
        "name = \"x\"\nduration = \"10s\"\n[path]\nrtt = \"40ms\"\n{line}\n[[flow]]\ncontroller = \"cubic\"\n"
    );
    error(&text)
}

#[test]
fn everything_that_there_is() {
    let scenario: Scenario = EVERYTHING.parse().unwrap();
    assert_eq!(scenario.name, "everything");
    assert_eq!(scenario.duration, Some(Duration::from_secs(60)));
    assert_eq!(scenario.warmup, Duration::from_secs(5));
    assert_eq!(scenario.seed, 7);
    let [bbr, reno] = &scenario.flows[..] else {
        panic!("two groups");
    };
    assert_eq!(
        (bbr.controller, bbr.count),
        (ControllerKind::Bbr1.into(), 2)
    );
    let starts: Vec<u64> = bbr
        .starts()
        .map(|start| start.as_nanos() / 1_000_000)
        .collect();
    assert_eq!(starts, [1_000, 1_500]);
    assert_eq!(
        (reno.controller, reno.bytes),
        (ControllerKind::Reno.into(), Some(Bytes::new(8_000_000)))
    );

    let config = scenario.path.config().unwrap();
    let (there, back) = (config.forward, config.reverse);
    assert_eq!(
        there.capacity,
        Capacity::Rate(Rate::from_bits_per_sec(100_000_000))
    );
    assert_eq!(there.delay, Duration::from_millis(50));
    assert_eq!(there.buffer, Buffer::Bytes(Bytes::new(5_000_000)));
    assert_eq!(
        (there.effects.loss_at, back.effects.loss_at),
        (LossAt::Exit, LossAt::Entry)
    );
    assert_eq!(
        there.effects.loss,
        Loss::GilbertElliott(GilbertElliott {
            p: Ratio::new(1, 100),
            r: Ratio::new(3, 10),
            loss_good: Ratio::new(1, 1000),
            loss_bad: Ratio::ONE,
        })
    );
    assert_eq!(
        there.effects.jitter,
        Some(Jitter {
            reorders: true,
            ..Jitter::from(Duration::from_millis(5))
        })
    );
    assert_eq!(
        there.effects.reorder,
        Some(Reorder {
            share: Ratio::new(1, 100),
            by: Duration::from_millis(10)
        })
    );
    assert_eq!(there.effects.duplicate, Ratio::new(1, 1000));
    assert_eq!(there.effects.corruption, Ratio::new(1, 500));
    assert_eq!(there.effects.mtu, Mtu::new(1_500));
    // A change of the MTU applies to its direction only.
    assert_eq!(there.changes[1].mtu, Mtu::new(1_400));
    assert_eq!(back.changes[0].mtu, None);
    assert_eq!(
        there.effects.policer,
        Some(Policer {
            rate: Rate::from_bits_per_sec(10_000_000),
            burst: Bytes::new(100_000)
        })
    );
    assert_eq!(
        there.effects.demand,
        Some(Demand {
            interval: Duration::from_millis(10),
            within: Duration::from_millis(20),
            least: Rate::from_bits_per_sec(500_000)
        })
    );
    assert_eq!(there.effects.aggregation, None);
    assert_eq!(there.changes[0].at, Time::from_nanos(20_000_000_000));
    assert_eq!(
        there.changes[0].rate,
        Some(Rate::from_bits_per_sec(20_000_000))
    );
    assert_eq!(there.changes[1].delay, Some(Duration::from_millis(25)));
    assert_eq!(back.capacity, Capacity::Unlimited);
    assert_eq!(back.delay, Duration::from_millis(50));
    assert_eq!(back.effects.loss, Loss::Independent(Ratio::new(2, 100)));
    assert_eq!(
        back.effects.aggregation,
        Some(Aggregation {
            interval: Duration::from_millis(10)
        })
    );
    assert_eq!(back.changes.len(), 1);
}

#[test]
fn an_uplink_changes_by_itself_and_with_the_path() {
    let mut path = PathSpec::default();
    for (key, text) in [
        ("rtt", "40ms"),
        ("change", "at=2s,rtt=81ms"),
        (
            "uplink",
            "{ rate = '5mbit', change = [{ at = '3s', rate = '2mbit' }, { at = '1s', rate = '1mbit' }] }",
        ),
    ] {
        path.set(key, text).unwrap();
    }
    let config = path.config().unwrap();
    let changes = |link: &path::LinkConfig| -> Vec<_> {
        let parts = link.changes.iter();
        parts
            .map(|change| (change.at, change.rate, change.delay))
            .collect()
    };
    let at = |secs: u64| Time::from_nanos(secs * 1_000_000_000);
    let mbit = |count: u64| Some(Rate::from_bits_per_sec(count * 1_000_000));
    let half = Some(Duration::from_micros(40_500));
    assert_eq!(changes(&config.forward), [(at(2), None, half)]);
    assert_eq!(
        changes(&config.reverse),
        [
            (at(1), mbit(1), None),
            (at(2), None, half),
            (at(3), mbit(2), None)
        ]
    );
}

#[test]
fn only_acks_are_aggregated() {
    let mut path = PathSpec::default();
    path.set("aggregation", "interval=10ms").unwrap();
    path.data.effects.aggregation = path.aggregation;
    let error = path.check().unwrap_err().to_string();
    assert_eq!(error, "path.aggregation: is of ACKs; there is none of data");
}

#[test]
fn little_is_needed() {
    let scenario: Scenario = MINIMAL.parse().unwrap();
    assert_eq!(scenario.path, PathSpec::default());
    assert!(scenario.path.is_transparent());
    assert_eq!(scenario.seed, 1);
    assert_eq!(scenario.path.config().unwrap(), path::PathConfig::default());
}

#[test]
fn a_setting_without_effect_names_what_it_lacks() {
    let path = |lines: &str| {
        let text = format!("{MINIMAL}[path]\n{lines}\n");
        text.parse::<Scenario>().map_err(|error| error.to_string())
    };
    let bottleneck = "has no effect without path.rate or a trace; give one of the two";
    let uplink = "has no effect without path.uplink.rate or a trace; give one of the two";
    for (lines, answer) in [
        ("buffer = \"250kb\"", format!("path.buffer: 250kb {bottleneck}")),
        ("buffer = \"100p\"", format!("path.buffer: 100p {bottleneck}")),
        ("queue = \"codel\"", format!("path.queue: codel {bottleneck}")),
        (
            "queue = { kind = \"threshold\", at = \"9kb\" }",
            format!("path.queue: threshold {bottleneck}"),
        ),
        (
            "rate = \"1mbit\"\nuplink = { buffer = \"9kb\" }",
            format!("path.uplink.buffer: 9kb {uplink}"),
        ),
        (
            "rate = \"1mbit\"\nuplink = { queue = \"fq_codel\" }",
            format!("path.uplink.queue: fq_codel {uplink}"),
        ),
        (
            "loss_at = \"exit\"",
            "path.loss_at: has no effect without loss; give a loss such as 1%".to_string(),
        ),
        (
            "loss = \"1%\"\nuplink = { loss_at = \"entry\" }",
            "path.uplink.loss_at: has no effect without loss; give a loss such as 1%".to_string(),
        ),
        (
            "rate = \"1mbit\"\nbuffer = \"20kb\"\nqueue = { kind = \"red\", min = \"30kb\", max = \"90kb\" }",
            "path.queue: red begins at 30kb, beyond the buffer of 20kb; give a smaller size, or a larger buffer"
                .to_string(),
        ),
    ] {
        let error = path(lines).unwrap_err();
        assert!(error.ends_with(&answer), "{error}");
        assert!(error.starts_with("line "), "{error}");
    }
    // A place with a loss of 0 % is a point of a sweep.
    for lines in [
        "loss = \"0%\"\nloss_at = \"exit\"",
        "rate = \"1mbit\"\nbuffer = \"30kb\"\nqueue = { kind = \"threshold\", at = \"30kb\" }",
        "trace = \"a.trace\"\nbuffer = \"30kb\"\nqueue = \"codel\"",
        "queue = \"droptail\"",
    ] {
        let scenario = path(lines).unwrap();
        assert_eq!(scenario.to_string().parse(), Ok(scenario), "{lines}");
    }
}

#[test]
fn a_key_that_is_like_no_other_is_answered_with_all() {
    for (line, key) in [("zebra = 1", "zebra"), ("\"*\" = {}", "*")] {
        let error = path_error(line);
        let known = format!("line 5: path.{key}: unknown key; known: rate, trace, buffer, loss, ");
        assert!(error.starts_with(&known), "{error}");
        assert!(
            error.ends_with(", rtt, forward_delay, ack_loss, uplink, next"),
            "{error}"
        );
    }
}

#[test]
fn nonsense_names_line_field_and_fix() {
    for (line, answer) in [
        (
            "rate = 0",
            "line 5: path.rate: 0 is less than 8bit, the least rate; give a rate such as 20mbit",
        ),
        (
            "rate = \"7bit\"",
            "line 5: path.rate: 7bit is less than 8bit, the least rate; give a rate such as 20mbit",
        ),
        (
            "rate = \"20\"",
            "line 5: path.rate: \"20\": expected a rate such as 20mbit or 1.5gbit; units: bit kbit mbit gbit tbit",
        ),
        (
            "rate = \"99999999tbit\"",
            "line 5: path.rate: \"99999999tbit\": too large; give a rate such as 20mbit or 1.5gbit",
        ),
        (
            "buffer = \"99999999999999999999p\"",
            "line 5: path.buffer: \"99999999999999999999p\": too large; give a buffer such as 4bdp, 100p, 250kb or 1s",
        ),
        (
            "rate = {}",
            "line 5: path.rate: expected one value, not a table",
        ),
        (
            "rat = \"1mbit\"",
            "line 5: path.rat: unknown key; did you mean `path.rate`?",
        ),
        (
            "loss = \"120%\"",
            "line 5: path.loss: 120% is more than 100%",
        ),
        (
            "loss = \"999999%\"",
            "line 5: path.loss: 999999% is more than 100%",
        ),
        (
            "loss = 2",
            "line 5: path.loss: 2 is more than 100%; write 2% if percent are meant",
        ),
        (
            "loss = \"-1%\"",
            "line 5: path.loss: \"-1%\": expected a share such as 1% or 0.01; units: %",
        ),
        (
            "loss = { kind = \"gilbert\" }",
            "line 5: path.loss.p: is missing",
        ),
        (
            "loss = 0\nloss_at = \"middle\"",
            "line 6: path.loss_at: middle is not a known place; known: entry, exit",
        ),
        (
            "loss = { kind = \"bursty\" }",
            "line 5: path.loss.kind: bursty is not a known kind of loss; known: gilbert",
        ),
        (
            "loss = { kind = \"gilbert\", p = \"1%\", r = \"1%\", loss_god = 0 }",
            "line 5: path.loss.loss_god: unknown key; did you mean `path.loss.loss_good`?",
        ),
        (
            "rate = \"1mbit\"\nbuffer = \"500b\"",
            "line 6: path.buffer: 500b is smaller than one packet (1500 bytes); give a larger one such as 100p",
        ),
        (
            "rate = \"1mbit\"\nbuffer = \"0.1bdp\"",
            "line 6: path.buffer: 0.1bdp at 1mbit and 40ms is 500b, which is smaller than one packet (1500 bytes); give a larger one such as 100p",
        ),
        (
            "rate = \"1mbit\"\nbuffer = \"0p\"",
            "line 6: path.buffer: 0p is 0b, which is smaller than one packet (1500 bytes); give a larger one such as 100p",
        ),
        (
            "buffer = \"4bdp\"",
            "line 5: path.buffer: 4bdp has no effect without path.rate or a trace; give one of the two",
        ),
        (
            "buffer = \"lots\"",
            "line 5: path.buffer: \"lots\": expected a buffer such as 4bdp, 100p, 250kb or 1s; units: bdp, p (packets), \
             those of sizes (b kb mb gb tb kib mib gib tib) and of times (ns us ms s min h d)",
        ),
        (
            "loss = { p = \"1%\", r = \"30%\" }",
            "line 5: path.loss.kind: is missing; known: gilbert",
        ),
        (
            "queue = { target = \"9ms\" }",
            "line 5: path.queue.kind: is missing; known: droptail, codel, fq_codel, red, dualpi2, threshold",
        ),
        (
            "queue = { kind = \"codel\", zebra = 1 }",
            "line 5: path.queue.zebra: unknown key; known: kind, target, interval, ecn",
        ),
        (
            "queue = \"blue\"",
            "line 5: path.queue: blue is not a known queue; known: droptail, codel, fq_codel, red, dualpi2, threshold",
        ),
        (
            "queue = { kind = \"red\", min = \"90kb\", max = \"30kb\" }",
            "line 5: path.queue.min: 90kb is above the max of 30kb; give a smaller one, or the same for a plain threshold",
        ),
        (
            "policer = \"10mbit\"",
            "line 5: path.policer: expected a table such as { rate = \"10mbit\", burst = \"100kb\" }",
        ),
        (
            "policer = { rate = \"10mbit\", burst = \"1kb\" }",
            "line 5: path.policer.burst: 1kb is smaller than one packet, so no full packet could ever pass; give at least 1.5kb",
        ),
        (
            "demand = \"20ms\"",
            "line 5: path.demand: expected a table such as { within = \"20ms\", least = \"500kbit\" }",
        ),
        (
            "rate = \"1mbit\"\ndemand = { within = \"0ms\", least = \"500kbit\" }",
            "line 6: path.demand.within: is zero, and all would be granted at once; give a duration such as 20ms, or leave \
             `demand` out",
        ),
        (
            "demand = { within = \"20ms\" }",
            "line 5: path.demand.least: is missing",
        ),
        (
            "demand = { within = \"20ms\", least = \"500kbit\" }",
            "line 5: path.demand: needs path.rate, the most that the cell can give; give one",
        ),
        (
            "trace = \"x\"\ndemand = { within = \"20ms\", least = \"500kbit\" }",
            "line 6: path.demand: a trace sets the rate; leave one of the two out",
        ),
        (
            "rate = \"400kbit\"\ndemand = { within = \"20ms\", least = \"500kbit\" }",
            "line 6: path.demand.least: 500kbit is above path.rate of 400kbit; give a lower one",
        ),
        (
            "uplink = { rate = \"1mbit\", demand = { within = \"20ms\", least = \"2mbit\" } }",
            "line 5: path.uplink.demand.least: 2mbit is above path.uplink.rate of 1mbit; give a lower one",
        ),
        (
            "change = [{ at = \"1s\", rate = \"1mbit\" }, { at = \"2s\" }]",
            "line 5: path.change[1]: changes nothing; give rate, rtt or mtu",
        ),
        (
            "change = [{ at = \"1s\", rate = \"1mbit\" }]",
            "line 5: path.change[0].rate: there is no path.rate to change; give one",
        ),
        (
            "rate = \"1mbit\"\ntrace = \"x\"",
            "line 6: path.trace: the path has a rate already; give one of the two",
        ),
    ] {
        assert_eq!(path_error(line), answer, "{line}");
    }
    for (text, answer) in [
        (
            "name = 'x'\nduration = '1s'",
            "flow: nobody sends; add [[flow]] with controller = \"bbr1\"",
        ),
        (
            "[[flow]]\ncontroller = 'cubic'",
            "name: is missing; give the scenario one",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'",
            "duration: is missing; give one, or every flow its bytes",
        ),
        (
            "name = 'x'\nduration = 0",
            "line 2: duration: 0 is less than 1ns, the least time; give a time such as 10ms",
        ),
        (
            "name = 'x'\nduration = '5s'\nwarmup = '5s'\n[[flow]]\ncontroller = 'cubic'",
            "line 3: warmup: 5s leaves nothing of a run of 5s",
        ),
        (
            "name = 'x'\nduration = '5s'\n[[flow]]\ncontroller = 'cubic'\n[[flow]]\ncontroller = 'cubic'\ncount = 7\n\
             stagger = '1s'",
            "line 8: flow[1].stagger: 1s has the last of 7 flows start at 6s, which is not before the end of a run of 5s",
        ),
        (
            "name = 'x'\nduration = '5s'\n[[flow]]\ncontroller = 'cubic'\nstart = '5s'",
            "line 5: flow.start: 5s is not before the end of a run of 5s",
        ),
        (
            "name = 'x'\nduration = '5s'\n[[path]]\nrate = '1mbit'\n[[flow]]\ncontroller = 'cubic'",
            "line 3: path: expected a table such as [path] with rate = \"50mbit\", not a list",
        ),
        (
            "name = 'x'\n[[flow]]\ncount = 1",
            "line 3: flow.controller: is missing",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\ncount = 0",
            "line 4: flow.count: 0 flows send nothing; give 1 or more",
        ),
        (
            "name = 'x'\nduration = '5s'\n[[flow]]\ncontroller = 'cubic'\ncount = 500000",
            "line 5: flow.count: 500000 flows are more than 100000",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\nbytes = '1mb'\napp = 'video'",
            "line 4: flow.bytes: an application has sizes of its own; give one of bytes and app",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\napp = { kind = 'video', laddder = [] }",
            "line 4: flow.app.laddder: unknown key; did you mean `flow.app.ladder`?",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\napp = { kind = 'vido' }",
            "line 4: flow.app.kind: vido is not a known application; did you mean `video`? known: bulk, requests, poisson, rate, video",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\napp = { kind = 'poisson', sizes = '9kb' }",
            "line 4: flow.app.interval: is missing; give the mean time between arrivals, or their load",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\napp = { kind = 'poisson', load = '1mbit', sizes = [] }",
            "line 4: flow.app.sizes: has no sizes to choose from; give at least one",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\napp = { kind = 'poisson', load = '1mbit', \
             sizes = { kind = 'pareto', min = '1kb', shape = 0, max = '9kb' } }",
            "line 4: flow.app.sizes.shape: 0 is not a power law; give a number above 0, such as 1.2",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\napp = { kind = 'poisson', load = '1mbit', \
             sizes = { kind = 'pareto', min = '1kb', shape = 5, max = '9kb' } }",
            "line 4: flow.app.sizes.shape: 5 is too large; give a number such as 1.25; at most 4.29",
        ),
        (
            "name = 'x'\n[[flow]]\ncontroller = 'cubic'\napp = { kind = 'video', max_buffer = '1s' }",
            "line 4: flow.app.max_buffer: 1s holds no chunk; give at least 4s",
        ),
        (
            "name = 'x'\nduration = '1s'\n[[flow]]\ncontroller = 'cubic'\nhops = '0-1'",
            "line 5: flow.hops: there is no hop 1; the last is 0",
        ),
        (
            "name = 'x'\nduration = '1s'\n[host]\nmss = 9\n[[flow]]\ncontroller = 'cubic'",
            "line 4: host.mss: 9 is not a segment size; give 536 to 8948 bytes, such as 1448",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path]\nrate = '1mbit'\nbuffer = '2kb'\n[host]\nmss = 8948\n[[flow]]\ncontroller = 'cubic'",
            "line 7: host.mss: 8948 makes packets of 9kb, which path has no room for",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path]\nmtu = 1500\nuplink = { mtu = 1280 }\n[host]\nmss = 1448\n[[flow]]\n\
             controller = 'cubic'\nreverse = true",
            "line 7: host.mss: 1448 makes packets of 1500 bytes, more than the 1280 of path.uplink.mtu; leave it out, or \
             give at most 1228",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path]\nmtu = 575\n[[flow]]\ncontroller = 'cubic'",
            "line 4: path.mtu: 575 is not the size of a packet; give 576 to 65535 bytes, such as 1400",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path]\nmtu = '1.4kb'\n[[flow]]\ncontroller = 'cubic'",
            "line 4: path.mtu: 1.4kb is not the size of a packet; give 576 to 65535 bytes, such as 1400",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path]\nchange = [{ at = '1s', mtu = 70000 }]\n[[flow]]\ncontroller = 'cubic'",
            "line 4: path.change.mtu: 70000 is not the size of a packet; give 576 to 65535 bytes, such as 1400",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path]\ncorruption = 1\n[[flow]]\ncontroller = 'cubic'",
            "line 4: path.corruption: 1 could be all or one in a hundred; write 100% or 1%",
        ),
        (
            "name = 'x'\nduration = '1s'\n[host]\nmin_rto = '2s'\nmax_rto = '1s'\n[[flow]]\ncontroller = 'cubic'",
            "line 5: host.max_rto: 1s is shorter than min_rto, which is 2s",
        ),
        (
            "name = 'x'\nduration = '1s'\n[host]\nchange = [{ at = '1s', receive_buffer = '1kb' }]\n[[flow]]\n\
             controller = 'cubic'",
            "line 4: host.change.receive_buffer: 1kb is less than two segments; give at least 2.896kb",
        ),
        (
            "name = 'x'\nduration = '1s'\n[[host.change]]\nat = '1s'\n[[flow]]\ncontroller = 'cubic'",
            "line 4: host.change.receive_buffer: is missing",
        ),
        (
            "name = 'x'\nduration = '1s'\n[host]\nmin_rtt = '2s'",
            "line 4: host.min_rtt: unknown key; did you mean `host.min_rto`?",
        ),
        (
            "name = 'x'\nduration = '1s'\n[[path.next]]\nrate = '1mbit'\n[[path.next]]\nbuffer = '4bdp'\n[[flow]]\n\
             controller = 'cubic'",
            "line 6: path.next[1].buffer: 4bdp has no effect without path.next[1].rate or a trace; give one of the two",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path]\nack_loss = '1%'\nuplink = { loss = '1%' }\n[[flow]]\ncontroller = 'cubic'",
            "line 5: path.uplink.loss: there is an ack_loss already; give one of the two",
        ),
        (
            "name = 'x'\nduration = '1s'\n[path.uplink]\nrate = '1mbit'\n[[path.uplink.change]]\nat = '1s'\nrtt = '9ms'\n\
             [[flow]]\ncontroller = 'cubic'",
            "line 7: path.uplink.change[0].rtt: the RTprop is the whole path's; give path.change this rtt",
        ),
        (
            "name = 'x'\nduration = '1s'\n[[path.uplink.change]]\nat = '1s'\nrate = '1mbit'\n[[flow]]\ncontroller = 'cubic'",
            "line 5: path.uplink.change[0].rate: there is no path.uplink.rate to change; give one",
        ),
        (
            "name = 'x'\nduration = '9s'\n[path]\nrtt = '40ms'\nchange = [{ at = '1s', rtt = '10ms' }]\n[[flow]]\n\
             controller = 'cubic'\nrtt = '20ms'",
            "line 5: path.change[0].rtt: shortens the way by more than the 20ms that all flows share; give a longer one, or \
             flows longer RTTs",
        ),
        (
            "nam = 'x'",
            "line 1: nam: unknown key; did you mean `name`?",
        ),
        (
            "path = 1",
            "line 1: path: expected a table such as [path] with rate = \"50mbit\"",
        ),
        (
            "flow = 1",
            "line 1: flow: 1 is not a list; write [1], or [[flow]] for tables",
        ),
        ("flow = {}", "line 1: flow: is a list; write [[flow]]"),
        (
            "seed = -1",
            "line 1: seed: -1 is not a whole number such as 1",
        ),
    ] {
        assert_eq!(error(text), answer, "{text}");
    }
}

#[test]
fn what_is_long_is_told_in_short() {
    let long = "z".repeat(100_000);
    for line in [format!("{long} = 1"), format!("change = \"{long}\"")] {
        let error = path_error(&line);
        assert!(error.chars().count() < 500, "{}", error.len());
        assert!(error.contains("zzz…"), "{error}");
    }
}

/// Each form of a scenario has its own names of fields and examples.
#[test]
fn an_error_tells_values_fields_and_examples_from_words() {
    let told = |line: &str| {
        let text = format!("{MINIMAL}[path]\n{line}\n");
        let error = text.parse::<Scenario>().unwrap_err();
        error.reason.told(|part| match part {
            Part::Words(words) => words.clone(),
            part => format!("<{}>", part.text()),
        })
    };
    for (line, reason) in [
        (
            "buffer = \"9kb\"",
            "<9kb> has no effect without <path.rate> or a trace; give one of the two",
        ),
        (
            "policer = 1",
            "expected <{ rate = \"10mbit\", burst = \"100kb\" }>",
        ),
        ("loss = \"120%\"", "<120%> is more than 100%"),
    ] {
        assert_eq!(told(line), reason);
    }
}

/// Records and runs are found by the text of their scenario, so it must not change.
#[test]
fn settings_are_written_as_they_always_were() {
    let said: Scenario = include_str!("settings/said.toml").parse().unwrap();
    assert_eq!(said.to_string(), include_str!("settings/written.toml"));
}

#[test]
fn an_unknown_controller_is_told_the_known_ones() {
    let error = error("name = 'x'\nduration = '1s'\n[[flow]]\ncontroller = 'brr1'");
    assert!(
        error.starts_with("line 4: flow.controller: \"brr1\": unknown controller"),
        "{error}"
    );
    for kind in ControllerKind::ALL {
        assert!(error.contains(kind.name()), "{error}");
    }
    assert!(error.contains("kernel:NAME"), "{error}");
}

#[test]
fn what_is_no_toml_is_answered_with_its_line() {
    let error = error("name = \"x\"\nduration = 10s\n");
    assert!(error.starts_with("line 2: "), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

#[test]
fn options_speak_the_same_language() {
    let mut path = PathSpec::default();
    for (key, text) in [
        ("rate", "20mbit"),
        ("rtt", "40ms"),
        ("buffer", "8bdp"),
        ("loss", "kind=gilbert,p=1%,r=30%"),
        ("policer", "rate=10mbit, burst=100kb"),
        ("change", "at=20s,rate=10mbit"),
        ("change", "at=10s,rtt=80ms"),
    ] {
        path.set(key, text).unwrap();
    }
    path.check().unwrap();
    assert_eq!(path.buffer_bytes(), Some(Bytes::new(800_000)));
    assert_eq!(path.data.changes.len(), 2);
    // Engines apply changes in the order of their times.
    assert_eq!(
        path.config().unwrap().forward.changes[0].at,
        Time::from_nanos(10_000_000_000)
    );
    let error = |key, text| PathSpec::default().set(key, text).unwrap_err().to_string();
    assert_eq!(error("loss", "120%"), "path.loss: 120% is more than 100%");
    assert_eq!(
        error("los", "1%"),
        "path.los: unknown key; did you mean `path.loss`?"
    );
    assert_eq!(
        error("policer", "rate=10mbit"),
        "path.policer.burst: is missing"
    );
}

#[test]
fn overrides() {
    let mut scenario: Scenario = EVERYTHING.parse().unwrap();
    for (key, text) in [
        ("path.loss", "2%"),
        ("seed", "9"),
        ("name", "other"),
        ("flow.controller", "cubic"),
        ("duration", "30s"),
        ("flow.1.bytes", "9mb"),
        ("path.change.0.rate", "30mbit"),
        ("path.queue", "{ kind = 'codel', target = '7ms' }"),
        ("path.queue.target", "8ms"),
        ("host.ecn", "true"),
    ] {
        scenario.set(key, text).unwrap();
    }
    assert_eq!(scenario.flows[1].bytes, Some(Bytes::new(9_000_000)));
    assert_eq!(
        scenario.path.data.changes[0].rate,
        Some(Rate::from_bits_per_sec(30_000_000))
    );
    let codel = CoDel {
        target: Duration::from_millis(8),
        ..CoDel::default()
    };
    assert_eq!(scenario.path.data.effects.queue, Discipline::CoDel(codel));
    assert_eq!(scenario.host.ecn, Some(true));
    assert_eq!(
        scenario.path.data.effects.loss,
        Loss::Independent(Ratio::new(2, 100))
    );
    assert_eq!(scenario.seed, 9);
    assert_eq!(scenario.name, "other");
    assert!(
        scenario
            .flows
            .iter()
            .all(|flow| flow.controller == ControllerKind::Cubic.into())
    );
    for (key, text, answer) in [
        (
            "path.los",
            "1%",
            "path.los: unknown key; did you mean `path.loss`?",
        ),
        (
            "flow.cont",
            "bbr1",
            "flow[0].cont: unknown key; did you mean `flow[0].count`?",
        ),
        (
            "path",
            "rat=1mbit",
            "path.rat: unknown key; did you mean `path.rate`?",
        ),
        (
            "warmup",
            "30s",
            "warmup: 30s leaves nothing of a run of 30s",
        ),
        (
            "colour",
            "red",
            "colour: unknown key; known: name, duration, warmup, seed, path, link, host, flow",
        ),
    ] {
        assert_eq!(
            scenario.clone().set(key, text).unwrap_err().to_string(),
            answer
        );
    }
}

#[test]
fn traces_are_found_beside_the_scenario() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("cell.toml");
    let text = MINIMAL.replace("[[flow]]", "[path]\ntrace = \"cell.trace\"\n[[flow]]");
    std::fs::write(&file, text).unwrap();
    let scenario = Scenario::load(&file).unwrap();
    let missing = scenario.path.config().unwrap_err();
    assert_eq!(missing.field, "path.trace");
    // A directory stands for anything that is no regular file.
    std::fs::create_dir(directory.path().join("cell.trace")).unwrap();
    let error = scenario.path.config().unwrap_err().to_string();
    assert!(
        error.ends_with("cell.trace: is not a regular file"),
        "{error}"
    );
    std::fs::remove_dir(directory.path().join("cell.trace")).unwrap();
    std::fs::write(directory.path().join("cell.trace"), "0\n5\nx\n").unwrap();
    let error = scenario.path.config().unwrap_err().to_string();
    assert!(error.contains("line 3: not a time stamp"), "{error}");
    std::fs::write(directory.path().join("cell.trace"), "0\n5\n10\n").unwrap();
    assert!(matches!(
        scenario.path.config().unwrap().forward.capacity,
        Capacity::Trace(_)
    ));
    let error = Scenario::load(&directory.path().join("none.toml"))
        .unwrap_err()
        .to_string();
    assert!(error.starts_with("cannot read "), "{error}");
}

#[test]
fn what_the_path_allows_over_time() {
    let mut path = PathSpec::default();
    assert_eq!(
        path.data.capacity(Duration::ZERO, Duration::from_secs(1)),
        None
    );
    path.set("rate", "8mbit").unwrap();
    path.set("change", "at=10s,rate=16mbit").unwrap();
    path.set("change", "at=20s,rate=8mbit").unwrap();
    let capacity = |from, to| {
        path.data
            .capacity(Duration::from_secs(from), Duration::from_secs(to))
            .unwrap()
            .get()
    };
    assert_eq!(capacity(0, 10), 10_000_000);
    assert_eq!(capacity(5, 25), 30_000_000);
    assert_eq!(capacity(10, 11), 2_000_000);
    assert_eq!(capacity(7, 7), 0);
    assert_eq!(
        path.data.rates().at(Duration::from_secs(20)),
        Some(Rate::from_bits_per_sec(8_000_000))
    );
}

#[test]
fn buffers_in_all_their_terms() {
    let mut path = PathSpec::default();
    path.set("rate", "10mbit").unwrap();
    path.set("rtt", "40ms").unwrap();
    for (text, bytes) in [
        ("25bdp", 1_250_000),
        ("0.25bdp", 12_500),
        ("1s", 1_250_000),
        ("100p", 150_000),
        ("250kb", 250_000),
    ] {
        path.set("buffer", text).unwrap();
        assert_eq!(path.buffer_bytes(), Some(Bytes::new(bytes)), "{text}");
        assert_eq!(path.data.buffer.unwrap().to_string(), text);
    }
    for text in [
        "bdp",
        "-1bdp",
        "1.5p",
        "1e3bdp",
        "",
        "p",
        "99999999999999999999bdp",
    ] {
        assert!(text.parse::<BufferSpec>().is_err(), "{text}");
    }
}

#[test]
fn applications_with_absurdly_many_objects_are_refused() {
    let with = |app: &str| {
        let text = MINIMAL.replace("[[flow]]", &format!("[[flow]]\napp = {app}"));
        text.parse::<Scenario>()
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    for (app, field) in [
        (
            "{ kind = \"rate\", rate = \"1tbit\", write = \"1b\" }",
            "write",
        ),
        (
            "{ kind = \"poisson\", interval = \"1ns\", sizes = \"1b\" }",
            "interval",
        ),
        (
            "{ kind = \"poisson\", load = \"1tbit\", sizes = \"125b\" }",
            "interval",
        ),
    ] {
        let error = with(app).unwrap_err();
        assert!(
            error.contains(&format!("flow.app.{field}: makes ")),
            "{error}"
        );
        assert!(
            error.contains("more than 100000000; give a larger"),
            "{error}"
        );
        assert_eq!(error.lines().count(), 1);
    }
    // A count ends them earlier.
    let few = "{ kind = \"poisson\", interval = \"1ns\", sizes = \"1b\", count = 1000 }";
    assert_eq!(with(few), Ok(()));
    assert_eq!(
        with("{ kind = \"rate\", rate = \"1gbit\", write = \"1kb\" }"),
        Ok(())
    );
}

#[test]
fn a_traces_name_that_is_no_text_is_written_nevertheless() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let mut scenario: Scenario =
        "name = \"x\"\nduration = \"1s\"\n[path]\ntrace = \"cell.trace\"\nrtt = \"10ms\"\n[[flow]]\ncontroller = \"bbr1\"\n"
            .parse()
            .unwrap();
    scenario.path.data.trace = Some(OsStr::from_bytes(b"nu\xff/cell.trace").into());
    assert!(scenario.to_string().contains("nu\u{fffd}/cell.trace"));
}

#[test]
fn each_direction_has_its_part_of_the_delay() {
    let mut path = PathSpec::default();
    path.set("rtt", "100ms").unwrap();
    path.set("forward_delay", "70ms").unwrap();
    path.set("change", "at=1s,rtt=200ms").unwrap();
    let ms = Duration::from_millis;
    let config = path.config().unwrap();
    assert_eq!(
        [config.forward.delay, config.reverse.delay],
        [ms(70), ms(30)]
    );
    let changed = [&config.forward, &config.reverse].map(|link| link.changes[0].delay);
    assert_eq!(changed, [Some(ms(140)), Some(ms(60))]);
    // Links that are shorter because of a flow's own RTprop keep the proportion.
    let config = path.with_link_delay(ms(50)).config().unwrap();
    assert_eq!(
        [config.forward.delay, config.reverse.delay],
        [ms(35), ms(15)]
    );
    path.set("forward_delay", "101ms").unwrap();
    assert_eq!(
        path.check().unwrap_err().to_string(),
        "path.forward_delay: 101ms is more than the whole of path.rtt, which is 100ms; give a part of it"
    );
}

#[test]
fn a_rate_of_zero_is_an_outage_and_nearly_zero_is_a_mistake() {
    let mut path = PathSpec::default();
    path.set("rate", "8mbit").unwrap();
    path.set("change", "at=10s,rate=0").unwrap();
    path.set("change", "at=12s,rate=8mbit").unwrap();
    let second = Duration::from_secs;
    let config = path.config().unwrap();
    assert_eq!(config.forward.changes[0].rate, Some(Rate::ZERO));
    assert_eq!(path.data.rates().at(second(11)), Some(Rate::ZERO));
    let carried = path.data.capacity(second(9), second(13));
    assert_eq!(carried.map(|bytes| bytes.get()), Some(2_000_000));
    let error = path
        .set("change", "at=20s,rate=7bit")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("7bit is less than 8bit, the least rate"),
        "{error}"
    );
}

#[test]
fn a_table_of_rates_is_a_trace() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("rates.csv");
    std::fs::write(&file, "\u{feff}time_ms,mbps\r\n0,8\r\n500,16\r\n").unwrap();
    let mut path = PathSpec::default();
    path.set("trace", file.to_str().unwrap()).unwrap();
    let config = path.config().unwrap();
    assert_eq!(
        config.forward.capacity.mean_rate(),
        Some(Rate::from_bits_per_sec(12_000_000))
    );
    std::fs::write(&file, "time,mbps\n0,x\n").unwrap();
    let error = path.config().unwrap_err().to_string();
    assert!(
        error.ends_with(
            "rates.csv: line 2: not a rate; give a number of the column's unit, zero or more"
        ),
        "{error}"
    );
}
