//! The controller of connections that request none: `net.ipv4.tcp_congestion_control` of a network namespace.

use std::fs;

use crate::Error;

const DEFAULT: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// The default of the calling thread's namespace.
///
/// # Errors
///
/// `/proc` is not mounted.
pub fn default() -> Result<String, Error> {
    let name = fs::read_to_string(DEFAULT)
        .map_err(|source| Error::system(format!("cannot read {DEFAULT}"), source))?;
    Ok(name.trim().to_owned())
}

/// Makes a controller, by the kernel's name, the default of the calling thread's namespace.
///
/// # Errors
///
/// [`linux::Error::UnknownController`], which names the existing controllers; or another error without permission.
pub fn set_default(name: &str) -> Result<(), Error> {
    // The kernel may load the controller for this call, so the list of controllers is read only afterwards.
    let Err(source) = fs::write(DEFAULT, name) else {
        return Ok(());
    };
    let offered = linux::controllers_here()?;
    if !offered.iter().any(|here| here == name) {
        return Err(Error::Linux(linux::Error::UnknownController {
            asked: name.to_owned(),
            offered: offered.join(", "),
        }));
    }
    // tcp_set_default_congestion_control in net/ipv4/tcp_cong.c.
    let takes = "this takes CAP_NET_ADMIN, and in any namespace but the machine's first one a controller of \
                 net.ipv4.tcp_allowed_congestion_control there";
    Err(Error::system(
        format!("cannot make {name} the default; {takes}"),
        source,
    ))
}
