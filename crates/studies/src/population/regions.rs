//! Results by region.

use serde::Serialize;

use super::run::FlowResult;
use record::statistics::median;

/// The results of the members in one region.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Region {
    /// Its name.
    pub name: String,
    /// Its flows by controller, in the order in which controllers are met first.
    pub groups: Vec<Group>,
}

/// The flows of one controller in one region: medians over the flows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The controller.
    pub controller: String,
    /// How many flows there are.
    pub flows: usize,
    /// Of the median RTTs.
    pub rtt_p50_ms: Option<f64>,
    /// Of the 95th percentiles of the RTT.
    pub rtt_p95_ms: Option<f64>,
    /// Of the goodputs.
    pub goodput_bps: Option<f64>,
    /// Of the shares of time that videos stood still.
    pub stalled_share: Option<f64>,
}

impl Region {
    /// By which share the median RTT is lower with controller `of` than with `versus`, as the paper's figure 9 has it:
    /// 0.5 is half. Nothing if one of them has no flows.
    pub fn rtt_reduction(&self, of: &str, versus: &str) -> Option<f64> {
        let rtt = |name: &str| {
            let group = self.groups.iter().find(|group| group.controller == name);
            group?.rtt_p50_ms
        };
        Some(1.0 - rtt(of)? / rtt(versus)?)
    }
}

/// The results by region, in the order in which regions are met first.
pub fn regions(flows: &[FlowResult]) -> Vec<Region> {
    let mut names: Vec<&str> = Vec::new();
    for flow in flows {
        if !names.contains(&flow.region.as_str()) {
            names.push(&flow.region);
        }
    }
    names.into_iter().map(|name| region(name, flows)).collect()
}

/// By which share each member's median RTT is lower with controller `of` than with `versus`, with its region; members that
/// were not run with both are left out.
pub fn rtt_reductions<'f>(
    flows: &'f [FlowResult],
    of: &'f str,
    versus: &'f str,
) -> impl Iterator<Item = (&'f str, f64)> {
    // The flows of a member follow one another.
    let members = flows.chunk_by(|one, next| one.member == next.member);
    members.filter_map(move |member| {
        let rtt = |name: &str| {
            let flow = member.iter().find(|flow| flow.controller == name);
            flow?.rtt_p50_ms
        };
        Some((
            member.first()?.region.as_str(),
            1.0 - rtt(of)? / rtt(versus)?,
        ))
    })
}

fn region(name: &str, flows: &[FlowResult]) -> Region {
    let here: Vec<&FlowResult> = flows.iter().filter(|flow| flow.region == name).collect();
    let mut controllers: Vec<&str> = Vec::new();
    for flow in &here {
        if !controllers.contains(&flow.controller.as_str()) {
            controllers.push(&flow.controller);
        }
    }
    let group = |controller: &str| {
        let own = || here.iter().filter(|flow| flow.controller == controller);
        let middle =
            |value: fn(&FlowResult) -> Option<f64>| median(own().filter_map(|flow| value(flow)));
        Group {
            controller: controller.to_string(),
            flows: own().count(),
            rtt_p50_ms: middle(|flow| flow.rtt_p50_ms),
            rtt_p95_ms: middle(|flow| flow.rtt_p95_ms),
            goodput_bps: middle(|flow| Some(flow.goodput_bps as f64)),
            stalled_share: middle(|flow| flow.stalled_share),
        }
    };
    Region {
        name: name.to_string(),
        groups: controllers.into_iter().map(group).collect(),
    }
}
