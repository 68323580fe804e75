//! Our controllers inside noq.
//!
//! noq drives congestion control through its own hooks. An adapter turns them into the events of
//! [`congestion::Controller`], and gives noq's pacer the controller's pacing rate and send quantum.
//!
//! # What the hooks lack, and what the adapter does
//!
//! - **Packets have no identity.** Numbers repeat in the Initial, Handshake and Data spaces and the hooks do not name
//!   the space; a loss has no time of departure. The adapter keeps its own table of packets in flight and finds a
//!   packet by number, size and (for ACKs) time of departure.
//! - **Some packets leave silently**: those of a discarded space, and lost MTU probes. Each ACK comes with noq's own
//!   count of bytes in flight; that count rules, and the table forgets its oldest packets until it agrees. Between two
//!   ACKs, the controller may see such packets as still in flight. Padded packets that do not ask for an ACK (handshake
//!   only) are in noq's count and in none of the hooks.
//! - **Probes of the path MTU leave regardless of the window**, and count as in flight. A probe may be larger than the
//!   window. While a probe of more than two packets is in flight, the adapter adds its size to the window that noq
//!   gets, and subtracts its size from the data in flight that the controller gets.
//! - **Losses and marks follow the ACK that shows them.** The adapter holds the ACK back until the next hook with
//!   another subject: a query of the window, a departure, another ACK. Then all losses of the ACK are known, and the
//!   controller gets them first, as our trait demands.
//! - **The RTT** that `on_ack` brings is the smoothed one from before that ACK. The sample is taken from the newest
//!   acknowledged packet's time of departure instead.
//! - **Recovery is not reported**, only congestion events. The adapter keeps RFC 9002's rule: a recovery starts when a
//!   packet sent after the start of the last one is lost or marked, and ends when a packet sent during it is
//!   acknowledged. Losses within a recovery that a mark began have a start of their own, so that a controller that minds
//!   losses only hears of them. Persistent congestion becomes a timeout.
//! - **How long the receiver held an ACK back** is in the ACK, but not in the hooks. An ACK counts as delayed when it is
//!   for one packet that is not full and travelled alone, as in Linux.
//! - **ECN marks come without their number.** Each report counts as one full packet, the least that it can be.
//! - **noq sends every packet as capable of ECN** (ECT), whatever controls its congestion, and has no setting for it. So
//!   the socket of an endpoint whose controllers do not answer marks takes that from the packets again
//!   ([`endpoint::Client`](crate::endpoint::Client), and the driver under [`bulk`](crate::bulk)). The receiver then reports
//!   no ECN, and noq gives it up.
//! - **A spurious loss comes without a time and without its packets.** It is passed on at once with the time of the last
//!   hook. noq calls a recovery spurious once every packet that it still remembers as lost has arrived; it forgets
//!   lost packets after two probe timeouts, so where reordering and true loss mix, it may take back too much.
//! - **Application limits are known at ACKs only**, except to our own driver, which marks them when they begin. A flow
//!   is limited if the last attempt to send found no data, and neither the window nor pacing held anything back. The
//!   mark is set at the ACK. A pause that starts and ends between two ACKs is not detected: the packets right after it
//!   are not marked. A sender that its own scheduler interrupts (noq sends at most 20 datagrams at a time) does not
//!   count as limited.
//! - **The pacer's burst is noq's own**, except under our own driver, which paces by departure times: two milliseconds
//!   of the pacing rate, 10 to 256 packets, ten milliseconds at most. The send quantum bounds what one call gives to
//!   the kernel as one batch, not what several calls in a row do. Credit beyond the burst is lost. tokio's timers have
//!   a resolution of a millisecond, which costs nothing up to about 3 Gbit/s (256 packets per millisecond; at higher
//!   rates, ACKs must wake the sender in between). A process that gets no processor for longer than the burst lasts
//!   falls behind its pacing rate and does not catch up.
//! - **Probe timeouts (PTO) have no hook.** Neither RFC 9002 nor our trait lets a controller react to one.

mod adapter;
mod episode;
mod hooks;
mod packets;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use congestion::{AnyController, Bytes, Connection, Controller, ControllerKind, Time};
use noq_proto::congestion::{ControllerFactory, CubicConfig};

use crate::driver::Flow;
use crate::observer::Observer;
use adapter::{Adapter, INITIAL_WINDOW_PACKETS};
use hooks::Hooks;

/// Makes the controllers of an endpoint's connections.
pub trait Controllers: ControllerFactory + Send + Sync {
    /// True if they respond to marks ([`Controller::responds_to_ecn`]). If not, an endpoint must not send ECN-capable
    /// packets.
    fn responds_to_ecn(&self) -> bool;

    /// Makes the controller of one connection that our own driver paces, linked to the driver by `flow`. Not for users
    /// to call or to implement: without it, noq paces the connection.
    #[doc(hidden)]
    fn driven(self: Arc<Self>, flow: Arc<Flow>) -> Option<Arc<dyn Controllers>> {
        let _ = flow;
        None
    }
}

