//! A sender that calls the controller's events itself, either correctly or with one deliberate fault.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ops::Range;

use congestion::sampling::{Outstanding, Sampler};
use congestion::{
    Ack, Bytes, Cause, Connection, Controller, Duration, Lost, PacketState, Rate, Recovery,
    RttSample, Sent, Time,
};
use testkit::{End, Fault, Probe, Transport, Witness};

const CHUNK: u64 = 1_200;
const HEADERS: u64 = 40;
const MSS: Bytes = Bytes::new(CHUNK);
const THRESHOLD: u64 = 3;
const TIMEOUT: Duration = Duration::from_secs(1);
/// A packet is declared lost this long after the arrival of a later one, even if fewer than [`THRESHOLD`] later ones have arrived.
const REORDERING: Duration = Duration::from_millis(20);
/// After this time without an ACK, the newest chunk is sent again.
const PROBE: Duration = Duration::from_millis(100);

/// The number of a probe that is not reported.
const UNTOLD: u64 = u64::MAX;

/// Another way to make a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slip {
    /// The pacing rate is read only at the beginning.
    RateReadOnce,
    /// Probes leave without a report.
    ProbeNotTold,
    /// Losses are reported with nothing in flight.
    LossesWithoutFlight,
    /// Recoveries are reported with nothing in flight.
    RecoveriesWithoutFlight,
}

#[derive(Clone)]
pub enum Packet {
    Data { number: u64, chunk: u64 },
    Ack { number: u64 },
}

pub struct Raw {
    fault: Option<Fault>,
    slip: Option<Slip>,
    controller: Witness,
    sampler: Sampler,
    in_flight: BTreeMap<u64, (PacketState, u64)>,
    lost: HashSet<u64>,
    inflight: Bytes,
    again: VecDeque<u64>,
    next_number: u64,
    next_chunk: u64,
    chunks: u64,
    /// The time of the next burst, and the bytes that may leave until then.
    next_burst: Time,
    burst: Bytes,
    min_rtt: Duration,
    recovery_start: u64,
    /// The number of lost packets of the recovery that have not arrived.
    missing: u64,
    is_recovering: bool,
    is_app_limited: bool,
    is_window_full: bool,
    last_heard: Time,
    newest_acked: u64,
    loss_timer: Option<Time>,
    has_probed: bool,
    /// Whether losses were reported whose recovery has not been reported yet. For a fault.
    is_recovery_due: bool,
    last_state: Option<PacketState>,
    last_acked: Option<PacketState>,
    /// Packets that were reported and wait for the pacer. For a fault.
    early: VecDeque<Packet>,
    /// A pacing rate, and the time when it was read. For a fault.
    rate: Option<(Time, Rate)>,
    /// Probes that are not reported. For a fault.
    untold: VecDeque<Packet>,
    /// The inflight when all of it was declared lost. For a fault.
    stale_inflight: Bytes,
    now: Time,
    acks: VecDeque<u64>,
    arrived: HashSet<u64>,
}

impl Raw {
    pub fn new(probe: &Probe, fault: Option<Fault>) -> Raw {
        Raw {
            fault,
            slip: None,
            controller: probe.controller(Connection::new(Time::ZERO, MSS, MSS * 10)),
            sampler: Sampler::new(Time::ZERO),
            in_flight: BTreeMap::new(),
            lost: HashSet::new(),
            inflight: Bytes::ZERO,
            again: VecDeque::new(),
            next_number: 0,
            next_chunk: 0,
            chunks: 0,
            next_burst: Time::ZERO,
            burst: Bytes::ZERO,
            min_rtt: Duration::MAX,
            recovery_start: 0,
            missing: 0,
            is_recovering: false,
            is_app_limited: false,
            is_window_full: false,
            last_heard: Time::ZERO,
            newest_acked: 0,
            loss_timer: None,
            has_probed: false,
            is_recovery_due: false,
            last_state: None,
            last_acked: None,
            early: VecDeque::new(),
            rate: None,
            untold: VecDeque::new(),
            stale_inflight: Bytes::ZERO,
            now: Time::ZERO,
            acks: VecDeque::new(),
            arrived: HashSet::new(),
        }
    }

    pub fn with_slip(probe: &Probe, slip: Slip) -> Raw {
        Raw {
            slip: Some(slip),
            ..Raw::new(probe, None)
        }
    }

