//! The room for bursts that hosts aggregate or split (draft, "BBR.offload_budget"), where one takes as long as a round
//! trip. The cases in the other files run with it, too.

use congestion::{Bytes, Ratio};

use super::{CRUISE, LATE, cases_of_offload, millis, state, stays};

#[test]
fn the_window_has_room_for_one_quantum_or_three() {
    for case in cases_of_offload() {
        let mut flow = case.bulk();
        flow.run_until_in(CRUISE, LATE);
        let (from, to) = (flow.now(), flow.now() + millis(500));
        flow.run_until(to);
        // The quantum follows the pacing gain at once, and the window what is acknowledged.
        let stays = stays(flow.between(from, to));
        let cruises = stays.iter().filter(|stay| state(stay) == CRUISE);
        for end in cruises.filter_map(|stay| stay.last()) {
            let snapshot = end.snapshot;
            let room = snapshot.send_quantum * u64::from(case.quanta);
            assert!(snapshot.cwnd >= room, "{case:?}");
        }
        assert_eq!(flow.points.last().expect("points").lost, Bytes::ZERO);
        let goodput = flow.goodput(from, to);
        let least = case.rate.scale(Ratio::new(98, 100));
        assert!(goodput >= least, "{case:?}: {goodput}");
    }
}
