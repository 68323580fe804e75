//! The controllers by name, and an enum of them.

use crate::bbr1::{self, Bbr1};
use crate::bbr3::{self, Bbr3};
use crate::controller::{Connection, Listed};
use crate::cubic::{self, Cubic};
use crate::prague::{self, Prague};
use crate::reno::{self, Reno};
use crate::state::State;

macro_rules! controllers {
    ($($(#[$about:meta])* $controller:ident: $config:ty,)*) => {
        /// The known controllers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ControllerKind {
            $($(#[$about])* $controller,)*
        }

        impl ControllerKind {
            /// Every controller.
            pub const ALL: &'static [ControllerKind] = &[$(ControllerKind::$controller,)*];

            /// The name used everywhere: in code, on the command line, in records.
            pub const fn name(self) -> &'static str {
                match self {
                    $(ControllerKind::$controller => $controller::NAME,)*
                }
            }

            /// The name of Linux's controller of the same algorithm.
            pub const fn kernel_name(self) -> &'static str {
                match self {
                    $(ControllerKind::$controller => $controller::KERNEL_NAME,)*
                }
            }

            /// The possible states.
            pub const fn states(self) -> &'static [State] {
                match self {
                    $(ControllerKind::$controller => $controller::STATES,)*
                }
            }
        }

        /// A controller with its settings. For a [`ControllerKind`], the settings in Linux.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Settings {
            $($(#[$about])* $controller($config),)*
        }

        impl From<ControllerKind> for Settings {
            fn from(kind: ControllerKind) -> Settings {
                match kind {
                    $(ControllerKind::$controller => Settings::$controller($controller::linux()),)*
                }
            }
        }

        /// Any controller, without indirection.
        #[derive(Debug, Clone)]
        #[expect(clippy::large_enum_variant, reason = "a box would allocate")]
        #[non_exhaustive]
        pub enum AnyController {
            $($(#[$about])* $controller($controller),)*
        }

        impl AnyController {
            /// A controller with these settings, or of this kind, for a new connection of a host like Linux, where
            /// packets waiting in the packet scheduler count as in flight.
            pub fn on_host(settings: impl Into<Settings>, connection: Connection) -> AnyController {
                match settings.into() {
                    $(Settings::$controller(config) => {
                        AnyController::$controller(Listed::with(connection, config))
                    })*
                }
            }

            /// A controller for a new connection of a transport that counts a packet as in flight when it has left.
            pub fn new(settings: impl Into<Settings>, connection: Connection) -> AnyController {
                match settings.into() {
                    $(Settings::$controller(config) => {
                        let config = $controller::off_host(config);
                        AnyController::$controller(Listed::with(connection, config))
                    })*
                }
            }
        }

        crate::by_variant!(AnyController: $($controller),*);
    };
}

// The list. Each entry is the name of a type, with its settings. New ones go to the end, since colours depend on the
// index.
controllers! {
    /// BBRv1, ACM Queue 14(5), 2016.
    Bbr1: bbr1::Config,
    /// CUBIC, as in Linux.
    Cubic: cubic::Config,
    /// Reno, RFC 5681.
    Reno: reno::Config,
    /// BBRv3, draft-ietf-ccwg-bbr.
    Bbr3: bbr3::Config,
    /// Prague, draft-briscoe-iccrg-prague-congestion-control, for L4S.
    Prague: prague::Config,
}

units::by_name!(ControllerKind, "controller");

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;

    use units::{Bytes, Duration, Time};

    use super::*;
    use crate::Controller;

    #[test]
    fn every_name_parses_back_and_is_the_controllers_own() {
        for &kind in ControllerKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
            let connection = Connection::new(
                Time::ZERO + Duration::from_secs(1),
                Bytes::new(1_200),
                Bytes::new(12_000),
            );
            let controller = AnyController::new(kind, connection);
            assert_eq!(controller.snapshot().controller, kind.name());
            assert!(kind.states().contains(&controller.snapshot().state));
            assert_eq!(controller.cwnd(), Bytes::new(12_000));
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_known_ones() {
        for name in ["", "vegas", "renos"] {
            let error = name.parse::<ControllerKind>().unwrap_err().to_string();
            for kind in ControllerKind::ALL {
                assert!(error.contains(kind.name()), "{error}");
            }
        }
    }
}
