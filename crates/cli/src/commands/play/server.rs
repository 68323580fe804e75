//! The server's connections.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustix::net::sockopt;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::access::Access;
use super::answer::{Shared, answer};
use super::runs::Runs;

/// The maximum number of connections. A further one closes the oldest that has not shown the secret, so that strangers cannot
/// keep the page's own out.
const MAX_CONNECTIONS: usize = 256;

/// The pause after a connection that was not accepted.
const ERROR_PAUSE: Duration = Duration::from_millis(1);

/// The timeout of a request's head, and of a connection without a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(5);

/// A client that reads nothing for this long is disconnected, because its unread answer stays in memory.
const TAKE_TIMEOUT: Duration = Duration::from_secs(60);

/// The largest head of a request.
const MAX_HEAD_BYTES: usize = 16 * 1024;

struct Connection {
    task: JoinHandle<()>,
    is_known: Arc<AtomicBool>,
}

/// Serves forever.
pub async fn serve(listener: TcpListener, access: Access) {
    let runs = Runs::new();
    let shared = Arc::new(Shared { access, runs });
    let mut connections: VecDeque<Connection> = VecDeque::new();
    loop {
        let accepted = listener.accept().await;
        connections.retain(|one| !one.task.is_finished());
        let is_stranger = |one: &Connection| !one.is_known.load(Ordering::Relaxed);
        // Mostly, an error means that there are too many open files.
        if accepted.is_err() || connections.len() >= MAX_CONNECTIONS {
            let oldest = connections.iter().position(is_stranger);
            match oldest.and_then(|oldest| connections.remove(oldest)) {
                Some(stranger) => stranger.task.abort(),
                None if accepted.is_ok() => continue,
                None => {}
            }
        }
        let Ok((stream, _)) = accepted else {
            sleep(ERROR_PAUSE).await;
            continue;
        };
        let timeout = u32::try_from(TAKE_TIMEOUT.as_millis()).unwrap_or(u32::MAX);
        if sockopt::set_tcp_user_timeout(&stream, timeout).is_err() {
            continue;
        }
        let is_known = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(speak(stream, Arc::clone(&shared), Arc::clone(&is_known)));
        connections.push_back(Connection { task, is_known });
    }
}

async fn speak(stream: TcpStream, shared: Arc<Shared>, is_known: Arc<AtomicBool>) {
    let service = service_fn(|request| answer(request, Arc::clone(&shared), Arc::clone(&is_known)));
    // A client that speaks no HTTP gets no answer. When the client closes its connection, the job that writes to it ends.
    let _ = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service)
        .await;
}
