//! The order of senders: a sender with a valid proof begins a transfer, continues its own, or waits for the end of
//! another's.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use quic::connection::{Connection, Listener};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until};

use super::conversation::{Outcome, converse};
use super::door::{Door, Knock};
use super::store::Store;
use crate::code;
use crate::error::Error;
use crate::event::{Event, Transferred, Watch};
use crate::proof::SenderId;
use crate::refusal::Refusal;
use crate::ticket::Ticket;
use crate::transport::KEEP_ALIVE;

/// The longest time for which a sender that was cut off right before the end is awaited.
const LINGER_TIMEOUT: Duration = Duration::from_secs(30);

/// The silence after which a sender counts as gone if another one comes. A running sender sends something every
/// [`KEEP_ALIVE`].
const SILENCE_TIMEOUT: Duration = KEEP_ALIVE.saturating_mul(3);

/// The most senders with the ticket that wait to see if the one before them is still alive.
const MAX_WAITING: usize = 16;

/// Receives until one transfer is complete, through any number of interruptions, or until this side fails. A receiver
/// with `keep` continues with the next transfer.
pub async fn serve(
    listener: &Listener,
    store: &Arc<Store>,
    ticket: &Ticket,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let mut door = Door::new(ticket.secret());
    let mut reception = Reception {
        store,
        watch,
        session: None,
        waiting: JoinSet::new(),
        finished: None,
    };
    loop {
        let leaves = reception.leaves();
        let received = tokio::select! {
            incoming = listener.accept() => {
                let closed = || Error::System("the socket's thread has ended".to_owned());
                door.admit(incoming.ok_or_else(closed)?);
                None
            }
            knock = door.next(watch) => {
                reception.knocked(knock);
                None
            }
            Some(waited) = reception.waiting.join_next() => {
                if let Ok(Some((outlasted, knock))) = waited {
                    reception.outlasted(&outlasted, knock);
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

/// The running transfer, and the senders that wait for its end.
struct Reception<'a> {
    store: &'a Arc<Store>,
    watch: Watch<'a>,
    session: Option<Session<'a>>,
    /// Senders that want to take over, each with the connection for whose end it waits.
    waiting: JoinSet<Option<(Connection, Knock)>>,
    /// Received files whose sender may not know the result, and the time of the end.
    finished: Option<(Vec<Transferred>, Instant)>,
}

impl Reception<'_> {
    /// Handles a valid proof. A running transfer belongs to the sender that began it.
    fn knocked(&mut self, knock: Knock) {
        match &self.session {
            Some(running) if running.sender != knock.sender => {
                if self.waiting.len() < MAX_WAITING {
                    let running = running.connection.clone();
                    self.waiting
                        .spawn(outwait(running, knock, self.store.keeps()));
                } else {
                    knock.connection.close(code::IN_USE, b"");
                }
            }
            _ => self.start(knock),
        }
    }

    /// Handles a sender that has outlasted the connection `outlasted`.
    fn outlasted(&mut self, outlasted: &Connection, knock: Knock) {
        match &self.session {
            // Another sender was first, or the end of the awaited session is not handled yet.
            Some(running)
                if !running.connection.is(outlasted)
                    || (self.store.keeps() && running.is_over()) =>
            {
                let running = running.connection.clone();
                self.waiting
                    .spawn(outwait(running, knock, self.store.keeps()));
            }
            _ => self.start(knock),
        }
    }

    fn start(&mut self, knock: Knock) {
        let former = self.session.take();
        let session = Session::start(self.store.clone(), knock, former, self.watch);
        self.session = Some(session);
    }

    /// Handles the end of the session. Returns the received files if they are complete.
    fn ended(&mut self, outcome: Outcome) -> Result<Option<Vec<Transferred>>, Error> {
        self.session = None;
        match outcome {
            Ok((received, true)) if self.store.keeps() => {
                self.store.finished()?;
                (self.watch)(Event::Received(&received));
            }
            Ok((received, true)) => return Ok(Some(received)),
            Ok((received, false)) => {
                if self.store.keeps() {
                    (self.watch)(Event::Received(&received));
                }
                self.finished = Some((received, Instant::now()));
            }
            Err(error) if is_ours(&error) => return Err(error),
            Err(error) => (self.watch)(Event::Interrupted(&error)),
        }
        Ok(None)
    }

    /// The time at which the wait ends for a sender that does not know the result.
    fn leaves(&self) -> Option<Instant> {
        let (_, since) = self.finished.as_ref().filter(|_| self.session.is_none())?;
        Some(*since + LINGER_TIMEOUT)
    }

    /// Ends that wait. Returns the received files if they are complete.
    fn leave(&mut self) -> Result<Option<Vec<Transferred>>, Error> {
        let received = self.finished.take().map(|(received, _)| received);
        if self.store.keeps() {
            self.store.finished()?;
            return Ok(None);
        }
        Ok(received)
    }
}

/// True for an error of this side: waiting for another connection does not help.
fn is_ours(error: &Error) -> bool {
    matches!(
        error,
        Error::Refused(Refusal::DiskFull { .. } | Refusal::Disk { .. })
            | Error::State { .. }
            | Error::Damaged(_)
            | Error::System(_)
    )
}

/// Waits until the sender behind `running` is gone or has been silent for too long; then `knock` may take over from
/// that connection. If that sender is alive, `knock` goes on waiting if it is `patient`; otherwise it is told that the
/// ticket is in use.
async fn outwait(running: Connection, knock: Knock, patient: bool) -> Option<(Connection, Knock)> {
    let heard = || running.stats().udp_rx.datagrams;
    let (mut before, mut since) = (heard(), Instant::now());
    while since.elapsed() < SILENCE_TIMEOUT && running.close_reason().is_none() {
        sleep(SILENCE_TIMEOUT / 30).await;
        // The last packets of a closed connection do not count.
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
        // Waits until the end is handled.
        sleep(SILENCE_TIMEOUT / 30).await;
    }
    Some((running, knock))
}

struct Session<'a> {
    connection: Connection,
    sender: SenderId,
    work: Pin<Box<dyn Future<Output = Outcome> + Send + 'a>>,
}

impl<'a> Session<'a> {
    /// Starts a session over the connection of `knock`, as soon as `former` has released its files.
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
    /// True if the connection is closed, so that the session is about to end.
    fn is_over(&self) -> bool {
        self.connection.close_reason().is_some()
    }
}

/// Waits for the end of the session, if there is one.
async fn current(session: &mut Option<Session<'_>>) -> Outcome {
    match session {
        Some(session) => session.work.as_mut().await,
        None => std::future::pending().await,
    }
}
