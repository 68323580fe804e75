//! Tests that the kernel separates the objects of a connection, by requests and by pauses.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use kernel::{Attached, DrawnUnit, ReportedObject, Steering, SteeringRule};

use crate::group::Group;
use crate::process::wait_for;
use crate::server::{PORT, wait_for_server};
use crate::{alone, client, connect};

/// A server that answers each line with as many bytes as the line says. `p1` in the line is a pause of a second. `c`
/// closes the connection. `a1` aborts the connection after a second, with as much outstanding data as possible. After
/// `d1`, the kernel ignores the end of a handshake without data for a second, and then sends its SYN-ACK again (tcp(7),
/// `TCP_DEFER_ACCEPT`).
const SERVER: &str = r#"
import contextlib, socket, struct, sys, time
def serve(stream, lines):
    for line in lines:
        for part in line.split():
            if part.startswith("p"):
                time.sleep(float(part[1:]))
            elif part == "c":
                return
            elif part.startswith("a"):
                stream.setblocking(False)
                with contextlib.suppress(BlockingIOError):
                    while True:
                        stream.send(b"x" * 65536)
                time.sleep(float(part[1:]))
                stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                return
            elif part.startswith("d"):
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, int(part[1:]))
            else:
                stream.sendall(b"x" * int(part))
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    stream, _ = listening.accept()
    with contextlib.suppress(OSError), stream, stream.makefile("r") as lines:
        serve(stream, lines)
"#;

pub struct Server(Child);

impl Server {
    pub fn start(group: &Path) -> Server {
        let enter = format!(
            "echo $$ > '{}/cgroup.procs' && exec python3 - {PORT}",
            group.display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &enter])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a shell");
        let mut program = child.stdin.take().expect("a pipe");
        program.write_all(SERVER.as_bytes()).expect("it reads");
        drop(program);
        let server = Server(child);
        wait_for_server((Ipv4Addr::LOCALHOST, PORT).into());
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub fn ask(stream: &mut TcpStream, line: &str, bytes: usize) {
    writeln!(stream, "{line}").expect("sent");
    stream.read_exact(&mut vec![0; bytes]).expect("an answer");
}

pub fn steering() -> Steering {
    Steering {
        key: [1, 2],
        unit: DrawnUnit::Connection,
        rules: vec![SteeringRule {
            name: "all".to_owned(),
            listen: vec![(PORT, PORT)],
            connect: Vec::new(),
            rtt: units::Duration::ZERO..units::Duration::MAX,
            interfaces: Vec::new(),
            resent: kernel::ANY_SHARE,
            objects: Some(0),
            arms: vec![(1 << 32, "reno".to_owned())],
        }],
        networks: vec![(std::net::Ipv6Addr::UNSPECIFIED, 0, 1)],
    }
}

/// Runs a test alone, if there is Python for the server.
pub fn alone_with_python(what: &str, test: impl FnOnce(&Group) + Send) {
    if Command::new("python3").arg("--version").output().is_err() {
        skipping::skip!("{what}: there is no python3");
        return;
    }
    alone(what, test);
}

#[test]
fn objects_are_told_apart_by_requests_and_by_pauses() {
    alone_with_python("objects of connections", told_apart);
}

fn told_apart(group: &Group) {
    let _server = Server::start(&group.0);
    let open = File::open(&group.0).expect("a directory");
    let attached = kernel::attach(&open, &steering()).expect("attached");
    let lease = units::Duration::from_secs(600);
    attached.renew(lease).expect("a lease");
    let mut stream = connect(client(1));
    ask(&mut stream, "5000", 5000);
    ask(&mut stream, "40000", 40_000);
    ask(&mut stream, "1000 p1 2000", 3000);
    drop(stream);
    let (ended, objects) = ended(&attached);
    let sizes: Vec<u64> = objects.iter().map(|object| object.bytes).collect();
    // The FIN takes a sequence number after the data, and is no byte of them.
    assert_eq!(sizes, [5000, 40_000, 1000, 2000], "{objects:?}");
    assert_eq!(ended.acknowledged, 48_000);
    let numbers: Vec<u64> = objects.iter().map(|object| object.number).collect();
    assert_eq!((numbers, ended.objects), (vec![1, 2, 3, 4], 4));
    let mut before = ended.steered.set_up;
    for object in &objects {
        assert!(object.is_whole && object.packets > 0, "{object:?}");
        assert_eq!(object.cookie, ended.cookie);
        assert_eq!(object.steered, ended.steered);
        assert!(object.begun >= before, "{objects:?}");
        assert!(object.busy > units::Duration::ZERO, "{object:?}");
        before = object.begun + object.busy;
    }
    assert!(before <= ended.ended, "{objects:?}, {ended:?}");
    // The pause belongs to neither of the two objects.
    let end = objects[2].begun + objects[2].busy;
    let gap = objects[3].begun.saturating_sub(end);
    assert!(gap >= units::Duration::from_millis(100), "{gap}");
    let median = ended.median_rtt.expect("there were round trips");
    let least = ended.min_rtt.expect("there were round trips");
    // The median is the middle of its histogram class.
    let off = units::Duration::from_nanos(least.as_nanos() / 16 + 9000);
    assert!(least <= median + off, "{least}, {median}");
    assert_eq!(attached.counts().expect("counters").untold_objects, 0);
    aborted(&attached);
    left(&attached);
    closed_at_once(&attached);
}

/// A client that gets 5000 bytes, and no FIN for `HELD` seconds: until then, a filter on its socket drops packets with
/// a FIN, which is a bit of the 14th byte of the TCP header.
const CLIENT: &str = r#"
import ctypes, socket, struct, sys, time
host, port, held = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
lines = [(0x30, 0, 0, 13), (0x45, 0, 1, 1), (0x06, 0, 0, 0), (0x06, 0, 0, 0xffffffff)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in lines))
with socket.socket() as stream:
    SO_ATTACH_FILTER, SO_DETACH_FILTER = 26, 27
    stream.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, struct.pack("HP", len(lines), ctypes.addressof(code)))
    stream.bind((host, 0))
    stream.connect(("127.0.0.1", port))
    stream.sendall(b"5000 c\n")
    left = 5000
    while left:
        left -= len(stream.recv(left))
    time.sleep(held)
    stream.setsockopt(socket.SOL_SOCKET, SO_DETACH_FILTER, 0)
    assert not stream.recv(1)
