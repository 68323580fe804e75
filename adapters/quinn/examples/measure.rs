//! quinn with Fullpipe's controllers and with its own, over the same emulated paths in virtual time: goodput and median
//! round-trip time, medians of five seeds. `cargo run --release --example measure` in `adapters/quinn`

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use congestion::{Bytes, ControllerKind, Duration, Rate, Ratio, Time};
use path::{Buffer, Capacity, Effects, LinkConfig, Loss, Path, PathConfig};
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointConfig,
    ServerConfig, StreamId, TransportConfig, VarInt,
};

type Factory = Arc<dyn ControllerFactory + Send + Sync>;
/// A name, and what makes such controllers, from a seed.
type Row = (&'static str, Box<dyn Fn(u64) -> Factory>);

const HEADERS: u64 = 28;
const SPAN: Duration = Duration::from_secs(20);
const SEEDS: u64 = 5;
const STREAMS: usize = 16;

struct Host {
    endpoint: Endpoint,
    address: SocketAddr,
    connection: Option<(ConnectionHandle, Connection)>,
}

impl Host {
    fn receive(&mut self, now: Instant, from: SocketAddr, datagram: &[u8]) {
        let mut answer = Vec::new();
        let data = BytesMut::from(datagram);
        match self
            .endpoint
            .handle(now, from, None, None, data, &mut answer)
        {
            Some(DatagramEvent::NewConnection(incoming)) => {
                let accepted = self.endpoint.accept(incoming, now, &mut answer, None);
                self.connection = accepted.ok();
            }
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.connection {
                    connection.handle_event(event);
                }
            }
            _ => {}
        }
    }

    fn transmit(&mut self, now: Instant, mut send: impl FnMut(Vec<u8>)) {
        let Some((handle, connection)) = &mut self.connection else {
            return;
        };
        let mut buffer = Vec::new();
        while let Some(batch) = connection.poll_transmit(now, 10, &mut buffer) {
            let size = batch.segment_size.unwrap_or(batch.size).max(1);
            for datagram in buffer[..batch.size].chunks(size) {
                send(datagram.to_vec());
            }
            buffer.clear();
        }
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while connection.poll().is_some() {}
    }

    fn timeout(&mut self) -> Option<Instant> {
        self.connection.as_mut()?.1.poll_timeout()
    }
}

struct Outcome {
    goodput: f64,
    rtt_ms: f64,
}

fn transport(factory: Option<Factory>) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .stream_receive_window(VarInt::from_u32(2 << 20))
        .receive_window(VarInt::from_u32(32 << 20))
        .send_window(64 << 20);
    if let Some(factory) = factory {
        config.congestion_controller_factory(factory);
    }
    Arc::new(config)
}

/// `cut` is when all packets to the receiver are lost.
fn run(
    factory: Factory,
    path: PathConfig,
    rtprop: Duration,
    seed: u64,
    cut: Range<Time>,
) -> Outcome {
    let certified = rcgen::generate_simple_self_signed(["localhost".into()]).expect("certificate");
    let key = rustls::pki_types::PrivateKeyDer::try_from(certified.signing_key.serialize_der());
    let certificate = certified.cert.der().clone();
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.clone()).expect("root");
    let mut server =
        ServerConfig::with_single_cert(vec![certificate], key.expect("key")).expect("server");
    server.transport_config(transport(None));
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots)).expect("client");
    client.transport_config(transport(Some(factory)));
    let base = Instant::now();
    let host = |port: u16, server: Option<ServerConfig>, random: u8| Host {
        endpoint: Endpoint::new(
            Arc::new(EndpointConfig::default()),
            server.map(Arc::new),
            true,
            Some([random; 32]),
        ),
        address: (Ipv4Addr::LOCALHOST, port).into(),
        connection: None,
    };
    let (mut sender, mut receiver) = (host(1234, None, seed as u8), host(4433, Some(server), 99));
    let connected = sender
        .endpoint
        .connect(base, client, receiver.address, "localhost");
    sender.connection = connected.ok();
    let mut link: Path<Vec<u8>> = Path::new(path, seed).expect("path");
    let (mut now, end) = (Time::ZERO, Time::ZERO + SPAN);
    let (mut received, mut rtts) = (0_u64, Vec::new());
    let mut outgoing: Vec<StreamId> = Vec::new();
    let mut incoming: Vec<StreamId> = Vec::new();
    let zeros = [0; 16 << 10];
    while now < end {
        let instant = base + std::time::Duration::from_nanos(now.as_nanos());
        while let Some(arrival) = link.forward.receive(now) {
            if arrival.size > Bytes::new(1_000) {
                rtts.push((rtprop + arrival.queued).as_millis_f64());
            }
            receiver.receive(instant, sender.address, &arrival.packet);
        }
        while let Some(arrival) = link.reverse.receive(now) {
            sender.receive(instant, receiver.address, &arrival.packet);
        }
        for host in [&mut sender, &mut receiver] {
            if host.timeout().is_some_and(|at| at <= instant)
                && let Some((_, connection)) = &mut host.connection
            {
                connection.handle_timeout(instant);
            }
        }
        if let Some((_, connection)) = &mut sender.connection
            && !connection.is_handshaking()
        {
            while outgoing.len() < STREAMS {
                match connection.streams().open(Dir::Uni) {
                    Some(stream) => outgoing.push(stream),
                    None => break,
                }
            }
            for stream in &outgoing {
                while connection.send_stream(*stream).write(&zeros).is_ok() {}
            }
        }
        if let Some((_, connection)) = &mut receiver.connection {
            while let Some(stream) = connection.streams().accept(Dir::Uni) {
                incoming.push(stream);
            }
            for stream in &incoming {
                let mut stream = connection.recv_stream(*stream);
                if let Ok(mut chunks) = stream.read(true) {
                    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                        received += chunk.bytes.len() as u64;
                    }
                    let _ = chunks.finalize();
                }
            }
        }
        let size = |datagram: &[u8]| Bytes::new(datagram.len() as u64 + HEADERS);
        sender.transmit(instant, |it| {
            if !cut.contains(&now) {
                link.forward.send(now, size(&it), it);
            }
        });
        receiver.transmit(instant, |it| link.reverse.send(now, size(&it), it));
        let timers = [sender.timeout(), receiver.timeout()];
        let timers = timers.into_iter().flatten();
        let timers = timers.map(|at| Time::ZERO + at.saturating_duration_since(base).into());
        let events = [link.forward.next_event(), link.reverse.next_event()];
        let next = timers.chain(events.into_iter().flatten()).min();
        now = next.unwrap_or(end).max(now + Duration::from_nanos(1));
    }
    rtts.sort_by(f64::total_cmp);
    Outcome {
        goodput: received as f64 * 8.0 / SPAN.as_secs_f64() / 1e6,
        rtt_ms: rtts.get(rtts.len() / 2).copied().unwrap_or(0.0),
    }
}

