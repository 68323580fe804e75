//! The metrics over HTTP: the text of the last sample. A slow or invalid client does not delay the next one.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HOST};
use hyper::http::uri::Authority;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// The maximum number of connections. A further one closes the oldest, so that silent clients do not keep others out.
const MAX_CONNECTIONS: usize = 256;

/// The timeouts of a request and of a connection.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(30);

/// OpenMetrics 1.0.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Serves the metrics, on a thread of its own.
#[derive(Debug)]
pub struct Exporter {
    text: Shown,
    address: SocketAddr,
}

type Shown = Arc<Mutex<Bytes>>;

impl Exporter {
    /// Starts to serve at this address until the process ends.
    ///
    /// # Errors
    ///
    /// The address is in use or not local.
    pub fn start(address: SocketAddr) -> io::Result<Exporter> {
        let listener = StdListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let text = Shown::new(Mutex::new(Bytes::from_static(b"# EOF\n")));
        let shown = Arc::clone(&text);
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || runtime.block_on(serve(listener, shown)))?;
        Ok(Exporter { text, address })
    }

    /// The address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Replaces the text.
    pub fn show(&self, text: String) {
        *self.text.lock().unwrap_or_else(PoisonError::into_inner) = Bytes::from(text);
    }
}

async fn serve(listener: StdListener, text: Shown) {
    let Ok(listener) = TcpListener::from_std(listener) else {
        return;
    };
    let mut served: VecDeque<JoinHandle<()>> = VecDeque::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Mostly, there are too many open files, and others will close.
            sleep(Duration::from_millis(100)).await;
            continue;
        };
        served.retain(|one| !one.is_finished());
        if served.len() >= MAX_CONNECTIONS
            && let Some(oldest) = served.pop_front()
        {
            oldest.abort();
        }
        let text = Arc::clone(&text);
        served.push_back(tokio::spawn(async move {
            // A client that is too slow, or speaks no HTTP, gets no answer.
            let _ = timeout(CONNECTION_TIMEOUT, speak(stream, text)).await;
        }));
    }
}

