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
    let mut reception = Reception {
        store,
        keep,
        watch,
        session: None,
        waiting: JoinSet::new(),
        finished: None,
    };
    loop {
        let leaves = reception.leaves();
        let received = tokio::select! {
            incoming = endpoint.accept() => {
                let closed = || Error::System("the endpoint is closed".to_owned());
                door.admit(incoming.ok_or_else(closed)?);
                None
            }
            knock = door.next(watch) => {
                reception.knocked(knock);
                None
            }
            Some(waited) = reception.waiting.join_next() => {
                if let Ok(Some((outlasted, knock))) = waited {
                    reception.outlasted(outlasted, knock);
                }
                None
            }
            outcome = current(&mut reception.session) => reception.ended(outcome)?,
            () = sleep_until(leaves.unwrap_or_else(Instant::now)), if leaves.is_some() => reception.leave()?,
        };
        if let Some(received) = received {
            return Ok(received);
        }
    }
}

/// The transfer that is running, and those who wait for its end.
struct Reception<'a> {
    store: &'a Arc<Store>,
    /// Whether it goes on with the next transfer.
    keep: bool,
    watch: Watch<'a>,
    session: Option<Session<'a>>,
    /// Senders that want to take over, each with the connection whose end it waits for.
    waiting: JoinSet<Option<(usize, Knock)>>,
    /// What has arrived although its sender may not know, and since when.
    finished: Option<(Vec<Transferred>, Instant)>,
}

impl Reception<'_> {
    /// A sender has proven itself. A running transfer belongs to the one that began it.
    fn knocked(&mut self, knock: Knock) {
        match &self.session {
            Some(running) if running.sender != knock.sender => {
                if self.waiting.len() < MAX_WAITING {
                    let running = running.connection.clone();
                    self.waiting.spawn(outwait(running, knock, self.keep));
                } else {
                    knock.connection.close(code::IN_USE, b"");
                }
            }
            _ => self.start(knock),
        }
    }

    /// A sender has outlasted the connection `outlasted`.
    fn outlasted(&mut self, outlasted: usize, knock: Knock) {
        match &self.session {
            // Another one was first, or what this one has waited for has yet to be told of.
            Some(running)
                if running.connection.stable_id() != outlasted
                    || (self.keep && running.is_over()) =>
            {
                let running = running.connection.clone();
                self.waiting.spawn(outwait(running, knock, self.keep));
            }
            _ => self.start(knock),
        }
    }

    fn start(&mut self, knock: Knock) {
        let former = self.session.take();
        let session = Session::start(self.store.clone(), knock, former, self.watch);
        self.session = Some(session);
    }

    /// The session is over. What was received, if that is all.
    fn ended(&mut self, outcome: Outcome) -> Result<Option<Vec<Transferred>>, Error> {
        self.session = None;
        match outcome {
            Ok((received, true)) if self.keep => {
                self.store.finished()?;
                (self.watch)(Event::Received(&received));
            }
            Ok((received, true)) => return Ok(Some(received)),
            Ok((received, false)) => {
                if self.keep {
                    (self.watch)(Event::Received(&received));
                }
                self.finished = Some((received, Instant::now()));
            }
            Err(error) if is_ours(&error) => return Err(error),
            Err(error) => (self.watch)(Event::Interrupted(&error)),
        }
        Ok(None)
    }

    /// When a sender that has not heard of the end is not waited for any more.
    fn leaves(&self) -> Option<Instant> {
        let (_, since) = self.finished.as_ref().filter(|_| self.session.is_none())?;
        Some(*since + LINGER)
    }

    /// It is not waited for any more. What was received, if that is all.
    fn leave(&mut self) -> Result<Option<Vec<Transferred>>, Error> {
        let received = self.finished.take().map(|(received, _)| received);
        if self.keep {
            self.store.finished()?;
            return Ok(None);
        }
        Ok(received)
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
