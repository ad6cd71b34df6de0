//! The files that may be read and written at all: regular ones of ordinary file systems.

use std::os::fd::AsFd;

use rustix::fs::{FileType, Stat, fstatfs};

use super::FileError;

/// File systems whose files are not files but ways to talk to the kernel, by `f_type`
/// (`linux/magic.h`).
const OF_THE_KERNEL: &[u64] = &[
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0xcafe_4a11, // bpf
    0xf97c_ff8c, // selinuxfs
    0x6165_676c, // pstore
    0xde5e_81e4, // efivarfs
    0x1980_0202, // mqueue
    0x4249_4e4d, // binfmt_misc
    0x6e73_6673, // nsfs
    0x6573_5543, // fusectl
    0x5a3c_69f0, // apparmorfs
    0x6e66_7364, // nfsd
    0x6759_6969, // rpc_pipefs
    0x0765_5821, // resctrl
    0x4341_5d53, // smackfs
];

/// True if a file system of this type belongs to the kernel.
#[allow(clippy::cast_sign_loss, reason = "the type is a bit pattern, signed on some processors")]
#[allow(clippy::useless_conversion, clippy::cast_lossless, reason = "shorter on some processors")]
pub(super) fn is_of_the_kernel(file_system: rustix::fs::FsWord) -> bool {
    OF_THE_KERNEL.contains(&(file_system as u64 & 0xffff_ffff))
}

/// Refuses what lies on a file system of the kernel.
pub(super) fn require_ordinary_place(handle: impl AsFd) -> Result<(), FileError> {
    if is_of_the_kernel(fstatfs(handle)?.f_type) {
        return Err(FileError::denied("it is on a file system of the kernel, such as /proc"));
    }
    Ok(())
}

/// Refuses anything but a regular file.
pub(super) fn require_regular(stat: &Stat) -> Result<(), FileError> {
    Err(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => return Ok(()),
        FileType::Directory => FileError::IsADirectory,
        FileType::Symlink => FileError::denied("it is a symbolic link"),
        FileType::Fifo => FileError::NotAFile("a pipe"),
        FileType::Socket => FileError::NotAFile("a socket"),
        FileType::CharacterDevice | FileType::BlockDevice => FileError::NotAFile("a device"),
        FileType::Unknown => FileError::NotAFile("something unknown"),
    })
}

/// Refuses a file with a second name, which may lie outside the folder.
pub(super) fn require_one_name(stat: &Stat) -> Result<(), FileError> {
    if stat.st_nlink > 1 {
        return Err(FileError::denied("it has more than one name (hard links)"));
    }
    Ok(())
}
