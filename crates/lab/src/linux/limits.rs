//! What a scenario may ask for that this engine cannot do: its hosts are the kernel's, all alike, and what paces them is
//! TCP itself.

use std::ops::RangeInclusive;

use transport::scheduler::Pacing;
use units::Duration;

use super::network::{self, MAX_GROUPS};
use scenario::{Bbr1Spec, HostSpec, Scenario, ScenarioError};

/// More would measure the machine.
const MAX_FLOWS: usize = 10_000;

/// The most ACKs about a hole that Linux can be told to hold back (`tcp_comp_sack_nr`, one byte).
const MAX_COMPRESSED_ACKS: u64 = 255;

/// What Linux takes as its longest timeout (`tcp_rto_max_ms`).
const MAX_RTO: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(120);

/// # Errors
///
/// The first thing that it cannot do; the error's field is the one to leave out.
pub(super) fn check(scenario: &Scenario) -> Result<(), ScenarioError> {
    if let Some((field, why)) = beyond_linux(&scenario.host) {
        return Err(ScenarioError::new(format!("host.{field}"), cannot(&why)));
    }
    let of_group = |index, field, why: &str| {
        scenario.flow_error(index, &format!("host.{field}"), &cannot(why))
    };
    let mut hosts = Vec::new();
    for (index, group) in scenario.flows.iter().enumerate() {
        if let Some((field, why)) = beyond_linux(&group.host) {
            return Err(of_group(index, field, &why));
        }
        if group
            .bbr1
            .is_some_and(|bbr1| bbr1.config() != Bbr1Spec::default().config())
        {
            let why = cannot("its BBR is the kernel's");
            return Err(scenario.flow_error(index, "bbr1", &why));
        }
        let host = once_a_host(&group.host.over(&scenario.host));
        let first = hosts.first().unwrap_or(&host);
        let differing = host.iter().zip(first).find(|(one, other)| one != other);
        if let Some(((field, _), _)) = differing {
            let own = once_a_host(&group.host);
            let is_own = own
                .iter()
                .any(|(own, value)| own == field && value.is_some());
            let culprit = if is_own { index } else { 0 };
            let why = "the kernel has it once for a host, and all flows have the same hosts";
            return Err(of_group(culprit, field, why));
        }
        hosts.push(host);
    }
    let groups = network::AddressGroups::of(scenario)?.count();
    if groups > MAX_GROUPS {
        let why = format!("{groups} different ways through the network are more than {MAX_GROUPS}");
        return Err(ScenarioError::new("flow.rtt", cannot(&why)));
    }
    let count = scenario.each_flow().count();
    if count > MAX_FLOWS {
        let why = format!("{count} flows are more than {MAX_FLOWS}");
        return Err(ScenarioError::new("flow.count", cannot(&why)));
    }
    Ok(())
}

fn cannot(why: &str) -> String {
    format!("engine linux cannot do this: {why}; leave it out, or use engine sim")
}

/// The first of these settings that no host of this engine has, and why.
fn beyond_linux(host: &HostSpec) -> Option<(&'static str, String)> {
    let its_own = "the kernel decides by itself";
    let paces = |pacing| pacing == Pacing::PerConnection;
    let is_possible = [
        (
            host.scheduler.is_none_or(paces),
            "scheduler",
            "TCP paces by itself, which is \"pacing\"".to_string(),
        ),
        (
            host.nic.is_none(),
            "nic",
            "its network card takes no time".to_string(),
        ),
        (
            host.delayed_ack.is_none(),
            "delayed_ack",
            its_own.to_string(),
        ),
        (host.ack_every.is_none(), "ack_every", its_own.to_string()),
        (
            host.aggregation_delay.is_none(),
            "aggregation_delay",
            its_own.to_string(),
        ),
        (
            host.sack_blocks
                .is_none_or(|blocks| blocks == 0 || blocks == 3),
            "sack_blocks",
            "the kernel has 3, or 0 for none".to_string(),
        ),
        (
            host.compressed_acks
                .is_none_or(|count| count <= MAX_COMPRESSED_ACKS),
            "compressed_acks",
            format!("the kernel takes at most {MAX_COMPRESSED_ACKS}"),
        ),
        (
            host.max_rto
                .is_none_or(|longest| MAX_RTO.contains(&longest)),
            "max_rto",
            format!("the kernel takes {} to {}", MAX_RTO.start(), MAX_RTO.end()),
        ),
        (
            host.offload != Some(false),
            "offload",
            "its network card always offloads".to_string(),
        ),
    ];
    let impossible = is_possible.into_iter().find(|(can, ..)| !can);
    impossible.map(|(_, field, why)| (field, why))
}

/// What the kernel has once for a host: the fields, and what they are if they are given.
fn once_a_host(host: &HostSpec) -> [(&'static str, Option<String>); 10] {
    fn text<T: ToString>(value: Option<T>) -> Option<String> {
        value.map(|value| value.to_string())
    }
    let loss_detection = host.loss_detection.map(|way| format!("{way:?}"));
    [
        ("initial_cwnd", text(host.initial_cwnd)),
        ("send_buffer", text(host.send_buffer)),
        ("receive_buffer", text(host.receive_buffer)),
        ("initial_receive_buffer", text(host.initial_receive_buffer)),
        ("sack_blocks", text(host.sack_blocks)),
        ("compressed_acks", text(host.compressed_acks)),
        ("min_rto", text(host.min_rto)),
        ("max_rto", text(host.max_rto)),
        ("loss_detection", loss_detection),
        ("ecn", text(host.ecn)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOW: &str = "[[flow]]\ncontroller = \"cubic\"\n";

    fn refusal(text: &str) -> Option<ScenarioError> {
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
            ("aggregation_delay = \"2ms\"", "aggregation_delay"),
            ("sack_blocks = 2", "sack_blocks"),
            ("compressed_acks = 256", "compressed_acks"),
            ("max_rto = \"500ms\"", "max_rto"),
            ("offload = false", "offload"),
        ] {
            let error = refusal(&format!("[host]\n{setting}\n{FLOW}")).unwrap();
            assert_eq!(error.field, format!("host.{field}"), "{error}");
            assert!(error.reason.starts_with("engine linux cannot"), "{error}");
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
        for other in ["\"paper\"", "{ cwnd_gain = 3 }"] {
            assert_eq!(refusal(&flow(other)).unwrap().field, "flow.bbr1");
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
    }
}
