//! The database of apk (Alpine): one file of paragraphs with one letter for each field.

use super::{SourceState, collect::Collector, paragraphs::ParagraphFormat};
use crate::MachineEnvironment;

/// Where it is; the second since `/lib` is a part of `/usr`.
const PLACES: &[&str] = &["lib/apk/db/installed", "usr/lib/apk/db/installed"];

const FORMAT: ParagraphFormat = ParagraphFormat { name: b"P:", version: b"V:", status: None };

pub(super) fn read(machine: &MachineEnvironment, collector: &mut Collector) -> Option<SourceState> {
    PLACES.iter().find_map(|place| FORMAT.read(&machine.at(place), collector))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::software::collect::collect_all;

    fn read_all(bytes: &[u8]) -> (Vec<String>, (usize, usize)) {
        collect_all(|collector| FORMAT.paragraphs(bytes, collector))
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
