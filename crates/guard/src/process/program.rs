//! Finding the program before anything is started, so that a missing one is its own error.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::StartError;

/// Where a program is that a launch would start in `folder`, or why it would not.
pub fn find_program(program: &OsStr, folder: &Path) -> Result<PathBuf, StartError> {
    resolve(program, folder, std::env::var_os("PATH").as_deref())
}

/// The path of `program`: looked up in `search_path` if it is a bare name, else relative to `folder`.
pub(super) fn resolve(
    program: &OsStr,
    folder: &Path,
    search_path: Option<&OsStr>,
) -> Result<PathBuf, StartError> {
    let name = || program.to_string_lossy().into_owned();
    let mut seen_not_executable = false;
    for candidate in candidates(program, folder, search_path) {
        match look_at(&candidate) {
            ProgramCheck::Executable => return Ok(candidate),
            ProgramCheck::NotExecutable => seen_not_executable = true,
            ProgramCheck::Nothing => {}
        }
    }
    Err(if seen_not_executable {
        StartError::NotExecutable { program: name() }
    } else {
        StartError::NotFound { program: name() }
    })
}

fn candidates(program: &OsStr, folder: &Path, search_path: Option<&OsStr>) -> Vec<PathBuf> {
    if program.is_empty() {
        return Vec::new();
    }
    if program.as_bytes().contains(&b'/') {
        return vec![folder.join(program)];
    }
    // A relative entry would mean a folder below the call's own work folder, where a tool's input
    // could pose as a program.
    std::env::split_paths(search_path.unwrap_or_default())
        .filter(|entry| entry.is_absolute())
        .map(|entry| entry.join(program))
        .collect()
}

enum ProgramCheck {
    Executable,
    NotExecutable,
    Nothing,
}

fn look_at(path: &Path) -> ProgramCheck {
    match path.metadata() {
        Ok(metadata) if metadata.is_file() && access(path, Access::EXEC_OK).is_ok() => {
            ProgramCheck::Executable
        }
        Ok(_) => ProgramCheck::NotExecutable,
        Err(_) => ProgramCheck::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &str, search_path: &str) -> Result<PathBuf, String> {
        resolve(OsStr::new(program), Path::new("/etc"), Some(OsStr::new(search_path)))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_bare_name_is_searched_and_a_path_is_not() {
        assert_eq!(check("sh", "/nowhere:/bin"), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(check("/bin/sh", ""), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(check("../bin/sh", ""), Ok(PathBuf::from("/etc/../bin/sh")));
    }

    #[test]
    fn relative_entries_of_the_search_path_are_ignored() {
        let missing = Err("program `sh` was not found".to_owned());
        assert_eq!(check("sh", ""), missing);
        assert_eq!(check("sh", ":.:bin:../bin"), missing);
    }

    #[test]
    fn what_cannot_be_executed_is_told_from_what_is_missing() {
        let not_executable = |name| Err(format!("`{name}` is not a file that may be executed"));
        assert_eq!(check("passwd", "/etc"), not_executable("passwd"));
        assert_eq!(check("./passwd", ""), not_executable("./passwd"));
        assert_eq!(check("/tmp/", ""), not_executable("/tmp/"));
        assert_eq!(check("", "/bin"), Err("program `` was not found".to_owned()));
        assert_eq!(check("a\0b", "/bin"), Err("program `a\0b` was not found".to_owned()));
    }
}
