//! The engines by name.

units::named! {
    /// The available engines.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum EngineKind, "engine" {
        /// Packets in virtual time.
        #[default]
        Sim = "sim",
        /// Real UDP packets, in real time.
        Quic = "quic",
        /// The kernel's own TCP, in real time.
        Linux = "linux",
    }
}

units::as_text!(EngineKind);

impl EngineKind {
    /// Whether a run takes as long in real time as its scenario says, and therefore competes for the machine with
    /// runs at the same time.
    pub const fn is_real_time(self) -> bool {
        !matches!(self, EngineKind::Sim)
    }
}
