//! The graphics processors: NVIDIA's from its driver, AMD's and Intel's from the kernel.
//!
//! Other display adapters (of virtual machines, of a server's remote console) are no processors
//! and are left out.

mod names;

use std::path::{Path, PathBuf};

use nvml_wrapper::Nvml;

use super::{Gpu, gib};
use crate::{MachineEnvironment, read};

/// The number of cards that are listed.
const MAX_GPUS: usize = 64;

/// The name under which the driver installs its library; the one without a number comes with
/// the developer's files.
const NVML: &str = "libnvidia-ml.so.1";

/// The numbers of the makers, and their names.
const NVIDIA: &str = "0x10de";
const OTHERS: &[(&str, &str)] = &[("0x1002", "AMD"), ("0x8086", "Intel")];

pub(super) fn read(machine: &MachineEnvironment) -> Vec<Gpu> {
    let mut gpus = nvidia(machine);
    gpus.extend(others(machine));
    gpus.truncate(MAX_GPUS);
    gpus
}

/// The cards that NVIDIA's driver lists. Its library is opened anew each time: to hold it open would keep
/// the cards awake, and break when the driver is renewed.
fn nvidia(machine: &MachineEnvironment) -> Vec<Gpu> {
    // Opening a library is searching for it; where there is no driver, that is spared.
    // `dxg` is how a Linux inside Windows reaches the driver outside.
    let signs = ["proc/driver/nvidia/version", "dev/nvidiactl", "dev/dxg"];
    if !signs.iter().any(|sign| machine.at(sign).exists()) {
        return Vec::new();
    }
    machine.is_here.then(ask_driver).flatten().unwrap_or_else(|| listed_by_driver(machine))
}

fn ask_driver() -> Option<Vec<Gpu>> {
    let nvml = Nvml::builder().lib_path(NVML.as_ref()).init().ok()?;
    let driver_version = nvml.sys_driver_version().ok();
    let count = nvml.device_count().ok()?.min(u32::try_from(MAX_GPUS).unwrap_or(0));
    let devices = (0..count).filter_map(|index| nvml.device_by_index(index).ok());
    let gpus = devices.map(|device| Gpu {
        name: device.name().unwrap_or_else(|_| "NVIDIA GPU".into()),
        vram_gb: device.memory_info().ok().map(|memory| gib(memory.total)),
        driver_version: driver_version.clone(),
    });
    Some(gpus.collect())
}

/// The cards that the driver lists in `/proc`, where its library cannot be opened.
fn listed_by_driver(machine: &MachineEnvironment) -> Vec<Gpu> {
    let version = read::text(&machine.at("proc/driver/nvidia/version"));
    let driver_version = version.as_deref().and_then(driver_version);
    let cards = read::folders(&machine.at("proc/driver/nvidia/gpus"), "");
    cards
        .iter()
        .take(MAX_GPUS)
        .map(|card| {
            let text = read::text(&card.join("information")).unwrap_or_default();
            let model = text.lines().find_map(|line| line.strip_prefix("Model:"));
            Gpu {
                name: short(model.unwrap_or("NVIDIA GPU")),
                vram_gb: None,
                driver_version: driver_version.clone(),
            }
        })
        .collect()
}

/// `NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 …`
fn driver_version(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("NVRM version:"))?;
    let is_version = |word: &&str| {
        word.contains('.') && word.chars().all(|one| one.is_ascii_digit() || one == '.')
    };
    line.split_whitespace().find(is_version).map(short)
}

