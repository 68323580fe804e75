//! Packet captures: formats, headers, and packets of QUIC.
//!
//! [`read`] gives the frames of captures, [`packet`] decodes them, and [`quic`] parses and decrypts the payload of QUIC
//! datagrams. [`mod@write`] goes the other way: it writes simulated packets as a capture.
//!
//! ```no_run
//! use capture::packet::{self, Decoded};
//! use capture::read::Frames;
//!
//! let mut frames = Frames::new(std::fs::File::open("capture.pcapng")?)?;
//! while let Some(frame) = frames.next_frame()? {
//!     if let Decoded::Packet(packet) = packet::parse(&frame) {
//!         println!("{} → {}", packet.from, packet.to);
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod clock;
pub mod packet;
pub mod quic;
pub mod read;
pub mod write;
