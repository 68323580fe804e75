//! What the receiver says and hears over a connection that has proven itself.

use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};
use noq_proto::ConnectionError;
use quic::connection::{Connection, ReadExactError, RecvStream, SendStream};
use tokio::sync::{mpsc, watch};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::door::Knock;
use super::intake::Intake;
use super::store::Store;
use crate::code;
use crate::error::Error;
use crate::event::{Event, Transferred, Watch};
use crate::limits::{self, MAX_OFFER, MAX_REPLY};
use crate::message::{Answer, Offer, Progress, Reply};
use crate::plan::{HASH, Plan, Step};
use crate::refusal::Refusal;
use crate::stop::Stop;
use crate::transport::{FAREWELL, QUEUE, STREAMS};
use crate::wire;
use crate::wire_error::WireError;

/// The files that arrived, and whether the sender knows.
pub type Outcome = Result<(Vec<Transferred>, bool), Error>;

/// Receives over a connection that has proven itself.
pub async fn converse(store: Arc<Store>, mut knock: Knock, watch: Watch<'_>) -> Outcome {
    watch(Event::Connected(&knock.connection));
    let result = receive_all(store, &mut knock, watch).await;
    match result {
        Ok(received) => {
            knock.replies.finish()?;
            let has_all = knock.replies.stopped().await.is_ok();
            // The sender closes as soon as it has read that all is here. If this side did so before, the sender might take
            // that for the end of this program.
            let closed = timeout(FAREWELL, knock.connection.closed()).await;
            let is_done = matches!(
                closed,
                Ok(ConnectionError::ApplicationClosed(close)) if close.error_code == code::DONE
            );
            let is_known = has_all || is_done;
            Ok((received, is_known))
        }
        Err(error) => {
            if matches!(error, Error::Refused(_)) {
                // The sender closes as soon as it has read the reason.
                let _ = knock.replies.finish();
                let _ = timeout(FAREWELL, knock.connection.closed()).await;
            }
            knock.connection.close(error.code(), b"");
            Err(error)
        }
    }
}

async fn receive_all(
    store: Arc<Store>,
    knock: &mut Knock,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let offer: Offer = wire::read(&mut knock.control, MAX_OFFER).await?;
    let largest = limits::max_answer(offer.files.len());
    let stop = Stop::default();
    let work = stop.clone();
    let mut begun = spawn_blocking(move || Intake::begin(&store, offer, &work));
    let begun = tokio::select! {
        begun = &mut begun => begun?,
        // Nobody waits for the answer, and the next sender must not wait for this one's.
        closed = knock.connection.closed() => {
            stop.set();
            let _ = begun.await;
            return Err(closed.into());
        }
    };
    let intake = match begun {
        Ok(intake) => intake,
        Err(refusal) => {
            let answer = Answer::Refused(refusal.clone());
            say(&mut knock.replies, &answer, largest).await?;
            return Err(refusal.into());
        }
    };
    let answer = Answer::Accepted(intake.held().to_vec());
    say(&mut knock.replies, &answer, largest).await?;
    drop(answer);
    for (from, to) in intake.renamed() {
        watch(Event::Renamed { from, to: &to });
    }
    watch(Event::Begun(&intake.status()));
    match receive(intake, knock, watch).await {
        Err(Error::Refused(refusal)) => {
            let reply = Reply::Failed(refusal.clone());
            say(&mut knock.replies, &reply, MAX_REPLY).await?;
            Err(refusal.into())
        }
        ended => ended,
    }
}

async fn say(
    replies: &mut SendStream,
    message: &impl serde::Serialize,
    max: usize,
) -> Result<(), Error> {
    let frame = wire::encode(message, max).ok_or(WireError::TooLong)?;
    Ok(replies.write_all(&frame).await?)
}

/// Takes all that is missing, and gives the files their names.
async fn receive(
    intake: Intake,
    knock: &mut Knock,
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let Knock {
        connection,
        replies,
        control,
        ..
    } = knock;
    let (steps, queue) = mpsc::channel(QUEUE);
    let (told, progress) = watch::channel(intake.progress());
    let feed = feed(connection, control, intake.plan(), steps);
    let writing = spawn_blocking(move || write(intake, queue, &told));
    let report = async {
        let mut progress = progress;
        while progress.changed().await.is_ok() {
            let now = *progress.borrow_and_update();
            watch(Event::Verified { bytes: now.bytes });
            watch(Event::Complete { files: now.files });
            say(replies, &Reply::Progress(now), MAX_REPLY).await?;
        }
        Ok::<(), Error>(())
    };
    let (fed, reported) = tokio::join!(feed, report);
    // An error of the disk is the cause of the others.
    let received = writing.await??;
    fed?;
    reported?;
    Ok(received)
}

/// Gives the writer what the steps of `plan` bring, in order.
async fn feed(
    connection: &Connection,
    control: &mut RecvStream,
    plan: Plan,
    steps: mpsc::Sender<(Step, Vec<u8>)>,
) -> Result<(), Error> {
    let mut arriving = std::pin::pin!(arriving(connection, plan));
    let taking = async {
        while let Some(arrived) = arriving.next().await {
            let (step, mut bytes) = arrived?;
            if matches!(step, Step::Seal { .. }) {
                bytes.resize(HASH, 0);
                control.read_exact(&mut bytes).await?;
            }
            if steps.send((step, bytes)).await.is_err() {
                return Ok(());
            }
        }
        // The sender has checked that what was here before is of its files.
        match control.read_chunk(1).await? {
            None => Ok(()),
            Some(_) => Err(Error::from(WireError::TooLong)),
        }
    };
    tokio::select! {
        taken = taking => taken,
        // The writer has failed: whatever else comes is not waited for.
        () = steps.closed() => Ok(()),
    }
}

/// Writes what arrives until there is no more.
fn write(
    mut intake: Intake,
    mut queue: mpsc::Receiver<(Step, Vec<u8>)>,
    told: &watch::Sender<Progress>,
) -> Result<Vec<Transferred>, Refusal> {
    let all = intake.status().files;
    while let Some((step, bytes)) = queue.blocking_recv() {
        intake.take(&step, &bytes)?;
        let mut progress = intake.progress();
        // The sender leaves when it hears of the last file: not before it has been heard to the end.
        progress.files = progress.files.min(all - 1);
        told.send_replace(progress);
    }
    // If the sender is gone, what is whole gets its name nevertheless.
    intake.publish()?;
    told.send_replace(intake.progress());
    Ok(intake.received())
}

/// Takes the stream of each step of `plan`. Many are read at a time, but they come out in order. What comes on the control
/// stream is left to be read.
fn arriving(
    connection: &Connection,
    plan: Plan,
) -> impl Stream<Item = Result<(Step, Vec<u8>), Error>> {
    let lens = plan.lens();
    stream::iter(plan)
        .then(async move |step| match step {
            Step::Seal { .. } => Ok((None, step)),
            step => Ok((Some(connection.accept_uni().await?), step)),
        })
        .map(move |accepted: Result<(Option<RecvStream>, Step), Error>| {
            let accepted = accepted.map(|(stream, step)| (stream, lens.of(&step), step));
            async move {
                let (stream, len, step) = accepted?;
                let Some(mut stream) = stream else {
                    return Ok((step, Vec::new()));
                };
                let bytes = stream.read_to_end(len).await?;
                if bytes.len() < len {
                    return Err(ReadExactError::FinishedEarly(bytes.len()).into());
                }
                Ok((step, bytes))
            }
        })
        .buffered(STREAMS as usize)
}
