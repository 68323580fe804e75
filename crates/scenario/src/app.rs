//! What a flow sends, and when: `app`.

use toml::{Table, Value as Toml};
use transport::app::{Config, Connections, Pause, Poisson, RateLimited, Requests, Sizes, Video};
use units::{Bytes, Rate, Ratio};

use super::error::ScenarioError;
use super::value::{Fields, Value};

/// The applications, as `kind` calls them. A transfer of one object is `flow.bytes`.
const KINDS: [&str; 5] = ["bulk", "requests", "poisson", "rate", "video"];

/// The fields of `flow.app`, by kind; each has `kind` beside them.
pub const REQUESTS: [&str; 6] = [
    "kind",
    "request",
    "response",
    "think",
    "count",
    "outstanding",
];
pub const POISSON: [&str; 6] = ["kind", "interval", "load", "sizes", "connections", "count"];
pub const RATE: [&str; 5] = ["kind", "rate", "write", "backlog", "deadline"];
pub const VIDEO: [&str; 7] = [
    "kind",
    "chunk",
    "ladder",
    "startup",
    "max_buffer",
    "length",
    "request",
];

pub const LOGNORMAL: [&str; 3] = ["kind", "median", "sigma"];
pub const PARETO: [&str; 4] = ["kind", "min", "shape", "max"];

/// Half a second of frames may wait, so that what is late is skipped and not added to what is later.
const BACKLOG: units::Duration = units::Duration::from_millis(500);

