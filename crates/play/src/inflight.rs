//! How much the flows of a scenario may have in flight: each packet of it takes memory, in the sender and on the way.

use std::collections::BTreeSet;

use scenario::{Crossing, FlowSpec, LinkSpec, Network, Route};
use transport::{receiver, sender};
use units::{Bytes, Duration, Rate};

use crate::objects::objects;

/// The largest window, as a multiple of what was delivered in a round trip: more than BBR's cwnd gain in Startup, 2/ln 2.
const MAX_GAIN: u64 = 3;

/// The maximum of what all flows together may have in flight: the sum of their windows, or as much as windows grow to by what is
/// delivered in a round trip, whichever is less.
pub fn most(network: &Network<'_>) -> Bytes {
    let flows = &network.scenario().flows;
    let windows: Bytes = flows.iter().map(|flow| window(network, flow)).sum();
    let initial: Bytes = flows.iter().map(|flow| initial(network, flow)).sum();
    let delivered = [in_a_round_trip(network), in_all(network)];
    let delivered = delivered.into_iter().flatten().min();
    delivered.map_or(windows, |bytes| windows.min(initial + bytes * MAX_GAIN))
}

/// What the flows of a group may send before their first ACK.
pub fn initial(network: &Network<'_>, flow: &FlowSpec) -> Bytes {
    let usual = sender::Config::default();
    let host = flow.host.over(&network.scenario().host);
    let mss = host.mss.map_or(usual.mss, Bytes::new);
    let cwnd = host.initial_cwnd.unwrap_or(usual.initial_cwnd.into());
    let most = host.send_buffer.unwrap_or(usual.send_buffer);
    (mss * cwnd).min(most) * flow.count
}

/// What the buffers of the hosts of a group let be in flight, in all connections that it may have at a time.
fn window(network: &Network<'_>, flow: &FlowSpec) -> Bytes {
    let host = flow.host.over(&network.scenario().host);
    let sent = host
        .send_buffer
        .unwrap_or(sender::Config::default().send_buffer);
    let received = host
        .receive_buffer
        .unwrap_or(receiver::Config::default().max_buffer);
    let changes = host.change.iter().flatten();
    let received = changes
        .map(|change| change.receive_buffer)
        .fold(received, Bytes::max);
    let own = if flow.app_kind().is_none() {
        flow.bytes
    } else {
        None
    };
    let connections = if flow.opens_many() {
        let time = network.scenario().duration.unwrap_or(Duration::MAX);
        objects(flow, time)
    } else {
        flow.count
    };
    sent.min(received).min(own.unwrap_or(Bytes::MAX)) * connections
}

/// What the network delivers in a round trip with all its buffers full. None if it is not known: a buffer has no bound, or flows
/// have no bottleneck.
fn in_a_round_trip(network: &Network<'_>) -> Option<Bytes> {
    if !network
        .routes()
        .iter()
        .all(|route| has_bottleneck(network, route))
    {
        return None;
    }
    let crossings: BTreeSet<Crossing> = network
        .routes()
        .iter()
        .flat_map(|route| route.there.iter().copied())
        .collect();
    let mut buffers = Bytes::ZERO;
    let mut fastest = Rate::ZERO;
    for crossing in crossings {
        let link = network.direction(crossing);
        if link.rate.is_some() {
            buffers += link.buffer_bytes(network.links()[crossing.link].rtt)?;
            fastest = fastest.max(fastest_of(link));
        }
    }
    Some(buffers + fastest.bytes_in(without_data_queues(network)?))
}

/// The longest round trip over all links, without the queues of data. None if a queue of ACKs has no bound.
fn without_data_queues(network: &Network<'_>) -> Option<Duration> {
    let changed = |link: &LinkSpec| link.changes.iter().filter_map(|change| change.rtt).max();
    let links = network.links().iter().map(|link| {
        let rtprop = changed(&link.data).unwrap_or_default().max(link.rtt);
        rtprop + held(&link.data) + held(&link.acks())
    });
    let flows = &network.scenario().flows;
    let own = flows.iter().filter_map(|flow| flow.rtt).max();
    let mut longest = links.fold(own.unwrap_or_default(), |sum, rtt| sum + rtt);
    let acks = network.routes().iter().flat_map(|route| &route.back);
    for crossing in acks.collect::<BTreeSet<&Crossing>>() {
        longest = longest + queued(network, *crossing)?;
    }
    Some(longest)
}

/// The longest time for which a direction of a link holds a packet behind its bottleneck, in addition to its delay.
fn held(link: &LinkSpec) -> Duration {
    let effects = &link.effects;
    let times = [
        effects.jitter.map(|jitter| jitter.up_to),
        effects.reorder.map(|reorder| reorder.by),
        effects.aggregation.map(|aggregation| aggregation.interval),
        effects.demand.map(|demand| demand.within),
    ];
    let times = times.into_iter().flatten();
    times.fold(Duration::ZERO, |sum, time| sum + time)
}

/// The longest time in the queue of a direction of a link. None if it is not known: its buffer has no bound, or it has an outage.
fn queued(network: &Network<'_>, crossing: Crossing) -> Option<Duration> {
    let link = network.direction(crossing);
    let Some(rate) = link.rate else {
        return Some(Duration::ZERO);
    };
    let changes = link.changes.iter().filter_map(|change| change.rate);
    let slowest = changes.chain([rate]).min().filter(|rate| !rate.is_zero())?;
    let buffer = link.buffer_bytes(network.links()[crossing.link].rtt)?;
    Some(slowest.time_for(buffer))
}

fn has_bottleneck(network: &Network<'_>, route: &Route) -> bool {
    let mut crossings = route.there.iter();
    crossings.any(|crossing| network.direction(*crossing).rate.is_some())
}

fn fastest_of(link: &LinkSpec) -> Rate {
    let changes = link.changes.iter().filter_map(|change| change.rate);
    changes.chain(link.rate).max().unwrap_or(Rate::ZERO)
}

/// What all flows together deliver in the run. None if nothing bounds it.
fn in_all(network: &Network<'_>) -> Option<Bytes> {
    let duration = network.scenario().duration;
    let groups = network.scenario().flows.iter().zip(network.routes());
    let of_group = |(flow, route): (&FlowSpec, &Route)| {
        let crossings = route
            .there
            .iter()
            .map(|crossing| network.direction(*crossing));
        let admitted = |link: &LinkSpec| link.admitted(Duration::ZERO, duration?);
        let own = flow.bytes.map(|bytes| bytes * flow.count);
        crossings.filter_map(admitted).chain(own).min()
    };
    groups.map(of_group).sum()
}
