//! The paths by which the operator decides what runs, is served and is recorded. They are listed here and nowhere else:
//! no tool may write there, and programs that we start reach them only as far as their role allows.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use contract::Document;
use guard::{files::PathLocation, process};
use upstream::variables;

use super::{AllowlistSetting, LoadedSettings};
use crate::wiring;

/// What a path is to the programs that we start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRole {
    /// Only Toolgate may read or change it.
    Secret,
    /// It decides what is served or trusted: everybody may read it, nobody may change it.
    Fixed,
    /// A program starts with it or in it. It is not kept from programs, which may be its owners, but no tool may write
    /// there.
    Started,
}

/// A path of the operator's.
#[derive(Debug)]
pub struct OperatorPath {
    /// What it is, for messages.
    pub what: String,
    pub role: PathRole,
    pub location: PathLocation,
}

/// A file in the folder of the settings that a program is, or is started with.
#[derive(Debug)]
struct ProgramFile {
    owner: ProgramOwner,
    place: PathBuf,
}

/// What a program is started for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramOwner {
    /// An upstream, by its id.
    Upstream(String),
    /// A tool, by its name.
    Tool(String),
    ModelServers,
    /// A person who names it behind `--`.
    CommandLine,
}

impl fmt::Display for ProgramOwner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Upstream(id) => write!(formatter, "upstream `{id}`"),
            Self::Tool(name) => write!(formatter, "tool `{name}`"),
            Self::ModelServers => write!(formatter, "model servers (`tools.mlx.launch`)"),
            Self::CommandLine => write!(formatter, "the command line"),
        }
    }
}

/// The list.
#[derive(Debug, Default)]
pub struct OperatorPaths {
    paths: Vec<OperatorPath>,
    program_files: Vec<ProgramFile>,
}

impl OperatorPaths {
    pub fn of(loaded: &LoadedSettings) -> Self {
        let mut all = Self::default();
        all.files(loaded);
        all.authorities(loaded);
        all.programs(loaded);
        all
    }

    pub fn iter(&self) -> impl Iterator<Item = &OperatorPath> {
        self.paths.iter()
    }

    /// The places that a program may not change: what decides what is served or trusted, and what other programs are
    /// started with.
    pub fn fixed_for(&self, owner: &ProgramOwner) -> Vec<PathBuf> {
        let mut places = self.places(PathRole::Fixed);
        let own = |place: &PathBuf| {
            self.program_files.iter().any(|file| file.owner == *owner && file.place == *place)
        };
        let others = self.program_files.iter().filter(|file| file.owner != *owner);
        places.extend(others.map(|file| &file.place).filter(|place| !own(place)).cloned());
        places
    }

    /// The places of all paths with a role, but for those that lie below another.
    pub fn places(&self, role: PathRole) -> Vec<PathBuf> {
        let paths = self.iter().filter(|path| path.role == role);
        let mut places: Vec<_> = paths.flat_map(|path| path.location.places()).collect();
        places.sort();
        // Behind a folder comes what is below it.
        places.dedup_by(|place, above| place.starts_with(above));
        places.into_iter().map(Path::to_owned).collect()
    }

    fn add(&mut self, role: PathRole, what: impl Into<String>, path: &Path) {
        // A loop of links leads nowhere: whoever opens it is told.
        if let Ok(location) = PathLocation::of(path) {
            self.paths.push(OperatorPath { what: what.into(), role, location });
        }
    }

    /// What Toolgate itself reads and writes.
    fn files(&mut self, loaded: &LoadedSettings) {
        let settings = &loaded.settings;
        self.add(PathRole::Secret, "the data folder", &loaded.data_dir());
        // The one in the system's folder for temporary files only where it is used: where something of ours is, programs
        // get a folder of their own to make files in.
        for folder in store::work_folders_in_use(&loaded.work_folders()) {
            self.add(PathRole::Secret, "the work folder", folder);
        }
        self.add(PathRole::Started, "the folder for temporary files", &std::env::temp_dir());
        if let Some(file) = &loaded.file {
            self.add(PathRole::Secret, "the settings file", file);
        }
        if settings.journal.path.is_some() {
            let journal = loaded.journal();
            self.add(PathRole::Secret, "the journal", &journal);
            let rotated = (1..=settings.journal.max_files)
                .map(|number| PathBuf::from(format!("{}.{number}", journal.display())));
            for file in rotated.take_while(|file| file.exists()) {
                self.add(PathRole::Secret, "the journal", &file);
            }
        }
        if let Some(folder) = &settings.ask.trace_dir {
            self.add(PathRole::Secret, "the traces (`ask.trace_dir`)", &loaded.path(folder));
        }
        for contracts in &settings.contracts {
            self.add(PathRole::Fixed, "contracts", &loaded.path(contracts));
        }
        self.add(PathRole::Fixed, "the overlays", &loaded.path(&settings.overlays));
        self.add(PathRole::Fixed, "the lock", &loaded.path(&settings.lock));
        if let Some(AllowlistSetting::File(file)) = &settings.allowlist {
            self.add(PathRole::Fixed, "the allowlist", &loaded.path(file));
        }
        if let Ok(program) = std::env::current_exe() {
            self.add(PathRole::Fixed, "the program of Toolgate itself", &program);
        }
    }

