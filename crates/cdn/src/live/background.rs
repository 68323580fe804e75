//! Background traffic on lines: endless transfers over sockets of this program, which are not part of the experiment.

use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use linux::{Network, socket};

use super::paths::server;
use crate::laboratory::LabError;
use crate::line::Line;

/// The bytes that are sent or discarded at once.
const AT_ONCE: usize = 1 << 16;

/// The time after which a waiting thread checks whether to stop.
const PATIENCE: Duration = Duration::from_millis(200);

/// Transfers that last as long as this value.
#[derive(Debug, Default)]
pub(super) struct Background {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Background {
    /// Starts the background traffic of all lines. Their paths must exist.
    pub fn start(network: &Network, lines: &[Line]) -> Result<Background, LabError> {
        let mut background = Background::default();
        for line in lines {
            for flow in line.background() {
                let name = flow.controller.kernel_name();
                background.add(network, line, name)?;
            }
        }
        Ok(background)
    }

    fn add(&mut self, network: &Network, line: &Line, controller: &str) -> Result<(), LabError> {
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
        for (stream, is_sender) in [(near, false), (far, true)] {
            let stop = Arc::clone(&self.stop);
            // Closing must not leave packets behind in a namespace that is about to go.
            socket::abort_on_close(&stream).map_err(|error| cannot(line, error))?;
            stream
                .set_nonblocking(false)
                .and_then(|()| stream.set_read_timeout(Some(PATIENCE)))
                .and_then(|()| stream.set_write_timeout(Some(PATIENCE)))
                .map_err(|error| cannot(line, error))?;
            let thread = thread::Builder::new().name("background".to_owned());
            let moving = thread.spawn(move || carry(&stream, is_sender, &stop));
            self.threads
                .push(moving.map_err(|error| cannot(line, error))?);
        }
        Ok(())
    }
}

fn cannot(line: &Line, error: std::io::Error) -> LabError {
    LabError::Background {
        client: line.client,
        error,
    }
}

/// Sends or discards until `stop` is set, or the other end closes.
fn carry(stream: &TcpStream, is_sender: bool, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let moved = if is_sender {
            socket::send(stream, AT_ONCE)
        } else {
            socket::discard(stream, AT_ONCE)
        };
        match moved {
            Ok(0) => return,
            Ok(_) => {}
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
