//! A simple model of fair queueing: everything is searched for in lists.

use std::collections::VecDeque;

use transport::burst::Burst;
use transport::scheduler::fq::Config;
use units::{Duration, Time};

/// The idle time after which a flow is forgotten.
const IDLE_TIMEOUT: Duration = Duration::from_secs(3);

struct Flow {
    connection: u32,
    credit: i64,
    bursts: VecDeque<Burst>,
    emptied: Time,
}

/// A scheduler.
pub struct Model {
    config: Config,
    new: Vec<Flow>,
    old: Vec<Flow>,
    /// Flows whose first burst's departure was in the future.
    delayed: Vec<Flow>,
    idle: Vec<Flow>,
}

impl Model {
    pub fn new(config: &Config) -> Model {
        Model {
            config: config.clone(),
            new: Vec::new(),
            old: Vec::new(),
            delayed: Vec::new(),
            idle: Vec::new(),
        }
    }

    pub fn enqueue(&mut self, now: Time, burst: Burst) -> Result<(), Burst> {
        if burst.departure > now + self.config.horizon {
            return Err(burst);
        }
        self.idle
            .retain(|flow| now.since(flow.emptied) < IDLE_TIMEOUT);
        let queued = [&mut self.new, &mut self.old, &mut self.delayed];
        for flow in queued.into_iter().flatten() {
            if flow.connection == burst.connection {
                if flow.bursts.len() >= self.config.flow_limit as usize {
                    return Err(burst);
                }
                flow.bursts.push_back(burst);
                return Ok(());
            }
        }
        let idle = self
            .idle
            .iter()
            .position(|flow| flow.connection == burst.connection);
        let mut flow = match idle {
            Some(index) => self.idle.remove(index),
            None => Flow {
                connection: burst.connection,
                credit: self.config.initial_quantum.get() as i64,
                bursts: VecDeque::new(),
                emptied: now,
            },
        };
        if now.since(flow.emptied) > self.config.refill_delay {
            flow.credit = flow.credit.max(self.config.quantum.get() as i64);
        }
        flow.bursts.push_back(burst);
        self.new.push(flow);
        Ok(())
    }

    pub fn dequeue(&mut self, now: Time) -> Option<Burst> {
        let departure = |flow: &Flow| flow.bursts.front().map(|burst| burst.departure);
        self.delayed
            .sort_by_key(|flow| (departure(flow), flow.connection));
        while self
            .delayed
            .first()
            .is_some_and(|flow| departure(flow) <= Some(now))
        {
            self.old.push(self.delayed.remove(0));
        }
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let flow = list.first_mut()?;
            if flow.credit <= 0 {
                flow.credit += self.config.quantum.get() as i64;
                let flow = list.remove(0);
                self.old.push(flow);
            } else if let Some(burst) = flow.bursts.pop_front_if(|burst| burst.departure <= now) {
                flow.credit -= burst.wire_size().get() as i64;
                return Some(burst);
            } else {
                let mut flow = list.remove(0);
                if !flow.bursts.is_empty() {
                    self.delayed.push(flow);
                } else if is_new {
                    self.old.push(flow);
                } else {
                    flow.emptied = now;
                    self.idle.push(flow);
                }
            }
        }
    }

    /// The earliest departure.
    pub fn next_departure(&self) -> Option<Time> {
        let flows = [&self.new, &self.old, &self.delayed];
        let firsts = flows
            .into_iter()
            .flatten()
            .filter_map(|flow| flow.bursts.front());
        firsts.map(|burst| burst.departure).min()
    }
}
