//! The identity of a server.

use std::sync::Arc;

use noq_proto::EndpointConfig;
use noq_proto::HashedConnectionIdGenerator;
use ring::hmac;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use super::error::EndpointError;
use super::fingerprint::Fingerprint;

/// The name in every certificate. Nothing depends on it: only the fingerprint identifies a server.
pub const SERVER_NAME: &str = "fullpipe";

/// The largest UDP payload that an endpoint accepts: any (RFC 9000, "max_udp_payload_size").
const ANY_PAYLOAD: u16 = 65_527;

/// A server's certificate and its private key.
#[derive(Debug)]
pub struct Identity {
    pub(super) certificate: CertificateDer<'static>,
    pub(super) key: PrivatePkcs8KeyDer<'static>,
}

impl Identity {
    /// Makes a new key with a self-signed certificate.
    pub fn generate() -> Result<Identity, EndpointError> {
        let made = rcgen::generate_simple_self_signed([SERVER_NAME.to_owned()])?;
        Ok(Identity {
            certificate: made.cert.der().clone(),
            key: PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()),
        })
    }

    /// Returns the identity with these parts, from [`Identity::certificate_der`] and [`Identity::key_der`]. They are
    /// checked when they are used.
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

    /// The private key in its encoded form (PKCS #8). It is secret.
    pub fn key_der(&self) -> &[u8] {
        self.key.secret_pkcs8_der()
    }

    /// True if the bytes are a certificate and its key.
    pub fn is_sound(&self) -> bool {
        self.tls().is_ok()
    }

    /// The TLS settings with which a server proves its identity.
    pub(super) fn tls(&self) -> Result<rustls::ServerConfig, rustls::Error> {
        rustls::ServerConfig::builder_with_provider(provider())
            .with_protocol_versions(&[&rustls::version::TLS13])?
            .with_no_client_auth()
            .with_single_cert(vec![self.certificate.clone()], self.key.clone_key().into())
    }

    /// The settings of this server's endpoint.
    ///
    /// The keys of stateless resets and connection IDs are derived from the private key. So a server that was killed
    /// and restarted with its identity recognizes the connections of its former process, and tells their peers at once
    /// that it does not know them any more (RFC 9000, "Stateless Reset"). Otherwise they would learn it only from their
    /// idle timeout.
    pub(crate) fn endpoint_config(&self) -> EndpointConfig {
        let derive = |context| blake3::derive_key(context, self.key_der());
        let reset_key = derive("fullpipe 1: a server's key for stateless reset tokens");
        let mut config =
            EndpointConfig::new(Arc::new(hmac::Key::new(hmac::HMAC_SHA256, &reset_key)));
        let [a, b, c, d, e, f, g, h, ..] = derive("fullpipe 1: a server's key for connection IDs");
        let key = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
        config.cid_generator(Arc::new(move || {
            Box::new(HashedConnectionIdGenerator::from_key(key))
        }));
        // The call refuses only sizes below 1200.
        let _ = config.max_udp_payload_size(ANY_PAYLOAD);
        config
    }

    /// The fingerprint by which a client recognizes this server.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.certificate)
    }
}

/// The cryptographic provider of TLS.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
