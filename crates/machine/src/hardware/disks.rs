//! The local file systems.

use std::{
    collections::{BTreeMap, HashMap},
    path::Path,
};

use super::{Disk, gib, mounts::Mount};
use crate::MachineEnvironment;

/// The number of file systems that are listed.
const MAX_DISKS: usize = 1_024;

/// Images that programs and discs come in; they are full by nature.
const IMAGES: &[&str] = &["cramfs", "erofs", "iso9660", "romfs", "squashfs"];

/// File systems that have several devices, or a name, where others have a device.
const WITHOUT_DEVICE: &[&str] = &["bcachefs", "btrfs", "zfs"];

/// Size and free space of a file system, in bytes.
#[derive(Debug, Clone, Copy)]
struct Space {
    size: u64,
    free: u64,
}

pub(super) fn read(machine: &MachineEnvironment, mounts: &[Mount]) -> Vec<Disk> {
    list(mounts, |point| {
        let point = machine.at(point.strip_prefix("/").unwrap_or(point));
        // In a container, files such as /etc/hosts are mounts of their own.
        if !point.is_dir() {
            return None;
        }
        let space = rustix::fs::statvfs(&point).ok()?;
        let unit = space.f_frsize;
        Some(Space {
            size: space.f_blocks.saturating_mul(unit),
            free: space.f_bfree.saturating_mul(unit),
        })
    })
}

/// One disk for each file system, at its shortest mount point, sorted by mount point.
fn list(mounts: &[Mount], space: impl Fn(&Path) -> Option<Space>) -> Vec<Disk> {
    // What is mounted later on the same point hides what was there.
    let visible: BTreeMap<&Path, &Mount> =
        mounts.iter().map(|mount| (mount.point.as_path(), mount)).collect();
    let mut shortest: HashMap<&str, (&Mount, Space)> = HashMap::new();
    for mount in visible.values().filter(|mount| is_local(mount)) {
        let Some(space) = space(&mount.point) else { continue };
        if space.size == 0 && !is_root(mount) {
            continue;
        }
        let kept = shortest.entry(identity(mount)).or_insert((mount, space));
        if mount.point.as_os_str().len() < kept.0.point.as_os_str().len() {
            *kept = (mount, space);
        }
    }
    let disk = |(mount, Space { size, free }): (&Mount, Space)| Disk {
        mount: mount.point.to_string_lossy().into_owned(),
        size_gb: gib(size),
        used_gb: gib(size.saturating_sub(free)),
    };
    let mut disks: Vec<Disk> = shortest.into_values().map(disk).collect();
    disks.sort_by(|one, other| one.mount.cmp(&other.mount));
    disks.truncate(MAX_DISKS);
    disks
}

fn is_root(mount: &Mount) -> bool {
    mount.point == Path::new("/")
}

/// True if a file system is on a disk of this machine. The root always is one, whatever it is:
/// in a container it is an overlay. What comes over a network is not this machine's, and asking
/// for its size waits for as long as its server is away.
fn is_local(mount: &Mount) -> bool {
    if is_root(mount) {
        return true;
    }
    let has_device = mount.source.starts_with("/dev/");
    let kind = mount.kind.as_str();
    (has_device || WITHOUT_DEVICE.contains(&kind))
        && !IMAGES.contains(&kind)
        // Some give their control device as the source: `/dev/fuse`.
        && (!kind.starts_with("fuse") || kind == "fuseblk")
        && kind != "devtmpfs"
}

/// The key that two mounts of the same file system share. Subvolumes have numbers of their own, and
/// share their device.
fn identity(mount: &Mount) -> &str {
    if mount.source.starts_with("/dev/") && mount.source != "/dev/root" {
        &mount.source
    } else {
        &mount.device
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::tests::tree;

    fn mounts(table: &str) -> Vec<Mount> {
        let folder = tree(&[("proc/self/mountinfo", table)]);
        crate::hardware::mounts::read(&MachineEnvironment::under(folder.path()))
    }

    fn listed(table: &str) -> Vec<String> {
        let space = |point: &Path| {
            let is_file = point.starts_with("/etc/");
            (!is_file).then_some(Space { size: 4 << 30, free: 1 << 30 })
        };
        list(&mounts(table), space).into_iter().map(|disk| disk.mount).collect()
    }

    #[test]
    fn a_laptop() {
        let table = "\
22 1 0:20 / /proc rw - proc proc rw
23 1 0:21 / /run rw - tmpfs tmpfs rw
24 1 259:2 / / rw - btrfs /dev/nvme0n1p2 rw,subvol=/@
25 24 0:30 / /home rw - btrfs /dev/nvme0n1p2 rw,subvol=/@home
26 24 259:1 / /boot/efi rw - vfat /dev/nvme0n1p1 rw
27 24 7:1 / /snap/core/1 ro - squashfs /dev/loop1 ro
28 24 0:40 / /mnt/nas rw - nfs4 nas:/export rw
29 24 0:41 / /run/user/1000/doc rw - fuse.portal portal rw
30 24 8:1 / /media/usb\\040stick rw - fuseblk /dev/sda1 rw
31 24 259:1 /x /srv/again rw - vfat /dev/nvme0n1p1 rw
32 24 0:5 / /dev rw - devtmpfs /dev/dev rw
33 24 0:50 / /tank rw - zfs tank rw
";
        assert_eq!(listed(table), ["/", "/boot/efi", "/media/usb stick", "/tank"]);
    }

    #[test]
    fn a_container_has_its_root_and_its_volumes() {
        let table = "\
600 500 0:55 / / rw - overlay overlay rw,lowerdir=/x
601 600 0:57 / /proc rw - proc proc rw
602 600 0:60 / /dev rw - tmpfs tmpfs rw
603 600 254:1 /var/lib/docker/containers/1/resolv.conf /etc/resolv.conf rw - ext4 /dev/vda1 rw
604 600 254:1 /var/lib/docker/containers/1/hosts /etc/hosts rw - ext4 /dev/vda1 rw
605 600 254:1 /srv/data /data rw - ext4 /dev/vda1 rw
606 600 0:70 / /var/lib/more rw - overlay overlay rw
";
        assert_eq!(listed(table), ["/", "/data"]);
    }

    #[test]
    fn what_is_mounted_later_hides_what_was_there() {
        let table = "\
1 1 8:1 / / rw - ext4 /dev/sda1 rw
2 1 8:2 / /data rw - ext4 /dev/sda2 rw
3 1 0:9 / /data rw - tmpfs tmpfs rw
";
        assert_eq!(listed(table), ["/"]);
    }

    #[test]
    fn used_is_what_is_not_free() {
        let table = "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n";
        let disks = list(&mounts(table), |_| Some(Space { size: 4 << 30, free: 1 << 30 }));
        assert_eq!(disks, [Disk { mount: "/".into(), size_gb: 4.0, used_gb: 3.0 }]);
        let odd = list(&mounts(table), |_| Some(Space { size: 0, free: 9 }));
        assert_eq!(odd, [Disk { mount: "/".into(), size_gb: 0.0, used_gb: 0.0 }]);
    }
}
