//! The name of the system and the version of its kernel.

use crate::MachineEnvironment;
#[cfg(target_os = "linux")]
use crate::read;

/// The longest name that is told, in characters.
const MAX_CHARACTERS: usize = 200;

/// Name and version of the system, and version of the kernel.
pub(super) fn read(machine: &MachineEnvironment) -> (String, String) {
    let (system, kernel) = found(machine);
    let told = |text: Option<String>| {
        let text = text.unwrap_or_default();
        let text = text.trim().chars().filter(|one| !one.is_control());
        let text: String = text.take(MAX_CHARACTERS).collect();
        if text.is_empty() { "unknown".to_owned() } else { text }
    };
    (told(system), told(kernel))
}

#[cfg(target_os = "linux")]
fn found(machine: &MachineEnvironment) -> (Option<String>, Option<String>) {
    let release = ["etc/os-release", "usr/lib/os-release"];
    let release = release.iter().find_map(|path| read::text(&machine.at(path)));
    let system = release.as_deref().and_then(pretty_name).unwrap_or_else(|| "Linux".into());
    (Some(system), read::text(&machine.at("proc/sys/kernel/osrelease")))
}

#[cfg(not(target_os = "linux"))]
fn found(_: &MachineEnvironment) -> (Option<String>, Option<String>) {
    let system = sysinfo::System::long_os_version().ok();
    (system, sysinfo::System::kernel_version().ok())
}

/// The name that a system gives itself for people, or what comes nearest.
#[cfg(target_os = "linux")]
fn pretty_name(release: &str) -> Option<String> {
    let field = |name: &str| {
        let line = |line: &str| line.trim().strip_prefix(name)?.strip_prefix('=').map(unquote);
        // As in a shell, the last one counts.
        release.lines().rev().find_map(line).filter(|value| !value.is_empty())
    };
    field("PRETTY_NAME").or_else(|| {
        let name = field("NAME").or_else(|| field("ID"))?;
        let version = field("VERSION").or_else(|| field("VERSION_ID"));
        Some(version.map_or(name.clone(), |version| format!("{name} {version}")))
    })
}

/// A value as a shell would read it.
#[cfg(target_os = "linux")]
fn unquote(value: &str) -> String {
    let value = value.trim();
    let single = value.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
    if let Some(value) = single {
        return value.to_owned();
    }
    let double = value.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let mut characters = double.unwrap_or(value).chars();
    let mut plain = String::with_capacity(value.len());
    while let Some(one) = characters.next() {
        plain.extend(if one == '\\' { characters.next() } else { Some(one) });
    }
    plain
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn systems_call_themselves_in_many_ways() {
        for (release, expected) in [
            ("PRETTY_NAME=\"Ubuntu 22.04.3 LTS\"\nNAME=\"Ubuntu\"\n", Some("Ubuntu 22.04.3 LTS")),
            ("PRETTY_NAME='Arch Linux'\n", Some("Arch Linux")),
            ("PRETTY_NAME=Void\n", Some("Void")),
            ("PRETTY_NAME=\"A \\\"B\\\" \\$C\"", Some("A \"B\" $C")),
            ("NAME=Alpine\nVERSION_ID=3.19.1\n", Some("Alpine 3.19.1")),
            ("NAME=Fedora\nVERSION=\"40 (Forty)\"\nVERSION_ID=40\n", Some("Fedora 40 (Forty)")),
            ("PRETTY_NAME=\"\"\nID=odd\n", Some("odd")),
            ("PRETTY_NAME=\"", Some("\"")),
            ("XPRETTY_NAME=1\n# PRETTY_NAME=2\n", None),
            ("", None),
        ] {
            assert_eq!(pretty_name(release).as_deref(), expected, "{release}");
        }
    }

    #[test]
    fn a_tree_without_a_name_is_linux() {
        let folder = tempfile::tempdir().unwrap();
        let machine = MachineEnvironment::under(folder.path());
        assert_eq!(read(&machine), ("Linux".into(), "unknown".into()));
        std::fs::create_dir_all(folder.path().join("usr/lib")).unwrap();
        std::fs::write(folder.path().join("usr/lib/os-release"), "PRETTY_NAME=Tiny\n").unwrap();
        assert_eq!(read(&machine).0, "Tiny");
        // The one in /etc counts for more, and may be no text.
        std::fs::create_dir_all(folder.path().join("etc")).unwrap();
        std::fs::write(folder.path().join("etc/os-release"), b"PRETTY_NAME=\xff\x07!\n").unwrap();
        assert_eq!(read(&machine).0, "\u{fffd}!");
    }
}
