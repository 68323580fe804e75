//! The path of a connection, as a scenario.

use crate::summary::{BURST, FlowSummary, KnownPath, Summary};

/// The scenario for a run, with one value for each key. It has the path of the connection with the most payload whose path
/// is known. `None` if no connection shows both RTprop and BtlBw.
pub fn scenario(summary: &Summary) -> Option<String> {
    let (flow, path) = known(summary)?;
    let mut text = origin(flow);
    text += "name = \"captured\"\nduration = \"30s\"\n\n[path]\n";
    text += "# The rate that this connection had. If others shared the path, the path's rate is higher.\n";
    if !path.is_pipe_filled {
        text += "# At least: the connection did not fill the pipe.\n";
    }
    let (rate, rtt, buffer) = (path.rate, path.rtt, path.buffer);
    text += &format!("rate = \"{rate}\"\nrtt = \"{rtt}\"\n");
    text += if path.is_buffer_known() {
        "# The queue at which packets were dropped.\n"
    } else {
        "# The longest queue that was seen.\n"
    };
    text += &format!("buffer = \"{buffer:.2}bdp\"\n");
    let random = path.random_loss();
    if random > 0.0 {
        text += "# Lost at random.\n";
        text += &format!("loss = \"{:.4}%\"\n", random * 100.0);
    }
    if let Some(rate) = path.policed {
        text += "# A burst that suits most policers.\n";
        text += &format!("policer = {{ rate = \"{rate}\", burst = \"{BURST}\" }}\n");
    }
    let guess = flow.controller.as_ref();
    let controller = guess.map_or("cubic", |guess| guess.controller);
    text += &format!("\n[[flow]]\ncontroller = \"{controller}\"\n");
    Some(text)
}

/// The same path for advice, with the range that the capture supports for each key. `None` as with [`scenario`].
pub fn ranges(summary: &Summary) -> Option<String> {
    let (flow, path) = known(summary)?;
    let mut text = origin(flow) + "[path]\n";
    for (field, range) in path.ranges() {
        text += &format!("{field} = \"{range}\"\n");
    }
    Some(text)
}

fn known(summary: &Summary) -> Option<(&FlowSummary, &KnownPath)> {
    let flows = summary.connections.iter();
    let mut flows = flows.flat_map(|connection| &connection.flows);
    flows.find_map(|flow| Some((flow, flow.path.as_ref()?)))
}

fn origin(flow: &FlowSummary) -> String {
    let (from, to) = (&flow.from, &flow.to);
    format!("# From {from} to {to}; {}.\n", flow.captured())
}

#[cfg(test)]
mod tests {
    use crate::{Summary, Trace};

    #[test]
    fn the_origin_says_where_the_capture_was_taken() {
        let mut trace = Trace::new();
        let keys = &include_bytes!("../data/quic.keys")[..];
        trace.read_keys(keys).expect("secrets");
        let capture = &include_bytes!("../data/quic.pcap")[..];
        trace.read(capture, &|| true).expect("a capture");
        let mut summary = Summary::alone(trace);
        let origin = |summary: &Summary| {
            let text = super::ranges(summary).expect("a known path");
            text.lines().next().unwrap_or_default().to_owned()
        };
        let at_sender = origin(&summary);
        assert!(
            at_sender.ends_with("; captured at the sender."),
            "{at_sender}"
        );
        summary.connections[0].flows[0].place = "unknown";
        let nowhere = origin(&summary);
        assert!(
            nowhere.ends_with("; the place of the capture is unknown."),
            "{nowhere}"
        );
        let text = super::scenario(&summary).expect("a known path");
        assert!(text.contains("[path]\n# The rate that this connection had."));
        assert!(text.contains("# Lost at random.\nloss = "), "{text}");
    }
}
