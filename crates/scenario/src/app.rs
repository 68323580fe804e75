//! What a flow sends, and when: `app`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use transport::app::{Config, Connections, Pause, Poisson, RateLimited, Requests, Sizes, Video};
use units::{Bytes, Duration, Rate, Ratio};

use super::bounds::{as_text, number, positive};
use super::de::wrong;
use super::ser::tagged;

/// Half a second of frames may wait, so that what is late is skipped and not added to what is later.
const BACKLOG: Duration = Duration::from_millis(500);

/// As scenarios have it: a name, or a table with `kind`. A transfer of one object is `flow.bytes`.
#[derive(Serialize, Deserialize)]
#[serde(rename = "application", rename_all = "lowercase", deny_unknown_fields)]
enum Form {
    Bulk,
    Requests(#[serde(with = "RequestsForm")] Requests),
    Poisson(PoissonForm),
    Rate(RateForm),
    Video(#[serde(with = "VideoForm")] Video),
}

#[derive(Serialize, Deserialize)]
#[serde(
    remote = "Requests",
    default = "Requests::default",
    deny_unknown_fields
)]
struct RequestsForm {
    request: Bytes,
    #[serde(with = "SizesForm")]
    response: Sizes,
    #[serde(with = "PauseForm")]
    think: Pause,
    #[serde(serialize_with = "as_text")]
    count: Option<u64>,
    outstanding: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PoissonForm {
    #[serde(default, deserialize_with = "positive")]
    interval: Option<Duration>,
    #[serde(default, deserialize_with = "positive")]
    load: Option<Rate>,
    #[serde(with = "SizesForm")]
    sizes: Sizes,
    #[serde(default)]
    connections: Connections,
    #[serde(default, serialize_with = "as_text")]
    count: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RateForm {
    #[serde(deserialize_with = "positive")]
    rate: Rate,
    #[serde(deserialize_with = "positive")]
    write: Bytes,
    backlog: Option<Bytes>,
    #[serde(default, deserialize_with = "positive")]
    deadline: Option<Duration>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Video", default = "Video::default", deny_unknown_fields)]
struct VideoForm {
    chunk: Duration,
    ladder: Vec<Rate>,
    startup: Duration,
    max_buffer: Duration,
    length: Option<Duration>,
    request: Bytes,
}

/// `"1s"`, or `{ mean = "1s" }` for one that is exponentially distributed.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Pause")]
enum PauseForm {
    #[serde(rename = "")]
    Fixed(Duration),
    #[serde(rename = "{}", with = "mean")]
    Exponential(Duration),
}

mod mean {
    use super::*;

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Mean {
        mean: Duration,
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Mean::deserialize(deserializer).map(|pause| pause.mean)
    }

    pub fn serialize<S: Serializer>(mean: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        Mean { mean: *mean }.serialize(serializer)
    }
}

/// `"100kb"`, a list to choose from, or a distribution.
#[derive(Serialize, Deserialize)]
#[serde(
    remote = "Sizes",
    rename = "distribution",
    rename_all = "lowercase",
    deny_unknown_fields
)]
enum SizesForm {
    #[serde(rename = "", deserialize_with = "positive")]
    Fixed(Bytes),
    #[serde(rename = "[]")]
    List(Vec<Bytes>),
    LogNormal {
        median: Bytes,
        #[serde(with = "number")]
        sigma: Ratio,
    },
    Pareto {
        min: Bytes,
        #[serde(with = "number")]
        shape: Ratio,
        max: Bytes,
    },
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Config, D::Error> {
    let app = match Form::deserialize(deserializer)? {
        Form::Bulk => Config::Bulk,
        Form::Requests(requests) => Config::Requests(requests),
        Form::Poisson(PoissonForm {
            interval,
            load,
            sizes,
            connections,
            count,
        }) => {
            let interval = match (interval, load) {
                (Some(interval), None) => interval,
                (None, Some(load)) => load.time_for(sizes.mean()),
                (Some(_), Some(_)) => {
                    return Err(wrong(
                        "load",
                        "there is an interval already; give one of the two",
                    ));
                }
                (None, None) => {
                    let reason = "is missing; give the mean time between arrivals, or their load";
                    return Err(wrong("interval", reason));
                }
            };
            Config::Poisson(Poisson {
                interval,
                sizes,
                connections,
                count,
            })
        }
        Form::Rate(RateForm {
            rate,
            write,
            backlog,
            deadline,
        }) => {
            let backlog = backlog.unwrap_or_else(|| rate.bytes_in(BACKLOG).max(write));
            Config::RateLimited(RateLimited {
                rate,
                write,
                backlog,
                deadline,
            })
        }
        Form::Video(video) => Config::Video(video),
    };
    app.validate()
        .map_err(|error| wrong(error.field(), error.problem()))?;
    Ok(app)
}

pub fn serialize<S: Serializer>(app: &Config, serializer: S) -> Result<S::Ok, S::Error> {
    let form = match app.clone() {
        Config::Bulk | Config::Transfer { .. } => Form::Bulk,
        Config::Requests(requests) => Form::Requests(requests),
        Config::Poisson(Poisson {
            interval,
            sizes,
            connections,
            count,
        }) => Form::Poisson(PoissonForm {
            interval: Some(interval),
            load: None,
            sizes,
            connections,
            count,
        }),
        Config::RateLimited(RateLimited {
            rate,
            write,
            backlog,
            deadline,
        }) => Form::Rate(RateForm {
            rate,
            write,
            backlog: Some(backlog),
            deadline,
        }),
        Config::Video(video) => Form::Video(video),
    };
    tagged(&form, serializer)
}

/// What scenarios call the application; nothing for bulk data and single transfers.
pub fn kind(app: &Config) -> Option<&'static str> {
    match app {
        Config::Bulk | Config::Transfer { .. } => None,
        Config::Requests(_) => Some("requests"),
        Config::Poisson(_) => Some("poisson"),
        Config::RateLimited(_) => Some("rate"),
        Config::Video(_) => Some("video"),
    }
}

/// Whether the application goes on for ever.
pub fn is_endless(app: &Config) -> bool {
    match app {
        Config::Bulk | Config::RateLimited(_) => true,
        Config::Transfer { .. } => false,
        Config::Requests(requests) => requests.count.is_none(),
        Config::Poisson(poisson) => poisson.count.is_none(),
        Config::Video(video) => video.length.is_none(),
    }
}

/// How many objects or frames the application begins on its own in this time, whatever the network does, and the field
/// that says how often; nothing if it waits for the network.
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
