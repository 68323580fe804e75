//! The path of a connection, as a scenario.

use crate::summary::{FlowSummary, KnownPath, POLICER_BURST, Summary};

/// The bytes that a sender may send before the path has answered (RFC 6928). A direction with no more payload shows nothing
/// of the path's rate.
const INITIAL_WINDOW_BYTES: u64 = 14_600;

/// A direction of a connection whose path is known.
#[derive(Debug, Clone, Copy)]
pub struct Direction<'s> {
    /// Its summary.
    pub flow: &'s FlowSummary,
    path: &'s KnownPath,
    /// The direction with the most payload, if it is another one. Its path is unknown.
    pub larger: Option<&'s FlowSummary>,
}

impl FlowSummary {
    /// True if it has no more payload than a sender sends before the path has answered: it shows nothing of the path's rate.
    pub fn is_brief(&self) -> bool {
        self.sent_bytes <= INITIAL_WINDOW_BYTES
    }

    /// The unknown part of the path, so that all of it is unknown; `None` if all parts are known.
    pub fn lacks(&self) -> Option<&'static str> {
        match self {
            _ if self.rtprop_ms.is_none() => Some("RTprop"),
            _ if self.btl_bw_ip_bps.is_none() => Some("BtlBw"),
            _ if self.lost.is_none() => Some("number of losses"),
            _ if self.path.is_none() => Some("path"),
            _ => None,
        }
    }
}

impl<'s> Direction<'s> {
    /// Of the directions that are wanted, and whose path is known, the one with the most payload. `None` if no such direction
    /// shows both RTprop and BtlBw.
    pub fn of(
        summary: &'s Summary,
        is_wanted: impl Fn(&FlowSummary) -> bool,
    ) -> Option<Direction<'s>> {
        let connections = summary.connections.iter();
        let flows = connections.flat_map(|connection| &connection.flows);
        let mut flows: Vec<&FlowSummary> = flows
            .filter(|flow| is_wanted(flow) && !flow.is_brief())
            .collect();
        flows.sort_by_key(|flow| u64::MAX - flow.sent_bytes);
        let known = |flow: &&'s FlowSummary| Some((*flow, flow.path.as_ref()?));
        let (flow, path) = flows.iter().find_map(known)?;
        let larger = flows.first().filter(|most| most.path.is_none()).copied();
        Some(Direction { flow, path, larger })
    }

    /// The scenario for a run, with one value for each key.
    pub fn scenario(&self) -> String {
        let path = self.path;
        let mut text = self.origin();
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
            text += &format!("policer = {{ rate = \"{rate}\", burst = \"{POLICER_BURST}\" }}\n");
        }
        let guess = self.flow.controller.as_ref();
        let controller = guess.map_or("cubic", |guess| guess.controller);
        text += &format!("\n[[flow]]\ncontroller = \"{controller}\"\n");
        text
    }

    /// The same path for advice, with the range that the capture supports for each key.
    pub fn ranges(&self) -> String {
        let mut text = self.origin() + "[path]\n";
        for (field, range) in self.path.ranges() {
            text += &format!("{field} = \"{range}\"\n");
        }
        text
    }

    fn origin(&self) -> String {
        let FlowSummary { from, to, .. } = self.flow;
        format!("# From {from} to {to}; {}.\n", self.flow.captured())
    }
}

#[cfg(test)]
mod tests {
    use super::{Direction, INITIAL_WINDOW_BYTES};
    use crate::{Summary, Trace};

    fn most(summary: &Summary) -> Option<Direction<'_>> {
        Direction::of(summary, |_| true)
    }

    fn captured() -> Summary {
        let mut trace = Trace::new();
        let keys = &include_bytes!("../data/quic.keys")[..];
        trace.read_keys(keys).expect("secrets");
        let capture = &include_bytes!("../data/quic.pcap")[..];
        trace.read(capture, &|| true).expect("a capture");
        Summary::alone(trace)
    }

    /// The answer of an upload is no path of its own, however few bytes the other directions have.
    #[test]
    fn the_direction_with_the_most_payload_counts_and_a_few_bytes_do_not() {
        let mut summary = captured();
        let mut upload = summary.connections[0].clone();
        upload.id = 1;
        let mut answer = upload.flows[0].clone();
        (answer.from, answer.sent_bytes) = ("answer".to_owned(), INITIAL_WINDOW_BYTES);
        upload.flows[0].path = None;
        upload.flows[0].sent_bytes += 1;
        upload.flows.push(answer);
        summary.connections.insert(0, upload);
        let found = most(&summary).expect("the other connection");
        let larger = found.larger.expect("the upload");
        assert_eq!(larger.sent_bytes, found.flow.sent_bytes + 1);
        assert_ne!(found.flow.from, "answer");
        assert!(Direction::of(&summary, |flow| flow.from == "answer").is_none());
        summary.connections.remove(0);
        assert!(most(&summary).expect("alone").larger.is_none());
    }

    #[test]
    fn the_origin_says_where_the_capture_was_taken() {
        let mut summary = captured();
        let origin = |summary: &Summary| {
            let text = most(summary).expect("a known path").ranges();
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
        let text = most(&summary).expect("a known path").scenario();
        assert!(text.contains("[path]\n# The rate that this connection had."));
        assert!(text.contains("# Lost at random.\nloss = "), "{text}");
    }
}
