//! The application of a flow: `app`.

use document::de::wrong;
use document::ser::tagged;
use serde::{Deserialize, Deserializer, Serializer};
use transport::app::{Config, Poisson, RateLimited, Requests, Video};
use units::bounds::positive;
use units::{Duration, Rate};

/// The maximum time for which frames may wait. Late frames are skipped, so that they do not delay later ones.
const MAX_BACKLOG: Duration = Duration::from_millis(500);

/// The form in scenarios: a name, or a table with `kind`. A transfer of one object is `flow.bytes`.
#[derive(Deserialize)]
#[serde(rename = "application", rename_all = "lowercase")]
enum Form {
    Bulk,
    Requests(Requests),
    Poisson(Arrivals),
    Rate(RateLimited),
    Video(Video),
}

/// Objects at random times, by the mean time between them or by their `load`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arrivals {
    #[serde(default, deserialize_with = "positive")]
    load: Option<Rate>,
    #[serde(rename = "*")]
    poisson: Poisson,
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Config, D::Error> {
    Ok(match Form::deserialize(deserializer)? {
        Form::Bulk => Config::Bulk,
        Form::Requests(requests) => Config::Requests(requests),
        Form::Poisson(Arrivals { load, mut poisson }) => {
            let is_given = !poisson.interval.is_zero();
            poisson.interval = match load {
                Some(_) if is_given => {
                    let reason = "there is an interval already; give one of the two";
                    return Err(wrong("load", reason));
                }
                Some(load) => load.time_for(poisson.sizes.mean()),
                None if is_given => poisson.interval,
                None => {
                    let reason = "is missing; give the mean time between arrivals, or their load";
                    return Err(wrong("interval", reason));
                }
            };
            Config::Poisson(poisson)
        }
        Form::Rate(mut limited) => {
            if limited.backlog.is_zero() {
                limited.backlog = limited.rate.bytes_in(MAX_BACKLOG).max(limited.write);
            }
            Config::RateLimited(limited)
        }
        Form::Video(video) => Config::Video(video),
    })
}

pub fn serialize<S: Serializer>(app: &Config, serializer: S) -> Result<S::Ok, S::Error> {
    match app {
        Config::Transfer { .. } => tagged(&Config::Bulk, serializer),
        app => tagged(app, serializer),
    }
}

/// The application's name in scenarios; `None` for bulk data and single transfers.
pub fn kind(app: &Config) -> Option<&'static str> {
    match app {
        Config::Bulk | Config::Transfer { .. } => None,
        Config::Requests(_) => Some("requests"),
        Config::Poisson(_) => Some("poisson"),
        Config::RateLimited(_) => Some("rate"),
        Config::Video(_) => Some("video"),
    }
}

/// True if the application never ends.
pub fn is_endless(app: &Config) -> bool {
    match app {
        Config::Bulk | Config::RateLimited(_) => true,
        Config::Transfer { .. } => false,
        Config::Requests(requests) => requests.count.is_none(),
        Config::Poisson(poisson) => poisson.count.is_none(),
        Config::Video(video) => video.length.is_none(),
    }
}

/// The number of objects or frames that the application begins by itself in this time, whatever the network does, and
/// the field with their rate; `None` if it waits for the network.
pub fn begun_within(app: &Config, time: Duration) -> Option<(&'static str, u64)> {
    let within = |interval: Duration| time.as_nanos() / interval.as_nanos().max(1);
    match app {
        Config::Bulk | Config::Transfer { .. } | Config::Requests(_) | Config::Video(_) => None,
        Config::Poisson(poisson) => {
            let most = poisson.count.unwrap_or(u64::MAX);
            Some(("interval", within(poisson.interval).min(most)))
        }
        Config::RateLimited(limited) => {
            let write = limited.write.get().max(1);
            Some(("write", limited.rate.bytes_in(time).get() / write))
        }
    }
}
