//! QUIC endpoints that trust one certificate: TLS 1.3 only, the server's self-signed certificate pinned by its
//! fingerprint, and a transport that does not get in a fast path's way.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use noq::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq::{
    AsyncUdpSocket, ClientConfig, Connecting, Endpoint, EndpointConfig, Runtime as _, ServerConfig,
    TokioRuntime, TransportConfig, VarInt,
};
use noq_proto::HashedConnectionIdGenerator;
use ring::hmac;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};
use socket2::{Domain, Protocol, Socket, Type};

use crate::controller::Controllers;
use crate::runtime::Runtime;

/// The name in every certificate. Nothing depends on it: the fingerprint alone says who the server is.
pub const SERVER_NAME: &str = "fullpipe";

/// How much of all streams together the receiver takes before the application has read it: two bandwidth-delay products
/// (what BBR keeps in flight at most) of 1 Gbit/s × 100 ms, and some room for the application to be late.
const RECEIVE_WINDOW: u32 = 32 << 20;

/// How much of one stream the receiver takes.
///
/// noq ends a connection ("too many gaps in stream buffer") when more than 1024 separate pieces of one stream wait for
/// holes to be filled. An honest sender gets there too: one that overruns a deep buffer in slow start loses every other
/// packet of a whole window. With this window, and packets of at least 1200 bytes, 1024 pieces do not fit. A flow that
/// needs more in flight spreads over several streams: [`STREAMS`] use all of the receive window.
const STREAM_WINDOW: u32 = 2 << 20;

/// The number of streams over which a bulk flow spreads, so that no stream's window limits it.
pub const STREAMS: u32 = RECEIVE_WINDOW / STREAM_WINDOW;

/// How much the sender keeps, sent or unsent, until it is acknowledged. Twice the receive window, so that a flow is
/// limited by the path or by the receiver and never by its own buffer (and is never marked application-limited for it).
const SEND_WINDOW: u64 = 2 * RECEIVE_WINDOW as u64;

/// What is asked of the kernel as a socket's buffers; it gives what its own limits allow. The default of most systems,
/// about 200 kB, is less than two milliseconds of 1 Gbit/s.
const SOCKET_BUFFER: usize = 4 << 20;

/// A connection whose peer has been silent for this long is lost (RFC 9000, "Idle Timeout").
const IDLE_TIMEOUT_MS: u32 = 30_000;

/// A sender that waits for the application keeps its connection this way.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// An endpoint could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum EndpointError {
    /// The key or the certificate could not be made.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// The TLS library refused the configuration.
    #[error("cannot configure TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The TLS library has not the cipher suite that QUIC starts with.
    #[error("cannot configure TLS for QUIC: {0}")]
    Cipher(#[from] noq::crypto::rustls::NoInitialCipherSuite),
    /// The address cannot be connected to.
    #[error("cannot connect: {0}")]
    Connect(#[from] noq::ConnectError),
    /// The socket could not be opened.
    #[error("cannot bind {address}: {source}")]
    Bind {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
}

/// A server's certificate and its private key.
#[derive(Debug)]
pub struct Identity {
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// A fresh key with a self-signed certificate.
    pub fn generate() -> Result<Identity, EndpointError> {
        let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()])?;
        Ok(Identity {
            certificate: made.cert.der().clone(),
            key: PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()),
        })
    }

    /// The identity that was taken apart by [`Identity::certificate_der`] and [`Identity::key_der`]. Whether the bytes
    /// make sense is found when they are used.
    pub fn from_der(certificate: Vec<u8>, key: Vec<u8>) -> Identity {
        Identity {
            certificate: certificate.into(),
            key: key.into(),
        }
    }

    /// The certificate in its encoded form.
    pub fn certificate_der(&self) -> &[u8] {
        &self.certificate
    }

    /// The private key in its encoded form (PKCS #8). Secret.
    pub fn key_der(&self) -> &[u8] {
        self.key.secret_pkcs8_der()
    }

    /// Whether the bytes are a certificate and its key.
    pub fn is_sound(&self) -> bool {
        let server = rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13]);
        server.is_ok_and(|server| {
            let certificate = vec![self.certificate.clone()];
            let key = self.key.clone_key().into();
            let shown = server
                .with_no_client_auth()
                .with_single_cert(certificate, key);
            shown.is_ok()
        })
    }

    /// The settings of this server's endpoint.
    ///
    /// The keys behind stateless resets and connection IDs are derived from the private key. A server that was killed and
    /// started again with its identity therefore recognizes the connections of its former self, and tells their peers at
    /// once that it knows nothing of them any more (RFC 9000, "Stateless Reset"). Otherwise they would learn it only from
    /// their idle timeout.
    fn endpoint_config(&self) -> EndpointConfig {
        let derive = |context| blake3::derive_key(context, self.key_der());
        let reset_key = derive("fullpipe 1: a server's key for stateless reset tokens");
        let mut config =
            EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &reset_key)));
        let [a, b, c, d, e, f, g, h, ..] = derive("fullpipe 1: a server's key for connection IDs");
        let key = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        config.cid_generator(Arc::new(move || {
            Box::new(HashedConnectionIdGenerator::from_key(key))
        }));
        config
    }

    /// What a client must know to recognize this server.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }
}

