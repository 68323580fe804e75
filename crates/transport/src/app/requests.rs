//! Requests and responses.

use core::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

use super::config;
use super::exchange::Exchange;
use super::objects::Transfer;
use super::random::Random;

/// A client that requests, waits for the response, pauses, and requests again.
#[derive(Debug, Clone)]
pub(super) struct Requests {
    config: config::Requests,
    pub(super) exchange: Exchange,
    /// The times of the next requests: one entry for each pause that has begun.
    due: BinaryHeap<Reverse<Time>>,
    /// The number of requests left.
    left: Option<u64>,
    sizes: Random,
    pauses: Random,
}

impl Requests {
    pub(super) fn new(config: &config::Requests, seed: u64, start: Time) -> Requests {
        let (sizes, pauses) = Random::pair(seed);
        let mut requests = Requests {
            config: config.clone(),
            exchange: Exchange::default(),
            due: BinaryHeap::new(),
            left: config.count,
            sizes,
            pauses,
        };
        for _ in 0..config.outstanding {
            requests.plan(start);
        }
        requests
    }

    /// Schedules a request at `at`, unless the scheduled ones are the last.
    fn plan(&mut self, at: Time) {
        if self.left.is_none_or(|left| left > self.due.len() as u64) {
            self.due.push(Reverse(at));
        }
    }

    pub(super) fn next_timer(&self) -> Option<Time> {
        self.due.peek().map(|Reverse(at)| *at)
    }

    pub(super) fn on_timer(&mut self, now: Time) {
        while self.next_timer().is_some_and(|at| at <= now) {
            self.due.pop();
            self.left = self.left.map(|left| left.saturating_sub(1));
            let response = self.config.response.draw(&mut self.sizes);
            self.exchange.ask(now, self.config.request, response);
        }
    }

    pub(super) fn on_delivered(&mut self, now: Time, received: u64) -> Option<Transfer> {
        let transfer = self.exchange.objects.complete(now, received)?;
        let think = self.config.think.draw(&mut self.pauses);
        self.plan(now + think);
        Some(transfer)
    }

    pub(super) fn is_finished(&self) -> bool {
        self.left == Some(0) && self.exchange.is_answered()
    }
}
