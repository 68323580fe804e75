//! Samples of the machine's connections.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use linux::Error;
use linux::diag::{Diag, Filter as KernelFilter};

use crate::connection::{Connection, Moment};
use crate::namespace::{Namespace, NamespaceError};
use crate::systems::Systems;
use crate::table::{Table, nameless};
use crate::who::{Cgroups, Processes};

/// The maximum number of processes' files to check in a sample, which takes some milliseconds.
const FILES_PER_LOOK: usize = 4096;

/// The minimum number of samples between two searches for new control groups.
const MIN_CGROUP_LOOKS: u64 = 10;

/// Samples all connections of some network namespaces.
pub struct Watcher {
    places: Vec<WatchedNamespace>,
    filter: KernelFilter,
    systems: Option<Systems>,
    processes: Processes,
    cgroups: Cgroups,
    table: Table,
    /// True if there are connections whose process has not been searched for yet.
    is_process_wanted: bool,
    is_cgroup_wanted: bool,
    looks: u64,
}

struct WatchedNamespace {
    name: Arc<str>,
    diag: Diag,
}

impl Watcher {
    /// Watches these namespaces. The kernel applies `filter`; `systems` names the networks of remote addresses.
    ///
    /// # Errors
    ///
    /// A namespace cannot be entered, or the kernel has no sock_diag.
    pub fn new(
        namespaces: &[Namespace],
        filter: KernelFilter,
        systems: Option<Systems>,
    ) -> Result<Watcher, NamespaceError> {
        let open = |namespace: &Namespace| -> Result<WatchedNamespace, NamespaceError> {
            Ok(WatchedNamespace {
                name: namespace.name().into(),
                // Without the permission to see the state of Fullpipe's controllers, everything else is seen.
                diag: namespace.diag()?.with_storage(kernel::visible_flows()),
            })
        };
        Ok(Watcher {
            places: namespaces.iter().map(open).collect::<Result<_, _>>()?,
            filter,
            systems,
            processes: Processes::new(Path::new("/proc")),
            cgroups: Cgroups::new(),
            table: Table::default(),
            is_process_wanted: false,
            is_cgroup_wanted: false,
            looks: 0,
        })
    }

    /// Takes a sample.
    ///
    /// # Errors
    ///
    /// The kernel refuses, or its answer is invalid. Connections before the error are kept.
    pub fn look(&mut self, when: Moment) -> Result<(), Error> {
        let Watcher {
            places,
            table,
            processes,
            cgroups,
            systems,
            ..
        } = self;
        let mut outcome = Ok(());
        let mut lacks = (false, false);
        table.begin(when);
        for place in places {
            let asked = place.diag.sockets(&self.filter, |socket| {
                table.see(socket, |socket| {
                    let mut seen = nameless(when, socket, Arc::clone(&place.name));
                    let remote: IpAddr = socket.remote.ip();
                    seen.system = systems
                        .as_mut()
                        .and_then(|systems| systems.of_address(remote));
                    seen.process = processes.of(socket.inode).cloned();
                    seen.cgroup = socket.cgroup.and_then(|cgroup| cgroups.of(cgroup)).cloned();
                    lacks.0 |= seen.process.is_none();
                    lacks.1 |= seen.cgroup.is_none() && socket.cgroup.is_some();
                    seen
                });
            });
            table.told(&place.name, asked.is_ok());
            outcome = outcome.and(asked);
        }
        table.end();
        self.is_process_wanted |= lacks.0;
        self.is_cgroup_wanted |= lacks.1;
        self.looks += 1;
        self.find_processes(FILES_PER_LOOK);
        if self.is_cgroup_wanted && self.looks.is_multiple_of(MIN_CGROUP_LOOKS) {
            self.find_cgroups();
        }
        outcome
    }

    /// Finds the sockets of all processes at once, however long that takes.
    pub fn find_all(&mut self) {
        self.find_processes(usize::MAX);
    }

    fn find_processes(&mut self, files: usize) {
        if self.is_process_wanted && !self.processes.is_walking() {
            self.processes.begin();
            self.is_process_wanted = false;
        }
        let has_ended = self.processes.is_walking() && self.processes.step(files);
        if has_ended {
            for connection in self.table.all_mut() {
                let seen = &mut connection.seen;
                if seen.process.is_none() {
                    seen.process = self.processes.of(seen.socket.inode).cloned();
                }
            }
        }
    }

    fn find_cgroups(&mut self) {
        self.is_cgroup_wanted = false;
        self.cgroups.read();
        for connection in self.table.all_mut() {
            let seen = &mut connection.seen;
            if seen.cgroup.is_none() {
                let inode = seen.socket.cgroup;
                seen.cgroup = inode.and_then(|inode| self.cgroups.of(inode)).cloned();
            }
        }
    }

    /// The connections of the last look.
    pub fn connections(&self) -> &[Connection] {
        self.table.all()
    }

    /// The table of the last sample.
    pub fn table(&self) -> &Table {
        &self.table
    }
}
