//! The users of a controller: connections and defaults, in every visible network namespace.

use linux::diag::{Diag, Filter};
use linux::visible::{self, Visible};

use crate::Error;
use crate::default;

/// The use of a controller in one network namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Users {
    /// The namespace: its name, or a process in it.
    pub namespace: String,
    /// The number of its connections that have the controller.
    pub connections: u64,
    /// True if the controller is the namespace's default.
    pub is_default: bool,
}

/// The namespaces that use the controller of this kernel name.
///
/// # Errors
///
/// Namespaces are visible but cannot be entered (CAP_SYS_ADMIN), or the kernel does not report sockets.
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
