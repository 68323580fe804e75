//! Who may use the server: whoever knows the secret in its address.
//!
//! The secret is in the path, and not in a cookie: a browser sends cookies of this host to the servers of other users at other ports, too
//! (RFC 6265, section 8.5).

use std::fmt::Write;
use std::net::SocketAddr;

use hyper::header::{HOST, HeaderName, ORIGIN};
use hyper::{Request, StatusCode};
use program::failure::Failure;
use rustix::rand::{GetRandomFlags, getrandom};

/// The number of random bytes of the secret.
const SECRET_BYTES: usize = 16;

/// Checks requests.
#[derive(Debug)]
pub struct Access {
    secret: String,
    /// The hosts by which a browser of this machine calls the server.
    hosts: [String; 2],
}

impl Access {
    /// Makes a secret for the server at this address.
    pub fn new(address: SocketAddr) -> Result<Access, Failure> {
        let mut bytes = [0; SECRET_BYTES];
        let filled = getrandom(&mut bytes, GetRandomFlags::empty());
        if filled != Ok(SECRET_BYTES) {
            return Err(Failure::failed("the system has no randomness for a secret"));
        }
        let mut secret = String::new();
        for byte in bytes {
            let _ = write!(secret, "{byte:02x}");
        }
        let port = address.port();
        Ok(Access {
            secret,
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
        })
    }

    /// The address for the browser.
    pub fn address(&self) -> String {
        format!("http://{}/{}/", self.hosts[0], self.secret)
    }

    /// Returns what the request asks for: its path behind the secret.
    ///
    /// # Errors
    ///
    /// The request comes from elsewhere, or does not know the secret.
    pub fn allow<'r, B>(
        &self,
        request: &'r Request<B>,
    ) -> Result<&'r str, (StatusCode, &'static str)> {
        // A name that its owner resolves to this machine would make his page one of this server.
        let host = only(request, HOST).filter(|host| self.hosts.iter().any(|own| own == host));
        let Some(host) = host.filter(|_| request.uri().authority().is_none()) else {
            return Err((
                StatusCode::MISDIRECTED_REQUEST,
                "ask with the printed address\n",
            ));
        };
        let has_origin = request.headers().contains_key(ORIGIN);
        let is_own = |origin: &str| origin.strip_prefix("http://") == Some(host);
        if has_origin && !only(request, ORIGIN).is_some_and(is_own) {
            return Err((StatusCode::FORBIDDEN, "this page is of another server\n"));
        }
        let path = request.uri().path();
        let (secret, rest) = path
            .get(1..)
            .and_then(|path| path.split_once('/'))
            .unwrap_or_default();
        if !is_equal(secret, &self.secret) {
            return Err((
                StatusCode::FORBIDDEN,
                "open the address that fullpipe play printed\n",
            ));
        }
        Ok(rest)
    }
}

/// The value of a header that is there once.
fn only<B>(request: &Request<B>, name: HeaderName) -> Option<&str> {
    let mut values = request.headers().get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// Takes the same time wherever the first difference is, so that nobody can guess a secret byte by byte.
fn is_equal(one: &str, other: &str) -> bool {
    let pairs = one.bytes().zip(other.bytes());
    one.len() == other.len() && pairs.fold(0, |all, (one, other)| all | (one ^ other)) == 0
}
