//! A TUN device in the calling thread's namespace.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::libc;

use crate::Error;

/// The name of the device inside each namespace: packets that leave through it cross the emulated path.
pub const DEVICE: &str = "path0";

/// `struct ifreq` as `TUNSETIFF` reads it (linux/if.h): a name, flags, and the rest of a union that the kernel copies
/// but does not read. It is no smaller than the kernel's on any architecture (16 + 24 bytes).
#[repr(C)]
struct InterfaceRequest {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

// The two requests of linux/if_tun.h that create a device. No well-kept crate creates exactly this device by safe
// calls: those for TUN devices also request UDP segmentation offload, with no way to leave it out.
nix::ioctl_readwrite_bad!(
    set_interface,
    nix::request_code_write!(b'T', 202, size_of::<libc::c_int>()),
    InterfaceRequest
);
nix::ioctl_write_int_bad!(
    set_offload,
    nix::request_code_write!(b'T', 208, size_of::<libc::c_uint>())
);

/// Creates the device [`DEVICE`] and returns its packet side. It is nonblocking, and transfers whole packets, each
/// after a `virtio_net_hdr` of ten bytes. It allows large TCP segments and packets without checksum in both
/// directions (TSO, also with ECN, and checksum offload). The device ends when the descriptor is closed.
///
/// # Errors
///
/// There is no /dev/net/tun, or the process lacks CAP_NET_ADMIN in the namespace.
pub(super) fn create() -> Result<OwnedFd, Error> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
        .open("/dev/net/tun")
        .map_err(|source| Error::system(cannot_open(&source), source))?;
    let mut request = InterfaceRequest {
        name: [0; libc::IFNAMSIZ],
        flags: (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short,
        rest: [0; 22],
    };
    for (to, from) in request.name.iter_mut().zip(DEVICE.bytes()) {
        *to = from;
    }
    let offload = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    make(&file, &mut request, offload as libc::c_int).map_err(|source| {
        Error::system(
            "cannot make a TUN device; this takes CAP_NET_ADMIN in the network namespace",
            source,
        )
    })?;
    Ok(file.into())
}

#[expect(
    unsafe_code,
    reason = "every ioctl is unsafe: the kernel trusts the caller with the argument's type"
)]
fn make(file: &File, request: &mut InterfaceRequest, offload: libc::c_int) -> nix::Result<()> {
    // SAFETY: TUNSETIFF reads and writes back one `struct ifreq` (tun_chr_ioctl in drivers/net/tun.c), which
    // `InterfaceRequest` has the layout of and is exclusively borrowed for the call; TUNSETOFFLOAD takes a mask by
    // value.
    unsafe {
        set_interface(file.as_raw_fd(), request)?;
        set_offload(file.as_raw_fd(), offload)?;
    }
    Ok(())
}

/// The explanation of a failure to open the TUN driver.
fn cannot_open(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOENT) => {
            "no /dev/net/tun; load it with `modprobe tun`, in a container use `--device /dev/net/tun`"
        }
        Some(libc::ENXIO | libc::ENODEV) => {
            "/dev/net/tun has no driver; `modprobe tun`, or a kernel with CONFIG_TUN"
        }
        Some(libc::EACCES | libc::EPERM) => {
            "/dev/net/tun may not be opened; allow it to this user, in a container with `--device /dev/net/tun`"
        }
        _ => "cannot open /dev/net/tun",
    }
}
