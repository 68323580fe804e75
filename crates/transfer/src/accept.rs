//! The receiver's door: connections come, prove that they know the ticket's secret, and take over.

use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use noq::{Connection, Endpoint, Incoming, RecvStream, SendStream, VarInt};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, Id, JoinError, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::error::{Error, Refusal, code};
use super::guests::Guests;
use super::proof::{self, OPENING_LEN, SenderId};
use super::recv::{Outcome, converse};
use super::store::Store;
use super::ticket::{Secret, Ticket};
use super::turned_away::TurnedAway;
use super::{Event, KEEP_ALIVE, Transferred, Watch};

/// How long a handshake may take, and how long the proof after it: it is in the flight that ends the handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(8);
const PROOF_TIMEOUT: Duration = Duration::from_secs(3);

/// What a connection may make us keep before its proof, and after it.
pub(super) const GUEST_WINDOW: VarInt = VarInt::from_u32(32 << 10);
const RECEIVE_WINDOW: VarInt = VarInt::from_u32(32 << 20);

/// How long a sender that was cut off right before the end may take to come back and hear of it.
const LINGER: Duration = Duration::from_secs(30);

/// A sender that has been silent for this long is not running any more if another one comes. A running one lets itself be
/// heard at every [`KEEP_ALIVE`].
const SILENCE: Duration = KEEP_ALIVE.saturating_mul(3);

/// So many senders with the ticket may wait to see whether the one before them is still there.
const MAX_WAITING: usize = 16;

/// Receives until one transfer is complete, whatever interruptions it takes, or until this side fails. With `keep`, goes on
/// with the next transfer.
pub(super) async fn serve(
    endpoint: &Endpoint,
    store: &Arc<Store>,
    ticket: &Ticket,
    keep: bool,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let mut door = Door::new(ticket.secret());
    let mut waiting = JoinSet::new();
    let mut session: Option<Session> = None;
    let mut finished: Option<(Vec<Transferred>, Instant)> = None;
    loop {
        let linger = finished.as_ref().map(|(_, since)| *since + LINGER);
        tokio::select! {
            incoming = endpoint.accept() => {
                let incoming = incoming.ok_or_else(|| Error::System("the endpoint is closed".to_owned()))?;
                door.admit(incoming);
            }
            knock = door.next(watch) => match &session {
                // A running transfer belongs to the sender that began it.
                Some(running) if running.sender != knock.sender => {
                    if waiting.len() < MAX_WAITING {
                        waiting.spawn(outwait(running.connection.clone(), knock, keep));
                    } else {
                        knock.connection.close(code::IN_USE, b"");
                    }
                }
                _ => session = Some(Session::start(store.clone(), knock, session.take(), watch)),
            },
            Some(waited) = waiting.join_next() => {
                let Ok(Some((outlasted, knock))) = waited else { continue };
                match &session {
                    // Another one was first, or what this one has waited for has yet to be told of.
                    Some(running) if running.connection.stable_id() != outlasted || (keep && running.is_over()) => {
                        waiting.spawn(outwait(running.connection.clone(), knock, keep));
                    }
                    _ => session = Some(Session::start(store.clone(), knock, session.take(), watch)),
                }
            }
            end = current(&mut session) => {
                session = None;
                match end {
                    Ok((received, true)) if keep => {
                        store.finished()?;
                        watch(Event::Received(&received));
                    }
                    Ok((received, true)) => return Ok(received),
                    Ok((received, false)) => {
                        if keep {
                            watch(Event::Received(&received));
                        }
                        finished = Some((received, Instant::now()));
                    }
                    Err(error) if is_ours(&error) => return Err(error),
                    Err(error) => watch(Event::Interrupted(&error)),
                }
            }
            () = sleep_until(linger.unwrap_or_else(Instant::now)), if linger.is_some() && session.is_none() => {
                let received = finished.take().map(|(received, _)| received).unwrap_or_default();
                if !keep {
                    return Ok(received);
                }
                store.finished()?;
            }
        }
    }
}

/// Whether an error is this side's own, so that waiting for the sender to come back does not help.
fn is_ours(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(Refusal::DiskFull { .. } | Refusal::Disk { .. })
            | Error::State { .. }
            | Error::Damaged(_)
            | Error::System(_)
    )
}

/// Waits until the sender behind `running` is gone or has been silent for too long; then `knock` may take over from that
/// connection. If it lets itself be heard, `knock` goes on waiting if it is `patient`, and otherwise is told that the
/// ticket is in use.
async fn outwait(running: Connection, knock: Knock, patient: bool) -> Option<(usize, Knock)> {
    let heard = || running.stats().udp_rx.datagrams;
    let (mut before, mut since) = (heard(), Instant::now());
    while since.elapsed() < SILENCE && running.close_reason().is_none() {
        sleep(SILENCE / 30).await;
        // Its last words do not count.
        if heard() != before && running.close_reason().is_none() {
            if !patient {
                knock.connection.close(code::IN_USE, b"");
                return None;
            }
            (before, since) = (heard(), Instant::now());
        }
        knock.connection.close_reason().is_none().then_some(())?;
    }
    if patient {
        // Until its end has been told of.
        sleep(SILENCE / 30).await;
    }
    Some((running.stable_id(), knock))
}

/// A connection with the right proof.
pub(super) struct Knock {
    pub connection: Connection,
    pub replies: SendStream,
    pub control: RecvStream,
    sender: SenderId,
}

