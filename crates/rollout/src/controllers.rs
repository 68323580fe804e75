//! The controllers that the kernel offers.

use std::net::{Ipv4Addr, TcpListener};

use kernel::Algorithm;

/// Checks that the kernel offers a controller. If the controller is a module, this also makes the kernel load it,
/// because the BPF program may not do so.
pub(crate) fn offered(controller: &str) -> Result<(), String> {
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|error| error.to_string())?;
    linux::socket::set_controller(&socket, controller).map_err(|error| match error {
        linux::Error::UnknownController { .. } => format!("{error}{}", advice(controller)),
        error => error.to_string(),
    })
}

/// The way to get a controller that the kernel lacks, if it is one of Fullpipe's.
fn advice(controller: &str) -> String {
    let mut own = Algorithm::ALL.iter();
    let found = own.find(|own| [own.name(), own.kernel_name()].contains(&controller));
    found.map_or_else(String::new, |own| {
        format!(
            "; run `fullpipe kernel load {}`, and name it {}",
            own.name(),
            own.kernel_name()
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_fullpipe_can_load_is_told_so() {
        for name in ["bbr3", "fullpipe_bbr3"] {
            let advice = advice(name);
            assert!(
                advice.contains("kernel load bbr3`") && advice.ends_with(" fullpipe_bbr3"),
                "{advice}"
            );
        }
        assert_eq!(advice("bbr"), "");
        let refused = offered("no_such").unwrap_err();
        assert!(
            refused.contains("no congestion controller no_such"),
            "{refused}"
        );
    }
}
