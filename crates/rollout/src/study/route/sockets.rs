//! The connections of a study by route, observed with sock_diag only.

use std::collections::HashMap;
use std::net::SocketAddr;

use experiment::{Key, Members, Shares, Unit};
use kernel::SteeredConnection;
use linux::Error;
use linux::diag::{Diag, EndedSocket, Ends, Filter, TcpState};
use rules::{Ports, Prefix};
use units::Duration;

use crate::study::directory::StudyDirectory;
use crate::study::row::{Maker, Now, Row};

/// Selects the connections that take part, and draws their arms, as the BPF program does in the kernel.
pub(super) struct Drawing {
    pub members: Members,
    unit: Unit,
    key: Key,
    shares: Shares,
    listen: Vec<Ports>,
    connect: Vec<Ports>,
}

impl Drawing {
    pub fn of(place: &StudyDirectory) -> Drawing {
        let plan = &place.plan;
        Drawing {
            members: Members::of(plan),
            unit: plan.unit,
            key: place.key(),
            shares: plan.shares(),
            listen: plan.connections.listen.clone(),
            connect: plan.connections.connect.clone(),
        }
    }

    /// The draw of a network, and the network's arm.
    pub fn draw(&self, network: Prefix) -> (u64, usize) {
        let unit = self.unit.subject(0, network.first(), Duration::ZERO);
        let draw = self.key.draw(unit);
        (draw, self.shares.arm(draw))
    }

    /// True if the socket was connected when it ended. The kernel counts the SYN of an outgoing connection as
    /// acknowledged payload (`tcp_snd_una_update` in net/ipv4/tcp_input.c).
    fn was_connected(&self, socket: &EndedSocket) -> bool {
        let is_incoming = has(&self.listen, socket.local.port());
        socket.info.segs_in > 0 && (is_incoming || !socket.info.bytes_acked.is_zero())
    }

    /// The assignment of a connection that was set up at this time; nothing if the connection takes no part.
    fn steered(
        &self,
        local: SocketAddr,
        remote: SocketAddr,
        set_up: Duration,
    ) -> Option<SteeredConnection> {
        let client = remote.ip().to_canonical();
        let network = Prefix::around(client, u8::MAX);
        let has_port = has(&self.listen, local.port()) || has(&self.connect, remote.port());
        if !has_port || !self.members.has(network) {
            return None;
        }
        let (unit, arm) = self.draw(network);
        Some(SteeredConnection {
            unit,
            rule: 0,
            arm,
            set_up,
            client,
            ports: [local.port(), remote.port()],
            handshake_rtt: None,
        })
    }
}

fn has(ports: &[Ports], port: u16) -> bool {
    ports.iter().any(|ports| ports.has(port))
}

/// The state of an open connection.
struct OpenConnection {
    /// The earliest time of its set-up. `None` if it was, or may have been, set up before the routes were in place.
    set_up: Option<Duration>,
    /// The last look that showed it.
    look: u64,
}

/// The connections of a study.
pub(super) struct Sockets {
    drawing: Drawing,
    diag: Diag,
    ends: Ends,
    known: HashMap<u64, OpenConnection>,
    look: u64,
    /// The time of the last look.
    looked: Duration,
    /// The number of connections that took part.
    pub count: u64,
}

impl Sockets {
    /// Starts to follow sockets. The routes must be in place. Connections that exist already take no part.
    pub fn begin(drawing: Drawing, now: Duration) -> Result<Sockets, Error> {
        let (mut diag, mut known) = (Diag::open_here()?, HashMap::new());
        diag.sockets(&Filter::default(), |socket| {
            if drawing.steered(socket.local, socket.remote, now).is_some() {
                let before = OpenConnection {
                    set_up: None,
                    look: 0,
                };
                known.insert(socket.cookie, before);
            }
        })?;
        Ok(Sockets {
            drawing,
            diag,
            ends: Ends::listen_here()?,
            known,
            look: 0,
            looked: now,
            count: 0,
        })
    }

