//! The table of accesses as rules of Landlock, which Linux has since 5.13.
//!
//! A rule of Landlock allows something in a folder and everything below it, and none takes anything back. So a folder in
//! which something is kept away gets no rule of its own: each of its entries does, but for that one. What is created in
//! such a folder later has no rule. Only the listing of names is allowed in the whole of it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::fs::{CWD, Dir, FileType, Mode, OFlags, fstat, openat};

use super::{
    SandboxLevel,
    access_map::{AccessMap, PathAccess},
};

/// The version of Landlock that is asked for. Newer ones know more rights, and older ones less, which is then
/// told as [`SandboxLevel::Partly`].
const ASKED: ABI = ABI::V6;
/// The most entries of divided folders that get a rule each.
const MAX_RULES: usize = 200_000;

/// Holds this process to the table, for good.
pub(super) fn restrict(map: &AccessMap) -> io::Result<SandboxLevel> {
    let handled = AccessFs::from_all(ASKED);
    let mut ruleset = Ruleset::default()
        .handle_access(handled)
        .and_then(|ruleset| ruleset.scope(Scope::from_all(ASKED)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    let mut rules = RuleWriter { map, ruleset: &mut ruleset, left: MAX_RULES };
    let root = openat(CWD, "/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let access = map.access(Path::new("/"), PathAccess::None);
    rules.below(&root, Path::new("/"), access)?;
    let status = ruleset.restrict_self().map_err(io::Error::other)?;
    Ok(match status.ruleset {
        RulesetStatus::FullyEnforced => SandboxLevel::Fully,
        RulesetStatus::PartiallyEnforced => SandboxLevel::Partly,
        RulesetStatus::NotEnforced => SandboxLevel::Not,
    })
}

/// What this kernel can give.
pub(super) fn available() -> SandboxLevel {
    let gives =
        |version| {
            let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
            let ruleset = ruleset.handle_access(AccessFs::from_all(version));
            let scopes = Scope::from_all(version);
            let ruleset = ruleset.and_then(|ruleset| {
                if scopes.is_empty() { Ok(ruleset) } else { ruleset.scope(scopes) }
            });
            ruleset.and_then(Ruleset::create).is_ok()
        };
    match (gives(ASKED), gives(ABI::V1)) {
        (true, _) => SandboxLevel::Fully,
        (false, true) => SandboxLevel::Partly,
        (false, false) => SandboxLevel::Not,
    }
}

struct RuleWriter<'a> {
    map: &'a AccessMap,
    ruleset: &'a mut RulesetCreated,
    left: usize,
}

impl RuleWriter<'_> {
    /// The rules of a folder, whether it is divided or not.
    fn below(&mut self, folder: &OwnedFd, path: &Path, access: PathAccess) -> io::Result<()> {
        if !self.map.is_divided(path) {
            return self.allow(folder, rights(access));
        }
        if access > PathAccess::None {
            self.allow(folder, AccessFs::ReadDir.into())?;
            // One that we may enter and not list has what we know of.
            if let Ok(entries) = list(folder) {
                return entries.iter().try_for_each(|name| self.entry(folder, path, name, access));
            }
        }
        let known = self.map.names_in(path);
        known.iter().try_for_each(|name| self.entry(folder, path, name, access))
    }

    fn entry(
        &mut self,
        folder: &OwnedFd,
        path: &Path,
        name: &OsStr,
        inherited: PathAccess,
    ) -> io::Result<()> {
        let path = path.join(name);
        let access = self.map.access(&path, inherited);
        if access == PathAccess::None && !self.map.is_divided(&path) {
            return Ok(());
        }
        // What a link leads to has its own rules where it is.
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(handle) = openat(folder, name, flags, Mode::empty()) else { return Ok(()) };
        match FileType::from_raw_mode(fstat(&handle)?.st_mode) {
            FileType::Directory => self.below(&handle, &path, access),
            FileType::Symlink => Ok(()),
            // A disk holds the files of everybody.
            FileType::BlockDevice if !self.map.names(&path) => Ok(()),
            FileType::CharacterDevice if !self.map.opens_device(&path) => Ok(()),
            _ => self.allow(&handle, rights(access) & AccessFs::from_file(ASKED)),
        }
    }

    fn allow(&mut self, place: &OwnedFd, rights: BitFlags<AccessFs>) -> io::Result<()> {
        if rights.is_empty() {
            return Ok(());
        }
        self.left = self.left.checked_sub(1).ok_or(rustix::io::Errno::TOOBIG)?;
        let rule = PathBeneath::new(place.as_fd(), rights);
        (&mut *self.ruleset).add_rule(rule).map_err(io::Error::other)?;
        Ok(())
    }
}

fn rights(access: PathAccess) -> BitFlags<AccessFs> {
    match access {
        PathAccess::None => BitFlags::EMPTY,
        PathAccess::Read => AccessFs::from_read(ASKED),
        PathAccess::Write => {
            AccessFs::from_all(ASKED) & !(AccessFs::MakeBlock | AccessFs::MakeChar)
        }
    }
}

fn list(folder: &OwnedFd) -> io::Result<Vec<std::ffi::OsString>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut names = Vec::new();
    for entry in Dir::new(openat(folder, ".", flags, Mode::empty())?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok(names)
}
