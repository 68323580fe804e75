//! Probes of hosts, in real time.

use std::net::SocketAddr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use congestion::ControllerKind;
use quic::probe::Prober;
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{sleep_until, timeout};

use super::measured::Measured;
use super::quic_line::{self, QuicLine, Watch};
use super::row::Row;
use super::spec::{Host, Over, Spec};
use super::tcp;
use lab::Cancel;
use scenario::Controller;

/// The least time limit of a probe. The limit is the interval if that is longer.
const MIN_PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection to a host with one controller.
struct Line {
    host: Host,
    controller: Controller,
    connection: Option<Connection>,
}

/// A connection that is kept open.
enum Connection {
    Tcp(TcpStream),
    Quic(QuicLine),
}

/// Probes the hosts, round by round, and passes each complete round's rows to `keep`. Hosts are probed concurrently; a
/// host's controllers take turns, and each round begins with another one. A round that takes longer than the interval
/// skips those due meanwhile. A failed probe is a row with the reason; the next round connects again.
///
/// Ends after the spec's rounds, or when `cancel` is cancelled, without the incomplete round. Must be called within a
/// tokio runtime.
///
/// # Errors
///
/// The errors of `keep`.
pub async fn run_hosts<E>(
    spec: &Spec,
    hosts: &[Host],
    first_round: u64,
    cancel: &Cancel,
    mut keep: impl FnMut(Vec<Row>) -> Result<(), E>,
) -> Result<(), E> {
    let begin = Instant::now();
    let interval = Duration::from(spec.interval);
    let line = |host: &Host, controller: &Controller| Line {
        host: host.clone(),
        controller: *controller,
        connection: None,
    };
    let controllers = &spec.controllers;
    let mut hosts: Vec<Vec<Line>> = hosts
        .iter()
        .map(|host| controllers.iter().map(|one| line(host, one)).collect())
        .collect();
    let count = spec.rounds.unwrap_or(u64::MAX);
    let mut at = begin;
    for round in (0..count).map(|round| first_round.saturating_add(round)) {
        let due = async {
            sleep_until(at.into()).await;
            one_round(hosts, spec, round, begin).await
        };
        let rows = tokio::select! {
            (lines, rows) = due => {
                hosts = lines;
                rows
            }
            () = cancel.cancelled() => return Ok(()),
        };
        keep(rows)?;
        let late = at.elapsed().as_nanos() / interval.as_nanos().max(1);
        at += interval * u32::try_from(late + 1).unwrap_or(u32::MAX);
    }
    Ok(())
}

/// Probes every host once with each controller. Returns the lines and the rows, in the order of the hosts and turns.
async fn one_round(
    hosts: Vec<Vec<Line>>,
    spec: &Spec,
    round: u64,
    begin: Instant,
) -> (Vec<Vec<Line>>, Vec<Row>) {
    // Separate tasks, so that one host's bytes do not wait for another's.
    let mut turns = JoinSet::new();
    for (place, mut lines) in hosts.into_iter().enumerate() {
        let spec = spec.clone();
        turns.spawn(async move {
            let mut rows = Vec::new();
            let first = usize::try_from(round % lines.len().max(1) as u64).unwrap_or_default();
            lines.rotate_left(first);
            for line in &mut lines {
                rows.push(line.take_turn(&spec, round, begin).await);
            }
            lines.rotate_right(first);
            (place, lines, rows)
        });
    }
    let mut done = turns.join_all().await;
    done.sort_by_key(|(place, ..)| *place);
    let mut rows = Vec::new();
    let lines = done.into_iter().map(|(_, lines, new)| {
        rows.extend(new);
        lines
    });
    (lines.collect(), rows)
}

impl Line {
    async fn take_turn(&mut self, spec: &Spec, round: u64, begin: Instant) -> Row {
        let is_first = self.connection.is_none();
        let limit = Duration::from(spec.interval).max(MIN_PROBE_TIMEOUT);
        let (mut at, mut now) = (begin.elapsed(), SystemTime::now());
        let probed = timeout(limit, async {
            let connection = match &mut self.connection {
                Some(connection) => connection,
                None => {
                    let new = connect(&self.host, self.controller, spec.seed).await?;
                    (at, now) = (begin.elapsed(), SystemTime::now());
                    self.connection.insert(new)
                }
            };
            connection.probe(spec.bytes.get()).await
        });
        let probed = match probed.await {
            Ok(probed) => probed,
            Err(_) => Err(format!("not done within {} s", limit.as_secs())),
        };
        if probed.is_err() {
            self.connection = None;
        }
        let seen = probed.as_ref().ok();
        let took = seen.map(|seen| seen.took);
        let unix = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Row {
            round,
            destination: self.host.name.clone(),
            over: self.host.over.name().to_string(),
            controller: self.controller.to_string(),
            at_s: at.as_secs_f64(),
            unix_ms: u64::try_from(unix.as_millis()).ok(),
            bytes: spec.bytes.get(),
            took_ms: took.map(|took| took.as_secs_f64() * 1e3),
            goodput_bps: took.map(|took| spec.bytes.get() as f64 * 8.0 / took.as_secs_f64()),
            limited_by: seen.and_then(|seen| seen.limited_by),
            is_first,
            seed: None,
            failure: probed.err(),
        }
    }
}

impl Connection {
    async fn probe(&mut self, bytes: u64) -> Result<Measured, String> {
        match self {
            Connection::Tcp(stream) => {
                let before = tcp::limits(stream);
                let start = Instant::now();
                let sent = tcp::send(stream, bytes).await;
                sent.map_err(|error| error.to_string())?;
                let took = start.elapsed();
                let after = before.zip(tcp::limits(stream));
                let limited_by = after.and_then(|(before, mut after)| {
                    let busy = after.busy.saturating_sub(before.busy);
                    after.application = units::Duration::from(took).saturating_sub(busy);
                    after.shares_since(Some(&before), units::Duration::ZERO)
                });
                Ok(Measured { took, limited_by })
            }
            Connection::Quic(line) => {
                let seen = line.probe(bytes).await;
                seen.map_err(|error| error.to_string())
            }
        }
    }
}

async fn connect(host: &Host, controller: Controller, seed: u64) -> Result<Connection, String> {
    let wrong = |reason: String| format!("cannot connect to {}: {reason}", host.address);
    let address: Option<SocketAddr> = lookup_host(&host.address)
        .await
        .map_err(|error| wrong(error.to_string()))?
        .next();
    let address = address.ok_or_else(|| wrong("no such host".to_string()))?;
    match host.over {
        Over::Tcp => {
            let stream = tcp::connect(address, controller.kernel_name(), &host.token).await;
            stream
                .map(Connection::Tcp)
                .map_err(|error| wrong(error.to_string()))
        }
        Over::Quic(fingerprint) => {
            let kind: ControllerKind = match controller {
                Controller::Ours(kind) => kind,
                other => return Err(wrong(format!("QUIC has no {}", other.kernel_name()))),
            };
            let watch = Watch::new();
            let controllers = quic_line::controllers(kind, seed, &watch);
            let prober = Prober::connect(address, fingerprint, &host.token, controllers).await;
            prober
                .map(|prober| Connection::Quic(QuicLine::new(prober, watch)))
                .map_err(|error| wrong(error.to_string()))
        }
    }
}
