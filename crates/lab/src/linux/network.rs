//! A scenario's ways as routes between the addresses of two hosts: the near one stands for all sites that send, the far
//! one for all that receive.

use std::net::IpAddr;

use emulator::tunnel::{self, Direction, Hop, Route};
use path::LinkConfig;
use simulate::ways::{Way, Ways};
use units::Duration;

use document::DocumentError;
use scenario::{Crossing, Scenario};

/// The most pairs of addresses between two hosts.
pub(super) const MAX_GROUPS: usize = 200;

/// The pairs of addresses that a scenario's flows use: one for each distinct way through the network.
#[derive(Debug)]
pub(super) struct AddressGroups {
    ways: Ways,
    /// The way of each group of flows from the near host.
    from_near: Vec<Way>,
    /// The distinct ones of these.
    distinct: Vec<Way>,
}

impl AddressGroups {
    /// # Errors
    ///
    /// A trace cannot be read, or the scenario asks for something impossible.
    pub fn of(scenario: &Scenario) -> Result<AddressGroups, DocumentError> {
        let ways = Ways::of(&scenario.network())?;
        let groups = ways.groups.iter().zip(&scenario.flows);
        let from_near = groups.map(|(way, flow)| {
            if flow.reverse {
                way.turned()
            } else {
                way.clone()
            }
        });
        let from_near: Vec<Way> = from_near.collect();
        let mut distinct: Vec<Way> = Vec::new();
        for way in &from_near {
            if !distinct.contains(way) {
                distinct.push(way.clone());
            }
        }
        Ok(AddressGroups {
            ways,
            from_near,
            distinct,
        })
    }

    /// The number of pairs.
    pub fn count(&self) -> usize {
        self.distinct.len()
    }

    /// The pair of addresses of this group of flows.
    pub fn of_flows(&self, group: usize) -> u16 {
        let way = &self.from_near[group];
        let place = self.distinct.iter().position(|other| other == way);
        let place = place.expect("every way is among the distinct ones");
        u16::try_from(place).expect("no more than MAX_GROUPS")
    }

    /// The links between the hosts: forward to the addresses `far`, and back to the addresses `near`. Both directions of
    /// the scenario's links come first, in its order; links that add a way's own delay follow.
    pub fn between(
        &self,
        near: impl Fn(u16) -> IpAddr,
        far: impl Fn(u16) -> IpAddr,
    ) -> (tunnel::Way, tunnel::Way) {
        let hops = &self.ways.links;
        let mut forward = tunnel::Way {
            links: hops.iter().map(|hop| hop.forward.clone()).collect(),
            routes: Vec::new(),
        };
        let mut back = tunnel::Way {
            links: hops.iter().map(|hop| hop.reverse.clone()).collect(),
            routes: Vec::new(),
        };
        for (group, way) in (0..).zip(&self.distinct) {
            let half = way.access / 2;
            let other_half = way.access.saturating_sub(half);
            let there = hops_of(&way.route.there, Direction::Forward);
            add_route(&mut forward, far(group), half, there);
            let to_near = hops_of(&way.route.back, Direction::Reverse);
            add_route(&mut back, near(group), other_half, to_near);
        }
        (forward, back)
    }
}

/// The direction of the tunnel whose links contain the one of this crossing.
pub(super) fn direction_of(crossing: Crossing) -> Direction {
    if crossing.is_back {
        Direction::Reverse
    } else {
        Direction::Forward
    }
}

/// The hops of a route in this direction. Routes over the same links in opposite directions meet: the ACKs of one wait
/// with the data of the other.
fn hops_of(crossings: &[Crossing], direction: Direction) -> Vec<Hop> {
    let hop = |crossing: &Crossing| {
        if direction_of(*crossing) == direction {
            Hop::Own(crossing.link)
        } else {
            Hop::Opposite(crossing.link)
        }
    };
    crossings.iter().map(hop).collect()
}

