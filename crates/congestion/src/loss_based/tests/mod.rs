//! Tests of the common parts of Reno and CUBIC, with either of them.

mod hystart;
mod recovery;
mod timeout;
mod undo;
mod window;

use super::*;
use crate::ack_clock::{AckClock, CONNECTION, MSS};
use crate::cubic::{self, Cubic, HyStartVariant, Variant};
use crate::reno::{self, Reno};

const RTT: Duration = Duration::from_millis(50);
const ENTERED: Recovery = Recovery::Entered(Cause::Loss);

fn reno() -> AckClock<Reno> {
    AckClock::new(Reno::new(CONNECTION, reno::Config::default()), RTT)
}

fn cubic() -> AckClock<Cubic> {
    AckClock::new(Cubic::new(CONNECTION, cubic::Config::default()), RTT)
}

fn sent(now: Time) -> Sent {
    Sent::new(now, MSS, MSS)
}
