//! Assigns arms by a BPF program on a control group.

use std::path::Path;

use experiment::Unit;
use experiment::plan::Connections;
use kernel::{DrawnUnit, SteeredConnection, Steering, SteeringCounts, SteeringRule};
use linux::diag::{Diag, Filter};
use rules::{Conditions, Networks};
use units::Duration;

use super::assigner::{Assigner, Events};
use super::directory::StudyDirectory;
use super::error::StudyError;
use super::group::ControlGroup;
use super::hold::Hold;
use super::row::{Maker, Now, Row};

/// The time for which the program works without a renewal. If the study's process is stopped, the default is back after
/// this time; if the process is killed, at once.
const LEASE: Duration = Duration::from_secs(10);

/// The program while it is tended.
pub(super) struct Program {
    hold: Hold,
    diag: Option<Diag>,
}

/// The unit of the draw, on a machine with this boot time.
pub(crate) fn drawn_unit(unit: Unit, boot: Duration) -> DrawnUnit {
    match unit {
        Unit::Connection => DrawnUnit::Connection,
        Unit::Prefix { v4, v6 } => DrawnUnit::Prefix(v4, v6),
        Unit::Slot(length) => DrawnUnit::Slot { length, boot },
        Unit::PrefixInSlot { v4, v6, slot } => DrawnUnit::PrefixInSlot {
            v4,
            v6,
            length: slot,
            boot,
        },
    }
}

/// The configuration of the program in the kernel.
fn steering(place: &StudyDirectory, boot: Duration) -> Steering {
    let plan = &place.plan;
    let Connections {
        listen,
        connect,
        prefix,
        except,
        interface,
        ..
    } = &plan.connections;
    let ends = plan.shares().ends().to_vec();
    let names = plan.controllers().into_iter().map(str::to_owned);
    let networks = [(prefix, 1), (except, 0)]
        .into_iter()
        .flat_map(|(prefixes, rules)| prefixes.iter().map(move |prefix| (*prefix, rules)));
    Steering {
        key: place.key().words(),
        unit: drawn_unit(plan.unit, boot),
        rules: vec![SteeringRule {
            name: plan.name.clone(),
            conditions: Conditions::new(listen.clone(), connect.clone(), interface.clone()),
            objects: Some(0),
            arms: ends.into_iter().zip(names).collect(),
        }],
        networks: Networks::new(networks, prefix.is_empty().into()),
    }
}

impl Program {
    /// Attaches the program.
    pub fn begin(
        place: &StudyDirectory,
        group: &Path,
        boot: Duration,
    ) -> Result<Program, StudyError> {
        let group = ControlGroup::at(group)?;
        let mut program = Program {
            hold: Hold::begin(group, steering(place, boot), LEASE, false)?,
            diag: None,
        };
        program.follow()?;
        Ok(program)
    }

    /// Lets sock_diag report the connections for which the program stores data.
    fn follow(&mut self) -> Result<(), StudyError> {
        self.diag = match self.hold.connections()? {
            Some(map) => Some(Diag::open_here()?.with_storage(vec![map])),
            None => None,
        };
        Ok(())
    }
}

impl Assigner for Program {
    /// Renews the lease, and collects connections and objects that have ended.
    fn tend(&mut self, maker: &Maker, now: Now) -> Events {
        let tended = self.hold.tend();
        let mut troubles = tended.troubles;
        if tended.is_anew
            && let Err(error) = self.follow()
        {
            troubles.push(error.to_string());
        }
        let ended = tended.ended.iter();
        let objects = tended.objects.iter();
        Events {
            ended: ended.map(|of| (of.steered, maker.ended(of, now))).collect(),
            objects: objects
                .map(|of| (of.steered, maker.object(of, now)))
                .collect(),
            missing: tended.missing,
            is_back: tended.is_back,
            troubles,
        }
    }

    /// The open connections.
    fn look(
        &mut self,
        maker: &Maker,
        now: Now,
        troubles: &mut Vec<String>,
    ) -> Vec<(SteeredConnection, Row)> {
        let mut found = Vec::new();
        let Some(diag) = &mut self.diag else {
            return found;
        };
        let looked = diag.sockets(&Filter::default(), |socket| {
            let storage = socket.storage.as_ref();
            let steered = storage.and_then(|storage| SteeredConnection::parse(storage.bytes()));
            found.extend(steered.map(|steered| (steered, maker.open(&steered, socket, now))));
        });
        if let Err(error) = looked {
            troubles.push(error.to_string());
        }
        found
    }

    /// The program's counters.
    fn counts(&self) -> SteeringCounts {
        self.hold.counts()
    }

    /// Detaches the program.
    fn end(&mut self, maker: &Maker, now: Now) -> Events {
        let mut heard = Events::default();
        if self.hold.is_attached() {
            heard = self.tend(maker, now);
        }
        self.hold.release();
        heard
    }
}
