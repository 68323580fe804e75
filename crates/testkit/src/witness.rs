//! A controller that writes down what it is told.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use congestion::{
    Ack, AnyController, Bytes, Connection, Controller, ControllerKind, Duration, Lost, Phase, Rate,
    Recovery, Sent, Snapshot, State, Time,
};

use crate::course;

/// What a controller was told.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Told {
    IdleRestart(Time),
    Sent(Sent),
    Lost(Lost),
    Recovery(Time, Recovery),
    Ack(Ack),
    Timeout(Time),
    Mtu,
}

impl Told {
    /// The time with which it was told.
    pub(crate) fn time(&self) -> Option<Time> {
        match self {
            Told::IdleRestart(now) | Told::Recovery(now, _) | Told::Timeout(now) => Some(*now),
            Told::Sent(sent) => Some(sent.now),
            Told::Lost(lost) => Some(lost.now),
            Told::Ack(ack) => Some(ack.now),
            Told::Mtu => None,
        }
    }
}

/// What was told, and when that really was.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) now: Time,
    /// The largest packet, by the latest that was told of it.
    pub(crate) mss: Bytes,
    pub(crate) told: Vec<(Time, Told)>,
}

/// How the controllers of a course behave.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Conduct {
    /// A constant window and rate, with bursts of so many packets.
    Fixed {
        cwnd_packets: u64,
        rate: Rate,
        quantum_packets: u64,
        /// The window from the beginning of a recovery or a timeout to its end.
        recovery_packets: u64,
    },
    Of(ControllerKind),
}

/// Makes the controllers of one course. Cheap to clone, and of any thread.
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
                cwnd_packets: course::packets(cwnd_packets, connection.mss),
                rate,
                quantum_packets,
                recovery_packets: course::packets(recovery_packets, connection.mss),
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

/// A controller that writes down what it is told.
#[derive(Debug, Clone)]
pub struct Witness {
    inner: Inner,
    log: Arc<Mutex<Log>>,
}

#[derive(Debug, Clone)]
enum Inner {
    Fixed {
        cwnd_packets: u64,
        rate: Rate,
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
        self.write(Told::Recovery(now, recovery));
        self.recover(matches!(recovery, Recovery::Entered(_)));
        self.any(|inner| inner.on_recovery(now, recovery, inflight));
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.write(Told::Ack(*ack));
        self.any(|inner| inner.on_ack(ack));
    }

    fn on_timeout(&mut self, now: Time, inflight: Bytes) {
        self.write(Told::Timeout(now));
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
            Inner::Fixed { rate, .. } => *rate,
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
