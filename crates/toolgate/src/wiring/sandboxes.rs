//! The sandboxes of the programs that we start: upstreams, commands and model servers.

use std::path::{Path, PathBuf};

use contract::SandboxSettings;
use guard::{
    files::PathLocation,
    process::{ProcessSandbox, SandboxLevel},
};

use super::BoundTool;
use crate::settings::{
    LoadedSettings, SettingsError,
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
    let paths = loaded.operator_paths();
    let is_narrow = own.read.is_some() || own.write.is_some();
    let listed = |list: &Option<Vec<String>>| -> Vec<PathBuf> {
        let listed = list.iter().flatten();
        listed.filter_map(|path| listed_place(loaded, &place(path)).ok()).collect()
    };
    let everything =
        || std::iter::once(PathBuf::from("/")).chain(paths.of_program(owner)).collect();
    Some(ProcessSandbox {
        read: listed(&own.read),
        write: if is_narrow { listed(&own.write) } else { everything() },
        hidden: paths.places(PathRole::Secret),
        fixed: paths.fixed_for(owner),
        network: own.network.unwrap_or(network),
        required: is_narrow && !own.optional,
    })
}

/// Refuses lists that open what is the operator's without naming it.
pub fn check(loaded: &LoadedSettings, bound: &[BoundTool]) -> anyhow::Result<()> {
    for (id, own) in &loaded.settings.upstreams {
        for (key, list) in [("read", &own.sandbox.read), ("write", &own.sandbox.write)] {
            for (index, path) in list.iter().flatten().enumerate() {
                let checked = listed_place(loaded, &loaded.path(path));
                let pointer = format!("/upstreams/{id}/sandbox/{key}/{index}");
                checked.map_err(|why| SettingsError::new(&pointer, why))?;
            }
        }
    }
    for one in bound {
        let (name, sandbox) = (&one.contract.name, &one.contract.sandbox);
        for path in [&sandbox.read, &sandbox.write].into_iter().flatten().flatten() {
            // Relative ones start at the folder of the contract, which is not known here: they were left out there.
            let path = Path::new(path);
            if path.is_absolute() {
                listed_place(loaded, path)
                    .map_err(|why| anyhow::anyhow!("`sandbox` of tool `{name}`: {why}"))?;
            }
        }
    }
    Ok(())
}

/// The place that a path of a list leads to now; later it leads nowhere else. It opens what is the operator's only where it
/// names that itself.
fn listed_place(loaded: &LoadedSettings, path: &Path) -> Result<PathBuf, String> {
    let shown = path.display();
    let location = PathLocation::of(path).map_err(|error| format!("`{shown}`: {error}"))?;
    let end = location.end();
    let mut operators = loaded.operator_paths().iter();
    let opened = operators.find(|operator| {
        operator.role != PathRole::Started && end.starts_with(operator.location.end())
    });
    match opened {
        Some(operator) if !location.is_direct() => Err(format!(
            "`{shown}` leads through a link to {} (`{}`); name that place itself",
            operator.what,
            end.display()
        )),
        _ => Ok(end.to_owned()),
    }
}
