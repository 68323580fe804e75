//! The connections of a study by route, observed with sock_diag only.

use std::collections::HashMap;
use std::net::SocketAddr;

use experiment::{Key, Members, Ports, Prefix, Shares, Unit};
use kernel::SteeredConnection;
use linux::Error;
use linux::diag::{Diag, Ends, Filter, TcpState};
use units::Duration;

use crate::study::place::Place;
use crate::study::row::{Maker, Now, Row};

/// Decides which connections take part, and draws their arms. This does in user space what the BPF program does in the
/// kernel.
pub(super) struct Drawing {
    pub members: Members,
    unit: Unit,
    key: Key,
    shares: Shares,
    listen: Vec<Ports>,
    connect: Vec<Ports>,
}

impl Drawing {
    pub fn of(place: &Place) -> Drawing {
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

    /// The assignment of a connection that was set up at this time; nothing if the connection takes no part.
    fn steered(
        &self,
        local: SocketAddr,
        remote: SocketAddr,
        set_up: Duration,
    ) -> Option<SteeredConnection> {
        let has = |ports: &[Ports], port| ports.iter().any(|ports| ports.has(port));
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
        })
    }
}

/// What is known of an open connection.
struct Known {
    /// The earliest time at which it may have been set up. Nothing if it was, or may have been, set up before the
    /// routes were in place.
    set_up: Option<Duration>,
    /// The last look at which it was seen.
    look: u64,
}

/// The connections of a study.
pub(super) struct Sockets {
    drawing: Drawing,
    diag: Diag,
    ends: Ends,
    known: HashMap<u64, Known>,
    look: u64,
    /// When the last look was.
    looked: Duration,
    /// How many connections took part.
    pub count: u64,
}

impl Sockets {
    /// To be called when the routes are in place. Connections that exist already take no part.
    pub fn begin(drawing: Drawing, now: Duration) -> Result<Sockets, Error> {
        let (mut diag, mut known) = (Diag::open_here()?, HashMap::new());
        diag.sockets(&Filter::default(), |socket| {
            if drawing.steered(socket.local, socket.remote, now).is_some() {
                let before = Known {
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
                Some(Known { set_up: None, .. }) => return,
                Some(Known {
                    set_up: Some(set_up),
                    ..
                }) => steered.set_up = set_up,
                // A connection attempt that got no answer was no connection.
                None if socket.info.segs_in == 0 => return,
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
                Known {
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
        // One look may miss a connection. A connection that two looks have missed has ended without a report, and is
        // forgotten.
        self.known.retain(|_, known| known.look + 1 >= look);
        self.looked = now.boot;
        found
    }
}
