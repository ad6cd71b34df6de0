//! The database of apk (Alpine): one file of paragraphs with one letter for each field.

use super::{SourceState, collect::Collector};
use crate::{MachineEnvironment, read, read::ReadError};

/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 67_108_864;

/// Where it is; the second since `/lib` is a part of `/usr`.
const PLACES: &[&str] = &["lib/apk/db/installed", "usr/lib/apk/db/installed"];

pub(super) fn read(machine: &MachineEnvironment, collector: &mut Collector) -> Option<SourceState> {
    for place in PLACES {
        return match read::bytes(&machine.at(place), MAX_BYTES) {
            Ok(bytes) => {
                paragraphs(&bytes, collector);
                Some(SourceState::Read)
            }
            Err(ReadError::Absent) => continue,
            Err(ReadError::TooLarge) => Some(SourceState::TooLarge),
            Err(ReadError::Unreadable) => Some(SourceState::Unreadable),
        };
    }
    None
}

fn paragraphs(bytes: &[u8], collector: &mut Collector) {
    let (mut name, mut version, mut begun) = (None, None, false);
    // An empty line at the end closes the last paragraph.
    for line in bytes.split(|byte| *byte == b'\n').chain([&b""[..]]) {
        if line.is_empty() {
            match (name.take(), version.take()) {
                (Some(name), Some(version)) => collector.take(name, version),
                _ if begun => collector.skip(),
                _ => {}
            }
            begun = false;
            continue;
        }
        begun = true;
        if let Some(value) = line.strip_prefix(b"P:") {
            name = Some(value);
        } else if let Some(value) = line.strip_prefix(b"V:") {
            version = Some(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::collect::collect_all;

    fn read_all(bytes: &[u8]) -> (Vec<String>, (usize, usize)) {
        collect_all(|collector| paragraphs(bytes, collector))
    }

    #[test]
    fn packages_are_listed() {
        let text = b"C:Q1x\nP:musl\nV:1.2.4-r2\nA:x86_64\nF:lib\nR:ld.so\n\nP:python3\nV:3.11.6-r0\n\nP:odd\n\n";
        let (packages, counts) = read_all(text);
        assert_eq!(packages, ["musl==1.2.4-r2", "python3==3.11.6-r0"]);
        assert_eq!(counts, (2, 1));
        assert_eq!(read_all(b""), (vec![], (0, 0)));
    }
}
