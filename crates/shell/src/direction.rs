//! The direction of the bottleneck.

use emulator::tunnel::Way;
use path::{LinkConfig, PathConfig};

use document::DocumentError;
use scenario::{LinkSpec, PathSpec};

units::named! {
    /// The direction of the bottleneck, as the command sees it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
    pub enum Direction, "direction" {
        /// Towards the command, as behind an access line: its downloads.
        #[default]
        Down = "down",
        /// Away from the command: its uploads.
        Up = "up",
        /// Both directions, with equal bottlenecks.
        Both = "both",
    }
}

impl Direction {
    /// Checks that the path is possible with this direction.
    ///
    /// # Errors
    ///
    /// With both directions equal, the path must not have properties of one direction.
    pub fn check(self, path: &PathSpec) -> Result<(), DocumentError> {
        if self == Direction::Both && path.acks() != LinkSpec::default() {
            return Err(DocumentError::new(
                "path.uplink",
                "there is no way of ACKs where both have the bottleneck; leave out what that way has of its own, \
                 or name the direction down or up",
            ));
        }
        Ok(())
    }

    /// The links away from the command, and those towards it.
    pub(super) fn ways(self, path: PathConfig) -> [Way; 2] {
        let PathConfig { forward, reverse } = path;
        let [up, down] = match self {
            Direction::Down => [reverse, forward],
            Direction::Up => [forward, reverse],
            Direction::Both => {
                let back = LinkConfig {
                    delay: reverse.delay,
                    ..forward.clone()
                };
                [back, forward]
            }
        };
        [up, down].map(Way::single)
    }

    /// The directions away from the command and towards it, each as a path whose data go that way.
    pub(super) fn paths(self, path: &PathSpec) -> [PathSpec; 2] {
        let back = || PathSpec {
            rtt: path.rtt,
            forward_delay: path
                .forward_delay
                .map(|forward| path.rtt.saturating_sub(forward)),
            data: path.acks(),
            ..PathSpec::default()
        };
        match self {
            Direction::Down => [back(), path.clone()],
            Direction::Up => [path.clone(), back()],
            Direction::Both => [path.clone(), path.clone()],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use path::Capacity;

    fn path(options: &[(&str, &str)]) -> PathSpec {
        let mut path = PathSpec::default();
        for (key, text) in options {
            path.set(key, text).unwrap();
        }
        path
    }

    #[test]
    fn the_bottleneck_lies_where_it_is_said_to() {
        let options = [("rate", "8mbit"), ("rtt", "41ns"), ("uplink", "rate=1mbit")];
        let path = path(&options);
        let rates = |direction: Direction| {
            direction
                .ways(path.config().unwrap())
                .map(|way| match way.links[0].capacity {
                    Capacity::Rate(rate) => rate.bits_per_sec(),
                    _ => 0,
                })
        };
        assert_eq!(rates(Direction::Down), [1_000_000, 8_000_000]);
        assert_eq!(rates(Direction::Up), [8_000_000, 1_000_000]);
        assert_eq!(rates(Direction::Both), [8_000_000, 8_000_000]);
        for direction in Direction::ALL.iter().copied() {
            let ways = direction.ways(path.config().unwrap());
            let delays = ways.map(|way| way.links[0].delay.as_nanos());
            assert_eq!(delays.iter().sum::<u64>(), 41, "{direction}");
        }
    }

    #[test]
    fn two_bottlenecks_leave_nothing_for_an_uplink() {
        for options in [
            ("uplink", "rate=1mbit"),
            ("ack_loss", "1%"),
            ("aggregation", "interval=5ms"),
        ] {
            let path = path(&[options]);
            assert!(Direction::Down.check(&path).is_ok());
            assert!(Direction::Both.check(&path).is_err(), "{options:?}");
        }
        assert!(Direction::Both.check(&path(&[("rate", "1mbit")])).is_ok());
    }
}
