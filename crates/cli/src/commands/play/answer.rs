//! Answers to requests.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{
    CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Method, Request, Response, StatusCode};
use play::MAX_TEXT_BYTES;
use tokio::sync::mpsc::Receiver;
use tokio::time::timeout;

use super::access::Access;
use super::runs::{Job, Message, Runs};

/// The timeout of a request's text.
const TEXT_TIMEOUT: Duration = Duration::from_secs(10);

/// What every answer says, beside the [policy].
const HEADERS: [(HeaderName, &str); 4] = [
    (CACHE_CONTROL, "no-store"),
    (REFERRER_POLICY, "no-referrer"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
];

/// Tells the page that the simulator of this program runs its scenarios (`web/engine.js`).
const NATIVE: &str = "<meta name=\"fullpipe-engine\" content=\"native\">";

type Answer = Response<Either<Full<Bytes>, Messages>>;

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    pub access: Access,
    pub runs: Runs,
}

/// Answers a request, and notes whether it knew the secret.
pub async fn answer(
    request: Request<Incoming>,
    shared: Arc<Shared>,
    is_known: Arc<AtomicBool>,
) -> Result<Answer, Infallible> {
    let allowed = shared.access.allow(&request).map(str::to_owned);
    let answered = match allowed {
        Ok(path) => {
            is_known.store(true, Ordering::Relaxed);
            asked(&path, request, &shared.runs).await
        }
        Err(refusal) => Err(refusal),
    };
    let mut response = answered.unwrap_or_else(|(status, why)| {
        let mut response = text(why);
        *response.status_mut() = status;
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(CONNECTION, close);
        response
    });
    for (name, value) in HEADERS {
        let value = HeaderValue::from_static(value);
        response.headers_mut().insert(name, value);
    }
    if let Ok(policy) = HeaderValue::from_str(&policy()) {
        let headers = response.headers_mut();
        headers.insert(CONTENT_SECURITY_POLICY, policy);
    }
    Ok(response)
}

/// The policy of the page, with what only a header can say. A script that a worker begins with has the policy of its own answer.
fn policy() -> String {
    const BEFORE: &str = "http-equiv=\"Content-Security-Policy\" content=\"";
    let page = play::page::file("index.html").unwrap_or_default();
    let page = String::from_utf8_lossy(page);
    let of_page = page
        .split_once(BEFORE)
        .and_then(|(_, rest)| rest.split_once('"'));
    let of_page = of_page.map_or("default-src 'none'", |(policy, _)| policy);
    format!("{of_page}; frame-ancestors 'none'")
}

async fn asked(
    path: &str,
    request: Request<Incoming>,
    runs: &Runs,
) -> Result<Answer, (StatusCode, &'static str)> {
    let job = match path {
        "run" => Some(Job::Run(seed(request.uri().query())?)),
        "check" => Some(Job::Check),
        "advise" => Some(Job::Advise),
        _ => None,
    };
    match (request.method(), job) {
        (&Method::POST, Some(job)) => {
            let text = read(request.into_body()).await?;
            let messages = runs.start(job, text).await;
            Ok(Response::new(Either::Right(Messages {
                messages,
                next: None,
            })))
        }
        (&Method::GET, None) => file(path),
        _ => Err((
            StatusCode::METHOD_NOT_ALLOWED,
            "GET files, and POST scenarios\n",
        )),
    }
}

/// The seed that `seed=N` gives, if there is a query.
fn seed(query: Option<&str>) -> Result<Option<u64>, (StatusCode, &'static str)> {
    let wrong = (StatusCode::BAD_REQUEST, "the query is not seed=N\n");
    let read = |query: &str| query.strip_prefix("seed=")?.parse().ok();
    query.map(|query| read(query).ok_or(wrong)).transpose()
}

async fn read(body: Incoming) -> Result<String, (StatusCode, &'static str)> {
    let limited = Limited::new(body, MAX_TEXT_BYTES);
    let too_long = (StatusCode::PAYLOAD_TOO_LARGE, "the text is too long\n");
    match timeout(TEXT_TIMEOUT, limited.collect()).await {
        Ok(Ok(text)) => String::from_utf8(text.to_bytes().into())
            .map_err(|_| (StatusCode::BAD_REQUEST, "the text is not UTF-8\n")),
        Ok(Err(_)) => Err(too_long),
        Err(_) => Err((StatusCode::REQUEST_TIMEOUT, "the text did not come\n")),
    }
}

fn file(path: &str) -> Result<Answer, (StatusCode, &'static str)> {
    let path = if path.is_empty() { "index.html" } else { path };
    let file = play::page::file(path).ok_or((StatusCode::NOT_FOUND, "there is no such file\n"))?;
    let body = match path {
        "index.html" => {
            let page = String::from_utf8_lossy(file);
            page.replacen("<head>", &format!("<head>\n{NATIVE}"), 1)
                .into()
        }
        _ => Bytes::from_static(file),
    };
    let kind = match path.rsplit_once('.') {
        Some((_, "html")) => "text/html; charset=utf-8",
        Some((_, "js")) => "text/javascript; charset=utf-8",
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        Some((_, "toml")) => "text/plain; charset=utf-8",
        Some((_, "wasm")) => "application/wasm",
        _ => "application/octet-stream",
    };
    Ok(of_kind(kind, body))
}

fn text(text: &'static str) -> Answer {
    of_kind(
        "text/plain; charset=utf-8",
        Bytes::from_static(text.as_bytes()),
    )
}

fn of_kind(kind: &'static str, body: Bytes) -> Answer {
    let mut response = Response::new(Either::Left(Full::new(body)));
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}

/// The messages of a job as a body: for each, its length and its kind, in 32 bits each, and its bytes.
pub struct Messages {
    messages: Receiver<Message>,
    /// The bytes of the message whose length was sent.
    next: Option<Bytes>,
}

impl Body for Messages {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if let Some(bytes) = self.next.take() {
            return Poll::Ready(Some(Ok(Frame::data(bytes))));
        }
        self.messages.poll_recv(context).map(|message| {
            let Message { kind, bytes } = message?;
            let length = u32::try_from(bytes.len()).ok()?;
            let mut head = length.to_le_bytes().to_vec();
            head.extend((kind as u32).to_le_bytes());
            self.next = Some(bytes.into());
            Some(Ok(Frame::data(head.into())))
        })
    }
}
