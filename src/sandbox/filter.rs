//! Calls of the system that a confined program has no use for, and that Landlock does not look at.
//!
//! Owns the list. Landlock keeps files and TCP apart; what is left are sockets of other kinds (the gateway's own control
//! socket is one, and belongs to the same user), changing the mode of files by name, looking into other processes or
//! changing their limits, and calls that only widen what of the kernel can be attacked.

use std::{collections::BTreeMap, env::consts::ARCH};

use libc::{
    AF_INET, AF_INET6, AF_NETLINK, CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS,
    CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS, ENOSYS, EPERM, PRIO_PROCESS, TIOCSTI, c_long,
};
use rustix::process::geteuid;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

/// Refused whatever their arguments are.
const NEVER: &[c_long] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    libc::SYS_perf_event_open,
    // Ways around this list.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The mode and the owner of files by name: Landlock does not look at that, wherever the file is.
    libc::SYS_fchmodat,
    libc::SYS_fchmodat2,
    libc::SYS_fchownat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    // Keys of the user.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // The machine.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_kexec_load,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_pivot_root,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];
/// The older forms of some of them.
#[cfg(target_arch = "x86_64")]
const NEVER_OLDER: &[c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_ioperm,
    libc::SYS_iopl,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const NEVER_OLDER: &[c_long] = &[];
/// The files of the system belong to root, who may change their mode by a handle as well.
const NEVER_ROOT: &[c_long] = &[
    libc::SYS_fchmod,
    libc::SYS_fchown,
    libc::SYS_fsetxattr,
    libc::SYS_fremovexattr,
];
/// What changes the limits and the pace of a process; allowed for oneself, whose number is 0.
const OWN: &[(c_long, u8)] = &[
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];
/// A world of one's own is a way to calls that nobody else may make.
const NEW: [i32; 7] = [
    CLONE_NEWCGROUP,
    CLONE_NEWIPC,
    CLONE_NEWNET,
    CLONE_NEWNS,
    CLONE_NEWPID,
    CLONE_NEWUSER,
    CLONE_NEWUTS,
];
/// Calls in the other numbering that kernels of this architecture may know.
#[cfg(target_arch = "x86_64")]
const OTHER_NUMBERING: Option<c_long> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const OTHER_NUMBERING: Option<c_long> = None;

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;
type Fault = seccompiler::BackendError;

/// Refuses them from now on, for this process and whatever it becomes or starts.
///
/// # Errors
/// The kernel cannot.
pub(super) fn apply(network: bool) -> Result<(), String> {
    let architecture = TargetArch::try_from(ARCH).map_err(|error| error.to_string())?;
    let refused = rules(network).and_then(|rules| program(rules, EPERM, architecture));
    // Its arguments cannot be looked at; who is told that it does not exist takes `clone`, whose can.
    let absent: Rules = numbered([(libc::SYS_clone3, Vec::new())]);
    let absent = program(absent, ENOSYS, architecture);
    for program in [refused, absent] {
        let program = program.map_err(|error| format!("filter: {error}"))?;
        apply_filter(&program).map_err(|error| format!("filter: {error}"))?;
    }
    Ok(())
}

fn program(rules: Rules, error: i32, architecture: TargetArch) -> Result<BpfProgram, Fault> {
    let told = SeccompAction::Errno(u32::try_from(error).unwrap_or_default());
    SeccompFilter::new(rules, SeccompAction::Allow, told, architecture)?.try_into()
}

fn rules(network: bool) -> Result<Rules, Fault> {
    let root: &[c_long] = if geteuid().is_root() { NEVER_ROOT } else { &[] };
    let never = NEVER.iter().chain(NEVER_OLDER).chain(root);
    let mut all: Vec<(c_long, Vec<SeccompRule>)> = never.map(|call| (*call, Vec::new())).collect();
    for (call, argument) in OWN {
        let other = condition(*argument, SeccompCmpOp::Ne, 0)?;
        all.push((*call, vec![SeccompRule::new(vec![other])?]));
    }
    // Of a whole group or user.
    let group = condition(0, SeccompCmpOp::Ne, number(PRIO_PROCESS.cast_signed()))?;
    if let Some((_, rules)) = all
        .iter_mut()
        .find(|(call, _)| *call == libc::SYS_setpriority)
    {
        rules.push(SeccompRule::new(vec![group])?);
    }
    let sockets = if network {
        let other = |family: i32| condition(0, SeccompCmpOp::Ne, number(family));
        // Names of hosts are looked up with the third.
        let families = [other(AF_INET)?, other(AF_INET6)?, other(AF_NETLINK)?];
        vec![SeccompRule::new(families.to_vec())?]
    } else {
        Vec::new()
    };
    all.push((libc::SYS_socket, sockets));
    let mut worlds = Vec::new();
    for flag in NEW {
        let bit = number(flag);
        let has = condition(0, SeccompCmpOp::MaskedEq(bit), bit)?;
        worlds.push(SeccompRule::new(vec![has])?);
    }
    all.push((libc::SYS_clone, worlds));
    // To type into the terminal of somebody else.
    let types = condition(1, SeccompCmpOp::Eq, u64::from(TIOCSTI as u32))?;
    all.push((libc::SYS_ioctl, vec![SeccompRule::new(vec![types])?]));
    Ok(numbered(all))
}

fn condition(argument: u8, compare: SeccompCmpOp, value: u64) -> Result<SeccompCondition, Fault> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, compare, value)
}

fn number(value: i32) -> u64 {
    u64::from(value.cast_unsigned())
}

/// The rules under each number that a call has.
fn numbered(rules: impl IntoIterator<Item = (c_long, Vec<SeccompRule>)>) -> Rules {
    let mut numbered = Rules::new();
    for (call, rules) in rules {
        if let Some(offset) = OTHER_NUMBERING {
            numbered.insert(call | offset, rules.clone());
        }
        numbered.insert(call, rules);
    }
    numbered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_becomes_a_program_of_the_kernel() {
        let architecture = TargetArch::try_from(ARCH).unwrap();
        for network in [false, true] {
            let rules = rules(network).unwrap();
            assert!(rules.contains_key(&libc::SYS_socket));
            let program = program(rules, EPERM, architecture).unwrap();
            assert!(program.len() > NEVER.len(), "{}", program.len());
        }
    }
}
