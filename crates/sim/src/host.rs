//! A sending host.

use congestion::Time;
use transport::burst::Burst;
use transport::scheduler::Scheduler;

use crate::config::HostConfig;

/// The packet scheduler of a host, and the state of its network card.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) scheduler: Scheduler,
    has_nic: bool,
    /// The burst that the network card transmits, and the number of its packets that have not left yet.
    transmitting: Option<(Burst, u32)>,
}

impl Host {
    pub(crate) fn new(config: &HostConfig) -> Host {
        Host {
            scheduler: Scheduler::new(&config.scheduler),
            has_nic: config.nic.is_some(),
            transmitting: None,
        }
    }

    /// Releases the next burst from the scheduler, if it is due and the network card is free.
    #[inline]
    pub(crate) fn release(&mut self, now: Time) -> Option<Burst> {
        if self.transmitting.is_some() {
            return None;
        }
        let burst = self.scheduler.dequeue(now)?;
        if self.has_nic {
            self.transmitting = Some((burst, burst.packets()));
        }
        Some(burst)
    }

    /// Whether a released burst departs at once, because the network card takes no time.
    #[inline]
    pub(crate) fn is_immediate(&self) -> bool {
        !self.has_nic
    }

    /// Notes that a packet has left the network card; returns its burst if it was the last packet.
    #[inline]
    pub(crate) fn on_packet_out(&mut self) -> Option<Burst> {
        let (burst, left) = self.transmitting.as_mut()?;
        *left = left.saturating_sub(1);
        let done = (*left == 0).then_some(*burst);
        if done.is_some() {
            self.transmitting = None;
        }
        done
    }

    /// The time of the next useful call of [`Host::release`]; [`Time::MAX`] if another event must come first.
    #[inline]
    pub(crate) fn next_release(&self) -> Time {
        match self.transmitting {
            Some(_) => Time::MAX,
            None => self.scheduler.next_departure().unwrap_or(Time::MAX),
        }
    }
}
