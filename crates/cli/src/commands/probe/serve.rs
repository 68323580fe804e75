//! The receiver of probes.

use std::net::SocketAddr;
use std::path::Path;

use program::failure::Failure;
use program::interrupt::{self, FAREWELL_TIME, Interrupt};
use program::output;
use quic::endpoint::Identity;
use quic::probe::Token;
use studies::probe::TcpServer;
use tokio::time::sleep;

use super::{Options, token};

/// Receives until Ctrl-C.
pub fn serve(options: &Options, listen: SocketAddr) -> Result<(), Failure> {
    let token = token::of_receiver(options.token.as_deref(), listen)?;
    let runtime = interrupt::runtime()?;
    let outcome = runtime.block_on(async {
        if options.tcp {
            over_tcp(options, listen, &token).await
        } else {
            over_quic(options, listen, &token).await
        }
    });
    // Connections that are still in use must not delay the end.
    runtime.shutdown_background();
    outcome
}

async fn over_tcp(options: &Options, listen: SocketAddr, token: &Token) -> Result<(), Failure> {
    let mut interrupt = Interrupt::listen()?;
    let failed = |error| Failure::failed(format_args!("cannot listen on {listen}: {error}"));
    let server = TcpServer::bind(listen, token).await.map_err(failed)?;
    say(options, server.address().map_err(failed)?, "over = \"tcp\"")?;
    tokio::select! {
        () = server.run() => {}
        () = interrupt.wait() => {}
    }
    Ok(())
}

async fn over_quic(options: &Options, listen: SocketAddr, token: &Token) -> Result<(), Failure> {
    let mut interrupt = Interrupt::listen()?;
    let identity = match &options.identity {
        Some(file) => quic::probe::identity_in(file)
            .map_err(|error| Failure::usage(format_args!("--identity: {error}")))?,
        None => Identity::generate().map_err(Failure::failed)?,
    };
    let server = quic::probe::serve(listen, &identity, token).map_err(Failure::failed)?;
    let over = format!(
        "over = \"quic\"\nfingerprint = \"{}\"",
        server.fingerprint()
    );
    say(options, server.address(), &over)?;
    interrupt.wait().await;
    // Senders that are informed of the end need not wait for it.
    drop(server);
    sleep(FAREWELL_TIME).await;
    Ok(())
}

/// Prints the values that the sender's file needs.
fn say(options: &Options, address: SocketAddr, over: &str) -> Result<(), Failure> {
    let token = options.token.as_deref().and_then(Path::file_name);
    let token = token.map(|name| format!("\ntoken = {:?}", name.to_string_lossy()));
    output::result(format_args!(
        "[[destination]]\naddress = \"{address}\"\n{over}{}",
        token.unwrap_or_default()
    ))?;
    if !options.quiet {
        output::note("receiving; the sender's file needs the lines above; Ctrl-C ends the command");
    }
    Ok(())
}
