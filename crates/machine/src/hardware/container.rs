//! The container around this process, if there is one, and what it leaves to it.

use super::{Container, cgroup, gib, mounts::Mount, round};
use crate::{MachineEnvironment, read};

/// The longest word of a container for itself, in characters.
const MAX_KIND_CHARACTERS: usize = 64;

/// True if a part of the path of a control group is one of a kind of container.
type IsPartOf = fn(&str) -> bool;

/// The kinds of containers by the names of control groups. In order: a pod is a container of something else as well.
const GROUPS: &[(&str, IsPartOf)] = &[
    ("kubernetes", |part| {
        // `kubepods`, `kubepods.slice`, `kubelet-kubepods-burstable-pod1.slice`
        part.strip_suffix(".slice").unwrap_or(part).split('-').any(|word| word == "kubepods")
    }),
    ("podman", |part| part.starts_with("libpod-") || part == "libpod_parent"),
    ("docker", |part| {
        // Not `docker.service`, which is what starts containers.
        let id = part.strip_prefix("docker-").map(|id| id.strip_suffix(".scope").unwrap_or(id));
        part == "docker" || id.is_some_and(is_hexadecimal)
    }),
    ("containerd", |part| {
        matches!(part, "containerd" | "cri-containerd") || part.starts_with("cri-containerd-")
    }),
    ("lxc", |part| part == "lxc" || part.starts_with("lxc.payload")),
];

fn is_hexadecimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

pub(super) fn read(machine: &MachineEnvironment, mounts: &[Mount]) -> Container {
    let groups = read::text(&machine.at("proc/self/cgroup")).unwrap_or_default();
    let kind = kind(machine, &groups);
    let allowed = cgroup::read(machine, mounts, &groups);
    Container {
        detected: kind.is_some(),
        kind,
        cpu_limit: allowed.cpus.map(round),
        memory_limit_gb: allowed.memory.map(gib),
    }
}

/// The kind of container, from what each leaves behind for others to see.
fn kind(machine: &MachineEnvironment, groups: &str) -> Option<String> {
    let exists = |path: &str| machine.at(path).exists();
    if machine.kubernetes || exists("var/run/secrets/kubernetes.io") {
        return Some("kubernetes".into());
    }
    if exists("run/.containerenv") {
        return Some("podman".into());
    }
    if exists(".dockerenv") {
        return Some("docker".into());
    }
    // systemd leaves the word here for everybody, and in the environment for its children.
    let word = read::text(&machine.at("run/systemd/container")).or(machine.container.clone());
    if let Some(word) = word {
        let word: String = word.trim().chars().take(MAX_KIND_CHARACTERS).collect();
        if !word.is_empty() {
            return Some(word);
        }
    }
    if exists("proc/vz") && !exists("proc/bc") {
        return Some("openvz".into());
    }
    // A line is a number, controllers and a path: `4:memory:/docker/0123`. The path may have
    // colons too, between the parts that containerd names.
    let paths = || groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    let mut kinds = GROUPS.iter();
    let (kind, _) = kinds.find(|(_, is)| paths().any(|path| path.split(['/', ':']).any(is)))?;
    Some((*kind).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::tests::tree;

    fn found(files: &[&str], groups: &str) -> Option<String> {
        let files: Vec<_> = files.iter().map(|path| (*path, "systemd-nspawn\n")).collect();
        kind(&MachineEnvironment::under(tree(&files).path()), groups)
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
        check(&[], "1:name=systemd:/lxc/web\n", Some("lxc"));
        check(&[], "0::/system.slice/docker-0a9f.scope\n", Some("docker"));
        check(&[], "0::/kubelet.slice/kubelet-kubepods-pod1.slice/x\n", Some("kubernetes"));
        check(&[], "0::/system.slice/x:cri-containerd:0a9f\n", Some("containerd"));
        for host in
            ["docker.service", "docker-cleanup.service", "containerd.service", "lxc.service"]
        {
            check(&[], &format!("0::/system.slice/{host}\n"), None);
        }
        check(&[], "0::/user.slice/my-dockerfiles\n", None);
    }

    #[test]
    fn limits_are_told_with_and_without_a_container() {
        let folder = tree(&[
            ("proc/self/cgroup", "0::/a.service\n"),
            ("proc/self/mountinfo", "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/a.service/memory.max", "1610612736\n"),
            ("sys/fs/cgroup/a.service/cpu.max", "100000 300000\n"),
        ]);
        let machine = MachineEnvironment::under(folder.path());
        let container = read(&machine, &crate::hardware::mounts::read(&machine));
        let expected = Container {
            detected: false,
            kind: None,
            cpu_limit: Some(0.33),
            memory_limit_gb: Some(1.5),
        };
        assert_eq!(container, expected);
    }
}
