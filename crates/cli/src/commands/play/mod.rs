//! `fullpipe play`: the page with the simulator, for a browser of this machine.

mod access;
mod advice;
mod answer;
mod runs;
mod server;

use std::net::{Ipv4Addr, SocketAddr};

use clap::Args;
use program::failure::Failure;
use program::interrupt::{self, Interrupt};
use program::output;
use tokio::net::TcpListener;

use access::Access;

/// Open the simulator as a page in a browser
#[derive(Debug, Args)]
#[command(after_help = "\
The command prints an address for a browser of this machine. The address has a secret, so that no other user and no other page can \
use the simulator: do not pass it on. Ctrl-C ends the command.

docs/play.md explains the page. crates/play/page makes it as files, which need no program: their simulator runs in the browser.")]
pub struct Options {
    /// Port to listen on, on the loopback address; 0 takes a free port
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Print only the address
    #[arg(long)]
    quiet: bool,
}

/// Serves the page until Ctrl-C.
pub fn run(options: &Options) -> Result<(), Failure> {
    let runtime = interrupt::runtime()?;
    let outcome = runtime.block_on(async {
        let mut interrupt = Interrupt::listen()?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let failed = |error| Failure::failed(format_args!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let access = Access::new(listener.local_addr().map_err(failed)?)?;
        output::result(access.address())?;
        if !options.quiet {
            output::note("open this address in a browser; Ctrl-C ends the command");
        }
        tokio::select! {
            () = server::serve(listener, access) => {}
            () = interrupt.wait() => {}
        }
        Ok(())
    });
    // Runs that are under way must not delay the end.
    runtime.shutdown_background();
    outcome
}
