//! Controllers of one of several types.

/// Implements [`Controller`](crate::Controller) for an enum, by the controller in its variant.
///
/// ```
/// use congestion::cubic::Cubic;
/// use congestion::reno::Reno;
///
/// #[derive(Debug)]
/// enum LossBased {
///     Reno(Reno),
///     Cubic(Box<Cubic>),
/// }
///
/// congestion::by_variant!(LossBased: Reno, Cubic);
///
/// /// One of ours, or any other.
/// #[derive(Debug)]
/// enum Either<C> {
///     Ours(Reno),
///     Other(C),
/// }
///
/// congestion::by_variant!(Either<C>: Ours, Other);
/// ```
#[macro_export]
macro_rules! by_variant {
    ($any:ident $(<$other:ident>)?: $($variant:ident),+) => {
        $crate::by_variant! {
            impl $any [$($other)?] [$($variant)+]
            fn on_idle_restart(&mut self, now: $crate::Time);
            fn on_packet_sent(&mut self, sent: &$crate::Sent);
            fn on_packet_lost(&mut self, lost: &$crate::Lost);
            fn on_recovery(&mut self, now: $crate::Time, recovery: $crate::Recovery, inflight: $crate::Bytes);
            fn on_ack(&mut self, ack: &$crate::Ack);
            fn on_timeout(&mut self, now: $crate::Time, inflight: $crate::Bytes);
            fn on_handshake(&mut self, now: $crate::Time, rtt: $crate::Duration);
            fn on_mtu_change(&mut self, mss: $crate::Bytes);
            fn cwnd(&self) -> $crate::Bytes;
            fn pacing_rate(&self) -> $crate::Rate;
            fn send_quantum(&self) -> $crate::Bytes;
            fn wants_prr(&self) -> bool;
            fn needs_pacing(&self) -> bool;
            fn responds_to_ecn(&self) -> bool;
            fn is_scalable(&self) -> bool;
            fn ack_frequency(&self) -> $crate::AckFrequency;
            fn snapshot(&self) -> $crate::Snapshot;
        }
    };
    (impl $any:ident [$($other:ident)?] $variants:tt $($method:tt)*) => {
        impl$(<$other: $crate::Controller>)? $crate::Controller for $any$(<$other>)? {
            $crate::by_variant!(methods $any $variants $($method)*);
        }
    };
    (methods $any:ident $variants:tt) => {};
    (methods $any:ident $variants:tt
        fn $name:ident(&mut self $(, $argument:ident: $type:ty)*);
        $($rest:tt)*
    ) => {
        #[inline]
        fn $name(&mut self $(, $argument: $type)*) {
            $crate::by_variant!(call self $any $variants $name($($argument),*))
        }
        $crate::by_variant!(methods $any $variants $($rest)*);
    };
    (methods $any:ident $variants:tt
        fn $name:ident(&self) -> $returns:ty;
        $($rest:tt)*
    ) => {
        #[inline]
        fn $name(&self) -> $returns {
            $crate::by_variant!(call self $any $variants $name())
        }
        $crate::by_variant!(methods $any $variants $($rest)*);
    };
    (call $self:ident $any:ident [$($variant:ident)+] $name:ident $arguments:tt) => {
        match $self {
            $($any::$variant(controller) => controller.$name $arguments,)+
        }
    };
}
