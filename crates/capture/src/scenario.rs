//! The path of a connection as a scenario.

use units::{Duration, Rate};

use crate::summary::{FlowSummary, Summary};

/// The scenario of the connection with the most payload whose path is known, for a run: with one value each. `None` if no
/// connection shows both RTprop and BtlBw.
pub fn scenario(summary: &Summary) -> Option<String> {
    let path = Known::of(summary)?;
    let mut text = path.origin();
    text += "name = \"captured\"\nduration = \"30s\"\n\n[path]\n";
    if !path.flow.is_pipe_filled {
        text += "# At least: the connection did not fill the pipe.\n";
    }
    let (rate, rtt, buffer) = (path.rate, path.rtt, path.buffer);
    text += &format!("rate = \"{rate}\"\nrtt = \"{rtt}\"\n");
    text += "# The longest queue that was seen.\n";
    text += &format!("buffer = \"{buffer:.2}bdp\"\n");
    let loss = random_loss(path.flow);
    if loss > 0.0 {
        text += "# All losses, as the queue was short when they happened.\n";
        text += &format!("loss = \"{:.4}%\"\n", loss * 100.0);
    }
    text += &path.policer();
    let guess = path.flow.controller.as_ref();
    let controller = guess.map_or("cubic", |guess| guess.controller);
    text += &format!("\n[[flow]]\ncontroller = \"{controller}\"\n");
    Some(text)
}

/// The same path as ranges, within which the capture leaves it, for advice. `None` as with [`scenario`].
pub fn ranges(summary: &Summary) -> Option<String> {
    let path = Known::of(summary)?;
    // BtlBw is good to some percent, as a tenth of its windows exceed it; what never filled the pipe shows a lower bound.
    let most = if path.flow.is_pipe_filled { 103 } else { 400 };
    let least = path.scaled(97);
    let (rtt, most) = (path.rtt, path.scaled(most));
    let upper_rtt = Duration::from_nanos(rtt.as_nanos() / 100 * 102);
    let buffer = path.buffer;
    // Nothing was lost: the queue never filled the buffer.
    let longest = if path.flow.lost > 0 {
        buffer * 1.5
    } else {
        buffer.max(1.0) * 8.0
    };
    let share = path.loss() * 100.0;
    let random = random_loss(path.flow) * 100.0;
    let mut text = path.origin();
    text += &format!("[path]\nrate = \"{least}..{most}\"\nrtt = \"{rtt}..{upper_rtt}\"\n");
    text += &format!("buffer = \"{buffer:.2}bdp..{longest:.2}bdp\"\n");
    if share > 0.0 {
        text += &format!("loss = \"{:.4}%..{share:.4}%\"\n", random / 2.0);
    }
    text += &path.policer();
    Some(text)
}

/// A path that a flow shows.
struct Known<'s> {
    flow: &'s FlowSummary,
    rate: Rate,
    rtt: Duration,
    /// In BDP.
    buffer: f64,
}

impl Known<'_> {
    fn of(summary: &Summary) -> Option<Known<'_>> {
        let flows = summary.connections.iter();
        let mut flows = flows.flat_map(|connection| &connection.flows);
        let known = flows.find_map(|flow| Some((flow, flow.rtprop_ms?, flow.btl_bw_ip_bps?)));
        let (flow, rtprop, btl_bw) = known.filter(|(_, rtprop, _)| *rtprop > 0.0)?;
        let queue = flow.queue_ms.map_or(0.0, |queue| queue.max);
        Some(Known {
            flow,
            rate: Rate::from_bits_per_sec(three_digits(btl_bw)),
            rtt: Duration::from_micros(three_digits((rtprop * 1e3) as u64)),
            buffer: (queue / rtprop).max(0.1),
        })
    }

    fn origin(&self) -> String {
        let FlowSummary {
            from, to, place, ..
        } = self.flow;
        format!("# From {from} to {to}, captured at {place}.\n")
    }

    fn scaled(&self, percent: u64) -> Rate {
        Rate::from_bits_per_sec(three_digits(self.rate.bits_per_sec() / 100 * percent))
    }

    fn loss(&self) -> f64 {
        self.flow.lost as f64 / self.flow.packets.max(1) as f64
    }

    fn policer(&self) -> String {
        let policer = self.flow.policer_bps.map(three_digits);
        policer.map_or(String::new(), |rate| {
            let rate = Rate::from_bits_per_sec(rate);
            format!("# A burst that suits most policers.\npolicer = {{ rate = \"{rate}\", burst = \"100kb\" }}\n")
        })
    }
}

/// The share of packets that were lost while the queue was short.
fn random_loss(flow: &FlowSummary) -> f64 {
    let of_queue = flow.limited_by.map_or(0.0, |by| by.buffer);
    let share = flow.lost as f64 / flow.packets.max(1) as f64;
    if of_queue > 0.2 { 0.0 } else { share }
}

/// The number with three digits.
fn three_digits(number: u64) -> u64 {
    let power = 10_u64.pow(number.max(1).ilog10().saturating_sub(2));
    (number + power / 2) / power * power
}
