//! Proportional rate reduction (RFC 9937). During a recovery, the sender approaches the reduced window gradually, by
//! sending in proportion to the delivered data, instead of stopping until enough of the old window has drained.
//!
//! The reduction bound is Slow Start Reduction Bound while progress is safe and Conservative Reduction Bound
//! otherwise, as in RFC 9937 and Linux (`tcp_cwnd_reduction`).

use congestion::Bytes;

#[derive(Debug, Clone, Default)]
pub struct Prr {
    state: Option<State>,
}

#[derive(Debug, Clone)]
struct State {
    /// Bytes in flight before the recovery (`RecoverFS`).
    recover_fs: Bytes,
    /// The target window.
    ssthresh: Bytes,
    /// Bytes delivered and sent since (`prr_delivered`, `prr_out`).
    delivered: Bytes,
    out: Bytes,
    /// The window until the next ACK: the bytes in flight at the last one, and those that could leave then (`SndCnt`).
    cwnd: Bytes,
}

impl Prr {
    /// Starts a recovery, with the bytes in flight before it, the target window, and the window until the next ACK.
    pub fn start(&mut self, recover_fs: Bytes, ssthresh: Bytes, cwnd: Bytes) {
        self.state = Some(State {
            recover_fs: recover_fs.max(Bytes::new(1)),
            ssthresh,
            delivered: Bytes::ZERO,
            out: Bytes::ZERO,
            cwnd,
        });
    }

    /// Ends the recovery: the window itself counts again.
    pub fn stop(&mut self) {
        self.state = None;
    }

    /// The window during a recovery. Packets found lost between two ACKs make room in it for their retransmissions.
    pub fn cwnd(&self) -> Option<Bytes> {
        self.state.as_ref().map(|state| state.cwnd)
    }

    /// Handles an ACK that has delivered `delivered` bytes and leaves `inflight`. `is_safe` if it acknowledged in
    /// order and showed no loss.
    pub fn on_ack(&mut self, delivered: Bytes, inflight: Bytes, is_safe: bool, mss: Bytes) {
        let Some(state) = &mut self.state else {
            return;
        };
        state.delivered += delivered;
        let count = if inflight > state.ssthresh {
            proportion(state.delivered, state.ssthresh, state.recover_fs) - state.out
        } else {
            let bound = (state.delivered - state.out).max(delivered);
            let bound = if is_safe { bound + mss } else { bound };
            bound.min(state.ssthresh - inflight)
        };
        // The first retransmission must not wait (RFC 9937: "Force a fast retransmit upon entering recovery").
        let count = if state.out.is_zero() {
            count.max(mss)
        } else {
            count
        };
        state.cwnd = inflight + count;
    }

    /// Notes that `bytes` have left.
    pub fn on_sent(&mut self, bytes: Bytes) {
        if let Some(state) = &mut self.state {
            state.out += bytes;
        }
    }
}

/// `delivered` × `ssthresh` / `recover_fs`, rounded up.
fn proportion(delivered: Bytes, ssthresh: Bytes, recover_fs: Bytes) -> Bytes {
    let product = u128::from(delivered.get()) * u128::from(ssthresh.get());
    let share = product.div_ceil(u128::from(recover_fs.get().max(1)));
    Bytes::new(u64::try_from(share).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes::new(1_000);

    #[test]
    fn half_of_what_arrives_leaves_until_the_window_is_reached() {
        // RFC 9937, "Examples": twenty packets in flight, one lost, the window halved.
        let mut prr = Prr::default();
        prr.start(MSS * 20, MSS * 10, MSS * 20);
        let mut inflight = MSS * 19;
        let mut sent = Bytes::ZERO;
        for _ in 0..19 {
            inflight -= MSS;
            prr.on_ack(MSS, inflight, false, MSS);
            while prr.cwnd().is_some_and(|cwnd| inflight + MSS <= cwnd) {
                prr.on_sent(MSS);
                inflight += MSS;
                sent += MSS;
            }
        }
        assert_eq!((inflight, sent), (MSS * 10, MSS * 10));
    }

    #[test]
    fn after_heavy_loss_it_grows_only_while_progress_is_safe() {
        for (is_safe, packets) in [(false, 1), (true, 2)] {
            let mut prr = Prr::default();
            prr.start(MSS * 20, MSS * 10, MSS * 5);
            prr.on_sent(MSS);
            prr.on_ack(MSS, MSS * 4, is_safe, MSS);
            assert_eq!(prr.cwnd(), Some(MSS * (4 + packets)));
        }
    }

    #[test]
    fn the_first_repair_may_always_leave() {
        let mut prr = Prr::default();
        prr.start(MSS * 20, MSS, MSS * 20);
        prr.on_ack(Bytes::new(1), MSS * 19, false, MSS);
        assert_eq!(prr.cwnd(), Some(MSS * 20));
        prr.stop();
        assert_eq!(prr.cwnd(), None);
    }
}
