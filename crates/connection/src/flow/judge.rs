//! The limit of a flow, judged at each departure of new data.

use congestion::{Bytes, Duration, Rate, Time};

use super::Vantage;
use crate::cues::{Built, Cue, Cues};
use crate::limit::Limit;
use crate::limits::{Departure, Limits, Thresholds};
use crate::model::Model;
use crate::plateau::{Plateau, Slack};
use crate::restart::Restart;

/// A sender may be silent for this long although it could send, because its host has other work.
const MIN_SILENCE: Duration = Duration::from_millis(2);

/// The limits of a flow, and what they are judged by.
#[derive(Debug, Clone)]
pub struct Judge {
    pub limits: Limits,
    /// The events that triggered departures, as timestamps tell them, if they come from a clock.
    pub cues: Option<Cues>,
    /// The thresholds by which departures are judged.
    thresholds: Thresholds,
    pub plateau: Plateau,
    pub restart: Restart,
    /// The limit of the flow until the latest departure.
    pub present: Limit,
}

impl Judge {
    /// The connection was established at `at`.
    pub fn new(at: Time, cues: Option<Cues>) -> Judge {
        Judge {
            limits: Limits::new(at),
            cues,
            thresholds: Thresholds::default(),
            plateau: Plateau::default(),
            restart: Restart::default(),
            present: Limit::Application,
        }
    }

    /// The thresholds by which departures are judged. `mss` is the payload of a full packet.
    pub fn thresholds(&self, model: &Model, mss: u64, vantage: Vantage) -> Thresholds {
        let least = model.rtt_min.unwrap_or_default();
        let most = model.rtt_max.unwrap_or_default();
        let silence = match vantage {
            Vantage::Sender => least / 4,
            // An acknowledgement that passes the capture reaches the sender later, and the sender's answer passes later
            // still.
            Vantage::Elsewhere => most + most / 2,
        };
        let packets = Bytes::new(mss * 3 / 2);
        Thresholds {
            silence: MIN_SILENCE.max(silence),
            train: model.btl_bw_max().time_for(packets),
            longest_train: least,
            pace: Rate::from_transfer(self.plateau.at(), least),
        }
    }

    /// The model of the path has changed.
    #[inline]
    pub fn refresh(&mut self, model: &Model, mss: u64, vantage: Vantage) {
        self.thresholds = self.thresholds(model, mss, vantage);
    }

    /// A round ends; `most` is its most data in flight.
    pub fn on_round(&mut self, most: Bytes, slack: Slack) {
        self.plateau.on_round(most, slack);
        self.restart.on_round();
    }

    /// New data are sent, after a retransmission timeout without data if `was_idle`. `flight` includes them. Returns whether the
    /// flow may still grow after idle.
    #[inline]
    pub fn may_regrow(&mut self, flight: Bytes, was_idle: bool) -> bool {
        if was_idle {
            self.restart.on_idle();
        }
        self.restart.on_flight(flight)
    }

    /// Records what has limited the flow until this departure of new data. Returns whether the application or the receiver did.
    #[inline]
    pub fn on_departure(&mut self, departure: Departure, (cue, built): (Cue, Built)) -> bool {
        if self.limits.has_ended_write() && cue == Cue::None {
            self.plateau.on_write();
        }
        let thresholds = &self.thresholds;
        self.present = self
            .limits
            .on_departure(departure, (cue, built), thresholds);
        matches!(self.present, Limit::Application | Limit::Receiver)
    }

    /// Data are sent again, as captured at the sender.
    pub fn on_repeat(&mut self, at: Time) {
        self.limits.on_repeat(at, &self.thresholds);
    }
}
