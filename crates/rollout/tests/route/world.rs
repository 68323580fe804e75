//! The network namespace of a server, the network namespace of its clients, and a link between them.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::Command;
use std::thread;
use std::time::Duration;

use linux::diag::{Diag, Filter};
use nix::sched::{CloneFlags, setns, unshare};
use socket2::{Domain, Socket, Type};

/// The server's port in the study, and its port outside the study.
pub const PORT: u16 = 8000;
pub const BESIDE: u16 = 8001;

/// The number of IPv4 client networks, and of IPv6 client networks.
pub const CLIENTS: u8 = 13;

/// The size of a response in bytes.
const RESPONSE: usize = 50_000;

const TIMEOUT: Duration = Duration::from_secs(30);

/// The server's namespace is the calling thread's namespace.
pub struct World {
    far: File,
    /// The IPv4 clients, and then the IPv6 clients, if IPv6 is available.
    pub clients: Vec<IpAddr>,
}

/// Runs ip(8), and returns its output.
pub fn ip(arguments: &[&str]) -> String {
    try_ip(arguments).unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
}

fn try_ip(arguments: &[&str]) -> Result<String, String> {
    let output = Command::new("ip").args(arguments).output();
    let output = output.map_err(|error| error.to_string())?;
    // Nobody has made the table yet.
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() || told.contains("FIB table does not exist") {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(told)
    }
}

impl World {
    /// Makes the namespaces. Where this is impossible, reports that, and returns nothing.
    pub fn make() -> Option<World> {
        let skipped = |why: &dyn std::fmt::Display| {
            skipping::skip!("a study by route: {why}");
            None
        };
        if let Err(error) = try_ip(&["-V"]) {
            return skipped(&format!("there is no ip: {error}"));
        }
        // A separate thread makes the clients' namespace, which lives as long as its file is open.
        let far = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            Ok::<_, nix::Error>(File::open("/proc/thread-self/ns/net").expect("it is there"))
        });
        let far = match far.join().expect("it ends") {
            Ok(far) => far,
            Err(error) => return skipped(&format!("no network namespace: {error}")),
        };
        if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
            return skipped(&format!("no network namespace: {error}"));
        }
        let place = format!("/proc/{}/fd/{}", std::process::id(), far.as_raw_fd());
        let link = [
            "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", &place,
        ];
        if let Err(error) = try_ip(&link) {
            return skipped(&format!("no veth device: {error}"));
        }
        for arguments in [
            "link set lo up",
            "link set near up",
            "addr add 192.0.2.1/24 dev near",
        ] {
            ip(&words(arguments));
        }
        let mut world = World {
            far,
            clients: Vec::new(),
        };
        world.inside(|| {
            for arguments in [
                "link set lo up",
                "link set far up",
                "addr add 192.0.2.2/24 dev far",
                "addr add 192.0.2.3/24 dev far",
            ] {
                ip(&words(arguments));
            }
        });
        ip(&words("route add 10.1.0.0/16 via 192.0.2.2"));
        let mut clients: Vec<IpAddr> = (0..CLIENTS)
            .map(|number| Ipv4Addr::new(10, 1, number, 1).into())
            .collect();
        match try_ip(&words("-6 addr add 2001:db8:ffff::1/64 dev near nodad")) {
            Ok(_) => {
                world.inside(|| ip(&words("-6 addr add 2001:db8:ffff::2/64 dev far nodad")));
                ip(&words("-6 route add 2001:db8::/36 via 2001:db8:ffff::2"));
                let six = |number: u8| Ipv6Addr::new(0x2001, 0xdb8, number.into(), 0, 0, 0, 0, 1);
                clients.extend((0..CLIENTS).map(|number| IpAddr::from(six(number))));
            }
            Err(error) => eprintln!("NOT with IPv6: {error}"),
        }
        world.inside(|| {
            for client in &clients {
                ip(&["addr", "add", &client.to_string(), "dev", "lo"]);
            }
        });
        world.clients = clients;
        serve(PORT);
        serve(BESIDE);
        Some(world)
    }

    /// The networks of the clients, in the format of a plan.
    pub fn networks(&self) -> Vec<String> {
        let network =
            |client: &IpAddr| format!("{client}/{}", if client.is_ipv4() { 24 } else { 48 });
        self.clients.iter().map(network).collect()
    }

    /// Calls `f` in the clients' namespace.
    fn inside<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(&self.far, CloneFlags::CLONE_NEWNET).expect("it may");
                f()
            });
            thread.join().expect("it ends")
        })
    }

    /// Opens one connection from each client to this port. Returns the controllers of the server's sockets.
    pub fn controllers(&self, port: u16) -> Vec<String> {
        let streams: Vec<TcpStream> =
            self.inside(|| self.clients.iter().map(|from| fetch(*from, port)).collect());
        let ends: Vec<SocketAddr> = streams
            .iter()
            .map(|stream| stream.local_addr().expect("bound"))
            .collect();
        let mut found = vec![String::new(); ends.len()];
        let mut diag = Diag::open_here().expect("sock_diag");
        let looked = diag.sockets(&Filter::default(), |socket| {
            let remote = SocketAddr::new(socket.remote.ip().to_canonical(), socket.remote.port());
            if let Some(place) = ends.iter().position(|end| *end == remote) {
                socket.controller.as_str().clone_into(&mut found[place]);
            }
        });
        looked.expect("a look");
        found
    }
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

/// Fetches a response from this client address.
fn fetch(from: IpAddr, port: u16) -> TcpStream {
    let (domain, to): (_, IpAddr) = match from {
        IpAddr::V4(_) => (Domain::IPV4, Ipv4Addr::new(192, 0, 2, 1).into()),
        IpAddr::V6(_) => {
            let to = Ipv6Addr::new(0x2001, 0xdb8, 0xffff, 0, 0, 0, 0, 1);
            (Domain::IPV6, to.into())
        }
    };
    let socket = Socket::new(domain, Type::STREAM, None).expect("a socket");
    socket
        .bind(&SocketAddr::new(from, 0).into())
        .expect("its address");
    let to = SocketAddr::new(to, port);
    socket
        .connect_timeout(&to.into(), TIMEOUT)
        .expect("the server listens");
    let mut stream: TcpStream = socket.into();
    stream.set_read_timeout(Some(TIMEOUT)).expect("a time");
    stream
        .read_exact(&mut vec![0; RESPONSE])
        .expect("a response");
    stream
}

/// Answers all connections.
fn serve(port: u16) {
    let listener = TcpListener::bind((Ipv6Addr::UNSPECIFIED, port));
    let listener = listener.or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)));
    let listener = listener.expect("a port");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || {
                let mut stream = stream;
                let _ = stream.write_all(&[7; RESPONSE]);
                let _ = stream.read_to_end(&mut Vec::new());
            });
        }
    });
}
