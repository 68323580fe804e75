//! The receiver's side of a connection with a valid proof.

use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt};
use noq_proto::{ConnectionError, VarInt};
use quic::connection::{Connection, ReadExactError, RecvStream, SendStream};
use tokio::sync::watch;
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
use crate::plan::{HASH_LEN, Plan, Step};
use crate::stop::Stop;
use crate::transport::{FAREWELL_TIMEOUT, MAX_STREAMS};
use crate::tree::BLOCK;
use crate::wire;
use crate::wire_error::WireError;

/// The receive window in bytes of the connection that is sending files. All others together occupy a few megabytes,
/// because each has only [`GUEST_WINDOW`](super::door::GUEST_WINDOW).
const RECEIVE_WINDOW: VarInt = VarInt::from_u32(32 << 20);

/// The interval of progress reports in bytes of large files, while there is always more to write.
const REPORT_INTERVAL_BYTES: u64 = 16 * BLOCK;

/// The received files, and whether the sender knows.
pub type Outcome = Result<(Vec<Transferred>, bool), Error>;

/// Receives over a connection with a valid proof.
pub async fn converse(store: Arc<Store>, knock: Knock, watch: Watch<'_>) -> Outcome {
    let Knock {
        connection,
        mut replies,
        control,
        ..
    } = knock;
    watch(Event::Connected(&connection));
    connection.set_receive_window(RECEIVE_WINDOW);
    let result = receive_all(store, &connection, (&mut replies, control), watch).await;
    match result {
        Ok(received) => {
            replies.finish()?;
            let has_all = replies.stopped().await.is_ok();
            // The sender closes the connection when it has read the last reply. If the receiver closed it first, the
            // sender could take that for the end of this program.
            let closed = timeout(FAREWELL_TIMEOUT, connection.closed()).await;
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
                let _ = replies.finish();
                let _ = timeout(FAREWELL_TIMEOUT, connection.closed()).await;
            }
            connection.close(error.code(), b"");
            Err(error)
        }
    }
}