/// The SHA-256 digest of a certificate, in 64 hexadecimal digits when written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The fingerprint with these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Fingerprint {
        Fingerprint(bytes)
    }

    /// The digest itself.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn of(certificate: &CertificateDer<'_>) -> Fingerprint {
        let digest = ring::digest::digest(&ring::digest::SHA256, certificate);
        let mut bytes = [0; 32];
        bytes.copy_from_slice(digest.as_ref());
        Fingerprint(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&HEXLOWER.encode(&self.0))
    }
}

/// The text is not a fingerprint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a certificate fingerprint of 64 hexadecimal digits")]
pub struct FingerprintError;

impl FromStr for Fingerprint {
    type Err = FingerprintError;
    fn from_str(text: &str) -> Result<Fingerprint, FingerprintError> {
        let bytes = HEXLOWER_PERMISSIVE.decode(text.as_bytes());
        let bytes = bytes.ok().and_then(|bytes| bytes.try_into().ok());
        bytes.map(Fingerprint).ok_or(FingerprintError)
    }
}

/// The transport that every flow uses, with congestion control by what `controllers` makes.
pub fn transport(controllers: Arc<dyn Controllers>) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .congestion_controller_factory(controllers)
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(RECEIVE_WINDOW))
        .send_window(SEND_WINDOW)
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT_MS).into()))
        .keep_alive_interval(Some(KEEP_ALIVE));
    config
}

/// A server that shows `identity` and speaks only the protocol `alpn`.
pub fn server_config(
    identity: &Identity,
    alpn: &[u8],
    transport: Arc<TransportConfig>,
) -> Result<ServerConfig, EndpointError> {
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_no_client_auth()
        .with_single_cert(
            vec![identity.certificate.clone()],
            identity.key.clone_key().into(),
        )?;
    tls.alpn_protocols = vec![alpn.to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config.transport_config(transport);
    Ok(config)
}

/// A client that talks only to the server whose certificate has the fingerprint `server`, and only in protocol `alpn`.
pub fn client_config(
    server: Fingerprint,
    alpn: &[u8],
    transport: Arc<TransportConfig>,
) -> Result<ClientConfig, EndpointError> {
    let provider = provider();
    let mut tls = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Pinned { server, provider }))
        .with_no_client_auth();
    tls.alpn_protocols = vec![alpn.to_vec()];
    let mut config = ClientConfig::new(Arc::new(QuicClientConfig::try_from(tls)?));
    config.transport_config(transport);
    Ok(config)
}

/// Where an endpoint's sockets come from.
pub trait Sockets: Send + Sync {
    /// A socket at `address` (port 0: any).
    fn open(&self, address: SocketAddr) -> io::Result<Box<dyn AsyncUdpSocket>>;
}

/// The system's own UDP sockets.
#[derive(Debug)]
pub struct Udp;

impl Sockets for Udp {
    fn open(&self, address: SocketAddr) -> io::Result<Box<dyn AsyncUdpSocket>> {
        TokioRuntime.wrap_udp_socket(open(address)?)
    }
}

/// Opens a socket of `sockets` at `address` (port 0: any) and an endpoint on it, which accepts connections if `server` says
/// how and as whom. An IPv6 wildcard address serves IPv4 too where the system can. Its packets are capable of ECN: what
/// controls its congestion must [answer marks](Controllers::responds_to_ecn). Must be called within a tokio runtime.
///
/// # Errors
/// The system gives no such socket.
pub fn bind(
    sockets: &dyn Sockets,
    address: SocketAddr,
    server: Option<(ServerConfig, &Identity)>,
) -> Result<Endpoint, EndpointError> {
    let (server, config) = match server {
        Some((server, identity)) => (Some(server), identity.endpoint_config()),
        None => (None, EndpointConfig::default()),
    };
    sockets
        .open(address)
        .and_then(|socket| {
            let runtime = Arc::new(TokioRuntime);
            Endpoint::new_with_abstract_socket(config, server, socket, runtime)
        })
        .map_err(|source| EndpointError::Bind { address, source })
}

/// How to connect to one server.
#[derive(Clone)]
pub struct Client {
    config: ClientConfig,
    sockets: Arc<dyn Sockets>,
    /// Whether its packets are capable of ECN.
    ecn: bool,
}

