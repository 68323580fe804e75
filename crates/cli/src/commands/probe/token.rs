//! The token of a receiver, which senders must know.

use std::env::VarError;
use std::fmt::Display;
use std::fs;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use program::failure::Failure;
use program::output;
use quic::probe::Token;
use studies::probe::Host;

/// The environment variable for a receiver's token. Only the owner of a process can read its environment (proc(5),
/// "environ").
const VARIABLE: &str = "FULLPIPE_PROBE_TOKEN";

/// The hosts. Hosts without a token of their own get the token of the environment.
pub fn for_all(hosts: &[Host]) -> Result<Vec<Host>, Failure> {
    let mut hosts = hosts.to_vec();
    if let Some(token) = of_environment()? {
        for host in hosts.iter_mut().filter(|host| host.token.is_none()) {
            host.token = token.clone();
        }
    }
    Ok(hosts)
}

/// The token of a receiver at `listen`: from this file, or from the environment, or none if no network can reach the
/// address.
pub fn of_receiver(file: Option<&Path>, listen: SocketAddr) -> Result<Token, Failure> {
    let token = match file {
        Some(file) => Some(of_file(file)?),
        None => of_environment()?,
    };
    match token {
        Some(token) => Ok(token),
        None if listen.ip().to_canonical().is_loopback() => Ok(Token::none()),
        None => Err(Failure::usage(format_args!(
            "--listen {listen}: a network can reach this address, so give --token FILE or set {VARIABLE}, \
             or listen on a loopback address"
        ))),
    }
}

/// Warns if others can read the file.
fn of_file(file: &Path) -> Result<Token, Failure> {
    let token = Token::in_file_or_new(file)
        .map_err(|error| Failure::usage(format_args!("--token: {error}")))?;
    let mode = fs::metadata(file).map_or(0, |file| file.permissions().mode());
    if mode & 0o077 != 0 {
        let file = file.display();
        output::note(format_args!(
            "warning: --token {file}: other users can read or change it; chmod 600 {file} keeps it secret"
        ));
    }
    Ok(token)
}

fn of_environment() -> Result<Option<Token>, Failure> {
    let wrong = |error: &dyn Display| Failure::usage(format_args!("{VARIABLE}: {error}"));
    match std::env::var(VARIABLE) {
        Ok(text) => Token::parse(&text).map(Some).map_err(|error| wrong(&error)),
        Err(VarError::NotPresent) => Ok(None),
        Err(error) => Err(wrong(&error)),
    }
}
