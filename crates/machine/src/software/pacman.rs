//! The database of pacman (Arch): a folder for each package, whose name tells all.

use super::{SourceState, collect::Collector};
use crate::{MachineEnvironment, read};

pub(super) fn read(machine: &MachineEnvironment, collector: &mut Collector) -> Option<SourceState> {
    let folder = machine.at("var/lib/pacman/local");
    let names = read::names(&folder)?;
    for name in &names {
        let name = name.as_encoded_bytes();
        // The one file beside the folders says which version the database has.
        if name == b"ALPM_DB_VERSION" {
            continue;
        }
        match split(name) {
            Some((name, version)) => collector.take(name, version),
            None => collector.skip(),
        }
    }
    Some(SourceState::Read)
}

/// `name-version-release`, where only the name may have hyphens.
fn split(folder: &[u8]) -> Option<(&[u8], &[u8])> {
    let release = memchr::memrchr(b'-', folder)?;
    let version = memchr::memrchr(b'-', &folder[..release])?;
    Some((&folder[..version], &folder[version + 1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_tells_name_and_version() {
        let check = |folder: &str, name: &str, version: &str| {
            let found = split(folder.as_bytes()).unwrap();
            assert_eq!(found, (name.as_bytes(), version.as_bytes()));
        };
        check("linux-6.9.1.arch1-1", "linux", "6.9.1.arch1-1");
        check("gcc-libs-14.1.1+r58-1", "gcc-libs", "14.1.1+r58-1");
        check("docker-1:26.1.3-1", "docker", "1:26.1.3-1");
        assert_eq!(split(b"nothing"), None);
        assert_eq!(split(b"one-1"), None);
    }
}
