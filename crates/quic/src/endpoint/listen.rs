//! The listening side.

use std::net::SocketAddr;
use std::sync::Arc;

use noq_proto::ServerConfig;

use super::error::EndpointError;
use super::identity::Identity;
use crate::connection::Listener;
use crate::driver::{Driver, Environment};

/// Opens a socket in this environment at `address` (port 0: any free port) for connections as `config` and `identity` say,
/// with a thread for them. An IPv6 wildcard address serves IPv4, too, where the system supports it. Its packets are
/// ECN-capable, so its controllers must [respond to marks](crate::controller::Controllers::responds_to_ecn).
///
/// # Errors
/// The system cannot open the socket or start a thread.
pub fn listen(
    environment: Arc<dyn Environment>,
    address: SocketAddr,
    config: ServerConfig,
    identity: &Identity,
) -> Result<Listener, EndpointError> {
    let driver = Driver::start_on(environment).map_err(EndpointError::Thread)?;
    Listener::open(driver, address, (identity.endpoint_config(), config))
}