/// What becomes of a guest.
type Visit = Result<Knock, Error>;

/// Where connections prove themselves.
struct Door {
    secret: Secret,
    guests: Guests<Id>,
    visits: JoinSet<Visit>,
    visitors: Vec<(AbortHandle, SocketAddr)>,
    greet: mpsc::UnboundedSender<Id>,
    greeted: mpsc::UnboundedReceiver<Id>,
    turned_away: TurnedAway,
}

impl Door {
    fn new(secret: Secret) -> Door {
        let (greet, greeted) = mpsc::unbounded_channel();
        Door {
            secret,
            guests: Guests::new(),
            visits: JoinSet::new(),
            visitors: Vec::new(),
            greet,
            greeted,
            turned_away: TurnedAway::new(),
        }
    }

    /// Lets a connection come to prove itself.
    fn admit(&mut self, incoming: Incoming) {
        let peer = incoming.remote_address();
        if self.guests.is_crowded() && incoming.may_retry() {
            // It may retry, so this does not fail.
            let _ = incoming.retry();
            return;
        }
        if !self.guests.may_start(peer.ip(), Instant::now().into_std()) {
            // It sends its first packet again after a while; a refusal would end it.
            incoming.ignore();
            return;
        }
        if let Some(oldest) = self.guests.to_go() {
            self.guests.leave(oldest);
            let of_oldest = |(handle, _): &&(AbortHandle, _)| handle.id() == oldest;
            if let Some((handle, _)) = self.visitors.iter().find(of_oldest) {
                handle.abort();
            }
        }
        let (secret, greet) = (self.secret, self.greet.clone());
        let visit = self.visits.spawn(knock(incoming, secret, greet));
        self.guests.come(visit.id(), peer.ip());
        self.visitors.push((visit, peer));
    }

    /// The next connection that has proven itself.
    async fn next(&mut self, watch: Watch<'_>) -> Knock {
        loop {
            let due = self.turned_away.due(Instant::now().into_std());
            let report = due.map_or_else(Instant::now, Instant::from_std);
            tokio::select! {
                Some(visit) = self.visits.join_next_with_id() => {
                    if let Some(knock) = self.leave(visit) {
                        return knock;
                    }
                }
                Some(id) = self.greeted.recv() => self.guests.greeted(id),
                () = sleep_until(report), if due.is_some() => {
                    if let Some((peer, error, others)) = self.turned_away.take(Instant::now().into_std()) {
                        watch(Event::TurnedAway { peer, error: &error, others });
                    }
                }
            }
        }
    }

    /// A guest has proven itself, has failed to, or had to go.
    fn leave(&mut self, visit: Result<(Id, Visit), JoinError>) -> Option<Knock> {
        let (id, visit) = match visit {
            Ok((id, visit)) => (id, visit),
            Err(gone) => (gone.id(), Err(Error::NoProof)),
        };
        self.guests.leave(id);
        let place = self
            .visitors
            .iter()
            .position(|(handle, _)| handle.id() == id)?;
        let (_, peer) = self.visitors.swap_remove(place);
        visit
            .map_err(|error| self.turned_away.add(peer, error))
            .ok()
    }
}

async fn knock(
    incoming: Incoming,
    secret: Secret,
    greet: mpsc::UnboundedSender<Id>,
) -> Result<Knock, Error> {
    let connection = timeout(HANDSHAKE_TIMEOUT, incoming.accept()?)
        .await
        .map_err(|_| Error::Cut)??;
    let _ = greet.send(tokio::task::id());
    let prove = async {
        let (replies, mut control) = connection.accept_bi().await?;
        let mut opening = [0; OPENING_LEN];
        control.read_exact(&mut opening).await?;
        Ok::<_, Error>((replies, control, opening))
    };
    let (replies, control, opening) = timeout(PROOF_TIMEOUT, prove)
        .await
        .map_err(|_| Error::NoProof)??;
    let sender = match proof::check(&connection, secret, &opening) {
        Ok(sender) => sender,
        Err(error) => {
            connection.close(error.code(), b"");
            return Err(error);
        }
    };
    connection.set_receive_window(RECEIVE_WINDOW);
    Ok(Knock {
        connection,
        replies,
        control,
        sender,
    })
}

struct Session<'a> {
    connection: Connection,
    sender: SenderId,
    work: Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>,
}

impl<'a> Session<'a> {
    /// Converses over the connection of `knock`, as soon as `former` has let go of its files.
    fn start(
        store: Arc<Store>,
        knock: Knock,
        former: Option<Session<'a>>,
        watch: Watch<'a>,
    ) -> Session<'a> {
        let (connection, sender) = (knock.connection.clone(), knock.sender);
        if let Some(former) = &former {
            former.connection.close(code::TAKEN_OVER, b"");
        }
        let work = Box::pin(async move {
            if let Some(former) = former {
                let _ = former.work.await;
            }
            converse(store, knock, watch).await
        });
        Session {
            connection,
            sender,
            work,
        }
    }
}

impl Session<'_> {
    /// Whether its connection is closed, so that its end is near.
    fn is_over(&self) -> bool {
        self.connection.close_reason().is_some()
    }
}

/// The end of the session, if there is one.
async fn current(session: &mut Option<Session<'_>>) -> Outcome {
    match session {
        Some(session) => session.work.as_mut().await,
        None => std::future::pending().await,
    }
}
