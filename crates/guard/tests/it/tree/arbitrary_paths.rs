//! Paths that nobody thought of.

use std::sync::OnceLock;

use proptest::prelude::*;

use super::{
    TreeFixture, always,
    path_property::{inodes, opens_only_what_is_inside, trees},
    snapshot,
};

/// Names from the planted folder, and pieces that have led out of other programs.
fn piece() -> impl Strategy<Value = String> {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let world = TreeFixture::new();
        snapshot(&world.root())
            .into_keys()
            .flat_map(|path| path.split('/').map(str::to_owned).collect::<Vec<_>>())
            .collect()
    });
    let odd = [
        "..",
        ".",
        "",
        "...",
        "/",
        "\\",
        "..\\",
        "%2e%2e",
        "..%2f",
        "%00",
        "\0",
        "~",
        "$HOME",
        "C:",
        " ",
        ". ",
        ".. ",
        "\u{202e}",
        "\u{200b}",
        "\u{ff0e}\u{ff0e}",
        "etc",
        "passwd",
        "proc",
        "self",
        "root",
        "root-too",
        "secret.txt",
        "config",
        "adam.yaml",
    ];
    prop_oneof![
        6 => prop::sample::select(names.clone()),
        3 => prop::sample::select(odd.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z.]{1,4}",
    ]
}

fn soup() -> impl Strategy<Value = String> {
    let separator = prop_oneof![8 => Just("/"), 1 => Just("//"), 1 => Just("\\"), 1 => Just("/./")];
    let pieces = prop::collection::vec((piece(), separator), 1..8);
    (prop_oneof![9 => Just(""), 1 => Just("/")], pieces).prop_map(|(first, pieces)| {
        let mut path = first.to_owned();
        for (piece, separator) in pieces {
            path.push_str(&piece);
            path.push_str(separator);
        }
        // Mostly without a separator at the end.
        path.trim_end_matches('/').to_owned()
    })
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

#[test]
fn whatever_is_opened_lies_inside() {
    let world = TreeFixture::new();
    let (root, trees) = (world.root(), trees(&world.root()));
    let inside = inodes(&root);
    let prefix = root.to_str().unwrap().to_owned();
    proptest!(config(4_000), |(text in soup(), absolute in prop::bool::weighted(0.1))| {
        let text = if absolute { format!("{prefix}/{text}") } else { text };
        opens_only_what_is_inside(&trees, &inside, &text);
    });
    world.is_untouched("soup");
}

#[test]
fn whatever_is_written_lies_inside() {
    let world = TreeFixture::new();
    let trees = trees(&world.root());
    proptest!(config(600), |(text in soup(), way in 0..4_usize)| {
        let tree = &trees[way];
        if let Ok(path) = tree.path(&text) {
            let wrote = tree.write(&path, b"written", &always).is_ok();
            if wrote {
                prop_assert_eq!(tree.read(&path, 100).unwrap(), b"written");
            }
        }
    });
    world.is_untouched("soup");
}
