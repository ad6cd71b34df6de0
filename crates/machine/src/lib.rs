//! Facts about this machine: its hardware, its software, and what changed since.
//!
//! - [`hardware`] says what the machine is made of, and what a container leaves of it.
//! - [`software`] says what runs on it: [`KeyPackages`] and [`Selection`] pick the packages.
//! - [`diff`] compares either with how it was before.
//!
//! It is a crate of its own for three reasons. It must build where `guard` does not (macOS), so
//! it starts no program and depends on no other crate of the workspace. It knows the formats of
//! package databases and of the kernel's files, which nobody else needs to. And it takes a
//! driver's library along (NVML), which should touch one place only.
//!
//! It may touch this: it reads files, below [`MachineEnvironment::root`] and below the folders that the
//! environment names, and never writes one. Whatever it reads may be broken, huge or hostile:
//! files and listings are bounded, what cannot be understood is left out and counted, and
//! nothing panics.
//!
//! ```
//! use machine::{KeyPackages, MachineEnvironment, Selection};
//!
//! let machine = MachineEnvironment::here();
//! let key = KeyPackages::new(["git", "linux-image-*"]);
//! let software = machine::software(&machine, &Selection::key(&key));
//! assert!(!software.kernel.is_empty());
//!
//! let baseline = serde_json::to_value(software)?;
//! assert!(machine::diff(&machine, &key, &baseline)?.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod diff;
mod environment;
mod hardware;
mod read;
mod software;

pub use diff::{Addition, BaselineError, MachineChanges, Modification, Removal, diff};
pub use environment::MachineEnvironment;
pub use hardware::{Container, Cpu, Disk, Gpu, Hardware, Ram, hardware};
pub use software::{
    KeyPackages, PackageScope, PackageSource, Selection, Software, SourceState,
    default_key_packages, software,
};
