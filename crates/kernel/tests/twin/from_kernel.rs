//! The events of real connections. The program in the kernel records each event and the snapshot after it. Rust, the
//! program in the kernel, and the same C on the host show the same state after every event.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration as Span, Instant};

use emulator::tunnel::{Tunnel, TunnelConfig, Way};
use libbpf_rs::{Link, MapCore, MapFlags, MapType, Object, ObjectBuilder, RingBufferBuilder};
use linux::{Family, Network, NetworkConfig, socket};
use path::{Buffer, Capacity, CoDel, Discipline, Effects, LinkConfig, Loss};
use units::{Bytes, Duration, Rate, Ratio};

use crate::event::Event;
use crate::heard::{KernelEvent, RECORD};
use crate::twins::{Twins, seen};

/// The time for which connections run over each path.
const SPAN: Span = Span::from_secs(3);

/// A program that records its events.
struct Recorder {
    object: Object,
    _link: Link,
}

impl Recorder {
    /// Offers `recorded_NAME` with the settings of the twins.
    fn offer(name: &str, twins: &Twins) -> Recorder {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("recorded.o");
        let source = format!("bpf/{name}.bpf.c");
        let status = Command::new(std::env::var_os("CLANG").unwrap_or_else(|| "clang".into()))
            .args("-target bpf -mcpu=v3 -std=gnu11 -O2 -g -DRECORDED -c".split(' '))
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join(source))
            .arg("-o")
            .arg(&file)
            .status()
            .expect("clang");
        assert!(status.success(), "{status}");
        let mut opened = ObjectBuilder::default()
            .open_file(&file)
            .expect("a program");
        for mut map in opened.maps_mut() {
            let is_operations = map.map_type() == MapType::StructOps;
            let name = map.name().to_owned();
            match (name.to_str(), map.initial_value_mut()) {
                // `cwnd_event_tx_start`.
                (_, Some(value)) if is_operations && release() < (7, 1) => value[24..32].fill(0),
                (Some(".rodata.config"), Some(value)) => {
                    let words = twins.words.iter().flat_map(|word| word.to_ne_bytes());
                    value
                        .iter_mut()
                        .zip(words)
                        .for_each(|(to, from)| *to = from);
                }
                (Some(".rodata.load"), Some(value)) => {
                    let argument: u64 = if release() >= (6, 10) { 3 } else { 1 };
                    value[..8].copy_from_slice(&argument.to_ne_bytes());
                }
                _ => {}
            }
        }
        let mut object = opened.load().expect("the kernel takes it");
        let mut maps = object.maps_mut();
        let operations = maps.find(|map| map.map_type() == MapType::StructOps);
        let link = operations.expect("operations").attach_struct_ops();
        let link = link.expect("the kernel offers it");
        drop(maps);
        Recorder {
            object,
            _link: link,
        }
    }

    /// The records until `is_over`.
    fn listen(&self, is_over: &AtomicBool) -> Vec<KernelEvent> {
        let heard = RefCell::new(Vec::new());
        let mut buffer = RingBufferBuilder::new();
        let records = self.object.maps().find(|map| map.name() == "records");
        let records = records.expect("a buffer");
        let note = |bytes: &[u8]| {
            let words = bytes
                .chunks_exact(8)
                .map(|word| word.try_into().expect("a word"));
            let words: Vec<u64> = words.map(u64::from_ne_bytes).collect();
            let words: &[u64; RECORD] = words.as_slice().try_into().expect("a record");
            heard.borrow_mut().push(KernelEvent::of(words));
            0
        };
        buffer.add(&records, note).expect("a reader");
        let buffer = buffer.build().expect("a reader");
        while !is_over.load(Ordering::Relaxed) {
            // A signal may end the wait early.
            let _ = buffer.poll(Span::from_millis(20));
        }
        buffer.consume().expect("the rest");
        drop(buffer);
        assert_eq!(self.unrecorded(), 0, "the buffer was full");
        heard.into_inner()
    }

    /// `unrecorded`, the only variable of the program.
    fn unrecorded(&self) -> u64 {
        let mut maps = self.object.maps();
        let variables = maps.find(|map| map.name().to_string_lossy().ends_with(".bss"));
        let value = variables.expect("variables").lookup(&[0; 4], MapFlags::ANY);
        let value = value.expect("a look").expect("a value");
        u64::from_ne_bytes(value[..8].try_into().expect("a word"))
    }
}

/// The features of the running kernel.
fn release() -> (u32, u32) {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a release");
    let mut numbers = release.split(['.', '-']).map(|part| part.parse());
    let mut next = || numbers.next().expect("a number").expect("a number");
    (next(), next())
}

/// The paths: clean, lossy with a shallow buffer, and one that marks.
fn paths() -> [LinkConfig; 3] {
    let link = |mbit: u64, rtt: u64, buffer: u64, effects: Effects| LinkConfig {
        capacity: Capacity::Rate(Rate::from_bits_per_sec(mbit * 1_000_000)),
        delay: Duration::from_millis(rtt),
        buffer: Buffer::Bytes(Bytes::new(buffer)),
        effects,
        ..LinkConfig::default()
    };
    let lossy = Effects {
        loss: Loss::Independent(Ratio::new(2, 100)),
        ..Effects::default()
    };
    let marking = Effects {
        queue: Discipline::CoDel(CoDel {
            target: Duration::from_millis(1),
            interval: Duration::from_millis(10),
            ecn: true,
        }),
        ..Effects::default()
    };
    [
        link(20, 20, 200_000, Effects::default()),
        link(40, 10, 30_000, lossy),
        link(40, 2, 200_000, marking),
    ]
}

