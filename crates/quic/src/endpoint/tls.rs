//! TLS 1.3 that trusts one certificate.

use std::sync::Arc;

use noq_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use noq_proto::{ClientConfig, ServerConfig, TransportConfig};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, SignatureScheme};

use super::error::EndpointError;
use super::fingerprint::Fingerprint;
use super::identity::{Identity, provider};

/// The maximum number of connections that wait for a decision, which takes a moment.
const MAX_INCOMING: usize = 1024;

/// The maximum bytes that are kept of such a connection's packets after its first.
const MAX_INCOMING_BYTES: u64 = 16 << 10;

/// Returns the settings of a server that shows `identity` and speaks only the protocol `alpn`.
pub fn server_config(
    identity: &Identity,
    alpn: &[u8],
    transport: Arc<TransportConfig>,
) -> Result<ServerConfig, EndpointError> {
    let mut tls = identity.tls()?;
    tls.alpn_protocols = vec![alpn.to_vec()];
    let mut config = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(tls)?));
    config
        .transport_config(transport)
        .max_incoming(MAX_INCOMING)
        .incoming_buffer_size(MAX_INCOMING_BYTES)
        .incoming_buffer_size_total(MAX_INCOMING_BYTES * 64);
    Ok(config)
}

/// Returns the settings of a client that accepts only the server whose certificate has the fingerprint `server`, and
/// only the protocol `alpn`.
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

/// Accepts one certificate, whatever its contents, and requires the proof that the server has its key.
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
