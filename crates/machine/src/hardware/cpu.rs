//! The processor, as the kernel lists it under `/sys/devices/system/cpu`.

use std::collections::HashSet;

use super::Cpu;
use crate::{MachineEnvironment, read};

/// The number of processors that the kernel can have.
const MAX_CPUS: usize = 8_192;

/// The bytes of `/proc/cpuinfo` that are read: the first processor is in it. The kernel asks
/// every processor whose lines are read.
const CPUINFO_BYTES: u64 = 4_096;

pub(super) fn read(machine: &MachineEnvironment) -> Cpu {
    let online = read::text(&machine.at("sys/devices/system/cpu/online"));
    let online = online.map(|text| list(&text)).unwrap_or_default();
    let threads = if online.is_empty() {
        std::thread::available_parallelism().map_or(1, usize::from)
    } else {
        online.len()
    };
    let cores = cores(machine, &online).unwrap_or(threads);
    Cpu { cores, threads, frequency_mhz: frequency(machine).unwrap_or(0) }
}

/// The number of processors that are no sibling of an earlier one.
fn cores(machine: &MachineEnvironment, online: &[usize]) -> Option<usize> {
    let mut siblings = HashSet::new();
    let mut cores = 0;
    for cpu in online {
        if siblings.contains(cpu) {
            continue;
        }
        let topology = machine.at(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
        let shared = read::text(&topology.join("core_cpus_list"))
            // The name before Linux 5.3.
            .or_else(|| read::text(&topology.join("thread_siblings_list")))?;
        siblings.extend(list(&shared));
        cores += 1;
    }
    (cores > 0).then_some(cores)
}

/// The highest frequency is a property of the machine; the present one is one of the moment, and
/// is what there is in most virtual machines, where it never changes.
fn frequency(machine: &MachineEnvironment) -> Option<u64> {
    let folder = machine.at("sys/devices/system/cpu/cpu0/cpufreq");
    let kilohertz = || {
        ["cpuinfo_max_freq", "scaling_cur_freq"]
            .iter()
            .find_map(|name| read::number(&folder.join(name)).filter(|kilohertz| *kilohertz > 0))
    };
    let listed = || present(&read::beginning(&machine.at("proc/cpuinfo"), CPUINFO_BYTES)?);
    kilohertz().map(|kilohertz| kilohertz / 1_000).or_else(listed)
}

/// The frequency of the first processor in `/proc/cpuinfo`.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Checked just before.
fn present(cpuinfo: &str) -> Option<u64> {
    let line = cpuinfo.lines().find(|line| line.starts_with("cpu MHz"))?;
    let megahertz: f64 = line.split_once(':')?.1.trim().parse().ok()?;
    (megahertz.is_finite() && (0.0..1e6).contains(&megahertz)).then(|| megahertz.round() as u64)
}

/// The numbers of a list such as `0-3,8,10-11`; nothing of what is no list.
fn list(text: &str) -> Vec<usize> {
    let mut numbers = Vec::new();
    for part in text.trim().split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) else {
            return Vec::new();
        };
        if last >= MAX_CPUS || numbers.len() > MAX_CPUS {
            return Vec::new();
        }
        numbers.extend(first..=last);
    }
    numbers
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::hardware::tests::tree;

    #[test]
    fn threads_of_one_core_are_counted_once() {
        let cpu = "sys/devices/system/cpu";
        let shared = |number: usize| format!("{cpu}/cpu{number}/topology/core_cpus_list");
        let tree = tree(&[
            (&format!("{cpu}/online"), "0-5\n"),
            (&shared(0), "0,4\n"),
            (&shared(1), "1,5\n"),
            (&shared(2), "2\n"),
            (&shared(3), "3\n"),
            (&format!("{cpu}/cpu0/cpufreq/cpuinfo_max_freq"), "4700000\n"),
            (&format!("{cpu}/cpu0/cpufreq/scaling_cur_freq"), "800000\n"),
        ]);
        let found = read(&MachineEnvironment::under(tree.path()));
        assert_eq!(found, Cpu { cores: 4, threads: 6, frequency_mhz: 4_700 });
    }

    #[test]
    fn without_a_topology_cores_are_threads() {
        let tree = tree(&[
            ("sys/devices/system/cpu/online", "0-1,4"),
            ("proc/cpuinfo", "processor\t: 0\ncpu MHz\t\t: 2596.532\n"),
        ]);
        let found = read(&MachineEnvironment::under(tree.path()));
        assert_eq!(found, Cpu { cores: 3, threads: 3, frequency_mhz: 2_597 });
    }

    #[test]
    fn a_frequency_is_a_number_or_unknown() {
        for text in ["NaN", "inf", "-1", "1e300", "", "fast"] {
            assert_eq!(present(&format!("cpu MHz : {text}")), None, "{text}");
        }
        assert_eq!(present("bogomips : 1"), None);
    }

    proptest! {
        #[test]
        fn any_list_is_read(text in "[0-9,\\-x]{0,40}") {
            prop_assert!(list(&text).len() <= 2 * MAX_CPUS + 1);
        }
    }
}
