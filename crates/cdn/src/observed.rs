//! The connections that a server's kernel would have reported in a simulated run.

use experiment::{Key, Shares, Unit};
use kernel::{EndedConnection, ReportedObject, SteeredConnection};
use record::FlowSummary;
use rollout::study::CarriedConnection;
use units::{Bytes, Duration};

use crate::line::Line;
use crate::spec::{PORT, Spec};

/// The unit of randomisation. Neighbours share a path, so they get the same arm.
pub(crate) const UNIT: Unit = Unit::Prefix { v4: 24, v6: 48 };

/// The first port of a client.
const CLIENT_PORT: u16 = 1024;

/// In a socket's number, a line's number takes the bits above those of its connections.
const CONNECTION_BITS: u32 = 16;

/// The unit and the arm of a line.
pub(crate) fn drawn(line: &Line, key: &Key, shares: &Shares) -> (u64, usize) {
    let unit = key.draw(UNIT.subject(0, line.client, Duration::ZERO));
    (unit, shares.arm(unit))
}

/// The index, among the runs of a line, of the one in which the study with this number observes it. This arm is drawn for
/// it. Lines that share a link have a run for each study, in which each of them has the arm that is drawn for it.
pub(crate) fn in_study(spec: &Spec, line: &Line, arm: usize, study: usize) -> usize {
    match spec.networks[line.network].over {
        Some(_) => spec.arms.len() + study,
        None => arm,
    }
}

/// The connections of the line with this number, from its flows in the record of a run. A client that could not connect
/// has no connection.
pub(crate) fn given(flows: &[FlowSummary], line: &Line, number: u64) -> Vec<CarriedConnection> {
    let flows = flows.iter().take(line.visits.len());
    (0..)
        .zip(flows)
        .filter_map(|(index, flow)| connection(flow, line, (number << CONNECTION_BITS) + index))
        .collect()
}

/// The bytes that the background traffic of the line delivered, from its flows in the record of a run.
pub(crate) fn background(flows: &[FlowSummary], line: &Line) -> Bytes {
    let flows = flows.iter().skip(line.visits.len());
    Bytes::new(flows.map(|flow| flow.delivered_bytes).sum())
}

fn connection(flow: &FlowSummary, line: &Line, cookie: u64) -> Option<CarriedConnection> {
    let set_up = seconds(flow.start_s) + millis(flow.connect_ms?);
    if flow.delivered_bytes == 0 {
        return None;
    }
    let busy = seconds(flow.busy_s?);
    let packet = line.payload();
    let packets = |bytes: Option<u64>| bytes.map(|bytes| bytes.div_ceil(packet.get()));
    let sent = flow.delivered_bytes + flow.retransmitted_bytes?;
    let (packets, resent) = (packets(Some(sent))?, packets(flow.retransmitted_bytes)?);
    let place = u16::try_from(cookie & ((1 << CONNECTION_BITS) - 1)).unwrap_or(u16::MAX);
    let steered = SteeredConnection {
        unit: 0,
        rule: 0,
        arm: 0,
        set_up,
        client: line.client,
        ports: [PORT, CLIENT_PORT.saturating_add(place)],
        handshake_rtt: None,
    };
    let connection = EndedConnection {
        cookie,
        steered,
        ended: set_up + busy,
        acknowledged: flow.delivered_bytes,
        packets,
        resent,
        lost: flow.packets_lost?,
        rtt: None,
        min_rtt: flow.rtt_ms.min.map(millis),
        median_rtt: flow.rtt_ms.p50.map(millis),
        objects: 1,
        delivery_rate: None,
        busy,
        rwnd_limited: seconds(flow.rwnd_limited_s?),
        sndbuf_limited: seconds(flow.sndbuf_limited_s?),
        controller: None,
    };
    let object = ReportedObject {
        cookie,
        steered,
        number: 1,
        begun: set_up,
        busy,
        bytes: flow.delivered_bytes,
        packets,
        resent,
        is_whole: flow.completed_s.is_some(),
    };
    Some(CarriedConnection {
        connection,
        objects: vec![object],
    })
}

fn seconds(seconds: f64) -> Duration {
    std::time::Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .into()
}

fn millis(millis: f64) -> Duration {
    seconds(millis / 1000.0)
}

impl Line {
    /// The payload of a full packet.
    fn payload(&self) -> Bytes {
        let given = self.host().mss.map(Bytes::new);
        given.unwrap_or(transport::sender::Config::default().mss)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use lab::{Cancel, Engine, Sim};

    use super::*;
    use crate::line::LineDraw;

    /// One line fetches 8 kB now and then, beside 1 MB of background traffic.
    const TEXT: &str = r#"
        name = "one"
        duration = "20s"
        [[arm]]
        controller = "cubic"
        [[arm]]
        controller = "bbr1"
        [[traffic]]
        interval = "2s"
        sizes = "8kb"
        [[network]]
        name = "home"
        kind = "clients"
        as = 64501
        lines = 50
        path = { rate = "10mbit", rtt = "20ms", buffer = "2bdp" }
        background = [{ controller = "cubic", bytes = "1mb" }]
        "#;

    #[test]
    fn downloads_are_no_background_traffic() {
        let spec = Spec::parse(TEXT, Path::new("")).expect("a CDN");
        let lines = spec.lines(LineDraw::Study).expect("lines");
        let line = lines.first().expect("a line");
        let run = Sim::new().run(&line.scenario(&spec.arms[1]), &|_| (), &Cancel::new());
        let record = run.expect("a record");
        assert!(!line.visits.is_empty());
        let delivered = background(&record.summary.flows, line);
        assert_eq!(delivered, Bytes::new(1_000_000));
    }
}
