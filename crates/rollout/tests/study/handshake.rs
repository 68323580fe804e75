//! Tests with a real kernel that a SYN-ACK that was sent again is no retransmitted packet, neither in the report of a
//! connection nor in the memory of its network.

use std::fs::File;
use std::net::TcpStream;

use kernel::{DrawnUnit, SteeringRule};
use linux::diag::{Diag, Filter};

use crate::group::Group;
use crate::objects::{Server, alone_with_python, ask, ended, steering};
use crate::process::wait_for;
use crate::{client, connect, own_mounts};

#[test]
fn a_syn_ack_that_was_sent_again_is_no_retransmitted_packet() {
    alone_with_python("SYN-ACKs that are sent again", |group| {
        own_mounts();
        handshake(group);
    });
}

/// The kernel's counter for the server's end of this connection.
fn counted(client: &TcpStream) -> u32 {
    let own = client.local_addr().expect("bound");
    let mut counted = 0;
    let mut diag = Diag::open_here().expect("sock_diag");
    diag.sockets(&Filter::default(), |socket| {
        if socket.remote == own {
            counted = socket.info.total_retrans;
        }
    })
    .expect("a look");
    counted
}

fn handshake(group: &Group) {
    let _server = Server::start(&group.0);
    let open = File::open(&group.0).expect("a directory");
    let mut steering = steering();
    steering.unit = DrawnUnit::Prefix(24, 48);
    // A rule that needs the memory, without a network.
    steering.rules.push(SteeringRule {
        resent: 10_000..20_000,
        ..steering.rules[0].clone()
    });
    let mut attached = kernel::attach(&open, &steering).expect("attached");
    attached
        .renew(units::Duration::from_secs(600))
        .expect("a lease");
    attached.keep("steer-1").expect("kept");
    let mut first = connect(client(1));
    ask(&mut first, "d1 1", 1);
    drop(first);
    ended(&attached);

    let mut stream = connect(client(2));
    wait_for("the SYN-ACK is sent again", || {
        (counted(&stream) > 0).then_some(()).ok_or("it is not")
    });
    ask(&mut stream, "5000", 5000);
    drop(stream);
    let (ended, _) = ended(&attached);
    assert!(ended.packets > 0, "{ended:?}");
    assert_eq!(ended.resent, 0, "{ended:?}");
    let in_force = kernel::in_force("steer-1", client(2)).expect("a look");
    let known = in_force.and_then(|program| program.resent());
    let known = known.expect("a rule needs it");
    assert_eq!((known.sent, known.resent), (ended.packets, 0));
}
