//! The sandboxes of the programs that we start: upstreams, commands and model servers.

use std::path::PathBuf;

use contract::SandboxSettings;
use guard::process::{ProcessSandbox, SandboxLevel};

use super::BoundTool;
use crate::settings::{
    LoadedSettings,
    operator_paths::{PathRole, ProgramOwner},
};

/// What is true where the kernel cannot keep anything from programs.
pub const NO_LANDLOCK: &str = "the kernel has no Landlock: every program of this user, upstreams and \
                               commands too, can read `operator.token` and approve calls";
/// What to do about it.
pub const NO_LANDLOCK_HINT: &str = "use Linux 5.13 or newer with Landlock switched on, or run upstreams as another user or in \
                                    a container";

/// What to tell the operator if there are programs and nothing keeps them from our files.
pub fn missing(loaded: &LoadedSettings, bound: &[BoundTool]) -> Option<String> {
    let mut upstreams = loaded.settings.upstreams.values();
    let starts_programs = upstreams.any(|one| one.enabled && one.command.is_some())
        || bound.iter().any(|one| one.contract.run.is_some());
    let is_missing = starts_programs && SandboxLevel::of_this_machine() == SandboxLevel::Not;
    is_missing.then(|| format!("{NO_LANDLOCK}; {NO_LANDLOCK_HINT}"))
}

/// An upstream that runs as the operator does, and code of it that another program can change.
pub struct ExposedUpstream {
    id: String,
    other: ProgramOwner,
    place: PathBuf,
}

impl ExposedUpstream {
    /// The setting that makes it one, as a JSON pointer.
    pub fn pointer(&self) -> String {
        format!("/upstreams/{}/sandbox/enabled", self.id)
    }

    pub fn message(&self) -> String {
        let Self { id, other, place } = self;
        let place = place.display();
        format!("upstream `{id}` has no sandbox, and {other} can change what it runs: `{place}`")
    }
}

/// What to do about it.
pub const EXPOSED_HINT: &str =
    "give it a sandbox, or the other one: `sandbox: { write: [ FOLDER ] }`";

/// The upstreams without a sandbox whose code another program can change, so that the sandbox of that one is none.
pub fn exposed(loaded: &LoadedSettings, bound: &[BoundTool]) -> Vec<ExposedUpstream> {
    let upstreams = || {
        let all = loaded.settings.upstreams.iter();
        all.filter(|(_, one)| one.enabled && one.command.is_some())
    };
    let others: Vec<(ProgramOwner, &SandboxSettings)> = upstreams()
        .map(|(id, one)| (ProgramOwner::Upstream(id.clone()), &one.sandbox))
        .chain(
            bound
                .iter()
                .filter(|one| one.contract.run.is_some())
                .map(|one| (ProgramOwner::Tool(one.contract.name.clone()), &one.contract.sandbox)),
        )
        .collect();
    let mut found = Vec::new();
    for (id, _) in upstreams().filter(|(_, own)| !own.sandbox.enabled) {
        let owner = ProgramOwner::Upstream(id.clone());
        let places = loaded.operator_paths().started_with(&owner);
        let places: Vec<_> = places.collect();
        // Who has no sandbox either can do everything anyway.
        let boxes = others.iter().filter(|(other, sandbox)| *other != owner && sandbox.enabled);
        let exposed = boxes.into_iter().find_map(|(other, sandbox)| {
            let place = |path: &str| loaded.path(path);
            let sandbox = of(loaded, other, sandbox, place, true)?;
            let cwd = loaded.path(".");
            let changed = places.iter().find(|place| sandbox.can_change(place, &cwd))?;
            Some(ExposedUpstream { id: id.clone(), other: other.clone(), place: (*changed).into() })
        });
        found.extend(exposed);
    }
    found
}

/// The sandbox of a program; none where the operator has switched it off. `place` makes a path of its settings whole,
/// and `network` is whether it has a network where they do not say.
pub fn of(
    loaded: &LoadedSettings,
    owner: &ProgramOwner,
    own: &SandboxSettings,
    place: impl Fn(&str) -> PathBuf,
    network: bool,
) -> Option<ProcessSandbox> {
    if !own.enabled {
        return None;
    }
    let is_narrow = own.read.is_some() || own.write.is_some();
    let paths = |list: &Option<Vec<String>>| -> Vec<PathBuf> {
        list.iter().flatten().map(|path| place(path)).collect()
    };
    let everything = || vec![PathBuf::from("/")];
    Some(ProcessSandbox {
        read: paths(&own.read),
        write: if is_narrow { paths(&own.write) } else { everything() },
        hidden: loaded.operator_paths().places(PathRole::Secret),
        fixed: loaded.operator_paths().fixed_for(owner),
        network: own.network.unwrap_or(network),
        required: is_narrow && !own.optional,
    })
}
