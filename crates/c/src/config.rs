//! The configuration of a new flow.

use congestion::{AnyController, Bytes, Connection, ControllerKind, Duration, Time};

use crate::border::Status;

/// The controllers.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// BBRv1.
    Bbr1 = 1,
    /// BBRv3.
    Bbr3 = 3,
    /// CUBIC.
    Cubic = 10,
    /// Reno.
    Reno = 11,
}

/// The configuration of a new flow.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// `sizeof(struct fullpipe_config)`.
    pub size: u32,
    /// One of `enum fullpipe_controller`.
    pub controller: u32,
    /// The current time, in nanoseconds of a clock that never runs backwards.
    pub now_ns: u64,
    /// The seed of the controller's random choices. Different for each connection.
    pub seed: u64,
    /// The largest delay of the caller's timers, in nanoseconds. Pacing makes up for it.
    pub timer_slack_ns: u64,
    /// The largest packet, in bytes.
    pub mss: u32,
    /// The initial window, in bytes; 0 for ten packets.
    pub initial_cwnd: u32,
}

impl Config {
    /// The size of the first version.
    pub(crate) const FIRST_VERSION_SIZE: usize = 40;

    pub(crate) fn connect(&self) -> Result<congestion::Flow<AnyController>, Status> {
        let kind = match self.controller {
            kind if kind == Kind::Bbr1 as u32 => ControllerKind::Bbr1,
            kind if kind == Kind::Bbr3 as u32 => ControllerKind::Bbr3,
            kind if kind == Kind::Cubic as u32 => ControllerKind::Cubic,
            kind if kind == Kind::Reno as u32 => ControllerKind::Reno,
            _ => return Err(Status::Invalid),
        };
        if self.mss == 0 {
            return Err(Status::Invalid);
        }
        let mss = Bytes::new(self.mss.into());
        let initial = match self.initial_cwnd {
            0 => mss * 10,
            bytes => Bytes::new(bytes.into()).max(mss),
        };
        let now = Time::from_nanos(self.now_ns);
        let mut connection = Connection::new(now, mss, initial);
        connection.seed = self.seed;
        let controller = AnyController::new(kind, connection);
        let slack = Duration::from_nanos(self.timer_slack_ns);
        Ok(congestion::Flow::new(controller, now, mss, slack))
    }
}
