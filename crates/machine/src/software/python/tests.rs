//! Trees with a Python in them.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::*;

struct Tree(tempfile::TempDir);

impl Tree {
    fn new(files: &[(&str, &str)], links: &[(&str, &str)]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        for (path, text) in files {
            std::fs::create_dir_all(tree.at(path).parent().unwrap()).unwrap();
            std::fs::write(tree.at(path), text).unwrap();
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(tree.at(path), mode).unwrap();
        }
        for (path, target) in links {
            std::fs::create_dir_all(tree.at(path).parent().unwrap()).unwrap();
            symlink(target, tree.at(path)).unwrap();
        }
        tree
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn places(&self) -> MachineEnvironment {
        MachineEnvironment::under(self.0.path())
    }
}

fn version(machine: &MachineEnvironment, package: Option<(&str, &str)>) -> String {
    find(machine).version(|name| package.filter(|(of, _)| *of == name).map(|(_, version)| version))
}

#[test]
fn of_the_system() {
    let tree = Tree::new(&[("usr/bin/python3.11", "")], &[("usr/bin/python3", "python3.11")]);
    let machine = tree.places();
    assert_eq!(version(&machine, None), "3.11");
    assert_eq!(version(&machine, Some(("python3.11-minimal", "3.11.2-6+deb12u6"))), "3.11.2");
    assert_eq!(version(&machine, Some(("python3", "3.11.6-r0"))), "3.11.6");
    // That of another series tells nothing.
    assert_eq!(version(&machine, Some(("python3", "3.12.1"))), "3.11");
}

#[test]
fn built_from_source() {
    let header = "#define PY_MAJOR_VERSION 3\n#define PY_VERSION      \t\"3.13.0rc1\"\n";
    let files = [
        ("usr/local/bin/python3.13", ""),
        ("usr/local/include/python3.13/patchlevel.h", header),
        ("usr/bin/python3", ""),
    ];
    let tree = Tree::new(&files, &[("usr/local/bin/python3", "python3.13")]);
    assert_eq!(version(&tree.places(), Some(("python3", "3.13.9"))), "3.13.0rc1");
}

#[test]
fn what_cannot_be_started_is_passed_over() {
    let tree = Tree::new(
        &[("first/python3.9", ""), ("usr/bin/python3.11", "")],
        &[("first/python3", "python3.9"), ("usr/bin/python3", "python3.11")],
    );
    let mut machine = tree.places();
    machine.path.insert(0, tree.at("first"));
    assert_eq!(version(&machine, None), "3.9");
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(tree.at("first/python3.9"), mode).unwrap();
    assert_eq!(version(&machine, None), "3.11");
}

#[test]
fn of_a_virtual_environment() {
    for (notes, expected) in [
        ("home = /usr/bin\nversion = 3.11.7\n", "3.11.7"),
        ("version_info = 3.12.1.final.0\n", "3.12.1"),
        ("version = 3.10\n", "3.10"),
        ("home = /usr/bin\n", UNKNOWN),
    ] {
        let tree = Tree::new(&[("venv/pyvenv.cfg", notes), ("venv/bin/python3", "")], &[]);
        let mut machine = tree.places();
        machine.virtual_env = Some(tree.at("venv"));
        assert_eq!(version(&machine, None), expected);
        // The same without activation, by its place on the path.
        machine.virtual_env = None;
        machine.path.insert(0, tree.at("venv/bin"));
        assert_eq!(version(&machine, None), expected);
        assert_eq!(find(&machine).prefixes, [tree.at("venv")]);
    }
}

#[test]
fn of_pyenv() {
    let mut files: Vec<(String, &str)> = ["3.9.1", "3.11.7", "3.11.10"]
        .iter()
        .map(|version| {
            (format!("pyenv/versions/{version}/bin/python{}", series(version).unwrap()), "")
        })
        .collect();
    files.push(("pyenv/shims/python3".into(), "#!/bin/sh\n"));
    files.push(("usr/bin/python3.10".into(), ""));
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let links = [
        ("pyenv/versions/3.9.1/bin/python3", "python3.9"),
        ("pyenv/versions/3.11.7/bin/python3", "python3.11"),
        ("pyenv/versions/3.11.10/bin/python3", "python3.11"),
        ("usr/bin/python3", "python3.10"),
    ];
    let tree = Tree::new(&files, &links);
    let mut machine = tree.places();
    machine.path.insert(0, tree.at("pyenv/shims"));
    for (global, expected) in [
        ("3.11.7\n", "3.11.7"),
        ("3.11\n", "3.11.10"),
        ("3.9.1:3.11.7", "3.9.1"),
        ("system\n", "3.10"),
        ("", "3.10"),
        ("4.0\n", UNKNOWN),
        ("../../usr\n", UNKNOWN),
        ("/etc\n", UNKNOWN),
    ] {
        std::fs::write(tree.at("pyenv/version"), global).unwrap();
        assert_eq!(version(&machine, None), expected, "{global}");
    }
    machine.pyenv_version = Some("3.9.1".into());
    assert_eq!(version(&machine, None), "3.9.1");
}

#[test]
fn of_other_installers() {
    let uv = "uv/python/cpython-3.12.3-linux-x86_64-gnu/bin";
    let brew = "opt/homebrew/Cellar/python@3.11/3.11.7_1/bin";
    for (program, expected) in [
        (format!("{uv}/python3.12"), "3.12.3"),
        (format!("{brew}/python3.11"), "3.11.7"),
        ("nix/abc-python3-3.10.6/bin/python3.10".into(), "3.10.6"),
        ("miniconda3-4.7.12/bin/python3.7".into(), "3.7.4"),
    ] {
        let files = [
            (program.as_str(), ""),
            ("miniconda3-4.7.12/conda-meta/python-3.7.4-h265db76_1.json", "{}"),
        ];
        let tree = Tree::new(&files, &[]);
        let mut machine = tree.places();
        std::fs::create_dir_all(tree.at("bin")).unwrap();
        symlink(tree.at(&program), tree.at("bin/python3")).unwrap();
        machine.path = vec![tree.at("bin")];
        assert_eq!(version(&machine, None), expected, "{program}");
    }
}

#[test]
fn none_and_broken_ones() {
    assert_eq!(version(&Tree::new(&[], &[]).places(), None), NOT_FOUND);
    let looping = [("usr/bin/python3", "python"), ("usr/bin/python", "python3")];
    assert_eq!(version(&Tree::new(&[], &looping).places(), None), NOT_FOUND);
    assert_eq!(version(&Tree::new(&[("usr/bin/python", "")], &[]).places(), None), UNKNOWN);
    let library = [("usr/bin/python", ""), ("usr/lib/python3.8/os.py", "")];
    assert_eq!(version(&Tree::new(&library, &[]).places(), None), "3.8");
}

#[test]
fn versions_in_texts() {
    for (text, expected) in [
        ("3.11.4", Some("3.11.4")),
        ("1:3.11.2-6", Some("3.11.2")),
        ("v3.13.0b2+", Some("3.13.0b2")),
        ("1.2", None),
        ("1.2.", None),
        ("..1.2.3", None),
        ("999999.1.1", None),
        ("é3.1.2é", Some("3.1.2")),
    ] {
        assert_eq!(exact(text), expected, "{text}");
    }
}
