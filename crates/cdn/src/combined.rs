//! The scenario of lines that share a link.

use scenario::{FlowSpec, HostSpec, Name, NamedLink, PathSpec, Scenario};

use crate::line::Line;
use crate::shared::Shared;

/// The scenario in which these lines go over a shared link, each with this arm. Its flows are those of
/// [`Line::scenario`], line by line. `None` without lines.
pub(crate) fn combined<'l>(
    over: &Shared,
    lines: impl Iterator<Item = (&'l Line, &'l FlowSpec)> + Clone,
) -> Option<Scenario> {
    let base = lines.clone().next()?.0.base();
    let shared = link("shared", ["servers", "exchange"], &over.path);
    let links = lines.clone().map(|(line, _)| {
        let client = client(line);
        link(
            &format!("line-{client}"),
            ["exchange", &client],
            line.path(),
        )
    });
    Some(Scenario {
        links: std::iter::once(shared).chain(links).collect(),
        flows: lines.flat_map(|(line, arm)| routed(line, arm)).collect(),
        name: over.name.clone(),
        path: PathSpec::default(),
        host: HostSpec::default(),
        ..base.clone()
    })
}

/// The site of a line's client.
fn client(line: &Line) -> String {
    format!("client-{}-{}", line.network, line.place)
}

fn link(of: &str, [from, to]: [&str; 2], path: &PathSpec) -> NamedLink {
    NamedLink {
        name: name(of),
        from: name(from),
        to: name(to),
        path: path.clone(),
    }
}

fn name(text: &str) -> Name {
    text.parse().expect("letters, digits and -")
}

/// The flows of a line, between the servers and its client.
fn routed(line: &Line, arm: &FlowSpec) -> impl Iterator<Item = FlowSpec> {
    line.flows(arm).map(|flow| {
        let mut ends = [name("servers"), name(&client(line))];
        if flow.reverse {
            ends.reverse();
        }
        let [from, to] = ends.map(Some);
        FlowSpec {
            from,
            to,
            reverse: false,
            hops: None,
            host: flow.host.over(line.host()),
            ..flow
        }
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::line::LineDraw;
    use crate::spec::Spec;

    const TEXT: &str = r#"
        name = "one"
        duration = "5s"
        arm = [{ controller = "cubic" }, { controller = "bbr1" }]
        traffic = [{ interval = "1s", sizes = "8kb" }]
        [[shared]]
        name = "uplink"
        path = { rate = "1gbit", rtt = "2ms" }
        [[network]]
        name = "home"
        kind = "clients"
        as = 64501
        lines = 50
        over = "uplink"
        path = { rate = "10mbit", rtt = { from = "20ms", to = "60ms" }, buffer = "2bdp" }
        host = { initial_cwnd = 20 }
        background = [{ controller = "reno", reverse = true, count = 2, bytes = "1mb" }]
        "#;

    #[test]
    fn each_line_has_its_own_link_behind_the_shared_one() {
        let spec = Spec::parse(TEXT, Path::new("")).expect("a CDN");
        let lines = spec.lines(LineDraw::Study).expect("lines");
        let each = lines.iter().map(|line| (line, &spec.arms[1]));
        let scenario = combined(&spec.shared[0], each).expect("lines");
        scenario.check().expect("a scenario");
        assert_eq!(scenario.links.len(), 1 + lines.len());
        let network = scenario.network();
        let mut group = 0;
        for line in &lines {
            for place in group..group + line.visits.len() {
                // As the policy expects, and as each line has it.
                assert_eq!(network.rtprop(place), line.rtt());
                assert_eq!(network.route(place).there.len(), 2);
                assert_eq!(scenario.flows[place].host.initial_cwnd, Some(20));
                assert_eq!(scenario.flows[place].controller.name(), "bbr1");
            }
            group += line.visits.len();
            let background = &scenario.flows[group];
            let last = &scenario.links[network.route(group).there[0].link];
            assert_eq!(
                (&background.from, background.reverse),
                (&Some(last.to.clone()), false)
            );
            assert_eq!(line.flow_count(), line.visits.len() + 2);
            group += 1;
        }
        assert_eq!(scenario.flows.len(), group);
    }
}
