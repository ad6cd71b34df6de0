//! Packages are compared by name; one may be there in several versions.

use std::{borrow::Cow, collections::HashMap};

use serde_json::Value;

use super::{Addition, MachineChanges, Modification, Removal};
use crate::software::folded;

/// Name and version of `name==version`; a name alone is one without a version.
pub(super) fn split(package: &str) -> (&str, &str) {
    package.split_once("==").unwrap_or((package, ""))
}

/// The versions of a package, each with its place in the list.
type Versions<'a> = Vec<(usize, &'a str)>;

/// Compares packages: a version that went and another that came are one change.
pub(super) fn compare(old: &[Value], new: &[Value], path: &str, changes: &mut MachineChanges) {
    let (mut before, after) = (by_name(old), by_name(new));
    let (mut added, mut removed, mut modified) = (Vec::new(), Vec::new(), Vec::new());
    for (name, now) in after {
        let then = before.remove(&name).unwrap_or_default();
        let only = |these: &Versions, those: &Versions| -> Vec<usize> {
            let known = |version: &str| those.iter().any(|(_, other)| *other == version);
            these.iter().filter(|(_, version)| !known(version)).map(|(index, _)| *index).collect()
        };
        let (gone, come) = (only(&then, &now), only(&now, &then));
        let pairs = gone.len().min(come.len());
        modified.extend(gone[..pairs].iter().copied().zip(come[..pairs].iter().copied()));
        removed.extend(&gone[pairs..]);
        added.extend(&come[pairs..]);
    }
    removed.extend(before.into_values().flatten().map(|(index, _)| index));
    added.sort_unstable();
    removed.sort_unstable();
    modified.sort_unstable_by_key(|(_, index)| *index);

    let at = |index: usize| format!("{path}/{index}");
    changes.added.extend(
        added.into_iter().map(|index| Addition { path: at(index), value: new[index].clone() }),
    );
    changes.removed.extend(
        removed.into_iter().map(|index| Removal { path: at(index), value: old[index].clone() }),
    );
    changes.modified.extend(modified.into_iter().map(|(then, now)| Modification {
        path: at(now),
        old: old[then].clone(),
        new: new[now].clone(),
    }));
}

/// The packages by the name under which they are compared, each version once.
fn by_name(packages: &[Value]) -> HashMap<Cow<'_, str>, Versions<'_>> {
    let mut found: HashMap<_, Versions> = HashMap::with_capacity(packages.len());
    for (index, package) in packages.iter().enumerate() {
        let (name, version) = split(package.as_str().unwrap_or_default());
        found.entry(folded(name)).or_default().push((index, version));
    }
    for versions in found.values_mut() {
        // By version first, so that the pairs do not depend on the order of a list.
        versions.sort_unstable_by_key(|(index, version)| (*version, *index));
        versions.dedup_by_key(|(_, version)| *version);
    }
    found
}
