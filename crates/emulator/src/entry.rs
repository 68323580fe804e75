//! Datagrams between the sockets and the path.

use path::Parcel;
use units::Time;

use crate::routes::{Datagram, Routes};

/// The direction of a datagram.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Way {
    Forward,
    Reverse,
}

/// A datagram that was read and has not entered the path yet.
pub(crate) struct Entry {
    /// The time at which the kernel received it.
    pub(crate) at: Time,
    pub(crate) way: Way,
    pub(crate) parcel: Parcel,
    pub(crate) datagram: Datagram,
}

/// Lets datagrams enter their links in the order in which the kernel received them, from all sockets: a link does not
/// go back in time. Datagrams of one socket that were received at the same time keep their order. Returns the number of
/// datagrams whose path was gone.
pub(crate) fn enter(entries: &mut Vec<Entry>, routes: &mut Routes) -> u64 {
    entries.sort_by_key(|entry| entry.at);
    let mut orphaned = 0;
    for entry in entries.drain(..) {
        let Some(path) = routes.of(entry.datagram.client) else {
            orphaned += 1;
            continue;
        };
        let link = match entry.way {
            Way::Forward => &mut path.forward,
            Way::Reverse => &mut path.reverse,
        };
        link.send(entry.at, entry.parcel, entry.datagram);
    }
    orphaned
}

#[cfg(test)]
mod tests {
    use path::{Ecn, LinkConfig, PathConfig};
    use units::{Bytes, Duration};

    use super::*;
    use crate::config::Sharing;

    const DELAY: Duration = Duration::from_millis(200);

    fn routes(sharing: Sharing) -> Routes {
        let link = LinkConfig {
            delay: DELAY,
            ..LinkConfig::default()
        };
        let config = PathConfig {
            forward: link.clone(),
            reverse: link,
        };
        Routes::new(config, 1, sharing).unwrap()
    }

    fn entry(at: Time, way: Way, number: u8) -> Entry {
        Entry {
            at,
            way,
            parcel: Parcel {
                size: Bytes::new(100),
                flow: 0,
                ecn: Ecn::NotCapable,
            },
            datagram: Datagram {
                client: ([127, 0, 0, 1], 9).into(),
                ecn: None,
                payload: [number].into(),
            },
        }
    }

    /// The datagrams that wait during a stall, in two sockets for each direction, are not delayed.
    #[test]
    fn a_stall_shorter_than_the_path_delays_nobody() {
        let mut routes = routes(Sharing::OneBottleneck);
        let came = |number: u8| Time::ZERO + Duration::from_millis(u64::from(number));
        let of_socket = |socket| (0..60).filter(move |number| number % 2 == socket);
        let mut entries = Vec::new();
        for way in [Way::Forward, Way::Reverse] {
            for socket in [1, 0] {
                entries.extend(of_socket(socket).map(|number| entry(came(number), way, number)));
            }
        }
        assert_eq!(enter(&mut entries, &mut routes), 0);
        assert!(entries.is_empty());
        let path = routes.iter_mut().next().unwrap();
        for link in [&mut path.forward, &mut path.reverse] {
            assert!(
                link.receive(Time::ZERO + Duration::from_millis(81))
                    .is_none()
            );
            for number in 0..60 {
                let arrival = link.receive(Time::ZERO + Duration::from_secs(9)).unwrap();
                assert_eq!(arrival.packet.payload[..], [number]);
                assert_eq!(arrival.at, came(number) + DELAY);
            }
        }
    }

    #[test]
    fn a_datagram_without_a_path_is_counted() {
        let mut routes = routes(Sharing::PathPerClient);
        let mut entries = vec![entry(Time::ZERO, Way::Forward, 0)];
        assert_eq!(enter(&mut entries, &mut routes), 1);
    }
}
