//! The parts of a link that most links of a network do not have.

use std::vec;

use units::{Bytes, Duration, Ratio, Time};

use crate::aggregation::Aggregation;
use crate::change::Change;
use crate::config::LinkConfig;
use crate::corruption::CorruptionProcess;
use crate::counters::Counters;
use crate::effects::Effects;
use crate::jitter::JitterProcess;
use crate::loss::{LossAt, LossProcess};
use crate::mtu::Mtu;
use crate::policer::TokenBucket;
use crate::random::{Stream, Streams};
use crate::reorder::ReorderProcess;

/// The changes of a link, and its effects on packets before the queue and behind the bottleneck.
#[derive(Debug, Clone)]
pub(crate) struct Extras {
    pub(crate) changes: vec::IntoIter<Change>,
    pub(crate) mtu: Option<Mtu>,
    policer: Option<TokenBucket>,
    loss: LossProcess,
    loss_at: LossAt,
    corruption: CorruptionProcess,
    duplicate: Ratio,
    duplicates: Stream,
    jitter: JitterProcess,
    reorder: ReorderProcess,
    pub(crate) aggregation: Option<Aggregation>,
    /// Only the packets that these effects change.
    pub(crate) counters: Counters,
}

/// The effects on a packet that leaves the bottleneck.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Fate {
    pub(crate) is_lost: bool,
    pub(crate) is_damaged: bool,
    /// Whether it arrives twice.
    pub(crate) is_doubled: bool,
    /// Its delay in addition to the propagation delay.
    pub(crate) late: Duration,
    /// Whether it may overtake others, or be overtaken.
    pub(crate) is_stray: bool,
}

impl Extras {
    /// Makes the extras of a link, if it has any, and the stream of its queue, which is dealt between theirs.
    pub(crate) fn new(config: &LinkConfig, streams: &mut Streams) -> (Option<Box<Extras>>, Stream) {
        let effects = &config.effects;
        let loss = LossProcess::new(effects.loss, streams);
        let duplicates = streams.deal();
        let jitter = JitterProcess::new(effects.jitter, streams);
        let reorder = ReorderProcess::new(effects.reorder, streams);
        let queue = streams.deal();
        let corruption = CorruptionProcess::new(effects.corruption, streams);
        let plain = Effects {
            queue: effects.queue,
            demand: effects.demand,
            ..Effects::default()
        };
        let has_extras = *effects != plain || !config.changes.is_empty();
        let extras = has_extras.then(|| {
            Box::new(Extras {
                changes: config.changes.clone().into_iter(),
                mtu: effects.mtu,
                policer: effects.policer.map(TokenBucket::new),
                loss,
                loss_at: effects.loss_at,
                corruption,
                duplicate: effects.duplicate,
                duplicates,
                jitter,
                reorder,
                aggregation: effects.aggregation,
                counters: Counters::default(),
            })
        });
        (extras, queue)
    }

    /// True if a packet of `size` that comes at `now` gets as far as the queue.
    pub(crate) fn admit(&mut self, now: Time, size: Bytes) -> bool {
        if self.mtu.is_some_and(|mtu| size > mtu.bytes()) {
            self.counters.too_big.add(size);
            return false;
        }
        if self.is_lost_at(LossAt::Entry) {
            self.counters.random_losses.add(size);
            return false;
        }
        if let Some(policer) = &mut self.policer
            && !policer.admits(now, size)
        {
            self.counters.policer_drops.add(size);
            return false;
        }
        true
    }

    /// Decides what happens to a packet of `size` that leaves the bottleneck.
    ///
    /// Every impairment draws for every packet, lost or not, so that one does not change the draws of another.
    pub(crate) fn fate(&mut self, size: Bytes) -> Fate {
        let is_lost = self.is_lost_at(LossAt::Exit);
        let is_damaged = self.corruption.strikes();
        let is_doubled = self.duplicate.numerator() > 0 && self.duplicates.happens(self.duplicate);
        let jitter = self.jitter.draw();
        let held = self.reorder.draw();
        if is_lost {
            self.counters.random_losses.add(size);
        } else {
            if is_damaged {
                self.counters.corrupted.add(size);
            }
            if is_doubled {
                self.counters.duplicates.add(size);
                if is_damaged {
                    self.counters.corrupted.add(size);
                }
            }
        }
        Fate {
            is_lost,
            is_damaged,
            is_doubled,
            late: jitter + held.unwrap_or_default(),
            is_stray: held.is_some() || self.jitter.reorders(),
        }
    }

    /// True if the packet is lost here.
    fn is_lost_at(&mut self, place: LossAt) -> bool {
        self.loss_at == place && self.loss.strikes()
    }
}
