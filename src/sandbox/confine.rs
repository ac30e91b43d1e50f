//! Confines this process, and becomes the program that it is for.
//!
//! Owns the order in which that is done and what of the system a confined program sees. Whatever cannot be done ends it
//! before the program begins.

use std::{
    ffi::OsString,
    fs::File,
    io,
    os::{fd::OwnedFd, unix::process::CommandExt as _},
    path::{Path, PathBuf},
    process::Command,
};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetError, Scope,
};
use rustix::{
    fs::{FileType, Mode, OFlags, ResolveFlags, fstat, open, openat2},
    process::{Signal, set_parent_process_death_signal},
    thread::{
        CapabilitySet, CapabilitySets, clear_ambient_capability_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};

use super::{
    Limits, filter,
    kernel::{self, Isolation},
};

/// What of the system may be read and run, where it is there: programs, what they are made of, and what tells them names,
/// certificates and the time. Of /etc only what holds no secret by its nature.
pub const SYSTEM: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/gnu/store",
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/group",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/inputrc",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/magic",
    "/etc/mime.types",
    "/etc/nsswitch.conf",
    "/etc/os-release",
    "/etc/passwd",
    "/etc/perl",
    "/etc/pki/tls/certs",
    "/etc/protocols",
    "/etc/python3",
    "/etc/resolv.conf",
    "/etc/services",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/terminfo",
    "/etc/timezone",
    "/dev/random",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/uptime",
    "/proc/version",
    "/sys/devices/system/cpu",
];
/// Devices that may also be written.
const SINKS: &[&str] = &["/dev/null", "/dev/zero", "/dev/full"];
/// The variable that names the folder for temporary files.
const TEMPORARY: &str = "TMPDIR";

/// How a program is confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confine {
    /// How much has to be kept apart.
    pub isolation: Isolation,
    /// It may use the network.
    pub network: bool,
    /// Files and folders that may be read and run, beside the system's.
    pub read: Vec<PathBuf>,
    /// The folder that may be written.
    pub workspace: Option<Workspace>,
    /// The folder that TMPDIR names may be written too.
    pub temporary: bool,
    /// How much it may use.
    pub limits: Limits,
}

/// A folder that may be written, as a whole or in parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Workspace {
    /// The folder.
    pub folder: PathBuf,
    /// What of it may be read, written and run with all that is below; by paths inside of it.
    pub parts: Vec<PathBuf>,
    /// Folders of it that may be listed only, without what is below.
    pub frames: Vec<PathBuf>,
}

impl Workspace {
    fn is_whole(&self) -> bool {
        self.parts.is_empty() && self.frames.is_empty()
    }
}

/// Confines this process, and becomes the program.
///
/// # Errors
/// Why it did not: nothing has run then.
pub fn enter(plan: &Confine, command: &[OsString]) -> Result<std::convert::Infallible, String> {
    let (program, arguments) = command.split_first().ok_or("there is no program")?;
    let version = kernel::version();
    if let Some(lacks) = kernel::lacks(plan.isolation, version) {
        return Err(lacks.to_string());
    }
    let abi = kernel::abi(version).ok_or("the kernel has no Landlock")?;
    let ruleset = ruleset(plan, abi)?;
    let system = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    // Its keeper may be killed.
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| system("the death of the keeper")(error.into()))?;
    plan.limits.set().map_err(system("limits"))?;
    drop_capabilities();
    set_no_new_privs(true).map_err(|error| system("no new privileges")(error.into()))?;
    let status = ruleset.restrict_self();
    status.map_err(|error| format!("landlock: {error}"))?;
    filter::apply(plan.network)?;
    let error = Command::new(program).args(arguments).exec();
    Err(format!("{}: {error}", program.to_string_lossy()))
}

