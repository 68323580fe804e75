//! The features of the running kernel, from its type information (BTF).

use std::path::Path;

use libbpf_rs::btf::types::{FuncProto, Ptr, Struct};
use libbpf_rs::btf::{Btf, ReferencesType};

use crate::Error;
use crate::permission::permission;
use crate::requirement::{Requirement, met};

/// The differences between kernels.
pub(super) struct Features {
    /// True if links hold controllers.
    pub has_links: bool,
    /// The number of the argument of `cong_control` that is the rate sample.
    pub rate_sample_argument: u64,
    /// True if the end of idleness has a hook of its own, `cwnd_event_tx_start` (Linux 7.1).
    pub has_tx_start: bool,
}

/// The structures that programs fill, that the kernel keeps, and of links since Linux 6.4.
const VMLINUX: &str = "/sys/kernel/btf/vmlinux";
const OPERATIONS: &str = "tcp_congestion_ops";
const KEPT: &str = "bpf_struct_ops_tcp_congestion_ops";
const LINK: &str = "bpf_struct_ops_link";

fn btf() -> Result<Btf<'static>, String> {
    super::log::silence();
    Btf::from_vmlinux().map_err(|error| {
        if Path::new(VMLINUX).exists() {
            format!("cannot read {VMLINUX}: {error}")
        } else {
            format!("no {VMLINUX}: take a kernel with CONFIG_DEBUG_INFO_BTF")
        }
    })
}

/// The kernel's type information, by which programs adapt themselves.
pub(super) fn has_btf() -> Requirement {
    Requirement::new("BTF", btf().err())
}

/// The requirements on the kernel and on the process.
pub(crate) fn requirements() -> Vec<Requirement> {
    let kernel = btf();
    let has = |what, name: &str, lack: &str| {
        let is_there = kernel
            .as_ref()
            .is_ok_and(|btf| btf.type_by_name::<Struct<'_>>(name).is_some());
        Requirement::new(what, (!is_there).then_some(lack))
    };
    vec![
        has_btf(),
        has(
            "struct_ops for TCP",
            KEPT,
            "take a kernel from 6.1 on with CONFIG_BPF_JIT, CONFIG_BPF_SYSCALL and BTF",
        ),
        super::bpffs::requirement(),
        permission(),
    ]
}

impl Features {
    /// The features of a kernel that meets them. The calling process may load programs.
    pub fn of_able() -> Result<Features, Error> {
        met(&requirements())?;
        Features::read()
    }

    fn read() -> Result<Features, Error> {
        let btf = btf().map_err(Error::Lacking)?;
        let lacking = || {
            Error::Lacking(format!(
                "this kernel's BTF has no {OPERATIONS}.cong_control"
            ))
        };
        let operations: Struct<'_> = btf.type_by_name(OPERATIONS).ok_or_else(lacking)?;
        let hook = |of: &str| {
            let mut hooks = operations.iter();
            hooks.find(|member| member.name.is_some_and(|name| name == of))
        };
        let has_tx_start = hook("cwnd_event_tx_start").is_some();
        let hook = hook("cong_control").ok_or_else(lacking)?;
        let pointer: Ptr<'_> = btf.type_by_id(hook.ty).ok_or_else(lacking)?;
        let function = FuncProto::try_from(pointer.referenced_type()).map_err(|_| lacking())?;
        Ok(Features {
            has_links: btf.type_by_name::<Struct<'_>>(LINK).is_some(),
            // The socket, the acknowledged sequence number and flags since 6.10, and the sample.
            rate_sample_argument: function.len().saturating_sub(1) as u64,
            has_tx_start,
        })
    }
}
