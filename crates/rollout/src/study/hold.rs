//! Keeps the program attached to a control group.

use std::os::fd::OwnedFd;

use kernel::{Attached, Error, Memory, ProgramOwner, Steering, SteeringCounts};
pub(crate) use kernel::{in_force, is_kept, release, sweep};
use units::Duration;

use super::group::{ControlGroup, Opened};
use super::lock::Claim;
use super::tended::{HoldError, Tended};

/// The program on a control group. If a service manager makes the group anew, the program is attached again.
#[derive(Debug)]
pub(crate) struct Hold {
    group: ControlGroup,
    steering: Steering,
    /// The time for which the program works without a renewal of its lease.
    lease: Duration,
    /// True if the program also works on for this long after this process has ended.
    is_kept: bool,
    attached: Option<(Attached, Opened)>,
    /// While no program is attached: what the last one remembers of client networks.
    memory: Option<Memory>,
    /// True if this process took over a program that an earlier process had left.
    took_over: bool,
    /// The counters of the attached program.
    counts: SteeringCounts,
    /// The sum of the counters of the programs that were attached before.
    earlier: SteeringCounts,
}

/// The state of an attached program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// The program is attached as it should be.
    Fine,
    /// The control group was removed.
    NoGroup,
    /// Another process has detached the program from the control group.
    Evicted,
    /// Another process has removed the file that keeps the program beyond this process.
    Unkept,
    /// Another process has the control group now.
    Superseded,
}

impl Hold {
    /// Attaches the program.
    pub fn begin(
        group: ControlGroup,
        steering: Steering,
        lease: Duration,
        is_kept: bool,
    ) -> Result<Hold, HoldError> {
        let mut hold = Hold {
            group,
            steering,
            lease,
            is_kept,
            attached: None,
            memory: None,
            took_over: false,
            counts: SteeringCounts::default(),
            earlier: SteeringCounts::default(),
        };
        hold.took_over = hold.attach()?;
        Ok(hold)
    }

    /// Attaches the program, in place of an attached one. Returns whether an earlier process's program was kept.
    fn attach(&mut self) -> Result<bool, HoldError> {
        let opened = match &self.attached {
            // The lock stays.
            Some((_, opened)) if self.group.is(opened) => self.group.again(opened)?,
            _ => self.group.claim(self.claim())?,
        };
        match &self.attached {
            Some((earlier, _)) => self.memory = earlier.memory()?,
            None if self.is_kept && self.memory.is_none() => {
                self.memory = kernel::memory(&opened.name())?;
            }
            None => {}
        }
        let memory = self.memory.as_ref();
        let mut attached = kernel::attach_with(&opened.directory, &self.steering, memory)?;
        self.memory = None;
        attached.renew(self.lease)?;
        let was_kept = self.is_kept && attached.keep(&opened.name())?;
        self.earlier = self.counts();
        self.counts = SteeringCounts::default();
        if let Some((earlier, _)) = self.attached.replace((attached, opened)) {
            earlier.detach();
        }
        Ok(was_kept)
    }

    /// A process whose program is kept may be superseded by another one. All others hold the group alone.
    fn claim(&self) -> Claim {
        if self.is_kept {
            Claim::Shared
        } else {
            Claim::Alone
        }
    }

    /// True if this process took over a program that an earlier, killed process had left.
    pub fn took_over(&self) -> bool {
        self.took_over
    }

    /// True if a program is attached.
    pub fn is_attached(&self) -> bool {
        self.attached.is_some()
    }

    /// The map of the data that the attached program stores with connections.
    pub fn connections(&self) -> Result<Option<OwnedFd>, Error> {
        let attached = self.attached.as_ref();
        attached
            .map(|(attached, _)| attached.connections())
            .transpose()
    }

    /// The programs' counters since the beginning, including those before the program was attached again.
    pub fn counts(&self) -> SteeringCounts {
        self.earlier + self.counts
    }