/// Reads `app`; the error's field is relative to it.
pub fn read(value: &Value) -> Result<Config, ScenarioError> {
    let (kind, table) = value.kind("application", &KINDS)?;
    let fields = |known| table.fields("{ kind = \"requests\", response = \"100kb\" }", known);
    let app = match kind {
        "requests" => Config::Requests(requests(&fields(&REQUESTS)?)?),
        "poisson" => Config::Poisson(poisson(&fields(&POISSON)?)?),
        "rate" => Config::RateLimited(rate(&fields(&RATE)?)?),
        "video" => Config::Video(video(&fields(&VIDEO)?)?),
        _ => {
            fields(&["kind"])?;
            Config::Bulk
        }
    };
    app.validate()
        .map_err(|error| ScenarioError::new(error.field(), error.problem()))?;
    Ok(app)
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
pub fn begun_within(app: &Config, time: units::Duration) -> Option<(&'static str, u64)> {
    let within = |interval: units::Duration| time.as_nanos() / interval.as_nanos().max(1);
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

fn requests(fields: &Fields<'_>) -> Result<Requests, ScenarioError> {
    let usual = Requests::default();
    Ok(Requests {
        request: fields.or("request", usual.request, Value::parse)?,
        response: fields.or("response", usual.response, sizes)?,
        think: fields.or("think", usual.think, pause)?,
        count: fields.optional("count", Value::whole)?,
        outstanding: fields.or("outstanding", usual.outstanding, Value::parse)?,
    })
}

fn poisson(fields: &Fields<'_>) -> Result<Poisson, ScenarioError> {
    let sizes = fields.required("sizes", sizes)?;
    let interval = fields.optional("interval", Value::positive_time)?;
    let load = fields.optional("load", Value::positive_rate)?;
    let interval = match (interval, load) {
        (Some(interval), None) => interval,
        (None, Some(load)) => load.time_for(sizes.mean()),
        (Some(_), Some(_)) => {
            return Err(ScenarioError::new(
                "load",
                "there is an interval already; give one of the two",
            ));
        }
        (None, None) => {
            return Err(ScenarioError::new(
                "interval",
                "is missing; give the mean time between arrivals, or their load",
            ));
        }
    };
    let connections = |value: &Value| {
        let known = [("new", Connections::New), ("kept", Connections::Kept)];
        value.one_of("way to use connections", &known)
    };
    Ok(Poisson {
        interval,
        sizes,
        connections: fields.or("connections", Connections::New, connections)?,
        count: fields.optional("count", Value::whole)?,
    })
}

fn rate(fields: &Fields<'_>) -> Result<RateLimited, ScenarioError> {
    let rate = fields.required("rate", Value::positive_rate)?;
    let write = fields.required("write", Value::positive_size)?;
    let backlog = rate.bytes_in(BACKLOG).max(write);
    Ok(RateLimited {
        rate,
        write,
        backlog: fields.or("backlog", backlog, Value::parse)?,
        deadline: fields.optional("deadline", Value::positive_time)?,
    })
}

fn video(fields: &Fields<'_>) -> Result<Video, ScenarioError> {
    let usual = Video::default();
    Ok(Video {
        chunk: fields.or("chunk", usual.chunk, Value::parse)?,
        ladder: fields.or("ladder", usual.ladder, |value| {
            value.list(Value::positive_rate)
        })?,
        startup: fields.or("startup", usual.startup, Value::parse)?,
        max_buffer: fields.or("max_buffer", usual.max_buffer, Value::parse)?,
        length: fields.optional("length", Value::parse)?,
        request: fields.or("request", usual.request, Value::parse)?,
    })
}

/// `"1s"`, or `{ mean = "1s" }` for one that is exponentially distributed.
fn pause(value: &Value) -> Result<Pause, ScenarioError> {
    if let Value::Scalar(_) = value {
        return value.parse().map(Pause::Fixed);
    }
    let fields = value.fields("{ mean = \"1s\" }", &["mean"])?;
    fields
        .required("mean", Value::parse)
        .map(Pause::Exponential)
}

/// `"100kb"`, a list to choose from, or a distribution.
fn sizes(value: &Value) -> Result<Sizes, ScenarioError> {
    match value {
        Value::Scalar(_) => return value.positive_size().map(Sizes::Fixed),
        Value::List(_) => return value.list(Value::positive_size).map(Sizes::List),
        Value::Table(_) => {}
    }
    let example = "{ kind = \"lognormal\", median = \"20kb\", sigma = 1.5 }";
    let (kind, table) = value.kind("distribution", &["lognormal", "pareto"])?;
    let of_kind = |known| table.fields(example, known);
    match kind {
        "lognormal" => {
            let fields = of_kind(&LOGNORMAL)?;
            Ok(Sizes::LogNormal {
                median: fields.required("median", Value::positive_size)?,
                sigma: fields.required("sigma", number)?,
            })
        }
        _ => {
            let fields = of_kind(&PARETO)?;
            Ok(Sizes::Pareto {
                min: fields.required("min", Value::positive_size)?,
                shape: fields.required("shape", number)?,
                max: fields.required("max", Value::positive_size)?,
            })
        }
    }
}

fn number(value: &Value) -> Result<Ratio, ScenarioError> {
    let text = value.text("a number such as 1.2")?;
    text.parse()
        .map_err(|_| value.wrong("is no number from 0 to 4, such as 1.2"))
}

/// `app` as TOML; nothing for bulk data, which is what there is without it.
pub fn to_toml(app: &Config) -> Option<Table> {
    let mut table = Table::new();
    let mut put = |key: &str, value: Toml| {
        table.insert(key.to_string(), value);
    };
    match app {
        Config::Bulk | Config::Transfer { .. } => return None,
        Config::Requests(requests) => {
            put("kind", text("requests"));
            put("request", text(requests.request));
            put("response", of_sizes(&requests.response));
            put(
                "think",
                match requests.think {
                    Pause::Fixed(pause) => text(pause),
                    Pause::Exponential(mean) => of_table([("mean", text(mean))]),
                },
            );
            if let Some(count) = requests.count {
                put("count", text(count));
            }
            put("outstanding", Toml::Integer(requests.outstanding.into()));
        }
        Config::Poisson(poisson) => {
            put("kind", text("poisson"));
            put("interval", text(poisson.interval));
            put("sizes", of_sizes(&poisson.sizes));
            let connections = match poisson.connections {
                Connections::New => "new",
                Connections::Kept => "kept",
            };
            put("connections", text(connections));
            if let Some(count) = poisson.count {
                put("count", text(count));
            }
        }
        Config::RateLimited(limited) => {
            put("kind", text("rate"));
            put("rate", text(limited.rate));
            put("write", text(limited.write));
            put("backlog", text(limited.backlog));
            if let Some(deadline) = limited.deadline {
                put("deadline", text(deadline));
            }
        }
        Config::Video(video) => {
            put("kind", text("video"));
            put("chunk", text(video.chunk));
            put(
                "ladder",
                Toml::Array(video.ladder.iter().map(text::<&Rate>).collect()),
            );
            put("startup", text(video.startup));
            put("max_buffer", text(video.max_buffer));
            if let Some(length) = video.length {
                put("length", text(length));
            }
            put("request", text(video.request));
        }
    }
    Some(table)
}

fn of_sizes(sizes: &Sizes) -> Toml {
    let number = |ratio: &Ratio| text(ratio.as_f64());
    match sizes {
        Sizes::Fixed(size) => text(size),
        Sizes::List(sizes) => Toml::Array(sizes.iter().map(text::<&Bytes>).collect()),
        Sizes::LogNormal { median, sigma } => of_table([
            ("kind", text("lognormal")),
            ("median", text(median)),
            ("sigma", number(sigma)),
        ]),
        Sizes::Pareto { min, shape, max } => of_table([
            ("kind", text("pareto")),
            ("min", text(min)),
            ("shape", number(shape)),
            ("max", text(max)),
        ]),
    }
}

fn of_table<const N: usize>(fields: [(&str, Toml); N]) -> Toml {
    let fields = fields.map(|(key, value)| (key.to_string(), value));
    Toml::Table(fields.into_iter().collect())
}

fn text<T: ToString>(value: T) -> Toml {
    Toml::String(value.to_string())
}
