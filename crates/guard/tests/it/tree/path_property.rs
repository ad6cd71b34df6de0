//! The one property that everything rests on, and the world that it is tried in. Shared with the fuzz
//! target `path_guard`, which feeds it other texts.

use std::{
    collections::BTreeSet,
    os::unix::fs::{MetadataExt, symlink},
    path::Path,
};

use guard::files::{
    FileTree, LinkPolicy, MAX_DEPTH, MAX_NAME_BYTES, MAX_PATH_BYTES, Resolver, SafePath,
};

/// What a reader must never see.
pub const SECRET: &str = "a secret from outside";

/// Writes a folder `root` with links of every kind, beside files that must stay out of reach.
pub fn plant(folder: &Path) {
    let file = |path: &str, text: &[u8]| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let link = |target: &str, path: &str| symlink(target, folder.join("root").join(path)).unwrap();
    let absolute = |path: &str| folder.join(path).to_str().unwrap().to_owned();
    file("secret.txt", SECRET.as_bytes());
    file("config/adam.yaml", SECRET.as_bytes());
    file("root-too/secret.txt", SECRET.as_bytes());
    file("..secret/x", SECRET.as_bytes());

    file("root/notes.txt", b"notes");
    file("root/empty.txt", b"");
    file("root/latin.txt", b"caf\xe9");
    file("root/bom16.txt", b"\xff\xfeh\0i\0");
    file("root/cut.txt", b"\xe2\x82");
    file("root/nul.txt", b"a\0b");
    file("root/sub/deep/file.txt", b"deep");
    file("root/sub/notes.txt", b"sub notes");
    file("root/.hidden", b"hidden");
    file("root/..data", b"two dots");
    file("root/...data", b"three dots");
    file("root/UPPER.TXT", b"upper");
    file("root/with space.txt", b"space");
    file("root/ leading.txt", b"leading");
    file("root/a:b.txt/in", b"colon");
    file("root/1:b.txt", b"digit");
    file("root/~/x.txt", b"tilde");
    file("root/$HOME/x.txt", b"dollar");
    file("root/-rf", b"dash");
    file("root/*.txt", b"star");
    file("root/'; rm -rf ~", b"quote");
    file("root/%2e%2e/secret.txt", b"percent");
    file("root/%2e%2e%2fsecret.txt", b"encoded");
    file("root/\u{ff0e}\u{ff0e}/secret.txt", b"fullwidth");
    file("root/\u{2024}\u{2024}/secret.txt", b"leaders");
    file("root/..\u{2215}secret.txt", b"slash-like");
    file("root/caf\u{e9}.txt", b"composed");
    file("root/cafe\u{301}.txt", b"decomposed");
    file("root/\u{1f980}.txt", b"crab");
    file(&format!("root/{}", "n".repeat(255)), b"long");

    link("notes.txt", "in.txt");
    link("./sub/../notes.txt", "in-winding.txt");
    link("sub", "in-dir");
    link("sub/", "in-dir-slash");
    link(".", "self");
    link("../notes.txt", "sub/up.txt");
    link("..", "sub/up");
    link("../..", "sub/deep/two-up");
    link("chain2", "chain1");
    link("chain3", "chain2");
    link("sub/up.txt", "chain3");
    link("../secret.txt", "out.txt");
    link("..", "out-dir");
    link("../config", "out-config");
    link("sub/up/../secret.txt", "out-winding.txt");
    link("out-chain2", "out-chain1");
    link("out.txt", "out-chain2");
    link("../root/notes.txt", "around.txt");
    link("../../root/notes.txt", "sub/around.txt");
    link(&absolute("secret.txt"), "out-absolute.txt");
    link(&absolute("root/notes.txt"), "in-absolute.txt");
    link("/", "out-root");
    link("/etc/passwd", "out-passwd");
    link("/proc/self", "out-proc");
    link("/proc/self/root", "out-proc-root");
    link("/dev/null", "out-null");
    link("loop", "loop");
    link("ping", "pong");
    link("pong", "ping");
    link("nowhere.txt", "dangling.txt");
    link("nowhere", "dangling-dir");
    link("../nowhere.txt", "dangling-out.txt");
    link("notes.txt/", "in-slash.txt");
    for step in 0..45 {
        let target = if step == 0 { "notes.txt".into() } else { format!("steps{}", step - 1) };
        link(&target, &format!("steps{step}"));
    }
    std::fs::hard_link(folder.join("secret.txt"), folder.join("root/hard-out.txt")).unwrap();
    file("root/hard-in.txt", b"hard");
    std::fs::hard_link(folder.join("root/hard-in.txt"), folder.join("root/sub/hard.txt")).unwrap();
}

/// The trees below `root` of both ways and both rules.
pub fn trees(root: &Path) -> Vec<FileTree> {
    let mut trees = Vec::new();
    for links in [LinkPolicy::Inside, LinkPolicy::Refused] {
        trees.push(FileTree::new(root).links(links));
        trees.push(FileTree::new(root).links(links).resolver(Resolver::Steps));
    }
    trees
}

/// Device and inode of everything below the folder.
pub fn inodes(folder: &Path) -> BTreeSet<(u64, u64)> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.path().symlink_metadata().unwrap();
        found.insert((metadata.dev(), metadata.ino()));
        if metadata.is_dir() {
            found.append(&mut inodes(&entry.path()));
        }
    }
    found
}

/// Whatever a text opens lies in the folder and has no other name; both ways of resolving agree.
pub fn opens_only_what_is_inside(trees: &[FileTree], inside: &BTreeSet<(u64, u64)>, text: &str) {
    parses_to_plain_names(text);
    for pair in trees.chunks(2) {
        let mut opened = Vec::new();
        for tree in pair {
            let file = tree.path(text).and_then(|path| tree.open(&path)).ok();
            let id = file.map(|opened| {
                let metadata = opened.file.metadata().unwrap();
                assert!(metadata.is_file() && metadata.nlink() == 1, "{text:?}");
                (metadata.dev(), metadata.ino())
            });
            if let Some(id) = id {
                assert!(inside.contains(&id), "{text:?} was opened and lies outside");
            }
            opened.push(id);
        }
        assert_eq!(opened[0], opened[1], "{text:?}: the kernel and we do not agree");
    }
}

/// A text that is taken as a path is plain names, and reads back as the same.
pub fn parses_to_plain_names(text: &str) {
    let Ok(path) = SafePath::parse(text) else { return };
    assert!(!text.starts_with('/') && path.as_str().len() <= MAX_PATH_BYTES, "{text:?}");
    assert!(path.names().count() <= MAX_DEPTH, "{text:?}");
    for name in path.names() {
        assert!(!name.is_empty() && name.len() <= MAX_NAME_BYTES, "{text:?}");
        assert!(!matches!(name, "." | "..") && !name.ends_with(['.', ' ']), "{text:?}");
        assert!(!name.contains(['/', '\\', '\0', '\n', '\u{1b}', '\u{202e}']), "{text:?}");
    }
    let again = SafePath::parse(path.as_str()).unwrap();
    assert!(again.names().eq(path.names()), "{text:?}");
    assert_eq!(again.as_str(), path.as_str());
    if let Some((parent, name)) = path.split() {
        assert_eq!(parent.join(name).unwrap().as_str(), path.as_str());
    }
}
