//! The destination of metrics. Secrets come from the environment, where other users do not see them, by the variables
//! of the OpenTelemetry specification ("OpenTelemetry Protocol Exporter").

use std::ffi::OsString;
use std::fmt;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use thiserror::Error;
use ureq::http::{HeaderName, HeaderValue, Uri};

/// Headers, `NAME=VALUE` with commas between them.
pub const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";
const METRICS_HEADERS: &str = "OTEL_EXPORTER_OTLP_METRICS_HEADERS";

/// Attributes of the resource, in the same form.
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";
const SERVICE: &str = "OTEL_SERVICE_NAME";

/// The variables of times in milliseconds, with the specification's defaults.
const INTERVAL: (&str, u64) = ("OTEL_METRIC_EXPORT_INTERVAL", 60_000);
const TIMEOUT: (&str, u64) = ("OTEL_EXPORTER_OTLP_TIMEOUT", 10_000);
const MILLISECONDS: std::ops::RangeInclusive<u64> = 100..=86_400_000;

/// The path of metrics below the collector's URL.
const PATH: &str = "/v1/metrics";

/// A collector and the constants of each request to it.
pub struct Destination {
    pub(super) url: String,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
    pub(super) resource: Vec<(String, String)>,
    pub(super) interval: Duration,
    pub(super) timeout: Duration,
}

