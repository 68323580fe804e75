//! What a browser does not run. Whoever sends a link to a page must not be able to occupy the machine of whoever follows it.

use document::{DocumentError, Reason};
use scenario::Scenario;
use simulate::Bounds;
use units::{Bytes, Duration};

use crate::inflight;
use crate::objects::objects;

/// The maximum size of a scenario's text.
pub const MAX_TEXT_BYTES: usize = 1 << 20;

/// The maximum number of flows.
const MAX_FLOWS: u64 = 1_000;

/// The maximum number of links.
const MAX_LINKS: usize = 1_000;

/// The maximum length of a run.
const MAX_DURATION: Duration = Duration::from_secs(3_600);

/// The maximum of what flows send and links transmit: more than a minute of a processor.
const MAX_TRAFFIC: Bytes = Bytes::new(100_000_000_000);

/// The maximum of what all flows may send before their first ACK: each packet takes memory.
const MAX_INITIAL: Bytes = Bytes::new(250_000_000);

/// The maximum of what all flows may have in flight: what one may have with the largest window of TCP, and not what two may.
const MAX_INFLIGHT: Bytes = Bytes::new(1_100_000_000);

/// The maximum of all buffers together: each packet in a queue takes memory.
const MAX_BUFFERS: Bytes = Bytes::new(1_000_000_000);

/// The bounds of a run while it goes on: what a path makes of random losses, copies and connections that come and go is known only then.
pub const BOUNDS: Bounds = Bounds {
    // Twice those of `MAX_INFLIGHT`: what is on its way is not acknowledged, either.
    packets: 2_000_000,
    // `MAX_TRAFFIC` in full packets, as many ACKs, and all of them once more over delays. Small packets, and paths without a rate, could
    // be far more.
    transmissions: 300_000_000,
};

/// The maximum of the objects and frames of all applications, finished or not.
const MAX_OBJECTS: u64 = 100_000;

