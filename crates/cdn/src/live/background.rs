//! Background traffic on lines: endless transfers over sockets of this program, which are not part of the experiment.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linux::{Network, socket};
use units::Bytes;

use super::paths::server;
use crate::laboratory::LabError;
use crate::line::Line;

/// The bytes that are sent or discarded at once.
const CHUNK_LEN: usize = 1 << 16;

/// The time after which a waiting thread checks whether to stop.
const STOP_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Transfers that last as long as this value.
#[derive(Debug, Default)]
pub(super) struct Background {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// For each line, the bytes that were delivered so far.
    delivered: Vec<Arc<AtomicU64>>,
}

impl Background {
    /// Starts the background traffic of all lines. Their paths must exist. All lines connect at the same time, so that
    /// the handshakes do not take a round trip of each.
    pub fn start(network: &Network, lines: &[Line]) -> Result<Background, LabError> {
        let connected = thread::scope(|scope| {
            let connect = |line| {
                let thread = thread::Builder::new().name("connecting".to_owned());
                let connecting = thread.spawn_scoped(scope, move || connect(network, line));
                connecting.map_err(|error| cannot(line, error))
            };
            let threads: Vec<_> = lines.iter().map(connect).collect();
            let ends = threads.into_iter().map(|thread| {
                let ends = thread?.join();
                ends.unwrap_or_else(|panic| resume_unwind(panic))
            });
            ends.collect::<Result<Vec<_>, _>>()
        })?;
        let mut background = Background::default();
        for (line, ends) in lines.iter().zip(connected) {
            let delivered = Arc::default();
            for (stream, is_receiver) in ends {
                let delivered = is_receiver.then(|| Arc::clone(&delivered));
                background.carry(line, stream, delivered)?;
            }
            background.delivered.push(delivered);
        }
        Ok(background)
    }

    fn carry(
        &mut self,
        line: &Line,
        stream: TcpStream,
        delivered: Option<Arc<AtomicU64>>,
    ) -> Result<(), LabError> {
        let stop = Arc::clone(&self.stop);
        let thread = thread::Builder::new().name("background".to_owned());
        let carrying = thread.spawn(move || carry(&stream, delivered.as_deref(), &stop));
        self.threads
            .push(carrying.map_err(|error| cannot(line, error))?);
        Ok(())
    }

    /// For each line, the bytes that its background traffic has delivered.
    pub fn delivered(&self) -> Vec<Bytes> {
        let counts = self.delivered.iter();
        let counts = counts.map(|count| Bytes::new(count.load(Ordering::Relaxed)));
        counts.collect()
    }
}

/// Makes the connections of a line's background traffic. Returns their ends, each with true if it receives.
fn connect(network: &Network, line: &Line) -> Result<Vec<(TcpStream, bool)>, LabError> {
    let mut all = Vec::new();
    for flow in line.background() {
        all.extend(ends(network, line, flow.controller.kernel_name())?);
    }
    Ok(all)
}

/// The ends of a new connection over the line, each with true if it receives.
fn ends(
    network: &Network,
    line: &Line,
    controller: &str,
) -> Result<[(TcpStream, bool); 2], LabError> {
    let listen = || -> Result<TcpListener, LabError> {
        let at = SocketAddr::new(server(line), 0);
        let listener = TcpListener::bind(at).map_err(|error| cannot(line, error))?;
        socket::set_controller(&listener, controller)?;
        Ok(listener)
    };
    let listener = network.far.inside(listen)??;
    let to = listener.local_addr().map_err(|error| cannot(line, error))?;
    let connect = || -> Result<TcpStream, LabError> {
        let options = socket::ConnectOptions {
            controller,
            mss: None,
        };
        Ok(socket::connect_here(line.client, to, &options)?)
    };
    let near = network.near.inside(connect)??;
    let (far, _) = listener.accept().map_err(|error| cannot(line, error))?;
    for stream in [&near, &far] {
        // Closing must not leave packets behind in a namespace that is about to go.
        socket::abort_on_close(stream).map_err(|error| cannot(line, error))?;
        stream
            .set_nonblocking(false)
            .and_then(|()| stream.set_read_timeout(Some(STOP_CHECK_INTERVAL)))
            .and_then(|()| stream.set_write_timeout(Some(STOP_CHECK_INTERVAL)))
            .map_err(|error| cannot(line, error))?;
    }
    Ok([(near, true), (far, false)])
}

fn cannot(line: &Line, error: std::io::Error) -> LabError {
    LabError::Background {
        client: line.client,
        error,
    }
}

/// Sends, or discards and counts received bytes, until `stop` is set, or the other end closes.
fn carry(stream: &TcpStream, delivered: Option<&AtomicU64>, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let moved = match delivered {
            None => socket::send(stream, CHUNK_LEN),
            Some(_) => socket::discard(stream, CHUNK_LEN),
        };
        match moved {
            Ok(0) => return,
            Ok(bytes) => {
                if let Some(delivered) = delivered {
                    delivered.fetch_add(bytes as u64, Ordering::Relaxed);
                }
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(_) => return,
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