    fn has(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    fn slips(&self, slip: Slip) -> bool {
        self.slip == Some(slip)
    }

    fn pacing_rate(&mut self, now: Time) -> Rate {
        let is_kept = |read: Time| match (self.fault, self.slip) {
            (Some(Fault::PacingRateStale), _) => now.since(read) < Duration::from_secs(1),
            (_, slip) => slip == Some(Slip::RateReadOnce),
        };
        let kept = self.rate.filter(|(read, _)| is_kept(*read));
        let (read, rate) = kept.unwrap_or_else(|| (now, self.controller.pacing_rate()));
        self.rate = Some((read, rate));
        rate
    }

    fn has_data(&self) -> bool {
        !self.again.is_empty() || self.next_chunk < self.chunks
    }

    fn fits(&self) -> bool {
        let is_repeat = !self.again.is_empty();
        self.has(Fault::WindowExceeded)
            || is_repeat && self.has(Fault::RepeatsPastWindow)
            || self.inflight + MSS <= self.controller.cwnd()
    }

    fn next_data(&mut self, now: Time) -> Option<Packet> {
        if let Some(packet) = self.untold.pop_front() {
            return Some(packet);
        }
        while self.has(Fault::SentEarly) && self.early.len() < 4 && self.has_data() && self.fits() {
            let packet = self.depart(now);
            self.early.push_back(packet);
        }
        let is_told = !self.early.is_empty();
        if !is_told && !self.has_data() {
            if self.fits() && self.next_burst <= now && !self.has(Fault::AppLimitNotMarked) {
                self.is_app_limited = true;
                self.sampler.mark_app_limited(self.inflight);
            }
            return None;
        }
        if !is_told && !self.fits() {
            self.is_window_full = true;
            return None;
        }
        if self.next_burst <= now {
            let quantum = self.controller.send_quantum();
            self.burst = match self.fault {
                Some(Fault::BurstsTooLarge) => quantum * 20,
                _ => quantum,
            };
            self.next_burst = now;
        }
        if self.has(Fault::RepeatsUnpaced) && !self.again.is_empty() {
            return Some(self.depart(now));
        }
        let is_unpaced = self.has(Fault::PacingNotEngaged);
        if self.burst.is_zero() && !is_unpaced {
            return None;
        }
        let pace = match self.fault {
            Some(Fault::PacingTooSlow) => MSS * 2,
            _ => MSS,
        };
        self.burst -= MSS;
        let rate = self.pacing_rate(now);
        self.next_burst += rate.time_for(pace);
        Some(match self.early.pop_front() {
            Some(packet) => packet,
            None => self.depart(now),
        })
    }

    fn depart(&mut self, now: Time) -> Packet {
        let is_restart = self.inflight.is_zero() && self.sampler.is_app_limited();
        let is_false = self.has(Fault::IdleRestartFalse) && self.sampler.is_app_limited();
        if is_restart && !self.has(Fault::IdleRestartMissing) || is_false {
            self.controller.on_idle_restart(now);
        }
        let chunk = self.again.pop_front().unwrap_or_else(|| {
            self.next_chunk += 1;
            self.next_chunk
        });
        if self.in_flight.is_empty() {
            self.last_heard = now;
        }
        let number = self.next_number;
        self.next_number += 1;
        // These losses are reported correctly, but they are not losses: the packets are on their way, and arrive.
        if self.has(Fault::LossInvented) && number.is_multiple_of(50) && number > 0 {
            self.lose(now, number - 5..number - 4);
            self.enter_due_recovery(now);
        }
        let out = match self.fault {
            Some(Fault::RateWrong) => Outstanding::Nothing,
            Some(Fault::RateSpansPause) => Outstanding::Inflight(self.inflight),
            _ => Outstanding::without_lost(self.inflight),
        };
        let mut state = self.sampler.on_packet_sent(now, MSS, out);
        if self.has(Fault::RoundsTooLong)
            && !number.is_multiple_of(1_000)
            && let Some(old) = self.last_state
        {
            state.delivered = old.delivered;
        } else {
            self.last_state = Some(state);
        }
        state.is_app_limited |= self.has(Fault::AppLimitNotCleared);
        self.inflight += MSS;
        if !self.has(Fault::SentNotTold) || number.is_multiple_of(2) {
            self.controller
                .on_packet_sent(&Sent::new(now, MSS, self.inflight));
        }
        self.in_flight.insert(number, (state, chunk));
        Packet::Data { number, chunk }
    }

    fn on_ack(&mut self, now: Time, number: u64) {
        self.last_heard = now;
        self.has_probed = false;
        if number == UNTOLD {
            self.lose(now, 0..self.next_number);
            self.enter_due_recovery(now);
            return;
        }
        self.newest_acked = self.newest_acked.max(number);
        if self.has(Fault::LossNotSettled) {
            self.enter_due_recovery(now);
        }
        let stale = std::mem::take(&mut self.stale_inflight);
        let mut prior_inflight = match self.fault {
            Some(Fault::PriorInflightStale) => self.inflight.max(stale),
            _ => self.inflight,
        };
        let mut rtt = None;
        if let Some((mut state, _)) = self.in_flight.remove(&number) {
            if self.has(Fault::RoundsTooShort) {
                state.delivered = self.sampler.delivered();
            }
            if self.has(Fault::AckedForgotten) && number % 50 == 49 {
                return;
            }
            let forgets = self.has(Fault::DeliveredNotCounted) && number % 2 == 1;
            if !forgets {
                self.sampler.on_packet_acked(now, &state);
            }
            self.last_acked = Some(state);
            self.inflight -= MSS;
            let measured = now.since(state.sent_time);
            rtt = Some(match self.fault {
                Some(Fault::RttTooShort) => measured / 2,
                Some(Fault::RttTooLong) => measured * 2,
                _ => measured,
            });
            self.min_rtt = rtt.map_or(self.min_rtt, |rtt| self.min_rtt.min(rtt));
            if forgets {
                return;
            }
        } else if self.lost.remove(&number) {
            self.sampler.on_packet_acked(now, &self.last_state.unwrap());
            if number < self.recovery_start && self.missing > 0 {
                self.missing -= 1;
                if self.missing == 0 && !self.has(Fault::UndoMissing) {
                    self.is_recovering = false;
                    let inflight = self.inflight;
                    self.controller.on_recovery(now, Recovery::Undone, inflight);
                }
            }
        } else {
            return;
        }
        let is_late = self.has(Fault::LossAfterAck);
        if !is_late {
            let settled = prior_inflight - self.inflight;
            self.lose(now, 0..(number + 1).saturating_sub(THRESHOLD));
            if !self.has(Fault::LossNotSettled) && !self.has(Fault::RecoveryAfterAck) {
                self.enter_due_recovery(now);
            }
            if self.has(Fault::PriorInflightWrong) {
                prior_inflight = self.inflight + settled;
            }
            self.end_recovery(now, number);
        }
        self.set_loss_timer(now);
        let told_at = match self.fault {
            Some(Fault::TimeBackwards) if number.is_multiple_of(100) => {
                Time::from_nanos(now.as_nanos().saturating_sub(30_000_000))
            }
            Some(Fault::TimeWrong) => Time::from_nanos(now.as_nanos() + 1_000_000_000),
            _ => now,
        };
        let rate = self.sampler.sample(now, self.min_rtt);
        let left = match self.fault {
            Some(Fault::AckInflightWrong) => prior_inflight,
            _ => self.inflight,
        };
        let mut ack = Ack::new(told_at, MSS, prior_inflight, left, rate);
        ack.rtt = rtt.map(RttSample::exact);
        ack.is_window_full = std::mem::take(&mut self.is_window_full)
            && !self.has(Fault::WindowFullNotTold)
            || self.has(Fault::WindowFullFalse);
        ack.is_cwnd_limited =
            !std::mem::take(&mut self.is_app_limited) || self.has(Fault::WindowUseFalse);
        if self.has(Fault::RttMissing) {
            ack.rtt = None;
        }
        self.controller.on_ack(&ack);
        if is_late {
            self.lose(now, 0..(number + 1).saturating_sub(THRESHOLD));
        }
        if !self.has(Fault::LossNotSettled) {
            self.enter_due_recovery(now);
        }
        if is_late {
            self.end_recovery(now, number);
        }
    }

    /// Sets the timer for packets that left before the newest acknowledged packet and are not acknowledged.
    fn set_loss_timer(&mut self, now: Time) {
        let waits = self.in_flight.range(..self.newest_acked).next().is_some();
        let running = self.loss_timer.filter(|_| waits);
        self.loss_timer = running.or(waits.then_some(now + REORDERING));
    }

    fn lose(&mut self, now: Time, numbers: Range<u64>) {
        let numbers = self.in_flight.range(numbers);
        let numbers: Vec<u64> = numbers.map(|(number, _)| *number).collect();
        let mut newest = None;
        for number in numbers {
            let (mut state, chunk) = self.in_flight.remove(&number).unwrap();
            if self.has(Fault::LossOfAnother) {
                state = self.last_acked.unwrap_or(state);
            }
            if !self.has(Fault::InflightWrong) {
                self.inflight -= MSS;
            }
            self.lost.insert(number);
            self.again.push_back(chunk);
            newest = Some(number);
            if number >= self.recovery_start {
                self.missing = if self.is_recovering { self.missing } else { 0 } + 1;
            }
            if self.has(Fault::LossNotTold) {
                continue;
            }
            if !self.has(Fault::LossNotSampled) {
                self.sampler.on_packet_lost(&state);
            }
            let inflight = match self.slip {
                Some(Slip::LossesWithoutFlight) => Bytes::ZERO,
                _ => self.inflight,
            };
            let lost = Lost::new(now, state, inflight, &self.sampler);
            self.controller.on_packet_lost(&lost);
            if self.has(Fault::LossToldTwice) {
                self.controller.on_packet_lost(&lost);
            }
        }
        let starts = newest.is_some_and(|number| number >= self.recovery_start);
        let each = self.has(Fault::RecoveryTwice) && newest.is_some();
        let is_silent = self.has(Fault::LossNotTold) || self.has(Fault::RecoveryNotTold);
        self.is_recovery_due |= (starts || each) && !is_silent;
    }

    fn enter_due_recovery(&mut self, now: Time) {
        if std::mem::take(&mut self.is_recovery_due) {
            let inflight = match self.slip {
                Some(Slip::RecoveriesWithoutFlight) => Bytes::ZERO,
                _ => self.inflight,
            };
            let is_told = !self.has(Fault::RecoveryTwice) && !self.has(Fault::RecoveryNeverEnds);
            if self.is_recovering && is_told {
                self.controller.on_recovery(now, Recovery::Left, inflight);
            }
            self.is_recovering = true;
            self.recovery_start = self.next_number;
            let entered = Recovery::Entered(Cause::Loss);
            self.controller.on_recovery(now, entered, inflight);
        }
    }

    fn time_out(&mut self, now: Time) {
        self.recovery_start = self.next_number;
        self.is_recovering = true;
        self.missing = 0;
        self.controller.on_timeout(now, self.inflight);
    }

    fn end_recovery(&mut self, now: Time, number: u64) {
        let ends = !self.has(Fault::RecoveryNeverEnds) && !self.has(Fault::RecoveryTwice);
        let is_over = number >= self.recovery_start || self.has(Fault::RecoveryTooShort);
        if self.is_recovering && is_over && ends {
            self.is_recovering = false;
            let inflight = self.inflight;
            self.controller.on_recovery(now, Recovery::Left, inflight);
        }
    }
}

impl Transport for Raw {
    type Packet = Packet;

