//! The path of a connection, as a scenario.

use crate::summary::{BURST, FlowSummary, KnownPath, Summary};

/// The scenario for a run, with one value for each key. It has the path of the connection with the most payload whose path
/// is known. `None` if no connection shows both RTprop and BtlBw.
pub fn scenario(summary: &Summary) -> Option<String> {
    let (flow, path) = known(summary)?;
    let mut text = origin(flow);
    text += "name = \"captured\"\nduration = \"30s\"\n\n[path]\n";
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
        text += "# What was lost with a queue as it mostly was.\n";
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
    let FlowSummary {
        from, to, place, ..
    } = flow;
    format!("# From {from} to {to}, captured at {place}.\n")
}