async fn receive_all(
    store: Arc<Store>,
    connection: &Connection,
    (replies, mut control): (&mut SendStream, RecvStream),
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let offer: Offer = wire::read(&mut control, MAX_OFFER).await?;
    let largest = limits::max_answer(offer.files.len());
    let stop = Stop::default();
    let work = stop.clone();
    let mut begun = spawn_blocking(move || Intake::begin(&store, offer, &work));
    let begun = tokio::select! {
        begun = &mut begun => begun?,
        // The sender is gone. Its offer's check must not delay the next sender.
        closed = connection.closed() => {
            stop.set();
            let _ = begun.await;
            return Err(closed.into());
        }
    };
    let intake = match begun {
        Ok(intake) => intake,
        Err(refusal) => {
            let answer = Answer::Refused(refusal.clone());
            say(replies, &answer, largest).await?;
            return Err(refusal.into());
        }
    };
    let answer = Answer::Accepted(intake.held().to_vec());
    say(replies, &answer, largest).await?;
    drop(answer);
    for (from, to) in intake.renamed() {
        watch(Event::Renamed { from, to: &to });
    }
    watch(Event::Begun(&intake.status()));
    match receive(intake, connection, (replies, control), watch).await {
        Err(Error::Refused(refusal)) => {
            let reply = Reply::Failed(refusal.clone());
            say(replies, &reply, MAX_REPLY).await?;
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

/// Receives all missing content, and gives the files their names.
async fn receive(
    intake: Intake,
    connection: &Connection,
    (replies, control): (&mut SendStream, RecvStream),
    watch: Watch<'_>,
) -> Result<Vec<Transferred>, Error> {
    let (told, mut progress) = watch::channel(intake.progress());
    let stop = Stop::default();
    // When this future is dropped, the thread releases the connection.
    let _stop = stop.on_drop();
    let connection = connection.clone();
    let writing = spawn_blocking(move || write(intake, (&connection, control), &told, &stop));
    let report = async {
        while progress.changed().await.is_ok() {
            let now = *progress.borrow_and_update();
            watch(Event::Verified { bytes: now.bytes });
            watch(Event::Complete { files: now.files });
            say(replies, &Reply::Progress(now), MAX_REPLY).await?;
        }
        Ok::<(), Error>(())
    };
    let reported = report.await;
    // An error of the disk causes the other errors.
    let received = writing.await??;
    reported?;
    Ok(received)
}

/// Receives content and writes it on one thread, which saves handing over each piece.
fn write(
    mut intake: Intake,
    from: (&Connection, RecvStream),
    told: &watch::Sender<Progress>,
    stop: &Stop,
) -> Result<Vec<Transferred>, Error> {
    let taken = take_all(&mut intake, from, told, stop);
    if matches!(taken, Err(Error::Refused(_))) {
        return taken.map(|()| Vec::new());
    }
    // Even if the sender is gone, complete files get their names.
    intake.publish()?;
    told.send_replace(intake.progress());
    taken?;
    Ok(intake.received())
}

/// Progress reports to the sender.
struct Report<'a> {
    told: &'a watch::Sender<Progress>,
    latest: Progress,
    most_files: u64,
}

impl Report<'_> {
    /// Reports progress, if there is any.
    fn tell(&mut self, mut progress: Progress) {
        if progress == self.latest {
            return;
        }
        self.latest = progress;
        progress.files = progress.files.min(self.most_files);
        self.told.send_replace(progress);
    }
}

/// Receives the content of all steps of the plan, in order.
fn take_all(
    intake: &mut Intake,
    (connection, mut control): (&Connection, RecvStream),
    told: &watch::Sender<Progress>,
    stop: &Stop,
) -> Result<(), Error> {
    let mut report = Report {
        told,
        latest: intake.progress(),
        // The sender leaves when the last file is reported, so that waits until the sender's last message has been
        // read.
        most_files: intake.status().files - 1,
    };
    let mut arriving = std::pin::pin!(arriving(connection, intake.plan()));
    let mut is_batch = false;
    loop {
        let progress = intake.progress();
        // Many small files take longer than one report.
        if is_batch || progress.bytes - report.latest.bytes >= REPORT_INTERVAL_BYTES {
            report.tell(progress);
        }
        let next = stop.wait(arriving.next(), || report.tell(progress));
        let Some(arrived) = next? else {
            break;
        };
        let (step, mut bytes) = arrived?;
        if matches!(step, Step::Seal { .. }) {
            bytes.resize(HASH_LEN, 0);
            let read = control.read_exact(&mut bytes);
            stop.wait(read, || ())??;
        }
        intake.take(&step, &bytes)?;
        is_batch = matches!(step, Step::Batch(_));
    }
    // The sender has verified the files that the receiver had before.
    let end = stop.wait(control.read_chunk(1), || report.tell(intake.progress()));
    match end?? {
        None => Ok(()),
        Some(_) => Err(Error::from(WireError::TooLong)),
    }
}

/// Accepts the stream of each step of `plan`. Many are read concurrently, but they are returned in order. Steps on the
/// control stream are left to be read.
fn arriving(
    connection: &Connection,
    plan: Plan,
) -> impl Stream<Item = Result<(Step, Vec<u8>), Error>> {
    let lens = plan.lens();
    stream::iter(plan.map(move |step| (lens.of(&step), step)))
        .then(async move |(len, step)| {
            let stream = match step {
                Step::Seal { .. } => None,
                _ => Some(connection.accept_uni_to_end(len).await?),
            };
            Ok((stream, len, step))
        })
        .map(|accepted: Result<_, Error>| async move {
            let (stream, len, step) = accepted?;
            let Some(mut stream): Option<RecvStream> = stream else {
                return Ok((step, Vec::new()));
            };
            let bytes = stream.read_to_end(len).await?;
            if bytes.len() < len {
                return Err(ReadExactError::FinishedEarly(bytes.len()).into());
            }
            Ok((step, bytes))
        })
        .buffered(MAX_STREAMS as usize)
}
