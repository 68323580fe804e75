//! Runs a scenario in the simulator and prints it as `fullpipe run` does; then changes a field and runs it again.
//! `cargo run -p fullpipe-lab --example run`

use lab::{Cancel, Engine, Sim};
use scenario::Draft;

const SCENARIO: &str = r#"
name = "example"
duration = "10s"

[path]
rate = "20mbit"
rtt = "40ms"
buffer = "4bdp"
loss = "0.1%"

[[flow]]
controller = "bbr1"

[[flow]]
controller = "cubic"
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut draft = Draft::parse(SCENARIO, ".".as_ref())?;
    for loss in ["0.1%", "2%"] {
        // The same as `--set path.loss=2%`.
        draft.set("path.loss", loss)?;
        let scenario = draft.read()?;
        // Another engine runs the same scenario: `lab::Quic`, `lab::Linux`.
        let record = Sim::new().run(&scenario, &|_progress| (), &Cancel::new())?;
        println!("with {loss} of loss:");
        print!("{}", report::table(std::slice::from_ref(&record), None));
        // The numbers are in the record's summary, and all observations beside it, sample by sample.
        for flow in &record.summary.flows {
            let resent = flow.retransmitted_bytes.unwrap_or(0);
            println!("{}: {resent} bytes sent again", flow.controller);
        }
        println!();
    }
    Ok(())
}
