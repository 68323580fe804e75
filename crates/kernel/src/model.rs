//! The state of a kernel's controller, as one of the states of our own controllers.

use congestion::bbr1::states::{DRAIN, PROBE_BW, PROBE_RTT, STARTUP};
use congestion::loss_based::states::{CONGESTION_AVOIDANCE, RECOVERY, SLOW_START};
use congestion::{ControllerKind, State};
use linux::diag::{BbrInfo, CaState, SocketState, TcpInfo};
use units::{Bytes, Duration, Rate, Ratio};

use crate::{Algorithm, Snapshot};

/// The state of a controller with a model of the path.
#[derive(Debug, Clone, Copy)]
pub struct Model {
    /// The state.
    pub state: State,
    /// The bottleneck bandwidth that it assumes. `None` before the first sample.
    pub bw: Option<Rate>,
    /// The minimum RTT that it assumes. `None` before the first sample.
    pub min_rtt: Option<Duration>,
    /// BBRv3's bounds, as in `congestion::Snapshot`.
    pub short_term_bw: Option<Rate>,
    /// See `congestion::Snapshot`.
    pub short_term_inflight: Option<Bytes>,
    /// See `congestion::Snapshot`.
    pub long_term_inflight: Option<Bytes>,
}

impl Model {
    /// The model of a socket's controller, if it has one: Linux's BBR, or one of Fullpipe's.
    pub fn of(socket: &SocketState) -> Option<Model> {
        let name = socket.controller.as_str();
        let ours = Algorithm::ALL
            .iter()
            .find(|ours| ours.kernel_name() == name);
        match ours {
            Some(&ours) => {
                let seen = Snapshot::parse(socket.storage?.bytes())?;
                Some(Model {
                    state: *states(ours).get(seen.mode)?,
                    bw: seen.bw,
                    min_rtt: seen.min_rtt,
                    short_term_bw: seen.short_term_bw,
                    short_term_inflight: seen.short_term_inflight,
                    long_term_inflight: seen.long_term_inflight,
                })
            }
            None => socket.bbr.map(|bbr| Model {
                state: of_bbr(&bbr),
                bw: Some(bbr.bw).filter(|bw| !bw.is_zero()),
                min_rtt: bbr.min_rtt,
                short_term_bw: None,
                short_term_inflight: None,
                long_term_inflight: None,
            }),
        }
    }
}

/// The states in the order in which the program, and its twin, count them.
fn states(ours: Algorithm) -> &'static [State] {
    match ours {
        Algorithm::Bbr1 => ControllerKind::Bbr1.states(),
        Algorithm::Bbr3 => ControllerKind::Bbr3.states(),
    }
}

/// BBR's state, derived from its gains: `bbr_update_gains` in Linux `tcp_bbr.c` has a pair for each state.
fn of_bbr(bbr: &BbrInfo) -> State {
    // 2885/1000, for doubling each round. Only Startup and Drain have such a high cwnd gain. Before the first sample of
    // the delivery rate there are no gains yet, and the mode is that of `bbr_init`.
    let is_high = |gain: Ratio| gain > Ratio::new(5, 2);
    match (is_high(bbr.pacing_gain), is_high(bbr.cwnd_gain)) {
        _ if bbr.bw.is_zero() => STARTUP,
        (true, _) => STARTUP,
        (false, true) => DRAIN,
        (false, false) if bbr.cwnd_gain == Ratio::ONE => PROBE_RTT,
        (false, false) => PROBE_BW,
    }
}

/// The state of a controller with a window and a slow-start threshold.
pub fn state_of_window(info: &TcpInfo) -> State {
    match (info.ca_state, info.snd_ssthresh) {
        (CaState::Recovery | CaState::Cwr, _) => RECOVERY,
        (_, Some(ssthresh)) if info.snd_cwnd >= ssthresh => CONGESTION_AVOIDANCE,
        _ => SLOW_START,
    }
}

#[cfg(test)]
mod tests {
    use units::Rate;

    use super::*;

    #[test]
    fn each_pair_of_gains_is_a_state() {
        // In units of 1/256, rounded as in the kernel.
        let state = |pacing, cwnd| {
            of_bbr(&BbrInfo {
                bw: Rate::from_bits_per_sec(8_000_000),
                min_rtt: None,
                pacing_gain: Ratio::new(pacing, 256),
                cwnd_gain: Ratio::new(cwnd, 256),
            })
        };
        assert_eq!(state(739, 739), STARTUP);
        assert_eq!(state(88, 739), DRAIN);
        for pacing in [320, 192, 256] {
            assert_eq!(state(pacing, 512), PROBE_BW);
        }
        assert_eq!(state(256, 256), PROBE_RTT);
        let at_first = BbrInfo {
            bw: Rate::ZERO,
            min_rtt: None,
            pacing_gain: Ratio::ONE,
            cwnd_gain: Ratio::ONE,
        };
        assert_eq!(of_bbr(&at_first), STARTUP);
    }
}