/// The cards of AMD and Intel. What no file tells is left open: the drivers of the kernel have
/// no version but the kernel's, and Intel's cards do not tell their memory.
fn others(machine: &MachineEnvironment) -> Vec<Gpu> {
    let cards = read::folders(&machine.at("sys/class/drm"), "card");
    let mut gpus = Vec::new();
    // `card0-DP-1` is a socket of `card0`.
    for card in cards.iter().filter(|card| !card.to_string_lossy().contains('-')) {
        let device = card.join("device");
        let field = |name: &str| read::text(&device.join(name)).map(|text| text.trim().to_owned());
        let Some(vendor) = field("vendor").filter(|vendor| vendor != NVIDIA) else { continue };
        let Some((_, maker)) = OTHERS.iter().find(|(number, _)| *number == vendor) else {
            continue;
        };
        let name = field("product_name").filter(|name| !name.is_empty());
        let number = field("device").unwrap_or_default();
        let name = name
            .or_else(|| names::of(machine, &vendor, &number))
            .map_or_else(|| format!("GPU {number}"), |name| short(&name));
        gpus.push(Gpu {
            name: if name.starts_with(maker) { name } else { format!("{maker} {name}") },
            vram_gb: read::number(&device.join("mem_info_vram_total")).map(gib),
            driver_version: own_version(&device),
        });
        if gpus.len() == MAX_GPUS {
            break;
        }
    }
    gpus
}

/// The version of a driver that was installed beside the kernel.
fn own_version(device: &Path) -> Option<String> {
    let module: PathBuf = device.join("driver/module/version");
    read::text(&module).map(|text| short(&text)).filter(|text| !text.is_empty())
}

/// A name of reasonable length.
fn short(text: &str) -> String {
    text.trim().chars().filter(|one| !one.is_control()).take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hardware::tests::tree;

    #[test]
    fn cards_of_amd_and_intel() {
        let tree = tree(&[
            ("sys/class/drm/card0/device/vendor", "0x8086\n"),
            ("sys/class/drm/card0/device/device", "0x9a49\n"),
            ("sys/class/drm/card0-HDMI-A-1/status", "connected\n"),
            ("sys/class/drm/card1/device/vendor", "0x1002\n"),
            ("sys/class/drm/card1/device/device", "0x73bf\n"),
            ("sys/class/drm/card1/device/mem_info_vram_total", "17163091968\n"),
            ("sys/class/drm/card1/device/driver/module/version", "6.7.0\n"),
            ("sys/class/drm/card2/device/vendor", "0x1af4\n"),
            ("sys/class/drm/card3/device/vendor", "0x1002\n"),
            ("sys/class/drm/card3/device/product_name", "AMD Instinct MI300X\n"),
            ("sys/class/drm/renderD128/device/vendor", "0x1002\n"),
            (
                "usr/share/misc/pci.ids",
                "1002  Advanced Micro Devices, Inc. [AMD/ATI]\n\t73bf  Navi 21 [Radeon RX 6800]\n",
            ),
        ]);
        let found = read(&MachineEnvironment::under(tree.path()));
        let gpu = |name: &str, vram_gb, version: Option<&str>| Gpu {
            name: name.into(),
            vram_gb,
            driver_version: version.map(str::to_owned),
        };
        let expected = [
            gpu("Intel GPU 0x9a49", None, None),
            gpu("AMD Navi 21 [Radeon RX 6800]", Some(15.98), Some("6.7.0")),
            gpu("AMD Instinct MI300X", None, None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn nvidia_without_its_library() {
        let version = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n";
        let tree = tree(&[
            ("proc/driver/nvidia/version", version),
            (
                "proc/driver/nvidia/gpus/0000:01:00.0/information",
                "Model: \t\t NVIDIA A100\nIRQ: 1\n",
            ),
        ]);
        let found = read(&MachineEnvironment::under(tree.path()));
        let expected = Gpu {
            name: "NVIDIA A100".into(),
            vram_gb: None,
            driver_version: Some("535.104.05".into()),
        };
        assert_eq!(found, [expected]);
        assert_eq!(driver_version("NVRM version: none"), None);
    }

    #[test]
    fn a_machine_without_a_driver_is_not_asked() {
        let began = std::time::Instant::now();
        for _ in 0..100 {
            nvidia(&MachineEnvironment::here());
        }
        assert!(began.elapsed().as_secs() < 30, "{:?}", began.elapsed());
    }
}
