//! The hardware of the machine.
//!
//! Sizes are in GiB, rounded to two decimals. On Linux everything is read from the kernel's own
//! files, which takes well under a millisecond; elsewhere sysinfo is asked, and never for
//! processes or for how busy a processor is, which is what makes it slow.

#[cfg(target_os = "linux")]
mod cgroup;
#[cfg(target_os = "linux")]
mod container;
#[cfg(target_os = "linux")]
mod cpu;
#[cfg(target_os = "linux")]
mod disks;
#[cfg(target_os = "linux")]
mod gpus;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(not(target_os = "linux"))]
mod portable;

use serde::Serialize;

use crate::MachineEnvironment;

/// The hardware of the machine.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hardware {
    /// The processor.
    pub cpu: Cpu,
    /// The graphics processors.
    pub gpus: Vec<Gpu>,
    /// The memory.
    pub ram_gb: Ram,
    /// The local file systems, by mount point.
    pub disks: Vec<Disk>,
    /// `linux`, `macos`.
    pub os: &'static str,
    /// The part of it that this process may use.
    pub container: Container,
}

/// The processor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cpu {
    /// The number of cores; where that is unknown, of threads.
    pub cores: usize,
    /// The number of threads that run at once.
    pub threads: usize,
    /// The highest frequency of the first core where the system knows it, else its present one;
    /// 0 where it knows neither.
    pub frequency_mhz: u64,
}

/// A graphics processor.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gpu {
    /// Its name.
    pub name: String,
    /// Its own memory, where it can be known.
    pub vram_gb: Option<f64>,
    /// The version of its driver, where it has one of its own.
    pub driver_version: Option<String>,
}

/// The memory, in GiB.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Ram {
    /// All of it.
    pub total: f64,
    /// The part that cannot be had.
    pub used: f64,
    /// The part that programs can still have; what only caches files counts as free.
    pub free: f64,
}

/// A local file system.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Disk {
    /// Where it is mounted.
    pub mount: String,
    /// Its size.
    pub size_gb: f64,
    /// The part that is taken.
    pub used_gb: f64,
}

/// The part that a container, or any control group, leaves to this process.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Container {
    /// True if there is a container around this process.
    pub detected: bool,
    /// Which kind: `docker`, `podman`, `kubernetes`, `lxc` …
    pub kind: Option<String>,
    /// The processors' worth of time that it may use.
    pub cpu_limit: Option<f64>,
    /// The memory that it may use.
    pub memory_limit_gb: Option<f64>,
}

/// Reads the hardware of this machine.
pub fn hardware(machine: &MachineEnvironment) -> Hardware {
    #[cfg(target_os = "linux")]
    {
        let mounts = mounts::read(machine);
        Hardware {
            cpu: cpu::read(machine),
            gpus: gpus::read(machine),
            ram_gb: memory::read(machine),
            disks: disks::read(machine, &mounts),
            os: std::env::consts::OS,
            container: container::read(machine, &mounts),
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        portable::read(machine)
    }
}

/// Bytes as GiB, rounded to two decimals.
#[allow(clippy::cast_precision_loss)] // Two decimals of a GiB are far from the 53rd bit.
fn gib(bytes: u64) -> f64 {
    round(bytes as f64 / 1_073_741_824.0)
}

/// Two decimals.
fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

/// Total, and what of it can still be had.
fn ram(total: u64, available: u64) -> Ram {
    let available = available.min(total);
    let (total, free) = (gib(total), gib(available));
    Ram { total, used: round(total - free), free }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these files.
    #[cfg(target_os = "linux")]
    pub(super) fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), files);
        folder
    }

    /// Writes these files below a folder.
    #[cfg(target_os = "linux")]
    pub(super) fn write(folder: &std::path::Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    #[test]
    fn sizes_are_binary_and_have_two_decimals() {
        assert_eq!(gib(1 << 30).to_bits(), 1.0_f64.to_bits());
        assert_eq!(gib(1_500_000_000).to_string(), "1.4");
        assert_eq!(gib(u64::MAX).to_string(), "17179869184");
        let ram = ram(3 << 30, 10 << 30);
        assert_eq!((ram.total, ram.used, ram.free), (3.0, 0.0, 3.0));
    }

    #[test]
    fn this_machine_has_what_every_machine_has() {
        let hardware = hardware(&MachineEnvironment::here());
        assert!(hardware.cpu.cores >= 1 && hardware.cpu.cores <= hardware.cpu.threads);
        assert!(hardware.ram_gb.total > 0.0);
        assert!(hardware.disks.iter().any(|disk| disk.mount == "/" && disk.size_gb > 0.0));
        assert_eq!(hardware.os, std::env::consts::OS);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_empty_tree_still_has_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        let hardware = hardware(&MachineEnvironment::under(folder.path()));
        assert!(hardware.cpu.threads >= 1);
        assert_eq!(hardware.cpu.frequency_mhz, 0);
        assert_eq!(hardware.gpus, []);
        assert_eq!(hardware.disks, []);
        assert_eq!(hardware.container, Container::default());
    }
}