/// A bottleneck on the way to the receiver, and none on the way back.
fn path(mbit: u64, rtprop: Duration, buffer: Duration, effects: Effects) -> PathConfig {
    let rate = Rate::from_bits_per_sec(mbit * 1_000_000);
    let way = LinkConfig {
        delay: rtprop / 2,
        ..LinkConfig::default()
    };
    PathConfig {
        forward: LinkConfig {
            capacity: Capacity::Rate(rate),
            buffer: Buffer::Bytes(rate.bytes_in(buffer)),
            effects,
            ..way.clone()
        },
        reverse: way,
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn main() {
    let own = |kind| move |seed| fullpipe_quinn::factory(kind, seed);
    let rows: Vec<Row> = vec![
        ("fullpipe bbr3", Box::new(own(ControllerKind::Bbr3))),
        ("fullpipe bbr1", Box::new(own(ControllerKind::Bbr1))),
        ("fullpipe cubic", Box::new(own(ControllerKind::Cubic))),
        ("quinn bbr", Box::new(|_| Arc::new(BbrConfig::default()))),
        (
            "quinn cubic",
            Box::new(|_| Arc::new(CubicConfig::default())),
        ),
        (
            "quinn newreno",
            Box::new(|_| Arc::new(NewRenoConfig::default())),
        ),
    ];
    println!(
        "goodput in Mbit/s / median round-trip time in ms (medians of {SEEDS} seeds, {SPAN} each)\n"
    );
    println!(
        "| controller | 100 Mbit/s, 100 ms | 1 % loss | 5 % loss | 10 Mbit/s, 40 ms, 1 s of buffer | 1 % loss |"
    );
    println!("| --- | --- | --- | --- | --- | --- |");
    for (name, factory) in rows {
        print!("| {name} |");
        for (mbit, rtt_ms, buffer_ms, loss) in [
            (100, 100, 400, 0),
            (100, 100, 400, 1),
            (100, 100, 400, 5),
            (10, 40, 1_000, 0),
            (10, 40, 1_000, 1),
        ] {
            let rtprop = Duration::from_millis(rtt_ms);
            let effects = Effects {
                loss: Loss::Independent(Ratio::new(loss, 100)),
                ..Effects::default()
            };
            let path = path(mbit, rtprop, Duration::from_millis(buffer_ms), effects);
            let seeds = 1..=SEEDS;
            let outcomes: Vec<Outcome> = seeds
                .map(|seed| {
                    run(
                        factory(seed),
                        path.clone(),
                        rtprop,
                        seed,
                        Time::ZERO..Time::ZERO,
                    )
                })
                .collect();
            let goodput = median(outcomes.iter().map(|it| it.goodput).collect());
            let rtt = median(outcomes.iter().map(|it| it.rtt_ms).collect());
            print!(" {goodput:.1} / {rtt:.0} |");
        }
        println!();
    }
}

#[cfg(test)]
mod tests {
    use path::Aggregation;

    use super::*;

    /// Packets arrive in batches, and so do ACKs: the first one after the cut declares all lost that was in flight.
    /// Whether that is persistent congestion depends on what left last; for each controller it is so in two of these at least.
    #[test]
    fn a_sender_resumes_after_a_cut_of_the_wire() {
        let rtprop = Duration::from_millis(40);
        let effects = Effects {
            aggregation: Some(Aggregation {
                interval: Duration::from_millis(2),
            }),
            ..Effects::default()
        };
        let path = path(10, rtprop, rtprop, effects);
        let at = |ms| Time::ZERO + Duration::from_millis(ms);
        for kind in [
            ControllerKind::Bbr1,
            ControllerKind::Bbr3,
            ControllerKind::Cubic,
        ] {
            for (start, span) in [
                (2_000, 1_000),
                (2_007, 1_000),
                (2_019, 1_000),
                (2_000, 2_000),
                (2_007, 2_000),
                (2_019, 2_000),
            ] {
                let cut = at(start)..at(start + span);
                let factory = fullpipe_quinn::factory(kind, 1);
                let outcome = run(factory, path.clone(), rtprop, 1, cut.clone());
                // The longest cut takes a tenth of the time; who does not resume has less than 1 Mbit/s.
                let goodput = outcome.goodput;
                assert!(goodput > 7.0, "{kind}: {goodput} Mbit/s after {cut:?}");
            }
        }
    }
}
