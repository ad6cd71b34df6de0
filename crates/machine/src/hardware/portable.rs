//! The same facts where there is no `/proc`, from sysinfo.

use sysinfo::{
    CpuRefreshKind, DiskRefreshKind, Disks, Gpus, MemoryRefreshKind, RefreshKind, System,
};

use super::{Container, Cpu, Disk, Gpu, Hardware, Ram, gib, ram};
use crate::MachineEnvironment;

/// Parts of the system that are mounts of their own, and share the one container of the disk.
const SYSTEM_VOLUMES: &str = "/System/Volumes/";

pub(super) fn read(_: &MachineEnvironment) -> Hardware {
    let wanted = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing().with_frequency())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    let system = System::new_with_specifics(wanted).ok();
    Hardware {
        cpu: cpu(system.as_ref()),
        gpus: gpus(),
        ram_gb: memory(system.as_ref()),
        disks: disks(),
        os: std::env::consts::OS,
        // Containers on these systems are virtual machines with Linux inside.
        container: Container::default(),
    }
}

fn cpu(system: Option<&System>) -> Cpu {
    let listed = system.map(System::cpus).unwrap_or_default();
    let threads = match listed.len() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    Cpu {
        cores: System::physical_core_count().unwrap_or(threads),
        threads,
        frequency_mhz: listed.first().map_or(0, sysinfo::Cpu::frequency),
    }
}

fn memory(system: Option<&System>) -> Ram {
    system.map_or_else(|| ram(0, 0), |system| ram(system.total_memory(), system.available_memory()))
}

fn gpus() -> Vec<Gpu> {
    let Ok(gpus) = Gpus::new_with_refreshed_list() else { return Vec::new() };
    gpus.iter()
        .map(|gpu| Gpu {
            name: gpu.model().or(gpu.vendor()).unwrap_or("GPU").to_owned(),
            // The memory is the machine's own, or is not told.
            vram_gb: gpu.total_memory().map(gib),
            driver_version: None,
        })
        .collect()
}

fn disks() -> Vec<Disk> {
    let wanted = DiskRefreshKind::nothing().with_storage();
    let Ok(disks) = Disks::new_with_refreshed_list_specifics(wanted) else { return Vec::new() };
    let mut disks: Vec<Disk> = disks
        .iter()
        .filter(|disk| !disk.mount_point().starts_with(SYSTEM_VOLUMES))
        .map(|disk| Disk {
            mount: disk.mount_point().to_string_lossy().into_owned(),
            size_gb: gib(disk.total_space()),
            used_gb: gib(disk.total_space().saturating_sub(disk.available_space())),
        })
        .collect();
    disks.sort_by(|one, other| one.mount.cmp(&other.mount));
    disks.dedup_by(|one, other| one.mount == other.mount);
    disks
}
