//! Who uses a controller: connections, and defaults, in every network namespace that can be seen.

use linux::diag::{Diag, Filter};
use linux::visible::{self, Visible};

use crate::Error;
use crate::default;

/// What one network namespace uses of a controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Users {
    /// The namespace: its name, or a process in it.
    pub namespace: String,
    /// How many of its connections have the controller.
    pub connections: u64,
    /// Whether its new connections have it unless they ask for another.
    pub is_default: bool,
}

/// The namespaces that use the controller of this kernel name.
///
/// # Errors
///
/// If namespaces can be seen but not entered (CAP_SYS_ADMIN), or the kernel does not tell of sockets.
pub fn users(name: &str) -> Result<Vec<Users>, Error> {
    let mut all = Vec::new();
    for namespace in visible::network_namespaces()? {
        let users = of(&namespace, name)?;
        if users.connections > 0 || users.is_default {
            all.push(users);
        }
    }
    Ok(all)
}

fn of(namespace: &Visible, name: &str) -> Result<Users, Error> {
    namespace.inside(|| {
        let mut connections = 0;
        Diag::open_here()?.sockets(&Filter::default(), |socket| {
            connections += u64::from(socket.controller.as_str() == name);
        })?;
        Ok(Users {
            namespace: namespace.name().to_owned(),
            connections,
            is_default: default::default()? == name,
        })
    })?
}