    /// Replaces the rules. If the kernel refuses, the old rules stay in force.
    pub fn replace(&mut self, steering: Steering) -> Result<(), HoldError> {
        if let Some((attached, _)) = &mut self.attached {
            attached.renew(self.lease)?;
            attached.replace(&steering, self.lease)?;
            attached.renew(self.lease)?;
        }
        self.steering = steering;
        Ok(())
    }

    /// Renews the lease, collects connections and objects that have ended, and attaches the program again if its
    /// control group has come back. Call it about once a second.
    pub fn tend(&mut self) -> Tended {
        let mut tended = Tended::default();
        let Some((attached, opened)) = &self.attached else {
            tended.troubles.push(match self.attach() {
                Ok(_) => {
                    tended.is_anew = true;
                    tended.is_back = true;
                    "the control group is there again, and its new connections are steered"
                        .to_owned()
                }
                Err(error) => {
                    format!("{error}; it is waited for, and new connections have the default")
                }
            });
            return tended;
        };
        let standing = self.standing(attached, opened);
        if let Err(error) = attached.renew(self.lease) {
            tended.troubles.push(error.to_string());
        }
        let lapsed = attached.lapsed().as_secs_f64();
        if lapsed > 0.0 {
            tended.troubles.push(format!(
                "this process did not run, or had to wait, for longer than its lease: for {lapsed:.1} s, new connections had the \
                 default, and ends of connections were not recorded"
            ));
        }
        match attached.ended() {
            Ok(ended) => {
                tended.ended = ended;
                tended.objects = attached.objects();
            }
            Err(error) => tended.troubles.push(error.to_string()),
        }
        if let Ok(counts) = attached.counts() {
            tended.note(self.counts, counts);
            self.counts = counts;
        }
        match standing {
            Ok(Standing::Fine) => {}
            Ok(Standing::NoGroup) => self.release(),
            Ok(Standing::Evicted) => {
                self.again(
                    "somebody has taken the program off the control group",
                    &mut tended,
                );
            }
            Ok(Standing::Unkept) => {
                self.again(
                    "somebody has removed the file that keeps the program when this process is gone",
                    &mut tended,
                );
            }
            Ok(Standing::Superseded) => {
                self.attached = None;
                tended.is_superseded = true;
            }
            Err(error) => tended.troubles.push(error.to_string()),
        }
        tended
    }

    fn standing(&self, attached: &Attached, opened: &Opened) -> Result<Standing, Error> {
        if !self.group.is(opened) {
            return Ok(Standing::NoGroup);
        }
        let is_attached = attached.is_attached();
        let kept = if self.is_kept {
            attached.kept(&opened.name())?
        } else {
            ProgramOwner::ThisProcess
        };
        Ok(match kept {
            ProgramOwner::Another => Standing::Superseded,
            _ if !is_attached => Standing::Evicted,
            ProgramOwner::Nobody => Standing::Unkept,
            ProgramOwner::ThisProcess => Standing::Fine,
        })
    }

    /// Attaches the program again while its group exists. If this fails, the next try is as if the group were gone.
    fn again(&mut self, why: &str, tended: &mut Tended) {
        tended.troubles.push(match self.attach() {
            Ok(_) => {
                tended.is_anew = true;
                format!("{why}; it is attached again, and new connections are steered")
            }
            Err(error) => {
                self.release();
                format!("{why}, and it cannot be attached again: {error}; new connections have the default")
            }
        });
    }

    /// Detaches the program, but not another process's program. New connections then have the default controller.
    pub fn release(&mut self) {
        let Some((attached, opened)) = self.attached.take() else {
            return;
        };
        if self.is_kept && matches!(attached.kept(&opened.name()), Ok(ProgramOwner::ThisProcess)) {
            // A program that cannot be removed ends with its lease.
            let _ = release(&opened.name());
        }
        self.memory = attached.memory().ok().flatten();
        attached.detach();
    }
}
