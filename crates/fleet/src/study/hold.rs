//! The program on a control group, as long as somebody tends it.

use kernel::{Attached, EndedConnection, Error, Steering, SteeringCounts, ToldObject};
use units::Duration;

use super::group::{ControlGroup, GroupError, Opened};

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
    counts: SteeringCounts,
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
            counts: SteeringCounts::default(),
        };
        hold.attach()?;
        Ok(hold)
    }

    fn attach(&mut self) -> Result<(), HoldError> {
        let opened = self.group.open()?;
        let mut attached = kernel::attach(&opened.directory, &self.steering)?;
        attached.renew(self.lease)?;
        if self.is_kept {
            attached.keep(&opened.name())?;
        }
        self.counts = SteeringCounts::default();
        self.attached = Some((attached, opened));
        Ok(())
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
            attached.replace(&steering)?;
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
                Ok(()) => {
                    tended.is_anew = true;
                    "the control group is there again, and its new connections are steered"
                        .to_owned()
                }
                Err(error) => {
                    format!("{error}; it is waited for, and new connections have the default")
                }
            });
            return tended;
        };
        let is_there = self.group.is(opened) && attached.is_attached();
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
        if !is_there {
            self.release();
        }
        tended
    }

    /// Takes the program away: new connections have the default.
    pub fn release(&mut self) {
        if let Some((_, opened)) = self.attached.take()
            && self.is_kept
        {
            // What cannot be removed ends with its lease.
            let _ = kernel::release(&opened.name());
        }
    }
}
