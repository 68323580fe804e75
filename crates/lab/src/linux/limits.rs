//! The settings that this engine cannot follow: its hosts are the kernel's, all are alike, and TCP itself paces.

use congestion::ControllerKind;
use document::DocumentError;
use scenario::{Controller, HostSpec, Scenario};
use transport::scheduler::{Pacing, SmallQueues};
use transport::sender::FastOpen;
use units::Duration;

use super::network::{self, MAX_GROUPS};
use crate::engine_kind::EngineKind;
use crate::limits::Limits;

const KERNEL_DECIDES: &str = "the kernel itself sets it";

pub(crate) const LIMITS: Limits = Limits {
    engine: EngineKind::Linux,
    scenario: &[],
    changes: |_| None,
    host: &[
        (
            "scheduler",
            |host| {
                host.scheduler
                    .is_some_and(|pacing| pacing != Pacing::PerConnection)
            },
            "TCP itself paces: \"pacing\" is its only scheduler",
        ),
        (
            "nic",
            |host| host.nic.is_some(),
            "its network card has no rate",
        ),
        (
            "delayed_ack",
            |host| host.delayed_ack.is_some(),
            KERNEL_DECIDES,
        ),
        ("ack_every", |host| host.ack_every.is_some(), KERNEL_DECIDES),
        (
            "aggregation_delay",
            |host| host.aggregation_delay.is_some(),
            KERNEL_DECIDES,
        ),
        (
            "sack_blocks",
            |host| {
                host.sack_blocks
                    .is_some_and(|blocks| blocks != 0 && blocks != 3)
            },
            "the kernel has 3, or 0 for none",
        ),
        // `tcp_comp_sack_nr`, one byte.
        (
            "compressed_acks",
            |host| host.compressed_acks.is_some_and(|count| count > 255),
            "the kernel takes at most 255",
        ),
        // `tcp_rto_max_ms`.
        (
            "max_rto",
            |host| {
                host.max_rto
                    .is_some_and(|longest| !(SECOND..=SECOND * 120).contains(&longest))
            },
            "the kernel takes 1s to 120s",
        ),
        (
            "accurate_ecn",
            |host| host.accurate_ecn == Some(true),
            "its marks are echoed as RFC 3168 says",
        ),
        (
            "ack_frequency",
            |host| host.ack_frequency == Some(true),
            "the kernel's TCP has no option for it",
        ),
        (
            "fast_open",
            |host| host.fast_open.is_some_and(|it| it != FastOpen::Off),
            "its connections open without data",
        ),
        (
            "syn_timer",
            |host| host.syn_timer.is_some(),
            "its SYNs are the kernel's",
        ),
        (
            "small_queues",
            |host| host.small_queues.is_some_and(|it| it != SmallQueues::Linux),
            "its small queues are the kernel's",
        ),
        (
            "offload",
            |host| host.offload == Some(false),
            "its network card always offloads",
        ),
        (
            "change",
            |host| host.change.is_some(),
            "the kernel's hosts stay as they are",
        ),
    ],
    flow: &[
        (
            "controller",
            |flow| matches!(flow.controller, Controller::Python(_)),
            "only engine sim runs controllers written in Python",
        ),
        (
            "controller",
            |flow| matches!(flow.controller, Controller::JavaScript(_)),
            "only a page runs controllers written in JavaScript",
        ),
        (
            "controller",
            |flow| matches!(flow.controller, Controller::Rust(_)),
            "only the program with that type runs it",
        ),
        (
            "bbr1",
            |flow| flow.has_own(ControllerKind::Bbr1),
            "its BBR is the kernel's",
        ),
        (
            "cubic",
            |flow| flow.has_own(ControllerKind::Cubic),
            "its CUBIC is the kernel's, whose settings are machine-wide",
        ),
        (
            "bbr3",
            |flow| flow.has_own(ControllerKind::Bbr3),
            "its BBRv3 is the kernel's, if it has one",
        ),
    ],
    // With more flows, the result would depend on the machine.
    most_flows: 10_000,
};

const SECOND: Duration = Duration::from_secs(1);