    fn write(&mut self, now: Time, bytes: u64) {
        self.now = now;
        self.chunks = self.chunks.saturating_add(bytes.div_ceil(CHUNK));
    }

    fn poll_transmit(&mut self, now: Time, end: End) -> Option<(Bytes, Packet)> {
        self.now = now;
        match end {
            End::Sender => Some((Bytes::new(CHUNK + HEADERS), self.next_data(now)?)),
            End::Receiver => {
                let number = self.acks.pop_front()?;
                Some((Bytes::new(HEADERS), Packet::Ack { number }))
            }
        }
    }

    fn receive(&mut self, now: Time, _: End, packet: Packet) {
        match packet {
            Packet::Data { number, chunk } => {
                self.arrived.insert(chunk);
                self.acks.push_back(number);
            }
            Packet::Ack { number } => self.on_ack(now, number),
        }
    }

    fn next_timer(&self) -> Option<Time> {
        let waits = !self.in_flight.is_empty();
        let silence = waits.then_some(self.last_heard + TIMEOUT);
        let probe = (waits && !self.has_probed).then_some(self.last_heard + PROBE);
        let waits = self.has_data() && self.fits();
        let waits = waits || !self.early.is_empty();
        let pacer = waits.then(|| self.next_burst.max(self.now));
        if self.has(Fault::Stalled) {
            return pacer;
        }
        let timers = [silence, probe, self.loss_timer, pacer];
        timers.into_iter().flatten().min()
    }

