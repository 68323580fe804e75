//! The proof that the sender knows the ticket's secret.

use noq::Connection;

use super::error::Error;
use super::ticket::Secret;

/// How long a proof is.
pub const PROOF_LEN: usize = blake3::OUT_LEN;

const EXPORTER_LABEL: &[u8] = b"EXPORTER-fullpipe-transfer-1";
const KEY_CONTEXT: &str = "fullpipe-transfer 1: the sender's proof of the ticket's secret";

/// The proof of `secret` in this TLS session and no other (RFC 8446, "Exporters"). Compares in constant time, as
/// [`blake3::Hash`] does.
pub fn proof(connection: &Connection, secret: Secret) -> Result<blake3::Hash, Error> {
    let mut session = [0; 32];
    connection
        .export_keying_material(&mut session, EXPORTER_LABEL, b"")
        .map_err(|_| Error::System("TLS exports no keying material".to_owned()))?;
    let key = blake3::derive_key(KEY_CONTEXT, &secret.0);
    Ok(blake3::keyed_hash(&key, &session))
}
