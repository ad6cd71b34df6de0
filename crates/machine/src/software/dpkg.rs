//! The database of dpkg (Debian, Ubuntu): one file of paragraphs, or in images without dpkg one
//! file for each package.

use super::{SourceState, collect::Collector};
use crate::{MachineEnvironment, read, read::ReadError};

/// The largest file that is read, in bytes. That of a full desktop has 10 million.
pub(super) const MAX_BYTES: u64 = 67_108_864;

/// The states of a package that is there. One that waits for the trigger of another is.
const INSTALLED: &[&[u8]] = &[b"installed", b"triggers-awaited", b"triggers-pending"];

pub(super) fn read(machine: &MachineEnvironment, collector: &mut Collector) -> Option<SourceState> {
    let status = match read::bytes(&machine.at("var/lib/dpkg/status"), MAX_BYTES) {
        Ok(bytes) => {
            paragraphs(&bytes, collector);
            Some(SourceState::Read)
        }
        Err(ReadError::Absent) => None,
        Err(ReadError::TooLarge) => Some(SourceState::TooLarge),
        Err(ReadError::Unreadable) => Some(SourceState::Unreadable),
    };
    let parts = machine.at("var/lib/dpkg/status.d");
    let Some(names) = read::names(&parts) else { return status };
    // Beside each package there is a list of its files.
    let is_package = |name: &&std::ffi::OsString| !name.as_encoded_bytes().ends_with(b".md5sums");
    for name in names.iter().filter(is_package) {
        match read::bytes(&parts.join(name), MAX_BYTES) {
            Ok(bytes) => paragraphs(&bytes, collector),
            Err(_) => collector.skip(),
        }
    }
    status.or(Some(SourceState::Read))
}

/// The fields of a paragraph that tell something.
#[derive(Default)]
struct Paragraph<'a> {
    name: Option<&'a [u8]>,
    version: Option<&'a [u8]>,
    status: Option<&'a [u8]>,
    /// True if there was anything but empty lines.
    begun: bool,
}

impl Paragraph<'_> {
    /// A package that was removed stays in the file for as long as its settings do.
    fn end(self, collector: &mut Collector) {
        let state = self.status.and_then(|status| status.rsplit(|byte| *byte == b' ').next());
        let installed = state.is_none_or(|state| INSTALLED.contains(&state));
        match (self.name, self.version) {
            _ if !self.begun || !installed => {}
            (Some(name), Some(version)) => collector.take(name, version),
            _ => collector.skip(),
        }
    }
}

/// One pass over the bytes. Most lines are of no interest, and are left after one byte.
fn paragraphs(bytes: &[u8], collector: &mut Collector) {
    let mut paragraph = Paragraph::default();
    let mut start = 0;
    while start < bytes.len() {
        let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |at| start + at);
        let line = &bytes[start..end];
        start = end + 1;
        match line.first() {
            None => std::mem::take(&mut paragraph).end(collector),
            Some(b'P') => keep(&mut paragraph.name, line, b"Package:"),
            Some(b'S') => keep(&mut paragraph.status, line, b"Status:"),
            Some(b'V') => keep(&mut paragraph.version, line, b"Version:"),
            Some(_) => {}
        }
        paragraph.begun |= !line.is_empty();
    }
    paragraph.end(collector);
}

fn keep<'a>(field: &mut Option<&'a [u8]>, line: &'a [u8], name: &[u8]) {
    if let Some(value) = line.strip_prefix(name) {
        *field = Some(value.trim_ascii());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::software::collect::collect_all;

    fn read_all(bytes: &[u8]) -> (Vec<String>, (usize, usize)) {
        collect_all(|collector| paragraphs(bytes, collector))
    }

    #[test]
    fn only_what_is_installed_is_listed() {
        let text = "\
Package: git
Status: install ok installed
Priority: optional
Version: 1:2.39.2-1.1
Description: fast
 Version: 9 is not a field here
Conffiles:
 /etc/x 1

Package: gone
Status: deinstall ok config-files
Version: 1

Package: half
Status: install reinstreq half-installed
Version: 1


Package: libc-bin
Status: install ok triggers-pending
Version: 3

Package: man-db
Status: install ok triggers-awaited
Version: 4

Package: last
Status: hold ok installed
Version: 2";
        let (packages, counts) = read_all(text.as_bytes());
        assert_eq!(packages, ["git==1:2.39.2-1.1", "last==2", "libc-bin==3", "man-db==4"]);
        assert_eq!(counts, (4, 0));
    }

    #[test]
    fn broken_paragraphs_are_counted() {
        let text = b"Package: a\nStatus: install ok installed\n\nnonsense\n\n\nVersion: 1\n\n\
            Package: \xff\xfe\nStatus: install ok installed\nVersion: 1\n\nPackage: b\nVersion: 1\n";
        assert_eq!(read_all(text), (vec!["b==1".to_owned()], (1, 4)));
    }

    proptest! {
        #[test]
        fn any_lines_are_read(
            text in "((Package|Status|Version|x|)(: ?)?[a-z0-9. ]{0,10}(\n|\r\n|\n\n)?){0,20}"
        ) {
            let (packages, (taken, _)) = read_all(text.as_bytes());
            prop_assert!(packages.len() <= taken);
        }
    }
}