    fn on_timer(&mut self, now: Time) {
        if self.loss_timer.is_some_and(|at| at <= now) {
            self.lose(now, 0..self.newest_acked);
            if !self.has(Fault::LossNotSettled) {
                self.enter_due_recovery(now);
            }
            self.set_loss_timer(now);
        }
        let newest = self.in_flight.last_key_value();
        if let Some((_, (_, chunk))) = newest
            && !self.has_probed
            && now >= self.last_heard + PROBE
        {
            let chunk = *chunk;
            self.has_probed = true;
            if self.slips(Slip::ProbeNotTold) {
                let number = UNTOLD;
                self.untold.push_back(Packet::Data { number, chunk });
            } else {
                self.again.push_back(chunk);
            }
            if self.has(Fault::TimeoutFalse) {
                self.time_out(now);
            }
        }
        if !self.in_flight.is_empty() && now >= self.last_heard + TIMEOUT {
            self.last_heard = now;
            if self.has(Fault::TimeoutWithoutLoss) {
                self.time_out(now);
            }
            self.stale_inflight = self.inflight;
            let before = self.recovery_start;
            self.recovery_start = u64::MAX;
            self.lose(now, 0..self.next_number);
            self.recovery_start = before;
            if !self.has(Fault::TimeoutNotTold) && !self.has(Fault::TimeoutWithoutLoss) {
                self.time_out(now);
            }
        }
    }

    fn received(&self) -> u64 {
        self.arrived.len() as u64 * CHUNK
    }
}