/// Adds a route to `destination`: over a link with this delay, then over `hops`.
fn add_route(way: &mut tunnel::Way, destination: IpAddr, delay: Duration, hops: Vec<Hop>) {
    let mut crossed = Vec::new();
    if !delay.is_zero() {
        crossed.push(Hop::Own(way.links.len()));
        way.links.push(LinkConfig {
            delay,
            ..LinkConfig::default()
        });
    }
    crossed.extend(hops);
    way.routes.push(Route {
        to: vec![destination],
        links: crossed,
    });
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn near(group: u16) -> IpAddr {
        Ipv4Addr::new(10, 0, 0, group as u8).into()
    }

    fn far(group: u16) -> IpAddr {
        Ipv4Addr::new(10, 0, 1, group as u8).into()
    }

    const HOPS: &str = "name = \"x\"\nduration = \"1s\"\n[path]\nrate = \"10mbit\"\nrtt = \"40ms\"\n\
                        uplink = { rate = \"1mbit\" }\n[[path.next]]\nrtt = \"20ms\"\n";

    fn groups(flows: &[&str]) -> AddressGroups {
        let flow = |more: &&str| format!("[[flow]]\ncontroller = \"cubic\"\n{more}\n");
        let text = HOPS.to_string() + &flows.iter().map(flow).collect::<String>();
        AddressGroups::of(&text.parse().unwrap()).unwrap()
    }

    #[test]
    fn flows_of_one_way_share_a_pair_of_addresses() {
        let groups = groups(&[
            "",
            "rtt = \"60ms\"",
            "rtt = \"90ms\"",
            "hops = \"1\"",
            "reverse = true",
        ]);
        assert_eq!(groups.count(), 3);
        let of_flows: Vec<u16> = (0..5).map(|group| groups.of_flows(group)).collect();
        assert_eq!(of_flows, [0, 0, 1, 2, 0]);
    }

    #[test]
    fn routes_cross_their_hops_after_a_delay_of_their_own() {
        let groups = groups(&["", "rtt = \"91ms\"", "hops = \"1\""]);
        let (forward, back) = groups.between(near, far);
        let own = |hop: &Hop| match hop {
            Hop::Own(link) => *link,
            Hop::Opposite(link) => panic!("link {link} of a chain has one direction"),
        };
        let crossed = |way: &tunnel::Way| -> Vec<(IpAddr, Vec<usize>)> {
            let routes = way.routes.iter();
            routes
                .map(|route| (route.to[0], route.links.iter().map(own).collect()))
                .collect()
        };
        assert_eq!(
            crossed(&forward),
            [
                (far(0), vec![0, 1]),
                (far(1), vec![2, 0, 1]),
                (far(2), vec![1])
            ]
        );
        assert_eq!(
            crossed(&back),
            [
                (near(0), vec![1, 0]),
                (near(1), vec![2, 1, 0]),
                (near(2), vec![1])
            ]
        );
        let millis = |tenths: u64| Duration::from_micros(tenths * 100);
        let delays =
            |way: &tunnel::Way| way.links.iter().map(|link| link.delay).collect::<Vec<_>>();
        assert_eq!(delays(&forward), [millis(200), millis(100), millis(155)]);
        assert_eq!(delays(&back), [millis(200), millis(100), millis(155)]);
        assert_eq!(
            back.links[0].capacity,
            path::Capacity::Rate("1mbit".parse().unwrap())
        );
        assert_eq!(back.links[1].capacity, path::Capacity::Unlimited);
    }

    #[test]
    fn data_of_one_flow_meet_acks_of_another() {
        let link = |name, from, to| {
            format!(
                "[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"9mbit\"\nrtt = \"4ms\"\n"
            )
        };
        let flow = |from, to| {
            format!("[[flow]]\ncontroller = \"cubic\"\nfrom = \"{from}\"\nto = \"{to}\"\n")
        };
        let text = "name = \"x\"\nduration = \"1s\"\n".to_string()
            + &link("line", "provider", "office")
            + &link("cloud", "storage", "provider")
            + &flow("office", "storage")
            + &flow("storage", "office");
        let groups = AddressGroups::of(&text.parse().unwrap()).unwrap();
        let (forward, back) = groups.between(near, far);
        let hops = |way: tunnel::Way| way.routes.into_iter().map(|route| route.links);
        let (own, opposite) = (Hop::Own, Hop::Opposite);
        assert_eq!(
            hops(forward).collect::<Vec<_>>(),
            [vec![opposite(0), opposite(1)], vec![own(1), own(0)]]
        );
        assert_eq!(
            hops(back).collect::<Vec<_>>(),
            [vec![opposite(1), opposite(0)], vec![own(0), own(1)]]
        );
    }
}
