//! Whether there is a container around this process, and what it leaves to it.

use super::{Container, cgroup, gib, mounts::Mount, round};
use crate::{Places, read};

/// What a container's own word for itself may have, in characters.
const MAX_KIND_CHARACTERS: usize = 64;

/// Words in the name of a control group, and what they tell. In order: a pod is a container of
/// something else as well.
const GROUP_NAMES: &[(&str, &str)] = &[
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("docker", "docker"),
    ("containerd", "containerd"),
    ("/lxc", "lxc"),
    (":/lxc", "lxc"),
];

pub(super) fn read(places: &Places, mounts: &[Mount]) -> Container {
    let groups = read::text(&places.at("proc/self/cgroup")).unwrap_or_default();
    let kind = kind(places, &groups);
    let allowed = cgroup::read(places, mounts, &groups);
    Container {
        detected: kind.is_some(),
        kind,
        cpu_limit: allowed.cpus.map(round),
        memory_limit_gb: allowed.memory.map(gib),
    }
}

/// The kind of container, from what each leaves behind for others to see.
fn kind(places: &Places, groups: &str) -> Option<String> {
    let exists = |path: &str| places.at(path).exists();
    if places.kubernetes || exists("var/run/secrets/kubernetes.io") {
        return Some("kubernetes".into());
    }
    if exists("run/.containerenv") {
        return Some("podman".into());
    }
    if exists(".dockerenv") {
        return Some("docker".into());
    }
    // systemd leaves the word here for everybody, and in the environment for its children.
    let word = read::text(&places.at("run/systemd/container")).or(places.container.clone());
    if let Some(word) = word {
        let word: String = word.trim().chars().take(MAX_KIND_CHARACTERS).collect();
        if !word.is_empty() {
            return Some(word);
        }
    }
    if exists("proc/vz") && !exists("proc/bc") {
        return Some("openvz".into());
    }
    let (_, kind) = GROUP_NAMES.iter().find(|(part, _)| groups.contains(part))?;
    Some((*kind).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[&str], groups: &str) -> Option<String> {
        let folder = tempfile::tempdir().unwrap();
        for path in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "systemd-nspawn\n").unwrap();
        }
        kind(&Places::under(folder.path()), groups)
    }

    #[test]
    fn each_kind_is_known_by_what_it_leaves() {
        let check = |files: &[&str], groups: &str, kind: Option<&str>| {
            assert_eq!(found(files, groups).as_deref(), kind, "{files:?} {groups}");
        };
        check(&[], "0::/\n", None);
        check(&[], "0::/user.slice/user-1000.slice/session-2.scope\n", None);
        check(&[".dockerenv"], "0::/\n", Some("docker"));
        check(&["run/.containerenv"], "0::/\n", Some("podman"));
        check(&["run/systemd/container"], "0::/\n", Some("systemd-nspawn"));
        check(&["var/run/secrets/kubernetes.io/x", ".dockerenv"], "", Some("kubernetes"));
        check(&["proc/vz/x"], "", Some("openvz"));
        check(&["proc/vz/x", "proc/bc/x"], "", None);
        check(&[], "4:memory:/docker/0123\n", Some("docker"));
        check(&[], "4:memory:/kubepods/burstable/pod1/docker-1\n", Some("kubernetes"));
        check(&[], "0::/machine.slice/libpod-1.scope\n", Some("podman"));
        check(&[], "0::/lxc.payload.x\n", Some("lxc"));
    }

    #[test]
    fn limits_are_told_with_and_without_a_container() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/self/cgroup", "0::/a.service\n");
        write("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
        write("sys/fs/cgroup/a.service/memory.max", "1610612736\n");
        write("sys/fs/cgroup/a.service/cpu.max", "100000 300000\n");
        let places = Places::under(folder.path());
        let container = read(&places, &crate::hardware::mounts::read(&places));
        let expected = Container {
            detected: false,
            kind: None,
            cpu_limit: Some(0.33),
            memory_limit_gb: Some(1.5),
        };
        assert_eq!(container, expected);
    }
}
