//! A process that changes nothing about processes outside: not their limits, not what they run on and how soon, not
//! their memory.
//!
//! The kernel lets a process do that to every other one of its user, and Landlock holds back tracing alone. A filter of
//! system calls (seccomp) sees numbers and not whose they are, so that a process names itself by 0 or not at all: what
//! it says of another is refused, also of its own children and threads.

use std::collections::BTreeMap;
use std::io;

use rustix::io::Errno;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Calls that change the process in their first argument.
const CHANGES_BY_FIRST_ARGUMENT: [i64; 6] = [
    libc::SYS_sched_setaffinity,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_move_pages,
    libc::SYS_migrate_pages,
];
/// Calls that reach into another process, which programs do without: debuggers are for people.
const REACHES_INTO_OTHERS: [i64; 6] = [
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
];
/// Calls that take a kind of number first (a process, a group, a user), and then the number.
const CHANGES_BY_KIND: [(i64, u32); 2] =
    [(libc::SYS_setpriority, libc::PRIO_PROCESS), (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS)];
/// The kind of `ioprio_set` that is a process.
const IOPRIO_WHO_PROCESS: u32 = 1;
/// The option of `prctl` that has processes share a core or not.
const PR_SCHED_CORE: u64 = 62;

/// Keeps this process from all others, for good.
pub(super) fn enter() -> io::Result<()> {
    let filter = filter().map_err(io::Error::other)?;
    seccompiler::apply_filter(&filter).map_err(io::Error::other)?;
    #[cfg(target_arch = "x86_64")]
    seccompiler::apply_filter(&without_x32()).map_err(io::Error::other)?;
    Ok(())
}

fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules = BTreeMap::new();
    for call in CHANGES_BY_FIRST_ARGUMENT {
        rules.insert(call, vec![SeccompRule::new(vec![is_not(0, 0)?])?]);
    }
    for call in REACHES_INTO_OTHERS {
        rules.insert(call, Vec::new());
    }
    for (call, process) in CHANGES_BY_KIND {
        let is_other_kind = SeccompRule::new(vec![is_not(0, process.into())?])?;
        rules.insert(call, vec![is_other_kind, SeccompRule::new(vec![is_not(1, 0)?])?]);
    }
    // Without new limits it only reads them.
    let has_new_limits = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?;
    let changes_limits = SeccompRule::new(vec![is_not(0, 0)?, has_new_limits])?;
    rules.insert(libc::SYS_prlimit64, vec![changes_limits]);
    let shares_cores =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, PR_SCHED_CORE)?;
    rules.insert(libc::SYS_prctl, vec![SeccompRule::new(vec![shares_cores])?]);

    let refused = SeccompAction::Errno(Errno::PERM.raw_os_error().unsigned_abs());
    let machine = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, refused, machine)?.try_into()
}

/// Numbers of processes and kinds have 32 bits.
fn is_not(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
}

/// The same calls under other numbers: a kernel that runs x32 programs takes them from everybody. A filter for one
/// machine ends what calls as another (i386), but x32 says that it is this one.
#[cfg(target_arch = "x86_64")]
fn without_x32() -> BpfProgram {
    use seccompiler::sock_filter;

    /// The bit of their numbers.
    const X32: u32 = 0x4000_0000;
    let number = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let is_x32 = sock_filter { code: 0x35, jt: 0, jf: 1, k: X32 };
    let end = |action: u32| sock_filter { code: 0x06, jt: 0, jf: 0, k: action };
    let missing = Errno::NOSYS.raw_os_error().unsigned_abs();
    vec![number, is_x32, end(libc::SECCOMP_RET_ERRNO | missing), end(libc::SECCOMP_RET_ALLOW)]
}
