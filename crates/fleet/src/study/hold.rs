//! The program on a control group, as long as somebody tends it.

use kernel::{Attached, EndedConnection, Error, Kept, Steering, SteeringCounts, ToldObject};
use units::Duration;

use super::group::{ControlGroup, GroupError, Opened};
use super::lock::Claim;

/// Why nothing is attached.
#[derive(Debug, thiserror::Error)]
pub enum HoldError {
    /// The kernel.
    #[error(transparent)]
    Kernel(#[from] Error),
    /// The control group.
    #[error(transparent)]
    Group(#[from] GroupError),
}

/// The program on a control group. A service manager may remove the group and make it anew: then it is attached again.
#[derive(Debug)]
pub(crate) struct Hold {
    group: ControlGroup,
    steering: Steering,
    /// So long the program works on when nobody tends it.
    lease: Duration,
    /// Whether it works on for that long when this process is gone.
    is_kept: bool,
    attached: Option<(Attached, Opened)>,
    /// Whether this process took over what an earlier one has left.
    took_over: bool,
    counts: SteeringCounts,
}

/// How things stand with a program that was attached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    /// As they should.
    Fine,
    /// Its control group was removed.
    NoGroup,
    /// Somebody has taken it off the control group.
    Evicted,
    /// The file is gone that keeps it beyond this process.
    Unkept,
    /// Another process has the control group now.
    Superseded,
}

/// What tending came to.
#[derive(Debug, Default)]
pub(crate) struct Tended {
    /// The connections that have ended.
    pub ended: Vec<EndedConnection>,
    /// The objects that are over.
    pub objects: Vec<ToldObject>,
    /// Whether the program was attached anew.
    pub is_anew: bool,
    /// Whether its control group is there again, for which was waited.
    pub is_back: bool,
    /// Whether another process has the control group now: there is nothing to tend any more.
    pub is_superseded: bool,
    /// What is wrong, or was.
    pub troubles: Vec<String>,
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
            took_over: false,
            counts: SteeringCounts::default(),
        };
        hold.took_over = hold.attach()?;
        Ok(hold)
    }

    /// Attaches the program, in place of one that is attached. Whether one was kept.
    fn attach(&mut self) -> Result<bool, HoldError> {
        let opened = match &self.attached {
            // What it has locked stays locked.
            Some((_, opened)) if self.group.is(opened) => self.group.again(opened)?,
            _ => self.group.claim(self.claim())?,
        };
        let mut attached = kernel::attach(&opened.directory, &self.steering)?;
        attached.renew(self.lease)?;
        let was_kept = self.is_kept && attached.keep(&opened.name())?;
        self.counts = SteeringCounts::default();
        self.attached = Some((attached, opened));
        Ok(was_kept)
    }

    /// Who works on without its process may be taken over from, and nobody else.
    fn claim(&self) -> Claim {
        if self.is_kept {
            Claim::Shared
        } else {
            Claim::Alone
        }
    }

    /// Whether this process took over what an earlier one has left, which was killed.
    pub fn took_over(&self) -> bool {
        self.took_over
    }

    /// What is attached, if something is.
    pub fn attached(&self) -> Option<&Attached> {
        self.attached.as_ref().map(|(attached, _)| attached)
    }

    /// How often the program did what since it was attached.
    pub fn counts(&self) -> SteeringCounts {
        self.counts
    }

    /// Takes other rules. If the kernel refuses, the old ones hold.
    pub fn replace(&mut self, steering: Steering) -> Result<(), HoldError> {
        if let Some((attached, _)) = &mut self.attached {
            // Loading many networks may take longer than is left of the lease.
            attached.renew(self.lease)?;
            attached.replace(&steering)?;
            attached.renew(self.lease)?;
        }
        self.steering = steering;
        Ok(())
    }

    /// To be called about once a second: renews the lease, takes in what has ended, and attaches the program again where its
    /// control group has come back.
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
        match attached.ended() {
            Ok(ended) => {
                tended.ended = ended;
                tended.objects = attached.objects();
            }
            Err(error) => tended.troubles.push(error.to_string()),
        }
        if let Ok(counts) = attached.counts() {
            if counts.refused > self.counts.refused {
                tended.troubles.push(
                    "the kernel refuses a controller that a connection was to get: it keeps its own; was the controller unloaded?"
                        .to_owned(),
                );
            }
            if counts.untold > self.counts.untold {
                tended.troubles.push(
                    "connections ended faster than they could be read: some are missing".to_owned(),
                );
            }
            if counts.untold_objects > self.counts.untold_objects {
                tended.troubles.push(
                    "objects were over faster than they could be read: some are missing".to_owned(),
                );
            }
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
            Kept::Own
        };
        Ok(match kept {
            Kept::Anothers => Standing::Superseded,
            _ if !is_attached => Standing::Evicted,
            Kept::Nobodys => Standing::Unkept,
            Kept::Own => Standing::Fine,
        })
    }

    /// Attaches the program again, whose group is there. If that fails it is tried again as if the group were gone.
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

    /// Takes the program away, but not another process's: new connections have the default.
    pub fn release(&mut self) {
        if let Some((attached, opened)) = self.attached.take()
            && self.is_kept
            && matches!(attached.kept(&opened.name()), Ok(Kept::Own))
        {
            // What cannot be removed ends with its lease.
            let _ = kernel::release(&opened.name());
        }
    }
}
