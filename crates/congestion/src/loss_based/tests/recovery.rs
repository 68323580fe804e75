//! Reductions at the start of a recovery.

use super::*;

#[test]
fn each_recovery_reduces_once_and_the_window_rests_meanwhile() {
    let mut flow = reno();
    flow.round();
    flow.round();
    flow.recovery(ENTERED);
    assert_eq!((flow.packets(), flow.state()), (20, "Recovery"));
    flow.round();
    assert_eq!(flow.packets(), 20);
    // A packet of the recovery itself is lost: QUIC's next recovery, without an end of the first.
    flow.recovery(ENTERED);
    flow.round();
    assert_eq!(flow.packets(), 10);
    flow.recovery(Recovery::Left);
    flow.round();
    assert_eq!(flow.packets(), 11);
    for _ in 0..10 {
        flow.lose();
    }
    assert_eq!(flow.packets(), 2, "the least window");
}

#[test]
fn marks_reduce_to_one_packet_and_losses_to_two() {
    for (cause, least) in [(Cause::Loss, 2), (Cause::Ecn, 1)] {
        let mut flow = cubic();
        for _ in 0..20 {
            flow.recovery(Recovery::Entered(cause));
        }
        assert_eq!(flow.controller.cwnd(), MSS * least);
        assert_eq!(flow.controller.snapshot().ssthresh, Some(MSS * 2));
    }
}

#[test]
fn a_loss_in_a_marks_recovery_reduces_nothing_more_and_one_after_it_does() {
    let marked = Recovery::Entered(Cause::Ecn);
    let mut flow = reno();
    flow.round();
    flow.round();
    flow.recovery(marked);
    let packets = flow.packets();
    assert!(packets < 40);
    flow.recovery(ENTERED);
    flow.recovery(Recovery::Undone);
    assert_eq!(flow.packets(), packets, "the mark is not undone either");
    flow.recovery(marked);
    let packets = flow.packets();
    flow.recovery(Recovery::Left);
    flow.recovery(ENTERED);
    assert!(flow.packets() < packets);
}