impl Client {
    /// How to connect, over sockets of `sockets`, to the server whose certificate has the fingerprint `server`, in the
    /// protocol `alpn`. `controllers` makes what controls congestion, and says whether packets are capable of ECN;
    /// `transport` makes the other settings.
    ///
    /// # Errors
    /// The TLS library refuses.
    pub fn new(
        sockets: Arc<dyn Sockets>,
        server: Fingerprint,
        alpn: &[u8],
        controllers: Arc<dyn Controllers>,
        transport: impl FnOnce(Arc<dyn Controllers>) -> TransportConfig,
    ) -> Result<Client, EndpointError> {
        let ecn = controllers.responds_to_ecn();
        Ok(Client {
            config: client_config(server, alpn, Arc::new(transport(controllers)))?,
            sockets,
            ecn,
        })
    }

    /// Begins to connect to `server`, by an endpoint of its own at any address of the same family. Must be called within
    /// a tokio runtime.
    ///
    /// # Errors
    /// The system gives no socket, or the address cannot be connected to.
    pub fn connect(&self, server: SocketAddr) -> Result<(Endpoint, Connecting), EndpointError> {
        let any: IpAddr = match server {
            SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
            SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
        };
        let address = SocketAddr::new(any, 0);
        let runtime = Runtime { ecn: self.ecn };
        let endpoint = self
            .sockets
            .open(address)
            .and_then(|socket| {
                let (socket, config) = (runtime.wrap(socket), EndpointConfig::default());
                Endpoint::new_with_abstract_socket(config, None, socket, Arc::new(runtime))
            })
            .map_err(|source| EndpointError::Bind { address, source })?;
        let connecting = endpoint.connect_with(self.config.clone(), server, SERVER_NAME)?;
        Ok((endpoint, connecting))
    }
}

fn open(address: SocketAddr) -> io::Result<std::net::UdpSocket> {
    let socket = Socket::new(
        Domain::for_address(address),
        Type::DGRAM,
        Some(Protocol::UDP),
    )?;
    // Each of these is a wish: a system that refuses one still gives a working socket.
    if address.is_ipv6() {
        let _ = socket.set_only_v6(false);
    }
    let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
    let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
    socket.bind(&address.into())?;
    Ok(socket.into())
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Accepts one certificate, whatever it says, and requires the proof that the server holds its key.
#[derive(Debug)]
struct Pinned {
    server: Fingerprint,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if Fingerprint::of(certificate) == self.server {
            Ok(ServerCertVerified::assertion())
        } else {
            Err(CertificateError::ApplicationVerificationFailure.into())
        }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::Tls12NotOffered.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use noq::congestion::CubicConfig;
    use rustls::sign::{CertifiedKey, SingleCertAndKey};

    use super::*;

    const ALPN: &[u8] = b"test";

    fn quiet() -> Arc<TransportConfig> {
        Arc::new(transport(Arc::new(CubicConfig::default())))
    }

    /// What a client that expects the certificate `pinned` and speaks `alpn` gets from a server set up as `server`.
    async fn meet(
        server: ServerConfig,
        identity: &Identity,
        pinned: Fingerprint,
        alpn: &[u8],
    ) -> Result<(), noq::ConnectionError> {
        let here = (Ipv4Addr::LOCALHOST, 0).into();
        let server = bind(&Udp, here, Some((server, identity))).unwrap();
        let controllers = Arc::new(CubicConfig::default());
        let client = Client::new(Arc::new(Udp), pinned, alpn, controllers, transport).unwrap();
        let accepting = async { server.accept().await.unwrap().await };
        let (_endpoint, connecting) = client.connect(server.local_addr().unwrap()).unwrap();
        let (connected, _) = tokio::join!(connecting, accepting);
        connected.map(drop)
    }

    #[tokio::test]
    async fn the_pinned_server_and_the_protocol_are_required() {
        let (own, other) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let server = || server_config(&own, ALPN, quiet()).unwrap();
        assert!(meet(server(), &own, own.fingerprint(), ALPN).await.is_ok());
        assert!(
            meet(server(), &own, other.fingerprint(), ALPN)
                .await
                .is_err()
        );
        assert!(
            meet(server(), &own, own.fingerprint(), b"else")
                .await
                .is_err()
        );
    }

    /// A certificate is public: whoever shows it must prove that its key is theirs.
    #[tokio::test]
    async fn a_copied_certificate_is_not_enough() {
        let (own, thief) = (Identity::generate().unwrap(), Identity::generate().unwrap());
        let key = rustls::crypto::ring::sign::any_supported_type(&thief.key.clone_key().into());
        let shown = CertifiedKey::new(vec![own.certificate.clone()], key.unwrap());
        let mut tls = rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(shown)));
        tls.alpn_protocols = vec![ALPN.to_vec()];
        let server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls).unwrap()));
        assert!(meet(server, &own, own.fingerprint(), ALPN).await.is_err());
    }

    #[test]
    fn fingerprints_are_written_and_read() {
        let fingerprint = Identity::generate().unwrap().fingerprint();
        assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        for text in [
            "",
            "00",
            &"0g".repeat(32),
            &"00".repeat(33),
            &"+0".repeat(32),
        ] {
            assert_eq!(text.parse::<Fingerprint>(), Err(FingerprintError));
        }
    }
}
