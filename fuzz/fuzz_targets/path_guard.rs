//! Whatever text a caller gives as a path: what it opens lies in the folder, and both ways of
//! resolving it agree. The property and the folder are those of the tests.
#![no_main]

use std::{collections::BTreeSet, sync::OnceLock};

use guard::files::FileTree;
use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

#[path = "../../crates/guard/tests/it/tree/path_property.rs"]
mod path_property;

struct Planted {
    _folder: TempDir,
    trees: Vec<FileTree>,
    inside: BTreeSet<(u64, u64)>,
}

fn planted() -> &'static Planted {
    static PLANTED: OnceLock<Planted> = OnceLock::new();
    PLANTED.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        path_property::plant(folder.path());
        let root = folder.path().join("root");
        Planted { trees: path_property::trees(&root), inside: path_property::inodes(&root), _folder: folder }
    })
}

fuzz_target!(|text: &str| {
    let planted = planted();
    path_property::opens_only_what_is_inside(&planted.trees, &planted.inside, text);
});
