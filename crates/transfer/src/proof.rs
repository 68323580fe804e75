//! The sender's opening: the proof that it knows the ticket's secret, and its identity.

use quic::connection::Connection;
use ring::rand::SystemRandom;

use crate::error::Error;
use crate::ticket::Secret;

const PROOF_LEN: usize = blake3::OUT_LEN;
const SENDER_LEN: usize = 16;

/// The size of the opening in bytes.
pub const OPENING_LEN: usize = PROOF_LEN + SENDER_LEN;

const EXPORTER_LABEL: &[u8] = b"EXPORTER-fullpipe-transfer-1";
const KEY_CONTEXT: &str = "fullpipe-transfer 1: the sender's proof of the ticket's secret";

/// The identity of a running sender across its connections: 128 random bits, which only it and the receiver know. It
/// distinguishes a sender that reconnects from another one with the same ticket.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SenderId([u8; SENDER_LEN]);

impl SenderId {
    /// A new random identity.
    pub fn generate() -> Result<SenderId, Error> {
        let bytes = ring::rand::generate(&SystemRandom::new()).map_err(|_| Error::randomness())?;
        Ok(SenderId(bytes.expose()))
    }
}

/// The proof of `secret` in this TLS session and no other (RFC 8446, "Exporters"). Compares in constant time, as
/// [`blake3::Hash`] does.
fn proof(connection: &Connection, secret: Secret) -> Result<blake3::Hash, Error> {
    let mut session = [0; 32];
    connection
        .export_keying_material(&mut session, EXPORTER_LABEL, b"")
        .map_err(|_| Error::System("TLS exports no keying material".to_owned()))?;
    let key = blake3::derive_key(KEY_CONTEXT, &secret.0);
    Ok(blake3::keyed_hash(&key, &session))
}

/// The opening of `sender` on this connection.
pub fn opening(
    connection: &Connection,
    secret: Secret,
    sender: SenderId,
) -> Result<[u8; OPENING_LEN], Error> {
    let mut opening = [0; OPENING_LEN];
    let (to_proof, to_sender) = opening.split_at_mut(PROOF_LEN);
    to_proof.copy_from_slice(proof(connection, secret)?.as_bytes());
    to_sender.copy_from_slice(&sender.0);
    Ok(opening)
}

/// Checks an opening and returns the sender's identity.
///
/// # Errors
/// The proof is wrong.
pub fn check(
    connection: &Connection,
    secret: Secret,
    opening: &[u8; OPENING_LEN],
) -> Result<SenderId, Error> {
    let (given, from) = opening.split_at(PROOF_LEN);
    let mut sender = SenderId([0; SENDER_LEN]);
    sender.0.copy_from_slice(from);
    if proof(connection, secret)? != *given {
        return Err(Error::WrongSecret);
    }
    Ok(sender)
}