/// Even root's programs have no rights beyond those of a user. Who has none may not drop any.
fn drop_capabilities() {
    for capability in CapabilitySet::all().iter() {
        let _ = remove_capability_from_bounding_set(capability);
    }
    let _ = clear_ambient_capability_set();
    let none = CapabilitySets {
        effective: CapabilitySet::empty(),
        permitted: CapabilitySet::empty(),
        inheritable: CapabilitySet::empty(),
    };
    let _ = set_capabilities(None, none);
}

/// What may be reached; everything else may not.
fn ruleset(plan: &Confine, abi: ABI) -> Result<RulesetCreated, String> {
    let rights = Rights::of(abi);
    let mut ruleset = empty(plan, abi).map_err(|error| error.to_string())?;
    for path in SYSTEM {
        // What is not there is not there inside either.
        if let Ok(handle) = handle(Path::new(path)) {
            ruleset = rights.add(ruleset, handle, rights.read)?;
        }
    }
    for path in SINKS {
        if let Ok(handle) = handle(Path::new(path)) {
            ruleset = rights.add(ruleset, handle, rights.write)?;
        }
    }
    let wanted = |path: &Path| handle(path).map_err(|error| format!("{}: {error}", path.display()));
    for path in &plan.read {
        ruleset = rights.add(ruleset, wanted(path)?, rights.read)?;
    }
    if plan.temporary {
        let folder = std::env::var_os(TEMPORARY).ok_or("no folder for temporary files")?;
        ruleset = rights.add(ruleset, wanted(Path::new(&folder))?, rights.write)?;
    }
    let Some(workspace) = &plan.workspace else {
        return Ok(ruleset);
    };
    let root = wanted(&workspace.folder)?;
    if workspace.is_whole() {
        return rights.add(ruleset, root, rights.write);
    }
    for (paths, access) in [
        (&workspace.parts, rights.write),
        (&workspace.frames, rights.frame),
    ] {
        for path in paths {
            // What was moved away or became a link since is left out.
            if let Ok(handle) = inside(&root, path) {
                ruleset = rights.add(ruleset, handle, access)?;
            }
        }
    }
    Ok(ruleset)
}

/// Rules that allow nothing.
fn empty(plan: &Confine, abi: ABI) -> Result<RulesetCreated, RulesetError> {
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(abi))?;
    if !plan.network && abi >= ABI::V4 {
        ruleset = ruleset.handle_access(AccessNet::from_all(abi))?;
    }
    if abi >= ABI::V6 {
        ruleset = ruleset.scope(Scope::from_all(abi))?;
    }
    ruleset.create()
}

/// What may be done, by kind of place.
struct Rights {
    read: BitFlags<AccessFs>,
    write: BitFlags<AccessFs>,
    frame: BitFlags<AccessFs>,
    /// What can be allowed for something that is no folder.
    file: BitFlags<AccessFs>,
}

impl Rights {
    fn of(abi: ABI) -> Self {
        // Devices are nobody's to make, and what they can be told is nobody's to tell.
        let never = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
        let write = AccessFs::from_all(abi) & !never;
        let inside = AccessFs::from_file(abi);
        Self {
            read: AccessFs::from_read(abi),
            write,
            // Nothing is made, moved or removed beside what is closed: it would get another name.
            frame: AccessFs::ReadDir.into(),
            file: inside,
        }
    }

    fn add(
        &self,
        ruleset: RulesetCreated,
        handle: OwnedFd,
        access: BitFlags<AccessFs>,
    ) -> Result<RulesetCreated, String> {
        let stat = fstat(&handle).map_err(|error| io::Error::from(error).to_string())?;
        let folder = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        let access = if folder { access } else { access & self.file };
        let added = ruleset.add_rule(PathBeneath::new(File::from(handle), access));
        added.map_err(|error| error.to_string())
    }
}

fn handle(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty())?)
}

/// Something inside of a folder, by no link.
fn inside(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let beneath = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    Ok(openat2(root, path, flags, Mode::empty(), beneath)?)
}
