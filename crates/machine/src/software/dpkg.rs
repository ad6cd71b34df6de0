//! The database of dpkg (Debian, Ubuntu): one file of paragraphs, or in images without dpkg one
//! file for each package.

use super::{
    SourceState,
    collect::Collector,
    paragraphs::{MAX_BYTES, ParagraphFormat},
};
use crate::{MachineEnvironment, read};

const FORMAT: ParagraphFormat =
    ParagraphFormat { name: b"Package:", version: b"Version:", status: Some(b"Status:") };

pub(super) fn read(machine: &MachineEnvironment, collector: &mut Collector) -> Option<SourceState> {
    let status = FORMAT.read(&machine.at("var/lib/dpkg/status"), collector);
    let parts = machine.at("var/lib/dpkg/status.d");
    let Some(names) = read::names(&parts) else { return status };
    // Beside each package there is a list of its files.
    let is_package = |name: &&std::ffi::OsString| !name.as_encoded_bytes().ends_with(b".md5sums");
    for name in names.iter().filter(is_package) {
        match read::bytes(&parts.join(name), MAX_BYTES) {
            Ok(bytes) => FORMAT.paragraphs(&bytes, collector),
            Err(_) => collector.skip(),
        }
    }
    status.or(Some(SourceState::Read))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::software::collect::collect_all;

    fn read_all(bytes: &[u8]) -> (Vec<String>, (usize, usize)) {
        collect_all(|collector| FORMAT.paragraphs(bytes, collector))
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
