//! The networks that a policy or a plan names, in its text, in lists and by autonomous systems. They are counted while they
//! are read: a short policy may name lists of gigabytes.

use std::fmt::Display;

use rules::Prefix;

/// The maximum number of networks of a plan, or of all rules of a policy together. The full routing table of the Internet
/// has some 1.3 million. The kernel's table takes up to 200 bytes for each.
pub const MAX_NETWORKS: usize = 2_000_000;

/// The number of networks that may still be added.
#[derive(Debug)]
pub(crate) struct Room(usize);

impl Room {
    /// The room beside this many networks.
    pub(crate) fn beside(count: usize) -> Room {
        Room(MAX_NETWORKS.saturating_sub(count))
    }

    /// Takes room for this many networks.
    pub(crate) fn take(&mut self, count: usize) -> Result<(), String> {
        let left = self.0.checked_sub(count);
        self.0 = left.ok_or_else(|| {
            format!(
                "brings more than {MAX_NETWORKS} networks altogether; give fewer, such as larger networks in place of their parts"
            )
        })?;
        Ok(())
    }

    /// Adds the networks of a list, and reads it no further than there is room.
    pub(crate) fn add_list<E: Display>(
        &mut self,
        list: impl IntoIterator<Item = Result<Prefix, E>>,
        to: &mut Vec<Prefix>,
    ) -> Result<(), String> {
        let before = to.len();
        for network in list {
            let network = network.map_err(|error| error.to_string())?;
            self.take(1)?;
            to.push(network);
        }
        if to.len() == before {
            return Err("has no network; give one in each line".to_owned());
        }
        // The spare capacity of a million entries is megabytes.
        to.shrink_to_fit();
        Ok(())
    }
}
