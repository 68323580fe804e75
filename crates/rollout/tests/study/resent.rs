//! Tests with a real kernel that a rule holds for client networks whose connections resend many packets: the path
//! between two hosts loses packets at first, and later does not. The remembered packets outlive rules and process.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::thread;

use experiment::policy::Policy;
use kernel::Resent;
use linux::diag::{Diag, Filter, TcpState};
use linux::{Family, Network};
use rollout::steer::{InForce, Steer};
use units::Ratio;

use crate::group::Group;
use crate::policy::asked;
use crate::process::{now, wait_for};
use crate::server::{PORT, Server};
use crate::stale::{client, fetch, join, step};
use crate::{alone_between, connect_to, own_mounts};

#[test]
fn a_network_has_the_class_of_what_its_connections_resent() {
    alone_between("a class of retransmissions", |group, network| {
        thread::scope(|scope| {
            let test = || {
                own_mounts();
                classes(group, network);
            };
            scope.spawn(test).join().expect("no panic");
        });
    });
}

fn policy(group: &Path, lossy: &str, more: &str) -> String {
    format!(
        "cgroup = {group:?}\n{more}[[rule]]\nname = \"lossy\"\nlisten = [{PORT}]\n{lossy}controller = \"reno\"\n\
         [[rule]]\nname = \"rest\"\nlisten = [{PORT}]\ncontroller = \"cubic\"\n"
    )
}

/// The two hosts and the policy in force.
struct Test<'t> {
    network: &'t Network,
    address: SocketAddr,
    text: String,
    steer: Steer,
}

impl Test<'_> {
    fn asked(&self, client: IpAddr) -> InForce {
        asked(&self.text, client).expect("in force")
    }

    fn resent(&self, client: IpAddr) -> Resent {
        self.asked(client).resent.expect("a rule needs it")
    }

    /// The rule of new connections, as the kernel reports it. A real connection has its controller.
    fn rule(&self, client: IpAddr) -> String {
        let given = self.asked(client).given.expect("a rule for all");
        let address = self.address;
        let connect = || connect_to(client, address);
        let stream = self.network.near.inside(connect).expect("inside");
        let own = stream.local_addr().expect("bound");
        let look = || {
            let mut found = None;
            let mut diag = Diag::open_here().expect("sock_diag");
            let look = diag.sockets(&Filter::default(), |socket| {
                let remote = (socket.remote.ip().to_canonical(), socket.remote.port());
                let is_here = remote == (own.ip(), own.port());
                // The program runs before the state changes. Until then, a connection has the system's default.
                if is_here && socket.state == TcpState::Established {
                    found = Some(socket.controller.as_str().to_owned());
                }
            });
            look.expect("a look");
            found
        };
        // The last packet of the handshake may still be on its way.
        let found = wait_for("a connection", || {
            self.network.far.inside(look).expect("inside").ok_or(own)
        });
        assert_eq!(found, given.controller);
        given.rule
    }

    /// Downloads 4 MB. Returns the remembered packets of the network after that.
    fn fetch(&mut self, client: IpAddr) -> Resent {
        let before = self.resent(client);
        let address = self.address;
        let fetch = || fetch(client, address);
        self.network.near.inside(fetch).expect("inside");
        wait_for("another share", || {
            step(&mut self.steer);
            let now = self.resent(client);
            (now != before).then_some(now).ok_or(format!("{now:?}"))
        })
    }

    fn reload(&mut self, text: String) {
        let policy = Policy::parse(&text).expect("a policy");
        self.steer.reload(policy, now()).expect("in force");
        self.text = text;
    }
}

fn classes(group: &Group, network: &Network) {
    let directory = tempfile::tempdir().expect("a directory");
    let address: IpAddr = network.far.address(0, Family::V4);
    let clients = IpAddr::from([10, 201, 0, 0]);
    network.near.own(clients, 16).expect("a route");
    let serve = || {
        let start = || Server::start_at(directory.path(), &group.0, address);
        network.far.inside(start).expect("inside")
    };
    let server = serve();
    let text = policy(&group.0, "resent_from = \"1%\"\n", "");
    let begin = |text: &str| {
        let policy = Policy::parse(text).expect("a policy");
        let lease = units::Duration::from_secs(600);
        Steer::begin(policy, lease, None, now()).expect("in force")
    };
    let mut test = Test {
        network,
        address: (address, PORT).into(),
        steer: begin(&text),
        text,
    };
    let lossy = join(network, Ratio::new(3, 100));
    let [one, other] = [1, 2].map(client);
    assert_eq!(test.resent(one), Resent::default());
    assert_eq!(test.rule(one), "rest");

    // One connection of 4 MB, of which 3 % are lost.
    let known = test.fetch(one);
    assert!(
        known.sent > 2500 && known.share > Some(Ratio::new(1, 100)),
        "{known:?}"
    );
    assert_eq!(test.rule(one), "lossy");
    assert_eq!(test.rule(other), "rest");
    assert_eq!(test.resent(other), Resent::default());

    // Other rules see the same share.
    test.reload(policy(
        &group.0,
        "resent_from = \"1%\"\nresent_below = \"90%\"\n",
        "",
    ));
    assert_eq!(test.resent(one), known);
    assert_eq!(test.rule(one), "lossy");
    // So do those of the next process, after one that was killed.
    test.steer = {
        drop(test.steer);
        begin(&test.text)
    };
    assert!(test.steer.took_over());
    assert_eq!(test.resent(one), known);
    // The service begins again, in a control group of the same name.
    drop(server);
    group.make_anew();
    let _server = serve();
    wait_for("the policy in the new group", || {
        test.steer.step(now(), |trouble| eprintln!("{trouble}"));
        asked(&test.text, one).map(drop).ok_or("it is not attached")
    });
    assert_eq!(test.resent(one), known);
    assert_eq!(test.rule(one), "lossy");

    // A network that explores is not known by that.
    test.reload(policy(
        &group.0,
        "resent_from = \"1%\"\n",
        "explore = \"45%\"\n",
    ));
    let explores = |test: &Test, client| {
        let given = test.asked(client).given.expect("a rule for all");
        given.explores.is_some()
    };
    let mut others = (10..200).map(client);
    let exploring = others
        .find(|of| explores(&test, *of))
        .expect("nearly half of them");
    let address = test.address;
    let download = || fetch(exploring, address);
    network.near.inside(download).expect("inside");
    let of_rest = (10..200)
        .map(client)
        .find(|of| !explores(&test, *of))
        .expect("half of them");
    // A download that ended later is known.
    test.fetch(of_rest);
    // Unless the ten minutes ended meanwhile.
    if explores(&test, exploring) {
        assert_eq!(test.resent(exploring), Resent::default());
    }
    drop(lossy);

    // Without loss, it leaves the class when a quarter less than 1 % of the packets were resent.
    test.reload(policy(&group.0, "resent_from = \"1%\"\n", ""));
    let _clean = join(network, Ratio::ZERO);
    for number in 0.. {
        assert!(number < 30, "{:?}", test.resent(one));
        let now = test.fetch(one);
        let is_out = now.resent * 10_000 < now.sent * 75;
        assert_eq!(test.rule(one) == "rest", is_out, "{now:?}");
        if is_out {
            break;
        }
    }
    // Without a rule that needs it, nothing is remembered.
    test.reload(policy(&group.0, "", ""));
    assert_eq!(test.asked(one).resent, None);
    test.steer.finish(now());
}