/// Reports the end when it goes out of scope.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Two connections with the recorded controller. The second one sends later. Both are open before that: a queue that
/// marks every packet of the first connection, which does not respond, would drop each SYN of the second, because SYNs
/// cannot be marked (RFC 3168).
fn traffic(network: &Network, controller: &str) {
    let address = SocketAddr::new(network.far.address(0, Family::V4), 5_000);
    let listener = network
        .far
        .inside(|| TcpListener::bind(address).expect("a listener"));
    let listener = listener.expect("inside");
    let mut ends = Vec::new();
    let mut senders = Vec::new();
    let pairs = [(); 2].map(|()| connection(network, &listener, controller, address.ip()));
    for (sender, receiver) in pairs {
        ends.extend([&sender, &receiver].map(|end| end.try_clone().expect("a socket")));
        thread::spawn(move || while matches!(socket::discard(&receiver, 1 << 20), Ok(1..)) {});
        senders.push(thread::spawn(move || {
            let (started, mut has_paused) = (Instant::now(), false);
            while socket::send(&sender, 1 << 18).is_ok() {
                // Waits until the sent data has arrived.
                if !has_paused && started.elapsed() > SPAN / 8 {
                    thread::sleep(SPAN / 5);
                    has_paused = true;
                }
            }
        }));
        thread::sleep(SPAN / 2);
    }
    for end in &ends {
        let _ = end.shutdown(std::net::Shutdown::Both);
    }
    for sender in senders {
        sender.join().expect("no panic");
    }
}

fn connection(
    network: &Network,
    listener: &TcpListener,
    controller: &str,
    ip: IpAddr,
) -> (TcpStream, TcpStream) {
    let to = SocketAddr::new(ip, listener.local_addr().expect("an address").port());
    let connect = || {
        let sender = TcpStream::connect(to).expect("a connection");
        socket::set_controller(&sender, controller).expect("its controller");
        sender
    };
    let sender = network.near.inside(connect).expect("inside");
    (sender, listener.accept().expect("its other end").0)
}

/// Runs connections of the controller in this kernel, and compares their events and snapshots.
pub fn compare(name: &str, twins: &Twins) {
    let lack = kernel::check()
        .into_iter()
        .find_map(|required| required.lack);
    if let Some(lack) = lack {
        skipping::skip!("events of a kernel for {name}: {lack}");
        return;
    }
    let recorder = Recorder::offer(name, twins);
    let controller = format!("recorded_{name}");
    let (mut count, mut kinds) = (0, HashMap::<u64, usize>::new());
    for link in paths() {
        let marks = matches!(link.effects.queue, Discipline::CoDel(_));
        let mut config = NetworkConfig::default();
        config.host.ecn = marks;
        let network = Network::create(&config).expect("a network");
        let tunnel = Tunnel::start(TunnelConfig {
            near: network.near.tun().try_clone().expect("a device"),
            far: network.far.tun().try_clone().expect("a device"),
            forward: Way::single(link),
            reverse: Way::single(LinkConfig::default()),
            seed: 1,
        });
        let tunnel = tunnel.expect("a tunnel");
        let is_over = AtomicBool::new(false);
        let started = Instant::now();
        let heard = thread::scope(|scope| {
            scope.spawn(|| {
                // Ends also if the traffic panics. Otherwise the listener would wait for ever.
                let _over = Ending(&is_over);
                traffic(&network, &controller);
            });
            recorder.listen(&is_over)
        });
        tunnel.stop();
        assert!(started.elapsed() >= SPAN);
        for one in &heard {
            *kinds.entry(one.event.words().kind()).or_default() += 1;
        }
        count += heard.len();
        by_connection(heard).for_each(|heard| compare_one(twins, &heard));
    }
    println!("{name}: {count} events of the kernel's, by kind {kinds:?}");
    assert!(count > 1_000, "{name}: only {count} events");
    // New, restart from idle, lost, recovery entered and left, handshake, ACK, marked.
    for kind in [0, 1, 2, 3, 4, 7, 9, 11] {
        assert!(kinds.contains_key(&kind), "no event of kind {kind}");
    }
}

/// The connections in turn, each from its beginning.
fn by_connection(heard: Vec<KernelEvent>) -> impl Iterator<Item = Vec<KernelEvent>> {
    let mut all: HashMap<u64, Vec<KernelEvent>> = HashMap::new();
    let mut over = Vec::new();
    for one in heard {
        let flow = all.entry(one.flow).or_default();
        if matches!(one.event, Event::New(_)) {
            over.push(std::mem::take(flow));
        }
        flow.push(one);
    }
    over.into_iter()
        .chain(all.into_values())
        .filter(|one| !one.is_empty())
}

fn compare_one(twins: &Twins, heard: &[KernelEvent]) {
    assert!(
        matches!(heard[0].event, Event::New(_)),
        "{:?}",
        heard[0].event
    );
    let mut rust = twins.any();
    for (index, one) in heard.iter().enumerate() {
        one.event
            .happen(&mut rust, |connection| twins.make(connection));
        let here = seen(&rust);
        assert!(
            here == one.seen,
            "event {index}: {:?}\nRust:   {here:?}\nkernel: {:?}\n{rust:#?}",
            one.event,
            one.seen
        );
    }
    let events: Vec<Event> = heard.iter().map(|one| one.event.clone()).collect();
    twins.compare(&events);
}