    /// The connections that have ended. A connection that no look has seen was set up after the last look.
    pub fn ended(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)> {
        let mut found = Vec::new();
        let heard = self.ends.ended(|socket| {
            let steered = self
                .drawing
                .steered(socket.local, socket.remote, self.looked);
            let Some(mut steered) = steered else {
                return;
            };
            match self.known.remove(&socket.cookie) {
                Some(OpenConnection { set_up: None, .. }) => return,
                Some(OpenConnection {
                    set_up: Some(set_up),
                    ..
                }) => steered.set_up = set_up,
                // A connection attempt that was refused, or got no answer, is not a connection.
                None if !self.drawing.was_connected(socket) => return,
                None => self.count += 1,
            }
            found.push((steered, maker.gone(&steered, socket, now)));
        });
        match heard {
            Ok(true) => {}
            Ok(false) => troubles.push(
                "connections ended faster than they could be read: some are missing".to_owned(),
            ),
            Err(error) => troubles.push(error.to_string()),
        }
        found
    }

    /// The open connections.
    pub fn open(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)> {
        let (mut found, mut others) = (Vec::new(), 0_u64);
        self.look += 1;
        let (look, last) = (self.look, self.looked);
        let looked = self.diag.sockets(&Filter::default(), |socket| {
            let steered = self.drawing.steered(socket.local, socket.remote, last);
            let Some(mut steered) = steered.filter(|_| socket.state != TcpState::SynSent) else {
                return;
            };
            let known = self.known.entry(socket.cookie).or_insert_with(|| {
                self.count += 1;
                OpenConnection {
                    set_up: Some(last),
                    look,
                }
            });
            known.look = look;
            let Some(set_up) = known.set_up else {
                return;
            };
            steered.set_up = set_up;
            let row = maker.open(&steered, socket, now);
            others += u64::from(row.controller.as_deref() != Some(&*row.assigned));
            found.push((steered, row));
        });
        if let Err(error) = looked {
            troubles.push(error.to_string());
        }
        if others > 0 {
            troubles.push(
                "connections have another controller than their arm's, by the kernel's word: their program has chosen it, their \
                 packets go by another table, or their route was not there"
                    .to_owned(),
            );
        }
        // One look may miss a connection. After two, it has ended without a report, and is forgotten.
        self.known.retain(|_, known| known.look + 1 >= look);
        self.looked = now.boot;
        found
    }
}

#[cfg(test)]
mod tests {
    use experiment::Plan;

    use super::*;

    /// A socket that has ended, as the kernel reports it.
    fn ended(ports: [u16; 2], segs_in: u32, bytes_acked: u64) -> EndedSocket {
        let mut info = [0; 280];
        info[0] = 7;
        info[120..128].copy_from_slice(&bytes_acked.to_ne_bytes());
        info[140..144].copy_from_slice(&segs_in.to_ne_bytes());
        let mut about = [0; 72];
        about[0] = 2;
        about[4..6].copy_from_slice(&ports[0].to_be_bytes());
        about[6..8].copy_from_slice(&ports[1].to_be_bytes());
        let attribute = [284_u16.to_ne_bytes(), 2_u16.to_ne_bytes()].concat();
        let length = 16 + 72 + 284_u32;
        let header = [length.to_ne_bytes().as_slice(), &[0; 12]].concat();
        let message = [header.as_slice(), &about, &attribute, &info].concat();
        EndedSocket::parse(&message).unwrap()
    }

    #[test]
    fn a_refused_attempt_is_not_a_connection() {
        let text = "name = 'a'\nassign = 'route'\nunit = 'prefix'\nduration = '1h'\n\
             connections = { listen = [443], connect = [80], prefix = ['192.0.2.0/24'] }\n\
             arm = [{ controller = 'cubic', share = '1%' }, { controller = 'bbr', share = '1%' }]\n";
        let plan = Plan::parse(text).unwrap();
        let drawing = Drawing {
            members: Members::of(&plan),
            unit: plan.unit,
            key: Key::of_seed("1"),
            shares: plan.shares(),
            listen: plan.connections.listen,
            connect: plan.connections.connect,
        };
        let was = |ports, segs_in, acked| drawing.was_connected(&ended(ports, segs_in, acked));
        // A client that has sent nothing yet.
        assert!(was([443, 7], 1, 0));
        // Outgoing: the SYN was acknowledged; there was no answer; there was a reset.
        assert!(was([7, 80], 2, 1));
        assert!(!was([7, 80], 0, 0));
        assert!(!was([7, 80], 1, 0));
    }
}