/// Checks that the scenario reads no file, and is not too large.
pub fn check(scenario: &Scenario) -> Result<(), DocumentError> {
    let refused = |field: &str, what: &dyn std::fmt::Display, most: &str| {
        let reason = Reason::of(what).words(format!(": at most {most} here"));
        Err(DocumentError::new(field, reason))
    };
    for (place, link) in scenario.hops().enumerate() {
        for (direction, spec) in [("", &link.data), (".uplink", &link.uplink)] {
            if spec.trace.is_some() {
                let field = scenario.hop_name(place) + direction + ".trace";
                return Err(DocumentError::new(
                    field,
                    "no file is read here; give a rate",
                ));
            }
        }
    }
    let count = scenario.flows.iter().map(|flow| flow.count);
    let count = count.fold(0, u64::saturating_add);
    if count > MAX_FLOWS {
        return refused("flow.count", &count, &format!("{MAX_FLOWS} flows"));
    }
    let links = scenario.hops().count();
    if links > MAX_LINKS {
        return refused("link", &links, &format!("{MAX_LINKS} links"));
    }
    if let Some(duration) = scenario.duration.filter(|it| *it > MAX_DURATION) {
        return refused("duration", &duration, &MAX_DURATION.to_string());
    }
    let sent = scenario.flows.iter().filter_map(|flow| {
        let bytes = flow.bytes?.get();
        Some(Bytes::new(bytes.saturating_mul(flow.count)))
    });
    if sent.sum::<Bytes>() > MAX_TRAFFIC {
        return refused(
            "flow.bytes",
            &"all bytes together",
            &MAX_TRAFFIC.to_string(),
        );
    }
    let transmitted = scenario.hops().filter_map(|link| {
        let duration = scenario.duration?;
        link.data.admitted(Duration::ZERO, duration)
    });
    if transmitted.sum::<Bytes>() > MAX_TRAFFIC {
        let what = "what all links transmit in this time";
        return refused("duration", &what, &MAX_TRAFFIC.to_string());
    }
    let network = scenario.network();
    let initial = scenario
        .flows
        .iter()
        .map(|flow| inflight::initial(&network, flow));
    if initial.sum::<Bytes>() > MAX_INITIAL {
        let what = "what all flows send at first";
        return refused("host.initial_cwnd", &what, &MAX_INITIAL.to_string());
    }
    let buffers = scenario.hops().flat_map(|link| {
        let directions = [&link.data, &link.uplink];
        directions.map(|direction| direction.buffer_bytes(link.rtt).unwrap_or_default())
    });
    let buffers = buffers.fold(0_u64, |sum, buffer| sum.saturating_add(buffer.get()));
    if buffers > MAX_BUFFERS.get() {
        let what = "what all buffers hold together";
        let field = scenario.hop_name(0) + ".buffer";
        return refused(&field, &what, &MAX_BUFFERS.to_string());
    }
    if inflight::most(&network) > MAX_INFLIGHT {
        let what = "what all flows may have in flight together";
        let most = format!("{MAX_INFLIGHT} here; give a send buffer, or a buffer to each link");
        let reason = Reason::of(what).words(format!(": at most {most}"));
        return Err(DocumentError::new("host.send_buffer", reason));
    }
    let time = scenario.duration.unwrap_or(MAX_DURATION);
    let objects = scenario.flows.iter().map(|flow| objects(flow, time));
    if objects.fold(0, u64::saturating_add) > MAX_OBJECTS {
        let what = "the number of objects of all flows";
        return refused("flow.app", &what, &MAX_OBJECTS.to_string());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::play::read;

    const LINK: &str = "name='x'\nduration='30s'\npath={rate='1mbit',rtt='1ms'";

    fn refusal(rest: &str) -> String {
        read(&format!("{LINK}{rest}")).map_or_else(|error| error, |_| String::new())
    }

    #[test]
    fn memory() {
        for (rest, field) in [
            (
                "}\nhost={initial_cwnd=1000000,mss=536}\nflow=[{controller='reno'}]",
                "host.initial_cwnd: ",
            ),
            (
                "}\nflow=[{controller='reno',count=1000,host={initial_cwnd=1000}}]",
                "host.initial_cwnd: ",
            ),
            (
                ",buffer='90gb'}\nflow=[{controller='reno'}]",
                "path.buffer: ",
            ),
            (
                ",buffer='1000000p'}\nflow=[{controller='reno'}]",
                "path.buffer: ",
            ),
            (
                "}\nflow=[{controller='reno',app={kind='poisson',interval='1us',sizes='1b'}}]",
                "flow.app: ",
            ),
            (
                "}\nflow=[{controller='reno',app={kind='rate',rate='1mbit',write='1b'}}]",
                "flow.app: ",
            ),
            (
                "}\nflow=[{controller='reno',app={kind='poisson',interval='200us',sizes='1b'}}]",
                "flow.app: ",
            ),
            (
                "}\nflow=[{controller='reno',count=100,app={kind='requests',response='1b',outstanding=1024}}]",
                "flow.app: ",
            ),
        ] {
            let said = refusal(rest);
            assert!(
                said.contains(field) && said.contains("at most"),
                "{rest}: {said}"
            );
        }
        for rest in [
            "}\nhost={initial_cwnd=1000000,send_buffer='1mb'}\nflow=[{controller='reno',count=10}]",
            ",buffer='100mb'}\nflow=[{controller='reno',count=1000}]",
            "}\nflow=[{controller='reno',app={kind='poisson',interval='1us',sizes='1b',count=1000}}]",
        ] {
            assert_eq!(refusal(rest), "");
        }
    }

    /// Two windows of a gigabyte are too much where the network holds as much, or delivers as much.
    #[test]
    fn inflight() {
        let flow = |more: &str| format!("flow=[{{controller='bbr1'{more}}}]");
        let said = |path: &str, rest: &str| {
            let text = format!("name='x'\nduration='8s'\npath={{{path}}}\n{rest}");
            read(&text).map_or_else(|error| error, |_| String::new())
        };
        let long = "rate='100gbit',rtt='5s'";
        for (path, rest) in [
            (long, flow(",count=2")),
            (long, flow(",count=1000,host={send_buffer='2mb'}")),
            ("rtt='5s'", flow(",count=2")),
            ("rate='1gbit',rtt='1s',buffer='300mb'", flow(",count=2")),
            (
                "rate='1mbit',rtt='1s',buffer='1mb',change=[{at='1s',rate='99gbit'}]",
                flow(",count=2"),
            ),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',jitter='3s'",
                flow(",count=2"),
            ),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',reorder={share='9%',by='3s'}",
                flow(",count=2"),
            ),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',aggregation={interval='3s'}",
                flow(",count=2"),
            ),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',uplink={jitter='3s'}",
                flow(",count=2"),
            ),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',uplink={rate='1mbit',buffer='400kb'}",
                flow(",count=2"),
            ),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',uplink={rate='1mbit'}",
                flow(",count=2"),
            ),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',uplink={rate='1gbit',buffer='300mb',jitter='1s'}",
                flow(",count=2,reverse=true"),
            ),
            (
                long,
                flow(",app={kind='poisson',interval='100us',sizes='1mb'},host={send_buffer='1mb'}"),
            ),
        ] {
            assert_eq!(
                said(path, &rest),
                "host.send_buffer: what all flows may have in flight together: at most 1.1gb here; \
                 give a send buffer, or a buffer to each link",
                "{path} {rest}"
            );
        }
        for (path, rest) in [
            (long, flow("")),
            (long, flow(",count=2,bytes='100mb'")),
            (long, flow(",count=100,host={send_buffer='4mb'}")),
            (long, flow(",count=100,host={receive_buffer='4mb'}")),
            (
                "rate='1gbit',rtt='1s',buffer='200mb'",
                flow(",count=1000,host={initial_cwnd=1}"),
            ),
            ("rate='100mbit',rtt='40ms'", flow(",count=100")),
            (
                "rate='1gbit',rtt='1ms',buffer='1mb',jitter='300ms',uplink={rate='1mbit',buffer='40kb'}",
                flow(",count=2"),
            ),
            (
                "rate='100mbit',rtt='40ms'",
                flow(",app={kind='poisson',load='90mbit',sizes='20kb'}"),
            ),
        ] {
            assert_eq!(said(path, &rest), "", "{path} {rest}");
        }
    }
}
