//! A pass: everything is fetched once, with one choice in force.

use std::collections::HashMap;
use std::net::IpAddr;
use std::path::Path;
use std::time::Instant;

use emulator::tunnel::TunCounters;
use kernel::SteeringCounts;
use lab::Cancel;
use linux::Network;
use linux::command::Init;
use linux::diag::{Diag, Filter, TcpState};
use record::{PathSummary, Validity};
use rollout::steer::Steer;
use rollout::study::Study;
use units::{Bytes, Duration};

use super::background::Background;
use super::busy::Busy;
use super::clients::{self, Download};
use super::{paths, unix_s};
use crate::laboratory::LabError;
use crate::line::Line;
use crate::machine::OfPass;
use crate::spec::PORT;

/// The interval at which the choice in force is maintained, and the server's connections are inspected.
const STEP_INTERVAL: Duration = Duration::from_millis(200);

/// The time for which the last connections may end at the server after the last client has gone.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// The environment that all passes share.
pub(super) struct Stage<'s> {
    pub network: &'s Network,
    pub lines: &'s [Line],
    pub init: &'s Init,
    pub seed: u64,
    /// The time in which downloads begin. They may last twice as long.
    pub duration: Duration,
    /// The directory of curl's reports.
    pub downloads: &'s Path,
    pub cancel: &'s Cancel,
}

/// The mechanism that gives connections their controllers during a pass.
pub(super) enum Force {
    Policy(Box<Steer>),
    Study(Box<Study>),
}

/// The results of a pass.
#[derive(Debug)]
pub(super) struct Pass {
    pub name: String,
    /// The complete downloads.
    pub downloads: Vec<Download>,
    /// The bytes that the background traffic of each line delivered while downloads began.
    pub background: Vec<Bytes>,
    /// The number of downloads that were started.
    pub begun: usize,
    pub looks: Inspections,
    pub counts: SteeringCounts,
    /// The state of the machine.
    pub machine: OfPass,
}

/// The controllers of the server's connections, as the kernel reports them.
#[derive(Debug, Default)]
pub(super) struct Inspections {
    /// The number of inspections.
    pub all: u64,
    /// The number of inspections in which the controller was not the one in force for the client.
    pub others: u64,
    pub first_other: Option<String>,
}

impl Force {
    pub fn policy(steer: Steer) -> Force {
        Force::Policy(Box::new(steer))
    }

    pub fn study(study: Study) -> Force {
        Force::Study(Box::new(study))
    }

    fn step(&mut self, tell: &mut (dyn FnMut(&str) + Send)) {
        // A study continues after its time until the last download has ended.
        let _ = match self {
            Force::Policy(steer) => steer.step(unix_s(), tell),
            Force::Study(study) => study.step(unix_s(), tell),
        };
    }

    fn finish(self) -> Result<SteeringCounts, LabError> {
        match self {
            Force::Policy(steer) => {
                let counts = steer.counts();
                steer.finish(unix_s());
                Ok(counts)
            }
            Force::Study(study) => {
                let counts = study.counts();
                study
                    .finish(unix_s(), Some("its time is over".to_owned()))
                    .saved?;
                Ok(counts)
            }
        }
    }
}

impl Inspections {
    /// Inspects the connections of the server. The thread must be in its namespace.
    fn look(
        &mut self,
        diag: &mut Diag,
        lines: &HashMap<IpAddr, &Line>,
        is_right: &dyn Fn(&Line, &str) -> bool,
    ) -> Result<(), LabError> {
        let served = Filter {
            local_ports: Some(PORT..=PORT),
            ..Filter::default()
        };
        diag.sockets(&served, |socket| {
            let line = lines.get(&socket.remote.ip().to_canonical());
            let (Some(line), TcpState::Established | TcpState::CloseWait) = (line, socket.state)
            else {
                return;
            };
            self.all += 1;
            let has = socket.controller.as_str();
            if !is_right(line, has) {
                self.others += 1;
                self.first_other
                    .get_or_insert_with(|| format!("{} has {has}", line.client));
            }
        })?;
        Ok(())
    }
}

impl Stage<'_> {
    /// Fetches everything once. `is_right` is true if a line's connections may have this controller.
    pub fn pass(
        &self,
        name: &str,
        mut force: Force,
        is_right: &dyn Fn(&Line, &str) -> bool,
        tell: &mut (dyn FnMut(&str) + Send),
    ) -> Result<Pass, LabError> {
        let mut diag = Diag::open_here()?;
        let overflows = self.overflows()?;
        let lines: HashMap<IpAddr, &Line> =
            self.lines.iter().map(|line| (line.client, line)).collect();
        let tunnel = paths::join(self.network, self.lines, self.seed)?;
        let background = Background::start(self.network, self.lines)?;
        let told = self.downloads.join(format!("{name}.txt"));
        let (begin, longest) = (Instant::now(), self.duration * 2);
        let mut running =
            clients::start(&self.network.near, self.init, self.lines, longest, &told)?;
        let mut looks = Inspections::default();
        let (mut busy, mut over, mut delivered) = (Busy::new(), None, None);
        loop {
            force.step(tell);
            looks.look(&mut diag, &lines, is_right)?;
            if self.cancel.is_cancelled() {
                return Err(LabError::Cancelled);
            }
            let now = Duration::from(begin.elapsed());
            if now < self.duration {
                busy.look(now);
            } else {
                delivered.get_or_insert_with(|| background.delivered());
            }
            match over {
                None => {
                    if running.wait_for(STEP_INTERVAL)?.is_some() {
                        over = Some(self.duration.max(now + SETTLE_TIME));
                    }
                }
                Some(over) if now >= over => break,
                Some(_) => std::thread::sleep(STEP_INTERVAL.into()),
            }
        }
        let delivered = delivered.unwrap_or_else(|| background.delivered());
        drop(background);
        let counters = tunnel.stop();
        let overflows = self.overflows()? - overflows;
        let downloads = clients::read(&told)?;
        let begun = self.lines.iter().map(|line| line.visits.len()).sum();
        let counts = force.finish()?;
        tell(&format!(
            "{name}: {} of {begun} downloads were complete, in {:.0} s",
            downloads.len(),
            begin.elapsed().as_secs_f64()
        ));
        Ok(Pass {
            name: name.to_owned(),
            downloads,
            background: delivered,
            begun,
            looks,
            counts,
            machine: OfPass {
                name: name.to_owned(),
                validity: self.validity(&[counters.forward.tun, counters.reverse.tun], overflows),
                busy_share: busy.share(),
                full_share: busy.full_share(),
            },
        })
    }

    /// The number of packets that were dropped before the paths, in all passes so far.
    fn overflows(&self) -> Result<u64, LabError> {
        Ok(self.network.near.overflows()? + self.network.far.overflows()?)
    }

    /// The validity of the emulated paths.
    fn validity(&self, ways: &[TunCounters], overflows: u64) -> Validity {
        let sum = |of: fn(&TunCounters) -> u64| ways.iter().map(of).sum::<u64>();
        let written = sum(|way| way.written_packets);
        let lateness_ns = sum(|way| way.lateness_total_ns) as f64;
        let mut path = PathSummary::default();
        path.released_packets = Some(written);
        path.late_packets = Some(sum(|way| way.late_packets));
        path.lateness_mean_ms = Some(lateness_ns / 1e6 / written.max(1) as f64);
        path.overflows = Some(overflows);
        let rtts = self.lines.iter().map(|line| line.rtt().as_millis_f64());
        let shortest = rtts.fold(f64::INFINITY, f64::min);
        Validity::at(shortest, [&path].into_iter())
    }
}