/// Debug output without the headers, which may be secret.
impl fmt::Debug for Destination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Destination")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// A reason why nothing can be sent there.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum DestinationError {
    /// The text is not a URL of HTTP.
    #[error("--otlp: expected a URL such as http://127.0.0.1:4318")]
    Url,
    /// The URL has a password or a query.
    #[error(
        "--otlp: a URL is seen by everybody; put what is secret into {HEADERS}, and leave out what is before @ and after ?"
    )]
    Secret,
    /// A variable is not a list of names and values.
    #[error("{0}: expected NAME=VALUE with commas between them; the one at place {1} is none")]
    Pair(&'static str, usize),
    /// A variable is not a time.
    #[error(
        "{0}: expected a number of milliseconds from {first} to {last}",
        first = MILLISECONDS.start(),
        last = MILLISECONDS.end()
    )]
    Milliseconds(&'static str),
    /// A variable is not UTF-8.
    #[error("{0}: expected text")]
    Text(&'static str),
}

impl Destination {
    /// The collector at this URL, with settings from the environment.
    ///
    /// # Errors
    ///
    /// The URL or a variable is invalid.
    pub fn new(
        url: &str,
        variable: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Destination, DestinationError> {
        let text = |name: &'static str| match variable(name).map(OsString::into_string) {
            None => Ok(None),
            Some(Err(_)) => Err(DestinationError::Text(name)),
            Some(Ok(text)) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
        };
        let headers = match text(METRICS_HEADERS)? {
            Some(list) => headers(METRICS_HEADERS, &list)?,
            None => headers(HEADERS, &text(HEADERS)?.unwrap_or_default())?,
        };
        let mut resource = pairs(ATTRIBUTES, &text(ATTRIBUTES)?.unwrap_or_default())?;
        if let Some(name) = text(SERVICE)? {
            resource.retain(|(key, _)| key != "service.name");
            resource.push(("service.name".to_owned(), name));
        }
        let has = |key: &str| resource.iter().any(|(known, _)| known == key);
        let missing: Vec<_> = [
            ("service.name", Some("fullpipe".to_owned())),
            ("host.name", host()),
        ]
        .into_iter()
        .filter(|(key, _)| !has(key))
        .filter_map(|(key, value)| Some((key.to_owned(), value?)))
        .collect();
        resource.extend(missing);
        let millis = |(name, default): (&'static str, u64)| match text(name)? {
            None => Ok(Duration::from_millis(default)),
            Some(text) => {
                let millis = text.trim().parse().ok();
                let millis = millis.filter(|millis| MILLISECONDS.contains(millis));
                let millis = millis.ok_or(DestinationError::Milliseconds(name))?;
                Ok(Duration::from_millis(millis))
            }
        };
        Ok(Destination {
            url: endpoint(url)?,
            headers,
            resource,
            interval: millis(INTERVAL)?,
            timeout: millis(TIMEOUT)?,
        })
    }
}

fn endpoint(url: &str) -> Result<String, DestinationError> {
    let uri: Uri = url.parse().map_err(|_| DestinationError::Url)?;
    let (Some("http" | "https"), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
        return Err(DestinationError::Url);
    };
    if authority.as_str().contains('@') || url.contains(['?', '#']) {
        return Err(DestinationError::Secret);
    }
    let has_port = authority.as_str() != authority.host();
    if authority.host().is_empty() || has_port && authority.port_u16().is_none() {
        return Err(DestinationError::Url);
    }
    let base = url.trim_end_matches('/');
    Ok(if base.ends_with(PATH) {
        base.to_owned()
    } else {
        format!("{base}{PATH}")
    })
}

fn headers(
    variable: &'static str,
    list: &str,
) -> Result<Vec<(HeaderName, HeaderValue)>, DestinationError> {
    let pairs = pairs(variable, list)?.into_iter().enumerate();
    let header = |(place, (name, value)): (usize, (String, String))| {
        let name = HeaderName::try_from(name).ok();
        let value = HeaderValue::try_from(value).ok();
        let (name, mut value) = name
            .zip(value)
            .ok_or(DestinationError::Pair(variable, place + 1))?;
        value.set_sensitive(true);
        Ok((name, value))
    };
    pairs.map(header).collect()
}

/// Decodes percent-encoded text, as in W3C's baggage.
fn pairs(variable: &'static str, list: &str) -> Result<Vec<(String, String)>, DestinationError> {
    let decoded = |text: &str| {
        let text = percent_decode_str(text.trim()).decode_utf8().ok();
        text.map(std::borrow::Cow::into_owned)
    };
    let items = list.split(',').map(str::trim).enumerate();
    let items = items.filter(|(_, item)| !item.is_empty());
    let pair = |(place, item): (usize, &str)| {
        let (name, value) = item.split_once('=').unwrap_or_default();
        let name = decoded(name).filter(|name| !name.is_empty());
        name.zip(decoded(value))
            .ok_or(DestinationError::Pair(variable, place + 1))
    };
    items.map(pair).collect()
}

fn host() -> Option<String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").ok()?;
    Some(name.trim().to_owned()).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(url: &str, variables: &[(&str, &str)]) -> Result<Destination, DestinationError> {
        let variables = variables.to_vec();
        Destination::new(url, move |name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| value.into())
        })
    }

    const URL: &str = "http://127.0.0.1:4318";

    #[test]
    fn a_url_is_the_collectors_or_the_whole_one() {
        for (url, whole) in [
            (URL, "http://127.0.0.1:4318/v1/metrics"),
            ("https://otel.example/", "https://otel.example/v1/metrics"),
            ("http://[::1]:4318/a/", "http://[::1]:4318/a/v1/metrics"),
            ("http://h/v1/metrics", "http://h/v1/metrics"),
        ] {
            assert_eq!(with(url, &[]).unwrap().url, whole);
        }
        for url in [
            "",
            "127.0.0.1:4318",
            "grpc://h",
            "http://",
            "http://h:99999",
            "http://h:",
            "http:///a",
            "/a",
        ] {
            assert_eq!(with(url, &[]).unwrap_err(), DestinationError::Url, "{url}");
        }
        for url in [
            "http://me:secret@h",
            "http://h?key=secret",
            "http://h/#secret",
        ] {
            let error = with(url, &[]).unwrap_err();
            assert_eq!(error, DestinationError::Secret);
            assert!(!error.to_string().contains("secret@"), "{error}");
        }
    }

    #[test]
    fn headers_come_from_the_environment_and_are_not_told() {
        let list = "Authorization=Basic%20c2VjcmV0, x-tenant = a=b ,";
        let made = with(URL, &[(HEADERS, list)]).unwrap();
        let known: Vec<_> = made
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(
            known,
            [("authorization", "Basic c2VjcmV0"), ("x-tenant", "a=b")]
        );
        let shown = format!("{made:?} {:?}", made.headers);
        assert!(!shown.contains("c2VjcmV0"), "{shown}");
        let own = [(HEADERS, "a=1"), (METRICS_HEADERS, "b=2")];
        assert_eq!(with(URL, &own).unwrap().headers[0].0, "b");
        for wrong in [
            "a=1,secret",
            "a=1,sec ret=1",
            "a=1,b=%0d%0asecret",
            "a=1,=secret",
            "a=1,b=%ff",
        ] {
            let error = with(URL, &[(HEADERS, wrong)]).unwrap_err();
            assert_eq!(error, DestinationError::Pair(HEADERS, 2), "{wrong}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    #[test]
    fn the_rest_of_the_environment_counts_too() {
        let variables = [
            (INTERVAL.0, "500"),
            (ATTRIBUTES, "service.name=a,deployment.environment=x%20y"),
            (SERVICE, "b"),
        ];
        let made = with(URL, &variables).unwrap();
        assert_eq!(
            (made.interval.as_millis(), made.timeout.as_millis()),
            (500, 10_000)
        );
        let of = |key: &'static str| made.resource.iter().filter(move |(known, _)| known == key);
        assert_eq!(of("service.name").count(), 1);
        assert_eq!(of("service.name").next().unwrap().1, "b");
        assert_eq!(of("deployment.environment").next().unwrap().1, "x y");
        for wrong in ["", "1 s", "-1", "99", "86400001"] {
            let made = with(URL, &[(TIMEOUT.0, wrong)]);
            assert_eq!(made.is_ok(), wrong.is_empty(), "{wrong}");
        }
    }
}
