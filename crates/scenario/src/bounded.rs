//! The default buffer of a bottleneck in real time.

use units::Bytes;

use super::buffer::BufferSpec;
use super::path_spec::PathSpec;

impl PathSpec {
    /// The buffer that [`bounded`](PathSpec::bounded) sets: a thousand full packets, the default of Linux's devices
    /// (`txqueuelen`) and of tc-netem(8).
    pub const USUAL_BUFFER: BufferSpec = BufferSpec::Bytes(Bytes::new(1_500_000));

    /// Returns the path for real packets. In virtual time, an unlimited buffer shows what a sender does to it. In real
    /// time, it would take this machine's memory, so each bottleneck without a buffer gets the [default
    /// one](PathSpec::USUAL_BUFFER). Also returns which did: that of data, that of ACKs.
    #[must_use]
    pub fn bounded(mut self) -> (PathSpec, [bool; 2]) {
        let given = [&mut self.data, &mut self.uplink].map(|link| {
            let is_endless = link.has_bottleneck() && link.buffer.is_none();
            if is_endless {
                link.buffer = Some(PathSpec::USUAL_BUFFER);
            }
            is_endless
        });
        (self, given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_bottlenecks_without_a_buffer_get_one() {
        let path = |options: &[(&str, &str)]| {
            let mut path = PathSpec::default();
            for (key, text) in options {
                path.set(key, text).unwrap();
            }
            let (path, given) = path.bounded();
            path.check().unwrap();
            (path.data.buffer, path.uplink.buffer, given)
        };
        let usual = Some(PathSpec::USUAL_BUFFER);
        let own = Some(BufferSpec::Packets(9));
        assert_eq!(path(&[("rtt", "40ms")]), (None, None, [false, false]));
        assert_eq!(path(&[("rate", "1mbit")]), (usual, None, [true, false]));
        assert_eq!(path(&[("trace", "x")]), (usual, None, [true, false]));
        assert_eq!(
            path(&[
                ("rate", "1mbit"),
                ("buffer", "9p"),
                ("uplink", "rate=1mbit")
            ]),
            (own, usual, [false, true])
        );
    }
}
