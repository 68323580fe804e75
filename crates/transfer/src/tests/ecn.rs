//! ECN: the senders whose datagrams are ECN-capable.

use congestion::ControllerKind;

use super::network::{SENDER, in_virtual_time};
use super::*;
use crate::sender::send_on;
use quic::controller::factory;

/// True if the sender of a transfer with this controller is ECN-capable.
async fn is_capable(kind: ControllerKind) -> bool {
    let scene = Scene::of(4).await;
    let config = SenderConfig {
        controllers: factory(kind, 1, None),
        restart: false,
        skip: false,
    };
    let (received, sent) = tokio::join!(
        scene.receiver.run(&|_| ()),
        send_on(
            scene.network.host(SENDER),
            &scene.files,
            &scene.ticket,
            config,
            &|_| ()
        ),
    );
    received.unwrap();
    sent.unwrap();
    scene.network.is_capable_of_ecn(SENDER)
}

/// RFC 3168, "Transport protocols": ECT is for senders that respond to marks. BBRv1 does not.
#[tokio::test(start_paused = true)]
async fn only_a_controller_that_answers_marks_sends_as_capable_of_ecn() {
    in_virtual_time(async {
        assert!(!is_capable(ControllerKind::Bbr1).await);
        assert!(is_capable(ControllerKind::Cubic).await);
    })
    .await;
}
