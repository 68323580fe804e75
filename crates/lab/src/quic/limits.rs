//! The settings that this engine cannot follow: it carries bulk data of a real QUIC stack, over one bottleneck, in
//! one direction.

use congestion::Settings;
use document::DocumentError;
use path::Mtu;
use scenario::{HostSpec, Marks, Scenario};
use transport::app;
use transport::scheduler::Pacing;
use transport::sender::FastOpen;
use units::Bytes;

use crate::engine_kind::EngineKind;
use crate::limits::Limits;

pub(crate) const LIMITS: Limits = Limits {
    engine: EngineKind::Quic,
    scenario: &[
        (
            "link",
            |scenario| !scenario.links.is_empty(),
            "it has one path",
        ),
        (
            "path.next",
            |scenario| !scenario.next.is_empty(),
            "it has one bottleneck",
        ),
        (
            "path.mtu",
            |scenario| is_too_small(scenario.path.data.effects.mtu),
            TOO_SMALL,
        ),
        (
            "path.uplink.mtu",
            |scenario| is_too_small(scenario.path.uplink.effects.mtu),
            TOO_SMALL,
        ),
    ],
    changes: too_small_later,
    host: &[
        (
            "fast_open",
            |host| host.fast_open.is_some_and(|it| it != FastOpen::Off),
            "it is a feature of TCP; QUIC's 0-RTT is another handshake",
        ),
        ("", is_unlike_quics, "its hosts are those of a QUIC stack"),
    ],
    flow: &[
        (
            "app",
            |flow| flow.app != app::Config::Bulk,
            "it carries bulk data or bytes",
        ),
        (
            "rtt",
            |flow| flow.rtt.is_some(),
            "all flows have the RTprop of the path",
        ),
        (
            "reverse",
            |flow| flow.reverse,
            "all flows send the same way",
        ),
        (
            "bbr3.ecn",
            |flow| flow.bbr3.is_some_and(|bbr3| bbr3.ecn != Marks::Off),
            "its stack does not count ECN marks",
        ),
    ],
    // About as many as an emulated path serves clients; with more, the result would depend on the machine.
    most_flows: 500,
};

/// The least MTU that QUIC can use (RFC 9000, section 14): its 1200 bytes, with the headers of UDP and IPv4.
const MIN_MTU: Bytes = Bytes::new(1200 + 8 + 20);

const TOO_SMALL: &str =
    "a datagram of QUIC is at least 1200 bytes, which take an MTU of 1228 with their headers";

fn is_too_small(mtu: Option<Mtu>) -> bool {
    mtu.is_some_and(|mtu| mtu.bytes() < MIN_MTU)
}

/// The first change to an MTU that QUIC cannot use.
fn too_small_later(scenario: &Scenario) -> Option<DocumentError> {
    let links = [
        ("path", &scenario.path.data),
        ("path.uplink", &scenario.path.uplink),
    ];
    links.into_iter().find_map(|(name, link)| {
        let mut changes = link.changes.iter();
        let index = changes.position(|change| is_too_small(change.mtu))?;
        let field = format!("{name}.change[{index}].mtu");
        Some(DocumentError::new(field, TOO_SMALL))
    })
}

/// The controller of each flow, with its settings.
///
/// # Errors
///
/// This engine lacks a controller.
pub(super) fn controllers(scenario: &Scenario) -> Result<Vec<Settings>, DocumentError> {
    let groups = scenario.our_controllers(LIMITS.engine.name())?;
    let each = scenario.flows.iter().zip(groups);
    Ok(each
        .flat_map(|(flow, controller)| flow.starts().map(move |_| controller))
        .collect())
}

/// # Errors
///
/// The first setting that the engine cannot follow; the error names the field to leave out.
pub(super) fn check(scenario: &Scenario) -> Result<(), DocumentError> {
    LIMITS.check(scenario)?;
    scenario.our_controllers(LIMITS.engine.name())?;
    Ok(())
}

/// Whether a host differs from those of the QUIC stack, where each connection paces by itself.
fn is_unlike_quics(host: &HostSpec) -> bool {
    let paced = HostSpec {
        scheduler: Some(Pacing::PerConnection),
        ..HostSpec::UNSET
    };
    *host != HostSpec::UNSET && *host != paced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_to_an_mtu_that_is_too_small_is_named() {
        for (path, field) in [
            ("mtu = 1200", "path.mtu"),
            (
                "change = [{ at = '1s', mtu = 1400 }, { at = '2s', mtu = 1200 }]",
                "path.change[1].mtu",
            ),
            (
                "uplink = { change = [{ at = '1s', mtu = 1200 }] }",
                "path.uplink.change[0].mtu",
            ),
        ] {
            let text = format!(
                "name = 'x'\nduration = '9s'\npath = {{ {path} }}\n[[flow]]\ncontroller = 'bbr1'\n"
            );
            let scenario: Scenario = text.parse().expect("a scenario");
            assert_eq!(check(&scenario).expect_err("refused").field, field);
        }
    }

    #[test]
    fn no_answer_to_marks_is_asked_of_a_stack_that_does_not_count_them() {
        let flow = "[[flow]]\ncontroller = \"bbr3\"\nbbr3 = { ecn = \"linux\" }\n";
        let scenario = format!("name = \"x\"\nduration = \"1s\"\n{flow}");
        let scenario: Scenario = scenario.parse().expect("a scenario");
        let error = check(&scenario).expect_err("refused").to_string();
        assert!(
            error.contains("flow.bbr3.ecn: engine quic cannot do this"),
            "{error}"
        );
        assert!(error.ends_with("or use engine sim"), "{error}");
    }
}