    /// Certificates that are trusted.
    fn authorities(&mut self, loaded: &LoadedSettings) {
        let tools = loaded.tools();
        let sections = [
            ("tools.web_fetch", tools.web_fetch.extra_ca),
            ("tools.search", tools.search.extra_ca),
            ("llm", tools.llm.extra_ca),
        ];
        for (section, files) in sections {
            for file in files {
                self.add(PathRole::Fixed, format!("certificates (`{section}.extra_ca`)"), &file);
            }
        }
        for (id, own) in &loaded.settings.upstreams {
            for file in &own.extra_ca {
                let what = format!("certificates (`upstreams.{id}.extra_ca`)");
                self.add(PathRole::Fixed, what, &loaded.path(file));
            }
        }
    }

    /// The programs that we start, with the files that they are given and the folders that they start in.
    fn programs(&mut self, loaded: &LoadedSettings) {
        let settings = &loaded.settings;
        for (id, own) in settings.upstreams.iter().filter(|(_, own)| own.command.is_some()) {
            let expand = |text: &str| variables::expand(text, |name| std::env::var(name).ok()).ok();
            let cwd = own.cwd.as_deref().and_then(expand);
            let cwd = loaded.path(cwd.as_deref().unwrap_or("."));
            let words = own.command.iter().chain(&own.args);
            let words: Vec<_> = words.filter_map(|word| expand(word)).collect();
            self.started(loaded, &ProgramOwner::Upstream(id.clone()), &words, &cwd);
            self.add(PathRole::Started, format!("the folder that upstream `{id}` starts in"), &cwd);
        }
        for (name, words, folder) in commands(loaded) {
            self.started(loaded, &ProgramOwner::Tool(name), &words, &folder);
        }
        let mlx = loaded.tools().mlx;
        if mlx.is_local() {
            self.started(loaded, &ProgramOwner::ModelServers, &mlx.launch, &loaded.path("."));
        }
    }

    fn started(
        &mut self,
        loaded: &LoadedSettings,
        owner: &ProgramOwner,
        words: &[String],
        folder: &Path,
    ) {
        let Some((program, arguments)) = words.split_first() else { return };
        let found = process::find_program(program.as_ref(), folder).ok();
        let path = found.or_else(|| program.contains('/').then(|| folder.join(program)));
        if let Some(path) = path {
            self.program_file(loaded, owner, &path);
            self.add(PathRole::Started, format!("the program of {owner}"), &path);
        }
        // A script is an argument of what runs it.
        for argument in arguments {
            let value = argument.split_once('=').map(|(_, value)| value);
            let files = [Some(argument.as_str()), value].into_iter().flatten();
            for file in files.map(|file| folder.join(file)).filter(|file| file.is_file()) {
                self.program_file(loaded, owner, &file);
                let what = format!("a file that {owner} is started with");
                self.add(PathRole::Started, what, &file);
            }
        }
    }

    /// Elsewhere a program of this user may change what it likes: a home in which files were kept from it would be one in
    /// which it makes no new ones.
    fn program_file(&mut self, loaded: &LoadedSettings, owner: &ProgramOwner, path: &Path) {
        let Ok(location) = PathLocation::of(path) else { return };
        let folder = loaded.path(".");
        let folder = folder.canonicalize().unwrap_or(folder);
        let places = location.places().filter(|place| place.starts_with(&folder));
        self.program_files
            .extend(places.map(|place| ProgramFile { owner: owner.clone(), place: place.into() }));
    }
}

/// The commands of the user's contracts: the tool, its words, and the folder of the contract. What cannot be read is told
/// where contracts are loaded.
fn commands(loaded: &LoadedSettings) -> Vec<(String, Vec<String>, PathBuf)> {
    let files = wiring::user_files(loaded).unwrap_or_default();
    let command = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).ok()?;
        let document = Document::parse("", &text).ok()?;
        let folder = file.parent()?.to_owned();
        let words = document.value().get("run")?.as_array()?.iter();
        let words = words.filter_map(|word| word.as_str());
        let words = words.map(|word| word.replace("{contract_dir}", &folder.to_string_lossy()));
        let name = document.value().get("name")?.as_str()?.to_owned();
        Some((name, words.collect(), folder))
    };
    files.into_iter().filter_map(command).collect()
}
