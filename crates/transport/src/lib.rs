//! TCP's sending and receiving hosts for simulations: loss detection, retransmission timers, applications, and the packet
//! scheduler of the host. They follow "Making Linux TCP Fast" (Netdev 1.2, 2016), and are pure state machines: times and segments
//! in, segments and timers out. No clock, no I/O, no allocation per packet.
//!
//! A [`Sender`](sender::Sender) and a [`Receiver`](receiver::Receiver) are the two ends of a connection. An
//! [`App`](app::App) provides the data, and a [`Scheduler`](scheduler::Scheduler) releases bursts from their host.
//!
//! ```
//! use congestion::{AnyController, Bytes, ControllerKind, Duration, Time};
//! use transport::receiver::{self, Receiver};
//! use transport::sender::{self, Sender};
//!
//! let controller = |connection| AnyController::on_host(ControllerKind::Bbr1, connection);
//! let mut sender = Sender::new(Time::ZERO, 0, &sender::Config::default(), controller, 1);
//! let mut receiver = Receiver::new(0, &receiver::Config::default());
//! sender.open(Time::ZERO);
//! sender.write(Bytes::new(100_000));
//! sender.finish();
//!
//! // A path that takes 10 ms each way and loses nothing.
//! let mut now = Time::ZERO;
//! while !sender.is_done() {
//!     let mut replies = Vec::new();
//!     while let Some(burst) = sender.poll_burst(now) {
//!         for segment in burst.segments() {
//!             let at = now + Duration::from_millis(10);
//!             replies.extend(receiver.on_segment(at, &segment.body, false));
//!         }
//!         sender.on_departed(&burst);
//!     }
//!     now += Duration::from_millis(20);
//!     replies.extend(receiver.on_timer(now));
//!     for reply in replies {
//!         sender.on_segment(now, &reply.body);
//!     }
//!     sender.on_timer(now);
//! }
//! assert_eq!(receiver.received(), 100_000);
//! ```

pub mod app;
pub mod burst;
pub mod receiver;
pub mod scheduler;
pub mod segment;
pub mod sender;
