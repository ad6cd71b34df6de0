//! The names of PCI devices, from the list that most systems carry.

use crate::{MachineEnvironment, read};

/// Where the list is.
const PLACES: &[&str] = &["usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids"];

/// The largest list that is read, in bytes; it has 1.5 million now.
const MAX_BYTES: u64 = 16_777_216;

/// The name of a device, by the numbers of its maker and its own (`0x1002`, `0x73bf`).
pub(super) fn of(machine: &MachineEnvironment, vendor: &str, device: &str) -> Option<String> {
    let (vendor, device) = (vendor.strip_prefix("0x")?, device.strip_prefix("0x")?);
    let list = PLACES.iter().find_map(|place| read::bytes(&machine.at(place), MAX_BYTES).ok())?;
    find(&list, vendor.as_bytes(), device.as_bytes())
}

/// A maker begins a line; its devices follow, each after a tab, their variants after two.
fn find(list: &[u8], vendor: &[u8], device: &[u8]) -> Option<String> {
    let mut lines = list.split(|byte| *byte == b'\n');
    lines.find(|line| line.strip_prefix(vendor).is_some_and(|rest| rest.starts_with(b"  ")))?;
    let devices = lines.take_while(|line| line.starts_with(b"\t") || line.starts_with(b"#"));
    let name = devices.filter_map(|line| line.strip_prefix(b"\t")).find_map(|line| {
        line.strip_prefix(device)?.strip_prefix(b"  ").filter(|_| !device.is_empty())
    })?;
    Some(String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] = b"# comment\n1002  AMD\n\t73bf  Navi 21\n\t\t1002 0e3a  Variant\n# more\n\t73df  Navi 22\n10de  NVIDIA\n\t73e0  Other\n";

    #[test]
    fn a_device_is_found_below_its_maker() {
        assert_eq!(find(LIST, b"1002", b"73df").as_deref(), Some("Navi 22"));
        assert_eq!(find(LIST, b"1002", b"73e0"), None);
        assert_eq!(find(LIST, b"8086", b"73df"), None);
        assert_eq!(find(LIST, b"1002", b""), None);
    }
}
