//! Reductions that were spurious.

use super::*;

#[test]
fn undo_restores_what_a_recovery_took() {
    let mut flow = cubic();
    flow.round();
    let before = flow.controller.snapshot();
    flow.recovery(ENTERED);
    assert!(flow.packets() < 20);
    flow.recovery(Recovery::Undone);
    assert_eq!(flow.controller.snapshot(), before);
    // Also when the recovery is already over; but not twice.
    flow.recovery(ENTERED);
    flow.recovery(Recovery::Left);
    flow.recovery(Recovery::Undone);
    assert_eq!(flow.controller.snapshot(), before);
    flow.recovery(Recovery::Undone);
    assert_eq!(flow.controller.snapshot(), before);
}

#[test]
fn undo_restores_what_a_timeout_took() {
    let mut flow = cubic();
    flow.lose();
    flow.round();
    let before = flow.controller.snapshot();
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    // Nothing was delivered between: the state before the first counts.
    flow.controller.on_timeout(flow.now, Bytes::ZERO);
    flow.recovery(Recovery::Undone);
    assert_eq!(flow.controller.snapshot(), before);
}

#[test]
fn undo_leaves_a_window_that_has_outgrown_the_old_one() {
    let mut flow = reno();
    flow.lose();
    for _ in 0..20 {
        flow.round();
    }
    let before = flow.controller.snapshot();
    flow.recovery(Recovery::Undone);
    assert_eq!(flow.controller.snapshot(), before);
}
