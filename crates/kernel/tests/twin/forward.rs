//! A macro for a controller that wraps another one.

/// Forwards the questions to a controller to the field `controller`.
macro_rules! as_the_controller_says {
    () => {
        fn cwnd(&self) -> congestion::Bytes {
            self.controller.cwnd()
        }

        fn pacing_rate(&self) -> congestion::Rate {
            self.controller.pacing_rate()
        }

        fn send_quantum(&self) -> congestion::Bytes {
            self.controller.send_quantum()
        }

        fn wants_prr(&self) -> bool {
            self.controller.wants_prr()
        }

        fn needs_pacing(&self) -> bool {
            self.controller.needs_pacing()
        }

        fn responds_to_ecn(&self) -> bool {
            self.controller.responds_to_ecn()
        }

        fn snapshot(&self) -> congestion::Snapshot {
            self.controller.snapshot()
        }
    };
}

pub(crate) use as_the_controller_says;
