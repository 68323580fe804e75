//! A controller that logs the events that it receives.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use congestion::{
    Ack, AnyController, Bytes, Connection, Controller, ControllerKind, Duration, Lost, Phase, Rate,
    Recovery, Sent, Snapshot, State, Time,
};

use crate::setting;

/// An event that a controller received.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Told {
    IdleRestart(Time),
    Sent(Sent),
    Lost(Lost),
    /// With the reported inflight.
    Recovery(Time, Recovery, Bytes),
    Ack(Ack),
    /// With the reported inflight.
    Timeout(Time, Bytes),
    Mtu,
}

impl Told {
    /// The time that the event reports.
    pub(crate) fn time(&self) -> Option<Time> {
        match self {
            Told::IdleRestart(now) | Told::Recovery(now, ..) | Told::Timeout(now, _) => Some(*now),
            Told::Sent(sent) => Some(sent.now),
            Told::Lost(lost) => Some(lost.now),
            Told::Ack(ack) => Some(ack.now),
            Told::Mtu => None,
        }
    }

    /// The reported inflight after the event.
    pub(crate) fn flight(&self) -> Option<Bytes> {
        match self {
            Told::Sent(sent) => Some(sent.inflight),
            Told::Lost(lost) => Some(lost.inflight),
            Told::Ack(ack) => Some(ack.inflight),
            Told::Recovery(_, _, inflight) | Told::Timeout(_, inflight) => Some(*inflight),
            Told::IdleRestart(_) | Told::Mtu => None,
        }
    }
}

/// The events, each with its real time.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) now: Time,
    /// The largest packet, as it was last reported.
    pub(crate) mss: Bytes,
    pub(crate) told: Vec<(Time, Told)>,
}

/// A pacing rate that depends only on the time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rates {
    /// The two rates alternate, beginning with the first.
    pub(crate) both: [Rate; 2],
    /// The time that each lasts.
    pub(crate) each: Duration,
}

impl Rates {
    /// The same rate at all times.
    pub(crate) const fn always(rate: Rate) -> Rates {
        Rates {
            both: [rate; 2],
            each: Duration::MAX,
        }
    }

    pub(crate) fn at(&self, now: Time) -> Rate {
        let [first, second] = self.both;
        let turn = now.as_nanos() / self.each.as_nanos().max(1);
        if turn.is_multiple_of(2) {
            first
        } else {
            second
        }
    }
}

/// How the controllers of a course behave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Conduct {
    /// A constant window, and a rate that does not depend on the path, with bursts of `quantum_packets`.
    Fixed {
        cwnd_packets: u64,
        rate: Rates,
        quantum_packets: u64,
        /// The window from the beginning of a recovery or a timeout to its end.
        recovery_packets: u64,
    },
    Of(ControllerKind),
}

/// Makes the controllers of one course. It is cheap to clone and can be used in any thread.
#[derive(Debug, Clone)]
pub struct Probe {
    conduct: Conduct,
    log: Arc<Mutex<Log>>,
}

impl Probe {
    pub(crate) fn new(conduct: Conduct) -> Probe {
        Probe {
            conduct,
            log: Arc::default(),
        }
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The controller of the connection's sending end.
    pub fn controller(&self, connection: Connection) -> Witness {
        self.log().mss = connection.mss;
        let inner = match self.conduct {
            Conduct::Fixed {
                cwnd_packets,
                rate,
                quantum_packets,
                recovery_packets,
            } => Inner::Fixed {
                cwnd_packets: setting::packets(cwnd_packets, connection.mss),
                rate,
                quantum_packets,
                recovery_packets: setting::packets(recovery_packets, connection.mss),
                is_recovering: false,
                mss: connection.mss,
            },
            Conduct::Of(kind) => Inner::Any(Box::new(AnyController::new(kind, connection))),
        };
        Witness {
            inner,
            log: self.log.clone(),
        }
    }
}

/// A controller that logs the events that it receives.
#[derive(Debug, Clone)]
pub struct Witness {
    inner: Inner,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Clone)]
enum Inner {
    Fixed {
        cwnd_packets: u64,
        rate: Rates,
        quantum_packets: u64,
        recovery_packets: u64,
        is_recovering: bool,
        mss: Bytes,
    },
    Any(Box<AnyController>),
}

const FIXED: State = State {
    name: "Fixed",
    phase: Phase::Avoidance,
};

impl Witness {
    fn write(&self, told: Told) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let now = log.now;
        log.told.push((now, told));
    }

    fn now(&self) -> Time {
        self.log.lock().unwrap_or_else(PoisonError::into_inner).now
    }

    fn recover(&mut self, is_on: bool) {
        if let Inner::Fixed { is_recovering, .. } = &mut self.inner {
            *is_recovering = is_on;
        }
    }

    fn any(&mut self, tell: impl FnOnce(&mut AnyController)) {
        if let Inner::Any(controller) = &mut self.inner {
            tell(controller);
        }
    }
}

impl Controller for Witness {
    fn on_idle_restart(&mut self, now: Time) {
        self.write(Told::IdleRestart(now));
        self.any(|inner| inner.on_idle_restart(now));
    }

    fn on_packet_sent(&mut self, sent: &Sent) {
        self.write(Told::Sent(*sent));
        self.any(|inner| inner.on_packet_sent(sent));
    }

    fn on_packet_lost(&mut self, lost: &Lost) {
        self.write(Told::Lost(*lost));
        self.any(|inner| inner.on_packet_lost(lost));
    }

    fn on_recovery(&mut self, now: Time, recovery: Recovery, inflight: Bytes) {
        self.write(Told::Recovery(now, recovery, inflight));
        self.recover(matches!(recovery, Recovery::Entered(_)));
        self.any(|inner| inner.on_recovery(now, recovery, inflight));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.write(Told::Ack(*ack));
        self.any(|inner| inner.on_ack(ack));
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.write(Told::Timeout(now, inflight));
        self.recover(true);
        self.any(|inner| inner.on_timeout(now, inflight));
    }

    fn on_handshake(&mut self, now: Time, rtt: Duration) {
        self.any(|inner| inner.on_handshake(now, rtt));
    }

    fn on_mtu_change(&mut self, mtu: Bytes) {
        self.write(Told::Mtu);
        match &mut self.inner {
            Inner::Fixed { mss, .. } => *mss = mtu,
            Inner::Any(inner) => inner.on_mtu_change(mtu),
        }
    }

    fn cwnd(&self) -> Bytes {
        match &self.inner {
            Inner::Fixed {
                recovery_packets,
                is_recovering: true,
                mss,
                ..
            } => *mss * *recovery_packets,
            Inner::Fixed {
                cwnd_packets, mss, ..
            } => *mss * *cwnd_packets,
            Inner::Any(inner) => inner.cwnd(),
        }
    }

    fn pacing_rate(&self) -> Rate {
        match &self.inner {
            Inner::Fixed { rate, .. } => rate.at(self.now()),
            Inner::Any(inner) => inner.pacing_rate(),
        }
    }

    fn send_quantum(&self) -> Bytes {
        match &self.inner {
            Inner::Fixed {
                quantum_packets,
                mss,
                ..
            } => *mss * *quantum_packets,
            Inner::Any(inner) => inner.send_quantum(),
        }
    }

    fn needs_pacing(&self) -> bool {
        true
    }

    fn snapshot(&self) -> Snapshot {
        match &self.inner {
            Inner::Fixed { .. } => Snapshot::new("fixed", FIXED, self.cwnd(), self.pacing_rate()),
            Inner::Any(inner) => inner.snapshot(),
        }
    }
}