/// noq's own CUBIC, for endpoints that send little but ACKs.
impl Controllers for CubicConfig {
    fn responds_to_ecn(&self) -> bool {
        true
    }
}

/// Makes a factory of controllers of the given kind for noq's connections; see [`factory_with`].
///
/// ```no_run
/// # use std::sync::Arc;
/// # fn configured(
/// #     certificates: Vec<rustls::pki_types::CertificateDer<'static>>,
/// #     key: rustls::pki_types::PrivateKeyDer<'static>,
/// # ) -> Result<noq::ServerConfig, Box<dyn std::error::Error>> {
/// let controllers = quic::controller::factory(congestion::ControllerKind::Bbr3, 1, None);
/// let mut transport = noq::TransportConfig::default();
/// transport.congestion_controller_factory(controllers);
/// let mut server = noq::ServerConfig::with_single_cert(certificates, key)?;
/// server.transport_config(Arc::new(transport));
/// # Ok(server)
/// # }
/// ```
pub fn factory(
    kind: ControllerKind,
    seed: u64,
    observer: Option<Arc<dyn Observer>>,
) -> Arc<dyn Controllers> {
    factory_with(
        move |connection| AnyController::new(kind, connection),
        seed,
        observer,
    )
}

/// Makes a factory for noq's connections of the controllers that `make` makes.
///
/// Each connection's controller is seeded with `seed` plus the number of connections before it, and reports to
/// `observer`. One more is made to ask it whether they [respond to marks](Controller::responds_to_ecn).
pub fn factory_with<C>(
    make: impl Fn(Connection) -> C + Send + Sync + 'static,
    seed: u64,
    observer: Option<Arc<dyn Observer>>,
) -> Arc<dyn Controllers>
where
    C: Controller + Clone + Sync + 'static,
{
    let mut connection = Connection::new(
        Time::ZERO,
        Bytes::new(INITIAL_MTU),
        Bytes::new(INITIAL_MTU * INITIAL_WINDOW_PACKETS),
    );
    connection.seed = seed;
    let example = make(connection);
    // The stack's ECN-capable packets are ECT(0), to whose marks the response must be that to a loss.
    let responds_to_ecn = example.responds_to_ecn() && !example.is_scalable();
    let build = move |seed, now, mtu, flow| -> Box<dyn noq_proto::congestion::Controller> {
        let adapter = Adapter::new(&make, seed, observer.clone(), now, mtu);
        Box::new(Hooks::new(adapter, flow))
    };
    Arc::new(Factory {
        build: Box::new(build),
        responds_to_ecn,
        seed: AtomicU64::new(seed),
    })
}

/// The initial datagram size of every connection (RFC 9000, "Datagram Size").
const INITIAL_MTU: u64 = 1200;

/// Makes a controller with this seed, for a connection that begins at this time with datagrams of this size, and with
/// the link to our driver if it paces the connection.
type Build = dyn Fn(u64, Instant, u16, Option<Arc<Flow>>) -> Box<dyn noq_proto::congestion::Controller>
    + Send
    + Sync;

struct Factory {
    build: Box<Build>,
    responds_to_ecn: bool,
    /// The seed of the next controller.
    seed: AtomicU64,
}

impl Factory {
    fn make(
        &self,
        now: Instant,
        mtu: u16,
        flow: Option<Arc<Flow>>,
    ) -> Box<dyn noq_proto::congestion::Controller> {
        let seed = self.seed.fetch_add(1, Ordering::Relaxed);
        (self.build)(seed, now, mtu, flow)
    }
}

impl Controllers for Factory {
    fn responds_to_ecn(&self) -> bool {
        self.responds_to_ecn
    }

    fn driven(self: Arc<Self>, flow: Arc<Flow>) -> Option<Arc<dyn Controllers>> {
        Some(Arc::new(Driven {
            factory: self,
            flow,
        }))
    }
}

impl ControllerFactory for Factory {
    fn build(
        self: Arc<Self>,
        now: Instant,
        current_mtu: u16,
    ) -> Box<dyn noq_proto::congestion::Controller> {
        self.make(now, current_mtu, None)
    }
}

/// Makes the controller of one connection that our driver paces.
struct Driven {
    factory: Arc<Factory>,
    flow: Arc<Flow>,
}

impl Controllers for Driven {
    fn responds_to_ecn(&self) -> bool {
        self.factory.responds_to_ecn
    }
}

impl ControllerFactory for Driven {
    fn build(
        self: Arc<Self>,
        now: Instant,
        current_mtu: u16,
    ) -> Box<dyn noq_proto::congestion::Controller> {
        let flow = Some(self.flow.clone());
        self.factory.make(now, current_mtu, flow)
    }
}