/// A setting that the kernel has once for a host: the field, and its value if it is given.
type HostWide = (&'static str, fn(&HostSpec) -> Option<String>);

const HOST_WIDE: [HostWide; 10] = [
    ("initial_cwnd", |host| text(host.initial_cwnd)),
    ("send_buffer", |host| text(host.send_buffer)),
    ("receive_buffer", |host| text(host.receive_buffer)),
    ("initial_receive_buffer", |host| {
        text(host.initial_receive_buffer)
    }),
    ("sack_blocks", |host| text(host.sack_blocks)),
    ("compressed_acks", |host| text(host.compressed_acks)),
    ("min_rto", |host| text(host.min_rto)),
    ("max_rto", |host| text(host.max_rto)),
    ("loss_detection", |host| {
        host.loss_detection.map(|way| format!("{way:?}"))
    }),
    ("ecn", |host| text(host.ecn)),
];

fn text<T: ToString>(value: Option<T>) -> Option<String> {
    value.map(|value| value.to_string())
}

/// # Errors
///
/// The first setting that the engine cannot follow; the error names the field to leave out.
pub(super) fn check(scenario: &Scenario) -> Result<(), DocumentError> {
    LIMITS.check(scenario)?;
    for (index, group) in scenario.flows.iter().enumerate() {
        let host = group.host.over(&scenario.host);
        let first = scenario.flows[0].host.over(&scenario.host);
        let differs = |(_, of): &&HostWide| of(&host) != of(&first);
        if let Some((field, of)) = HOST_WIDE.iter().find(differs) {
            let culprit = if of(&group.host).is_some() { index } else { 0 };
            let why = "the kernel has one value for each host, and all flows share the hosts";
            let beyond = scenario.flow_error(culprit, &format!("host.{field}"), why);
            return Err(LIMITS.refuse(scenario, beyond));
        }
    }
    let groups = network::AddressGroups::of(scenario)?.count();
    if groups > MAX_GROUPS {
        let why =
            format!("{groups} distinct routes through the network are more than {MAX_GROUPS}");
        let is_path = scenario.links.is_empty();
        let field = if is_path { "flow.rtt" } else { "flow" };
        return Err(LIMITS.refuse(scenario, DocumentError::new(field, why)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "[[flow]]\ncontroller = \"cubic\"\n";

    fn refusal(text: &str) -> Option<DocumentError> {
        let text = format!(
            "name = \"x\"\nduration = \"1s\"\n[path]\nrate = \"1mbit\"\nrtt = \"9ms\"\n{text}"
        );
        check(&text.parse().unwrap()).err()
    }

    #[test]
    fn what_the_kernel_has_no_knob_for_is_refused() {
        for (setting, field) in [
            ("scheduler = \"fq\"", "scheduler"),
            ("scheduler = \"none\"", "scheduler"),
            ("nic = \"1gbit\"", "nic"),
            ("delayed_ack = \"0s\"", "delayed_ack"),
            ("ack_every = 4", "ack_every"),
            ("fast_open = \"known\"", "fast_open"),
            ("aggregation_delay = \"2ms\"", "aggregation_delay"),
            ("sack_blocks = 2", "sack_blocks"),
            ("compressed_acks = 256", "compressed_acks"),
            ("max_rto = \"500ms\"", "max_rto"),
            ("offload = false", "offload"),
            ("accurate_ecn = true", "accurate_ecn"),
            ("ack_frequency = true", "ack_frequency"),
            ("syn_timer = \"bsd\"", "syn_timer"),
            ("small_queues = \"off\"", "small_queues"),
            ("small_queues = \"linux-4.19\"", "small_queues"),
            (
                "change = [{ at = \"1s\", receive_buffer = \"1mb\" }]",
                "change",
            ),
        ] {
            let error = refusal(&format!("[host]\n{setting}\n{FLOW}")).unwrap();
            assert_eq!(error.field, format!("host.{field}"), "{error}");
            assert!(
                error.reason.to_string().starts_with("engine linux cannot"),
                "{error}"
            );
            let error = refusal(&format!("{FLOW}{FLOW}host = {{ {setting} }}\n")).unwrap();
            assert_eq!(error.field, format!("flow[1].host.{field}"), "{error}");
        }
    }

    #[test]
    fn what_it_has_is_taken() {
        let host = "[host]\nscheduler = \"pacing\"\nmss = 1000\ninitial_cwnd = 4\nsend_buffer = \"1mb\"\n\
                    receive_buffer = \"1mb\"\ninitial_receive_buffer = \"64kib\"\nsack_blocks = 0\n\
                    compressed_acks = 0\nmin_rto = \"50ms\"\nmax_rto = \"10s\"\nloss_detection = \"dupacks\"\n\
                    ecn = true\noffload = true\n";
        assert_eq!(refusal(&format!("{host}{FLOW}")), None);
        let next = "[[path.next]]\nrate = \"1mbit\"\nrtt = \"5ms\"\n";
        let flow =
            "reverse = true\nrtt = \"90ms\"\nhops = \"1\"\nhost = { mss = 600 }\napp = \"video\"\n";
        assert_eq!(refusal(&format!("{next}{FLOW}{FLOW}{flow}")), None);
        assert_eq!(refusal("[[flow]]\ncontroller = \"kernel:bbr\"\n"), None);
    }

    #[test]
    fn bbr_is_the_kernels() {
        let flow = |bbr1: &str| format!("[[flow]]\ncontroller = \"bbr1\"\nbbr1 = {bbr1}\n");
        assert_eq!(refusal(&flow("\"linux\"")), None);
        for other in ["\"paper\"", "{ cwnd_gain = 3 }", "{ peak_gain = 1.1 }"] {
            assert_eq!(refusal(&flow(other)).unwrap().field, "flow.bbr1");
        }
        for (more, engines) in [("", "sim or quic"), ("reverse = true\n", "sim")] {
            let reason = refusal(&(flow("\"paper\"") + more)).unwrap().reason;
            let reason = reason.to_string();
            let end = format!("; leave it out, or use engine {engines}");
            assert!(reason.ends_with(&end), "{reason}");
        }
    }

    #[test]
    fn cubic_is_the_kernels() {
        for (cubic, field) in [
            ("\"linux\"", None),
            ("{ beta = 0.7 }", None),
            ("\"rfc9438\"", Some("flow.cubic")),
            ("{ beta = 0.8 }", Some("flow.cubic")),
        ] {
            let refused = refusal(&format!("{FLOW}cubic = {cubic}\n"));
            assert_eq!(
                refused.map(|error| error.field).as_deref(),
                field,
                "{cubic}"
            );
        }
    }

    #[test]
    fn what_the_kernel_has_once_a_host_is_the_same_for_all() {
        let own = "host = { ecn = true }\n";
        let field = |text: String| refusal(&text).map(|error| error.field);
        assert_eq!(
            field(format!("{FLOW}{FLOW}{own}")).as_deref(),
            Some("flow[1].host.ecn")
        );
        assert_eq!(
            field(format!("{FLOW}{own}{FLOW}")).as_deref(),
            Some("flow[0].host.ecn")
        );
        assert_eq!(field(format!("{FLOW}{own}{FLOW}{own}")), None);
        assert_eq!(
            field(format!("[host]\necn = true\n{FLOW}{FLOW}{own}")),
            None
        );
    }

    #[test]
    fn ways_and_flows_have_an_end() {
        let own = |count: u64| -> String {
            let flow = |ms: u64| format!("{FLOW}rtt = \"{ms}ms\"\n");
            (10..10 + count).map(flow).collect()
        };
        assert_eq!(refusal(&own(200)), None);
        assert_eq!(refusal(&own(201)).unwrap().field, "flow.rtt");
        let error = refusal(&format!("{FLOW}count = 10001\n")).unwrap();
        assert_eq!(error.field, "flow.count");
        let line = |place: usize| {
            format!(
                "[[link]]\nname = \"line-{place}\"\nfrom = \"a\"\nto = \"b\"\nrate = \"9mbit\"\nrtt = \"9ms\"\n\
                 {FLOW}from = \"a\"\nroute = [\"line-{place}\"]\n"
            )
        };
        let lines = |count| (0..count).map(line).collect::<String>();
        let network = |count| format!("name = \"x\"\nduration = \"1s\"\n{}", lines(count));
        let refusal = |count| check(&network(count).parse().unwrap()).err();
        assert_eq!(refusal(200), None);
        assert_eq!(refusal(201).unwrap().field, "flow");
    }
}
