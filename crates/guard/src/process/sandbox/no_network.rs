//! A process without a network: it can make no sockets but those of this machine that have a path.
//!
//! Landlock holds back TCP alone, and only since Linux 6.7; a network namespace needs rights that containers and some
//! distributions do not give. A filter of system calls (seccomp) needs neither, and holds back UDP too.

use std::collections::BTreeMap;
use std::io;

use rustix::io::Errno;
use rustix::net::AddressFamily;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Takes the network from this process, for good.
pub(super) fn enter() -> io::Result<()> {
    let filter = filter().map_err(io::Error::other)?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)
}

fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let family = u64::from(AddressFamily::UNIX.as_raw());
    let is_another = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family)?;
    let rules = BTreeMap::from([
        (libc::SYS_socket, vec![SeccompRule::new(vec![is_another])?]),
        // It makes sockets, too, and no filter sees which.
        (libc::SYS_io_uring_setup, Vec::new()),
    ]);
    let refused = SeccompAction::Errno(Errno::ACCESS.raw_os_error().unsigned_abs());
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refused, machine)?.try_into()
}