"#;

/// The end of an object is that of its data, also if the FIN behind them is lost and acknowledged much later.
fn closed_at_once(attached: &Attached) {
    const HELD: units::Duration = units::Duration::from_secs(2);
    let arguments = [
        client(4).to_string(),
        PORT.to_string(),
        HELD.as_secs_f64().to_string(),
    ];
    let status = Command::new("python3")
        .args(["-c", CLIENT])
        .args(arguments)
        .status();
    assert!(status.expect("python3 runs").success());
    let (ended, objects) = ended(attached);
    let [object] = objects[..] else {
        panic!("{objects:?}");
    };
    assert!(object.is_whole && object.bytes == 5000, "{object:?}");
    assert!(object.busy < HELD, "{object:?}");
    let after = ended.ended.saturating_sub(object.begun);
    assert!(ended.acknowledged == 5000 && after >= HELD, "{ended:?}");
}

/// The outstanding data of an aborted connection has kept it busy until the abort.
fn aborted(attached: &Attached) {
    let mut stream = connect(client(2));
    writeln!(stream, "a1").expect("sent");
    let (ended, objects) = ended(attached);
    assert!(ended.busy >= units::Duration::from_millis(700), "{ended:?}");
    // The objects were cut short.
    assert!(objects.iter().all(|object| !object.is_whole), "{objects:?}");
}

/// A client that leaves makes the last object cut short.
fn left(attached: &Attached) {
    let mut stream = connect(client(3));
    ask(&mut stream, "40000000", 1_000_000);
    drop(stream);
    let (_, objects) = ended(attached);
    let last = objects.last().expect("some of it came");
    assert!(!last.is_whole && last.bytes >= 1_000_000, "{objects:?}");
}

/// Waits for the end of the connection. Returns the connection and its objects.
pub fn ended(attached: &Attached) -> (kernel::EndedConnection, Vec<ReportedObject>) {
    let mut objects = Vec::new();
    let ended = wait_for("the end of a connection", || {
        let ended = attached.ended().expect("a ring");
        objects.extend(attached.objects());
        let first = ended.first().copied();
        first.ok_or_else(|| format!("{objects:?}"))
    });
    (ended, objects)
}
