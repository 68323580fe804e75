//! Checks of a whole scenario.

use document::{DocumentError, Reason};
use transport::app::Config;
use transport::segment::HEADERS;
use units::{Bytes, Duration};

use super::app;
use super::flow::FlowSpec;
use super::network::Network;
use super::scenario::Scenario;

/// The maximum number of flows. With more, a run measures memory.
pub const MAX_FLOWS: u64 = 100_000;

/// The maximum number of objects and frames that the applications of a group begin. More take hours and show a mistake
/// in a unit.
const MAX_APP_EVENTS: u64 = 100_000_000;

impl Scenario {
    /// Checks that the fields are consistent. Scenarios that were read are checked already.
    ///
    /// # Errors
    ///
    /// They are not. The error names the field to change.
    pub fn check(&self) -> Result<(), DocumentError> {
        for (place, hop) in self.hops().enumerate() {
            let name = self.hop_name(place);
            hop.check_fields(&name)
                .map_err(|error| error.within(&name))?;
        }
        self.check_flows()?;
        let network = self.check_network()?;
        self.check_delays(&network)?;
        self.check_hosts(&network)?;
        match self.duration {
            Some(duration) => self.check_times(duration),
            None if self.flows.iter().any(FlowSpec::is_endless) => {
                let reason = "is missing; give one, or every flow its bytes";
                Err(DocumentError::new("duration", reason))
            }
            None => Ok(()),
        }
    }

    /// Checks that there are flows, not too many of them, and that each has one thing to send and valid settings.
    fn check_flows(&self) -> Result<(), DocumentError> {
        if self.flows.is_empty() {
            let reason = "nobody sends; add [[flow]] with controller = \"bbr1\"";
            return Err(DocumentError::new("flow", reason));
        }
        let counts = self.flows.iter().map(|flow| flow.count);
        let count = counts.fold(0, u64::saturating_add);
        if count > MAX_FLOWS {
            let reason = Reason::of(count).words(format!(" flows are more than {MAX_FLOWS}"));
            return Err(DocumentError::new("flow.count", reason));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if flow.bytes.is_some() && flow.app != Config::Bulk {
                let reason = "an application has sizes of its own; give one of bytes and app";
                return Err(self.flow_error(index, "bytes", reason));
            }
            let app = flow.app.validate().map_err(DocumentError::from);
            app.map_err(|error| self.of_flow(index, error.within("app")))?;
            let bbr1 = flow.bbr1.map_or(Ok(()), |bbr1| bbr1.check());
            bbr1.map_err(|error| self.of_flow(index, error.within("bbr1")))?;
        }
        Ok(())
    }

    /// Checks that all events begin within the run.
    fn check_times(&self, duration: Duration) -> Result<(), DocumentError> {
        if self.warmup >= duration {
            let reason = format!(" leaves nothing of a run of {duration}");
            let reason = Reason::of(self.warmup).words(reason);
            return Err(DocumentError::new("warmup", reason));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if flow.start >= duration {
                let reason = format!(" is not before the end of a run of {duration}");
                let reason = Reason::of(flow.start).words(reason);
                return Err(self.flow_error(index, "start", reason));
            }
            if let Some(last) = flow.starts().last().filter(|last| *last >= duration) {
                let reason = format!(
                    " has the last of {} flows start at {last}, which is not before the end of a run of {duration}",
                    flow.count
                );
                let reason = Reason::of(flow.stagger).words(reason);
                return Err(self.flow_error(index, "stagger", reason));
            }
            let lives = duration.saturating_sub(flow.start);
            if let Some((field, begun)) = app::begun_within(&flow.app, lives)
                && let events = begun.saturating_mul(flow.count)
                && events > MAX_APP_EVENTS
            {
                let reason = format!(
                    "makes {events} objects in a run of {duration}, more than {MAX_APP_EVENTS}; give a larger {field}"
                );
                return Err(self.flow_error(index, &format!("app.{field}"), reason));
            }
        }
        Ok(())
    }

    /// Checks that links change their RTprop by no more than they have.
    fn check_delays(&self, network: &Network<'_>) -> Result<(), DocumentError> {
        let links = network.links().iter().enumerate();
        for ((place, hop), delay) in links.zip(network.link_delays()) {
            for (index, change) in hop.data.changes.iter().enumerate() {
                let shorter = change.rtt.map(|rtt| hop.rtt.saturating_sub(rtt));
                if shorter.is_some_and(|shorter| shorter > delay) {
                    let field = format!("change[{index}].rtt");
                    let reason = format!(
                        "shortens the way by more than the {delay} that all flows share; give a longer one, or flows \
                         longer RTTs"
                    );
                    return Err(DocumentError::new(field, reason).within(&self.hop_name(place)));
                }
            }
        }
        Ok(())
    }

    /// Checks that packets fit the links and buffers, and that timeouts are in order.
    fn check_hosts(&self, network: &Network<'_>) -> Result<(), DocumentError> {
        for (index, flow) in self.flows.iter().enumerate() {
            let host = flow.host.over(&self.host);
            let wrong = |is_own: bool, field: &str, reason: Reason| {
                let error = DocumentError::new(field, reason).within("host");
                if is_own {
                    self.of_flow(index, error)
                } else {
                    error
                }
            };
            if let (Some(min), Some(max)) = (host.min_rto, host.max_rto)
                && min > max
            {
                let reason = format!(" is shorter than min_rto, which is {min}");
                let reason = Reason::of(max).words(reason);
                return Err(wrong(flow.host.max_rto.is_some(), "max_rto", reason));
            }
            if let Some(mss) = host.mss
                && let packet = Bytes::new(mss) + HEADERS
                && let Some((mtu, link)) = network.least_mtu(index)
                && packet > mtu.bytes()
            {
                let most = (mtu.bytes() - HEADERS).get();
                let reason = format!(
                    " makes packets of {} bytes, more than the {mtu} of ",
                    packet.get()
                );
                let reason = Reason::of(mss).words(reason).field(link + ".mtu");
                let reason = reason.words(format!("; leave it out, or give at most {most}"));
                return Err(wrong(flow.host.mss.is_some(), "mss", reason));
            }
            if let Some(mss) = host.mss
                && let packet = Bytes::new(mss) + HEADERS
                && let Some(link) = network.too_small(index, packet)
            {
                let reason = format!(" makes packets of {packet}, which ");
                let reason = Reason::of(mss).words(reason).field(link);
                let reason = reason.words(" has no room for");
                return Err(wrong(flow.host.mss.is_some(), "mss", reason));
            }
        }
        Ok(())
    }
}
