//! The books of rpm (Fedora, Red Hat, SUSE).

use super::{SourceState, collect::Collector};
use crate::Places;

/// Where the books are.
const PLACES: &[&str] = &["usr/lib/sysimage/rpm", "var/lib/rpm"];

/// The names that a database has had.
const NAMES: &[&str] = &["rpmdb.sqlite", "Packages.db", "Packages"];

pub(super) fn read(places: &Places, _: &mut Collector) -> Option<SourceState> {
    let exists = |place: &&&str| NAMES.iter().any(|name| places.at(place).join(name).exists());
    PLACES.iter().find(exists).map(|_| SourceState::NotSupported)
}
