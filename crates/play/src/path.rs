//! What pictures need of a scenario's path. A record has the path at the start of the run, and not its changes.

use scenario::{Network, PathSpec};
use serde::Serialize;

/// The links of a scenario and the RTprops of its flows.
#[derive(Debug, Serialize)]
pub struct Path {
    /// The data directions, in the order of the record's links.
    links: Vec<Link>,
    /// The RTprop of each flow at the start, in the order of their ids.
    rtprops_ms: Vec<f64>,
}

#[derive(Debug, Serialize)]
struct Link {
    name: Option<String>,
    /// The rate at the start; null if it is unlimited.
    rate_bps: Option<u64>,
    rtprop_ms: f64,
    /// The size of the buffer; null if it is unlimited.
    buffer_bytes: Option<u64>,
    /// The rate of the policer before the buffer, if there is one.
    policer_bps: Option<u64>,
    /// In the order of time.
    changes: Vec<Change>,
}

/// A change; what it leaves as it is, is null. A rate of 0 is an outage.
#[derive(Debug, Serialize)]
struct Change {
    at_ms: f64,
    rate_bps: Option<u64>,
    rtprop_ms: Option<f64>,
}

impl Path {
    pub fn of(network: &Network<'_>) -> Path {
        let scenario = network.scenario();
        let names = scenario
            .links
            .iter()
            .map(|link| Some(link.name.to_string()));
        let names = names.chain(std::iter::repeat(None));
        let links = scenario.hops().zip(names);
        let groups = scenario.flows.iter().enumerate();
        let rtprops = groups.flat_map(|(place, group)| {
            let rtprop = network.rtprop(place).as_millis_f64();
            group.starts().map(move |_| rtprop)
        });
        Path {
            links: links.map(|(link, name)| Link::of(link, name)).collect(),
            rtprops_ms: rtprops.collect(),
        }
    }
}

impl Link {
    fn of(link: &PathSpec, name: Option<String>) -> Link {
        let changes = link.data.changes.iter().map(|change| Change {
            at_ms: change.at.as_millis_f64(),
            rate_bps: change.rate.map(|rate| rate.bits_per_sec()),
            rtprop_ms: change.rtt.map(|rtt| rtt.as_millis_f64()),
        });
        let mut changes: Vec<Change> = changes.collect();
        changes.sort_by(|one, other| one.at_ms.total_cmp(&other.at_ms));
        let policer = link.data.effects.policer;
        Link {
            name,
            rate_bps: link.data.rate.map(|rate| rate.bits_per_sec()),
            rtprop_ms: link.rtt.as_millis_f64(),
            buffer_bytes: link.buffer_bytes().map(|bytes| bytes.get()),
            policer_bps: policer.map(|policer| policer.rate.bits_per_sec()),
            changes,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Path;

    fn path(text: &str) -> Value {
        let scenario = crate::read(&format!("name='x'\nduration='9s'\n{text}")).unwrap();
        serde_json::to_value(Path::of(&scenario.network())).unwrap()
    }

    /// However a scenario writes them, an outage is a change, and changes are in the order of time.
    #[test]
    fn changes() {
        let expected = json!([
            { "at_ms": 2000.0, "rate_bps": 0, "rtprop_ms": null },
            { "at_ms": 3000.0, "rate_bps": 5_000_000, "rtprop_ms": 90.0 },
        ]);
        let start = "[path]\nrate='20mbit'\nrtt='40ms'\n";
        let flow = "[[flow]]\ncontroller='bbr1'\n";
        let uplink = "[path.uplink]\nrate='1mbit'\n";
        let late = "[[path.change]]\nat='3s'\nrate='5mbit'\nrtt='90ms'\n";
        let early = "[[path.change]]\nat='2s'\nrate='0'\n";
        let inline = "change=[{at='3s',rate='5mbit',rtt='90ms'},{at='2s',rate='0'}]\n";
        for text in [
            format!("{start}{early}{late}{flow}"),
            format!("{start}{late}{flow}{early}"),
            format!("{start}{uplink}{late}{early}{flow}"),
            format!("{start}{inline}{uplink}{flow}"),
        ] {
            assert_eq!(path(&text)["links"][0]["changes"], expected, "{text}");
        }
    }

    #[test]
    fn a_policer_and_flows_of_their_own_rtprop() {
        let text = "path={rate='20mbit',rtt='40ms',buffer='2bdp',policer={rate='5mbit',burst='9kb'}}\n\
                    flow=[{controller='bbr1',count=2},{controller='reno',rtt='90ms'}]";
        let link = json!({
            "name": null, "rate_bps": 20_000_000, "rtprop_ms": 40.0, "buffer_bytes": 200_000,
            "policer_bps": 5_000_000, "changes": [],
        });
        let rtprops = [40.0, 40.0, 90.0];
        assert_eq!(
            path(text),
            json!({ "links": [link], "rtprops_ms": rtprops })
        );
    }

    #[test]
    fn a_network_has_its_links_by_name() {
        let text = "link=[{name='a',from='u',to='v',rate='9mbit',rtt='1ms'},{name='b',from='v',to='w',rtt='2ms'}]\n\
                    flow=[{controller='reno',from='u',to='w'}]";
        let path = path(text);
        assert_eq!(path["links"][0]["name"], "a");
        assert_eq!(path["links"][1]["rate_bps"], Value::Null);
        assert_eq!(path["rtprops_ms"], json!([3.0]));
    }
}
