//! Where a path of the operator's leads: by real places, and not by its spelling.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The symbolic links that are followed before they count as a loop, as in the kernel.
const MAX_LINKS: usize = 40;

/// The places that decide where a path leads: each symbolic link on the way, and its end. Whoever can change one of
/// them, or a folder above one, can change what is found there. Nothing of the path need exist.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathLocation {
    links: Vec<PathBuf>,
    end: PathBuf,
}

impl PathLocation {
    /// Follows a path. A relative one starts at the current folder.
    pub fn of(path: &Path) -> io::Result<PathLocation> {
        let whole = std::path::absolute(path)?;
        let mut left: VecDeque<OsString> = names(&whole);
        let (mut links, mut end) = (Vec::new(), PathBuf::from("/"));
        while let Some(name) = left.pop_front() {
            match Path::new(&name).components().next() {
                Some(Component::RootDir) => end = PathBuf::from("/"),
                Some(Component::ParentDir) => {
                    end.pop();
                }
                Some(Component::Normal(name)) => {
                    end.push(name);
                    // What is not there, or cannot be looked at, is no link that we could follow.
                    let Ok(target) = std::fs::read_link(&end) else { continue };
                    if links.len() == MAX_LINKS {
                        return Err(rustix::io::Errno::LOOP.into());
                    }
                    links.push(end.clone());
                    end.pop();
                    for name in names(&target).into_iter().rev() {
                        left.push_front(name);
                    }
                }
                _ => {}
            }
        }
        Ok(PathLocation { links, end })
    }

    /// The place that it leads to.
    pub fn end(&self) -> &Path {
        &self.end
    }

    /// True if no symbolic link is on the way.
    pub fn is_direct(&self) -> bool {
        self.links.is_empty()
    }

    /// The symbolic links on the way.
    pub(super) fn links(&self) -> &[PathBuf] {
        &self.links
    }

    /// All places: the links on the way, and the end.
    pub fn places(&self) -> impl Iterator<Item = &Path> {
        self.links.iter().chain([&self.end]).map(PathBuf::as_path)
    }

    /// True if one of its places is this folder or lies below it. Folders are compared as such and not only by their
    /// names, so that a second mount of one counts too, and what is missing by the folder that it would be in.
    pub fn is_within(&self, folder: &PathLocation) -> bool {
        let same = identity(&folder.end);
        self.places().any(|place| {
            place.starts_with(&folder.end)
                || same.is_some() && place.ancestors().any(|above| identity(above) == same)
        })
    }
}

/// The names of a path, one by one, with the root as a name of its own.
fn names(path: &Path) -> VecDeque<OsString> {
    path.components().map(|part| part.as_os_str().to_owned()).collect()
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = path.symlink_metadata().ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_followed_whatever_is_missing_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir(base.join("real")).unwrap();
        std::os::unix::fs::symlink("real", base.join("link")).unwrap();
        std::os::unix::fs::symlink("loop", base.join("loop")).unwrap();
        for (path, expected) in [
            ("real", "real"),
            ("link", "real"),
            ("link/new/newer", "real/new/newer"),
            ("nope/..", ""),
            ("nope/../link/x", "real/x"),
            ("./real/../new", "new"),
            ("link/../link/../new", "new"),
        ] {
            let expected: PathBuf = base.join(expected).components().collect();
            assert_eq!(PathLocation::of(&base.join(path)).unwrap().end(), expected, "{path}");
        }
        assert!(PathLocation::of(Path::new("relative")).unwrap().end().is_absolute());
        assert!(PathLocation::of(&base.join("loop/x")).is_err());
    }

    #[test]
    fn every_link_on_the_way_counts() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["conf", "ws", "other"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        std::os::unix::fs::symlink("../conf", base.join("ws/way")).unwrap();
        std::os::unix::fs::symlink(base.join("ws/way"), base.join("first")).unwrap();
        let at = |path: &str| PathLocation::of(&base.join(path)).unwrap();
        let path = at("first/file");
        assert_eq!(path.end(), base.join("conf/file"));
        for (folder, expected) in
            [("conf", true), ("ws", true), ("", true), ("other", false), ("conf/file/x", false)]
        {
            assert_eq!(path.is_within(&at(folder)), expected, "{folder}");
        }
        // Another spelling of the folder, and one that is not there.
        assert!(at("conf").is_within(&at("first")));
        assert!(at("new/er").is_within(&at("new")));
        assert!(!at("newer").is_within(&at("new")));
    }
}
