//! A process that receives.

use std::error::Error;
use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Child, Command, Stdio};

use quic::bulk::serve;
use quic::endpoint::Fingerprint;

/// The argument that makes this program receive.
pub const RECEIVE: &str = "receive";

/// Receives until the process that started it is gone.
pub fn receive() -> Result<(), Box<dyn Error>> {
    let server = serve((Ipv4Addr::LOCALHOST, 0).into())?;
    println!("{} {}", server.address(), server.fingerprint());
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

/// The receiving process. It ends when this is dropped.
pub struct Receiver {
    child: Child,
    pub address: SocketAddr,
    pub fingerprint: Fingerprint,
}

impl Receiver {
    pub fn start() -> Result<Receiver, Box<dyn Error>> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(RECEIVE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let (address, fingerprint) = line.trim().split_once(' ').ok_or("no receiver")?;
        Ok(Receiver {
            child,
            address: address.parse()?,
            fingerprint: fingerprint.parse()?,
        })
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        // This closes the process's input.
        let _ = self.child.wait();
    }
}
