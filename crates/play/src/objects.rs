//! The objects of applications, each of which takes memory.

use scenario::FlowSpec;
use transport::app;
use units::Duration;

/// The expected number of objects of a group that are there in this time, however slow the network is: those that come by the clock,
/// and requests that need not wait for a response.
pub fn objects(flow: &FlowSpec, time: Duration) -> u64 {
    let within = |interval: Duration| time.as_nanos() / interval.as_nanos().max(1);
    let most = match flow.application() {
        app::Config::Poisson(poisson) => within(poisson.interval),
        app::Config::RateLimited(frames) => within(frames.rate.time_for(frames.write)),
        app::Config::Requests(requests) => u64::from(requests.outstanding),
        app::Config::Bulk | app::Config::Transfer { .. } | app::Config::Video(_) => return 0,
    };
    let of_each = flow.objects().unwrap_or(u64::MAX).min(most);
    of_each.saturating_mul(flow.count)
}