async fn speak(stream: TcpStream, text: Shown) -> hyper::Result<()> {
    let is_local = stream
        .local_addr()
        .is_ok_and(|own| own.ip().to_canonical().is_loopback());
    let service = service_fn(|request| {
        let text = text.lock().unwrap_or_else(PoisonError::into_inner).clone();
        async move { Ok::<_, Infallible>(answer(&request, text, is_local)) }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(REQUEST_TIMEOUT)
        .keep_alive(false)
        .half_close(true)
        .serve_connection(TokioIo::new(stream), service)
        .await
}

/// True if the client asks for this machine itself: by an address, or by a name that no name server gives (RFC 6761,
/// section 6.3). A web page may have a name that its owner resolves to the loopback address, and could then read these
/// metrics in a browser of this machine.
fn asks_for_this_machine(request: &Request<Incoming>) -> bool {
    let mut hosts = request.headers().get_all(HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        // Every browser sends exactly one (RFC 9112, section 3.2).
        (None, _) => return true,
        (Some(host), None) => host,
        (Some(_), Some(_)) => return false,
    };
    let Ok(authority) = Authority::try_from(host.as_bytes()) else {
        return false;
    };
    // A host in the request's target takes precedence (RFC 9112, section 3.2.2).
    is_of_this_machine(&authority) && request.uri().authority().is_none_or(is_of_this_machine)
}

fn is_of_this_machine(authority: &Authority) -> bool {
    let behind = authority.as_str().strip_prefix(authority.host());
    let is_port = |text: &str| {
        let port = text.strip_prefix(':');
        text.is_empty() || port.is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    if !behind.is_some_and(is_port) {
        return false;
    }
    let name = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let bare = name
        .strip_prefix('[')
        .and_then(|name| name.strip_suffix(']'));
    bare.unwrap_or(&name).parse::<IpAddr>().is_ok()
        || name == "localhost"
        || name.ends_with(".localhost")
}

fn answer(request: &Request<Incoming>, text: Bytes, is_local: bool) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::new(text));
    let mut refuse = |status, why: &'static str| {
        *response.status_mut() = status;
        *response.body_mut() = Full::new(Bytes::from_static(why.as_bytes()));
    };
    if is_local && !asks_for_this_machine(request) {
        refuse(
            StatusCode::MISDIRECTED_REQUEST,
            "ask with the host localhost or an address\n",
        );
    } else if request.uri().path() != "/metrics" {
        refuse(StatusCode::NOT_FOUND, "metrics are at /metrics\n");
    } else if !matches!(*request.method(), Method::GET | Method::HEAD) {
        refuse(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
        response
            .headers_mut()
            .insert(ALLOW, "GET, HEAD".parse().expect("a header"));
    } else {
        response
            .headers_mut()
            .insert(CONTENT_TYPE, OPEN_METRICS.parse().expect("a header"));
    }
    response
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Shutdown, TcpStream};

    use super::*;

    fn ask(exporter: &Exporter, request: &[u8]) -> String {
        let mut stream = TcpStream::connect(exporter.address()).expect("listens");
        // The server may close the connection on invalid input at any time.
        let _ = stream.write_all(request);
        let _ = stream.shutdown(Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(exporter: &Exporter) -> String {
        ask(
            exporter,
            b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n",
        )
    }

    #[test]
    fn a_name_of_somebody_elses_reads_nothing_here() {
        let exporter = Exporter::start("127.0.0.1:0".parse().unwrap()).unwrap();
        exporter.show("a 1\n# EOF\n".to_owned());
        let port = exporter.address().port();
        let ask = |host: &str| {
            let request = format!("GET /metrics HTTP/1.1\r\n{host}\r\n");
            ask(&exporter, request.as_bytes())
        };
        for host in [
            "Host: localhost\r\n",
            &format!("Host: LOCALHOST:{port}\r\n"),
            "Host: a.localhost.\r\n",
            "Host: 127.0.0.1\r\n",
            &format!("Host: [::1]:{port}\r\n"),
            "Host: 192.0.2.7\r\n",
        ] {
            assert!(ask(host).ends_with("a 1\n# EOF\n"), "{host}");
        }
        for host in [
            &format!("Host: evil.example:{port}\r\n")[..],
            "Host: localhost.evil.example\r\n",
            "Host: 127.0.0.1.evil.example\r\n",
            "Host: \r\n",
            "Host: localhost\r\nHost: evil.example\r\n",
            "Host: localhost@evil.example\r\n",
            "Host: [[::1]\r\n",
            "Host: [::1].evil.example\r\n",
            "Host: [::1]:80:90\r\n",
        ] {
            let answer = ask(host);
            assert!(!answer.contains("a 1"), "{host}: {answer}");
        }
        let target = b"GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
        assert!(!super::tests::ask(&exporter, target).contains("a 1"));
    }

    #[test]
    fn the_last_text_is_served_whatever_others_do() {
        let exporter = Exporter::start("127.0.0.1:0".parse().unwrap()).unwrap();
        exporter.show("a 1\n# EOF\n".to_owned());
        let text = get(&exporter);
        assert!(
            text.starts_with("HTTP/1.1 200") && text.ends_with("a 1\n# EOF\n"),
            "{text}"
        );
        assert!(
            text.to_lowercase()
                .contains("content-type: application/openmetrics-text")
        );
        assert!(
            ask(&exporter, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                .starts_with("HTTP/1.1 404")
        );
        assert!(
            ask(
                &exporter,
                b"POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n"
            )
            .starts_with("HTTP/1.1 405")
        );
        for garbage in [
            &b"\x16\x03\x01\x02\x00\x01"[..],
            b"\r\n\r\n\0\0",
            &[b'a'; 1 << 20],
            b"",
        ] {
            let answer = ask(&exporter, garbage);
            assert!(!answer.contains("# EOF"), "{answer}");
        }
        // Some clients say nothing, and some do not read.
        let silent: Vec<_> = (0..300)
            .map(|_| TcpStream::connect(exporter.address()).expect("listens"))
            .collect();
        let big = "b 1\n".repeat(1 << 20);
        exporter.show(big.clone());
        let unread: Vec<_> = (0..20)
            .map(|_| {
                let mut stream = TcpStream::connect(exporter.address()).expect("listens");
                stream
                    .write_all(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    .expect("sent");
                stream
            })
            .collect();
        assert!(get(&exporter).ends_with(&big));
        exporter.show("c 1\n# EOF\n".to_owned());
        assert!(get(&exporter).ends_with("c 1\n# EOF\n"));
        drop((silent, unread));
    }
}
