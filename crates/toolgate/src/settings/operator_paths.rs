//! The paths by which the operator decides what runs, is served and is recorded. They are listed here and nowhere else:
//! no tool may write there, and programs that we start reach them only as far as their role allows.

mod named_paths;

use std::{
    collections::BTreeSet,
    fmt,
    path::{Path, PathBuf},
};

use contract::Document;
use guard::{files::PathLocation, process};
use named_paths::StartFolder;
use upstream::variables;

use super::{AllowlistSetting, LoadedSettings, env_file};
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
    /// Whom it is named for, where the operator may say that it is data.
    pub named_for: Option<ProgramOwner>,
}

/// A file or folder that a program is, or is started with.
#[derive(Debug)]
struct ProgramFile {
    owner: ProgramOwner,
    place: PathBuf,
    /// True if others may not change it, because it is in the folder of the settings.
    is_kept: bool,
    kind: ProgramFileKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProgramFileKind {
    /// Its words or variables name it, or it starts there.
    Named,
    /// A folder that counts because a file of the program lies there.
    Around,
    /// It is named, and is data and no code.
    Data,
}

/// How a program is started.
struct ProgramStart {
    owner: ProgramOwner,
    words: Vec<String>,
    /// The values of the variables that it is given.
    variables: Vec<String>,
    folder: PathBuf,
    /// What is data among all that is named.
    data: Vec<PathBuf>,
}

impl ProgramStart {
    /// One without variables of its own, for which everything that it names is code.
    fn plain(owner: ProgramOwner, words: Vec<String>, folder: PathBuf) -> Self {
        Self { owner, words, variables: Vec::new(), folder, data: Vec::new() }
    }
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
    /// The folder of the settings, in which no program changes what is not its own. None where there are no settings, or
    /// it holds the home: too much else is there.
    settings_folder: Option<PathBuf>,
}

impl OperatorPaths {
    pub fn of(loaded: &LoadedSettings) -> Self {
        let mut all = Self { settings_folder: settings_folder(loaded), ..Self::default() };
        all.files(loaded);
        all.authorities(loaded);
        all.programs(loaded);
        all
    }

    pub fn iter(&self) -> impl Iterator<Item = &OperatorPath> {
        self.paths.iter()
    }

    /// The places that a program may not change, but for its own ([`Self::of_program`]): what decides what is served or
    /// trusted, and the folder of the settings.
    pub fn fixed_for(&self, owner: &ProgramOwner) -> Vec<PathBuf> {
        let own = self.program_files.iter().filter(|own| own.owner == *owner);
        self.fixed_beside(&own.collect::<Vec<_>>())
    }

    /// What a program may change in the folder of the settings: what its words and variables name, the folders of these
    /// files, and the folder that it starts in. Nothing of that is the operator's.
    pub fn of_program(&self, owner: &ProgramOwner) -> Vec<PathBuf> {
        let own = self.program_files.iter().filter(|own| own.owner == *owner);
        self.may_change(&own.collect::<Vec<_>>())
    }

    fn may_change(&self, own_files: &[&ProgramFile]) -> Vec<PathBuf> {
        let kept = [PathRole::Secret, PathRole::Fixed].map(|role| self.places(role)).concat();
        let is_operators = |place: &Path| kept.iter().any(|kept| place.starts_with(kept));
        let own = own_files.iter().filter(|own| own.is_kept && !is_operators(&own.place));
        own.map(|own| own.place.clone()).filter(|place| place.exists()).collect()
    }

    /// The same two for a program that is named behind `--`, which starts in this folder: what it may not change, and what
    /// it may.
    pub fn for_command(
        &self,
        loaded: &LoadedSettings,
        words: Vec<String>,
        folder: PathBuf,
    ) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let mut alone = Self::default();
        let owner = ProgramOwner::CommandLine;
        alone.started(loaded, &ProgramStart::plain(owner, words, folder));
        let own: Vec<_> = alone.program_files.iter().collect();
        (self.fixed_beside(&own), self.may_change(&own))
    }

    fn fixed_beside(&self, own_files: &[&ProgramFile]) -> Vec<PathBuf> {
        let mut places = self.places(PathRole::Fixed);
        if let Some(folder) = &self.settings_folder
            // One that is told this very folder works on what is in it.
            && !own_files.iter().any(|own| own.place == *folder)
        {
            places.push(folder.clone());
            return places;
        }
        // Programs that share a folder share what is in it.
        let is_own = |file: &ProgramFile| {
            own_files.iter().any(|own| {
                let shares_own = match own.kind {
                    ProgramFileKind::Around => file.place.parent() == Some(&own.place),
                    _ => own.is_kept && file.place.starts_with(&own.place),
                };
                own.owner == file.owner || own.place.starts_with(&file.place) || shares_own
            })
        };
        let is_code = |file: &&ProgramFile| file.is_kept && file.kind != ProgramFileKind::Data;
        let kept = self.program_files.iter().filter(is_code).filter(|file| !is_own(file));
        places.extend(kept.map(|file| file.place.clone()));
        places
    }

    /// The places in the folder of the settings in which code of programs lies, each with its program.
    pub fn code_places(&self) -> impl Iterator<Item = (&ProgramOwner, &Path)> {
        let code = self.program_files.iter();
        let code = code.filter(|file| file.is_kept && file.kind != ProgramFileKind::Data);
        code.map(|file| (&file.owner, file.place.as_path()))
    }

    /// What a program is started with.
    pub fn started_with(&self, owner: &ProgramOwner) -> impl Iterator<Item = &Path> {
        let own = self.program_files.iter().filter(move |file| file.owner == *owner);
        let named = own.filter(|file| file.kind == ProgramFileKind::Named);
        named.map(|file| file.place.as_path())
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
            self.paths.push(OperatorPath { what: what.into(), role, location, named_for: None });
        }
    }

    /// Adds what a program is told beside its own path.
    fn add_named(&mut self, owner: &ProgramOwner, path: &Path) {
        let Ok(location) = PathLocation::of(path) else { return };
        let kind = if path.is_dir() { "folder" } else { "file" };
        let what = format!("a {kind} that {owner} is started with");
        let named_for = Some(owner.clone());
        self.paths.push(OperatorPath { what, role: PathRole::Started, location, named_for });
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
            self.add(PathRole::Secret, "the variables file", &loaded.path(env_file::NAME));
        }
        if let Some(tls) = &settings.server.tls {
            self.add(
                PathRole::Fixed,
                "the certificate (`server.tls.cert`)",
                &loaded.path(&tls.cert),
            );
            self.add(PathRole::Secret, "the key (`server.tls.key`)", &loaded.path(&tls.key));
        }
        if settings.journal.path.is_some() {
            let journal = loaded.journal();
            self.add(PathRole::Secret, "the journal", &journal);
            // Those that are not there yet, too: a program that is running then could read what it is started beside.
            for number in 1..=settings.journal.max_files {
                let rotated = PathBuf::from(format!("{}.{number}", journal.display()));
                self.add(PathRole::Secret, "the journal", &rotated);
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
            let expand = |text: &str| variables::expand(text, guard::variables::get).ok();
            let cwd = own.cwd.as_deref().and_then(expand);
            let cwd = loaded.path(cwd.as_deref().unwrap_or("."));
            let words = own.command.iter().chain(&own.args);
            let words = words.filter_map(|word| expand(word)).collect();
            let variables = own.env.values().filter_map(|value| expand(value)).collect();
            let owner = ProgramOwner::Upstream(id.clone());
            let data = own.sandbox.data.iter().map(|path| loaded.path(path)).collect();
            if own.cwd.is_some() {
                self.program_file(loaded, &owner, &cwd, ProgramFileKind::Named);
            }
            let start = ProgramStart { owner, words, variables, folder: cwd.clone(), data };
            self.started(loaded, &start);
            self.add(PathRole::Started, format!("the folder that upstream `{id}` starts in"), &cwd);
        }
        for start in commands(loaded) {
            self.started(loaded, &start);
        }
        let mlx = loaded.tools().mlx;
        if mlx.is_local() {
            let (owner, words) = (ProgramOwner::ModelServers, mlx.launch.clone());
            let folder = loaded.path(".");
            self.started(loaded, &ProgramStart::plain(owner, words, folder));
        }
    }

    fn started(&mut self, loaded: &LoadedSettings, start: &ProgramStart) {
        let ProgramStart { owner, words, variables, folder, data } = start;
        let Some((program, arguments)) = words.split_first() else { return };
        let found = process::find_program(program.as_ref(), folder).ok();
        let path = found.or_else(|| program.contains('/').then(|| folder.join(program)));
        if let Some(path) = path {
            self.program_file(loaded, owner, &path, ProgramFileKind::Named);
            self.add(PathRole::Started, format!("the program of {owner}"), &path);
        }
        let data: Vec<_> = data.iter().filter_map(|path| PathLocation::of(path).ok()).collect();
        let is_data = |path: &Path| {
            PathLocation::of(path).is_ok_and(|path| data.iter().any(|data| path.is_within(data)))
        };
        let folder = StartFolder::read(folder);
        let named = arguments.iter().chain(variables).flat_map(|text| folder.named_by(text));
        for path in named.collect::<BTreeSet<_>>() {
            if is_data(&path) {
                self.program_file(loaded, owner, &path, ProgramFileKind::Data);
            } else {
                self.program_file(loaded, owner, &path, ProgramFileKind::Named);
                self.add_named(owner, &path);
            }
        }
    }

    /// In the folder of the settings it is kept from others. Elsewhere a program of this user may change what it likes: a
    /// home in which files were kept from it would be one in which it makes no new ones.
    fn program_file(
        &mut self,
        loaded: &LoadedSettings,
        owner: &ProgramOwner,
        path: &Path,
        kind: ProgramFileKind,
    ) {
        let Ok(location) = PathLocation::of(path) else { return };
        let folder = loaded.path(".");
        let folder = folder.canonicalize().unwrap_or(folder);
        let is_inside = |place: &Path| place.starts_with(&folder) && place != folder;
        let mut add = |place: &Path, kind| {
            let (owner, place) = (owner.clone(), place.to_owned());
            let is_kept = is_inside(&place);
            self.program_files.push(ProgramFile { owner, place, is_kept, kind });
        };
        for place in location.places() {
            add(place, kind);
            if kind == ProgramFileKind::Data || place.is_dir() {
                continue;
            }
            // What a script imports lies beside it, and what a program in `bin` uses beside that.
            let around = place.parent();
            let is_programs = |folder: &&Path| folder.ends_with("bin") || folder.ends_with(".bin");
            let prefix = around.filter(is_programs).and_then(Path::parent);
            for around in [around, prefix].into_iter().flatten().filter(|around| is_inside(around))
            {
                add(around, ProgramFileKind::Around);
            }
        }
    }
}

/// The commands of the user's contracts: the tool, its words, and the folder of the contract. What cannot be read is told
/// where contracts are loaded.
fn commands(loaded: &LoadedSettings) -> Vec<ProgramStart> {
    let files = wiring::user_files(loaded).unwrap_or_default();
    let command = |file: PathBuf| {
        let text = loaded.sources.contract_text(&file).ok()?;
        let document = Document::parse("", &text).ok()?;
        let folder = file.parent()?.to_owned();
        let list = |pointer: &str| -> Option<Vec<String>> {
            let words = document.value().pointer(pointer)?.as_array()?.iter();
            let words = words.filter_map(|word| word.as_str());
            let placed = |word: &str| word.replace("{contract_dir}", &folder.to_string_lossy());
            Some(words.map(placed).collect())
        };
        let words = list("/run")?;
        let env = list("/env").unwrap_or_default();
        let value = |entry: &String| Some(entry.split_once('=')?.1.to_owned());
        let variables = env.iter().filter_map(value).collect();
        let data = list("/sandbox/data").unwrap_or_default();
        let data = data.iter().map(|path| folder.join(path)).collect();
        let name = document.value().get("name")?.as_str()?.to_owned();
        let owner = ProgramOwner::Tool(name);
        Some(ProgramStart { owner, words, variables, folder, data })
    };
    files.into_iter().filter_map(command).collect()
}

/// The folder of the settings, unless it is the home or holds it.
fn settings_folder(loaded: &LoadedSettings) -> Option<PathBuf> {
    loaded.file.as_ref()?;
    let folder = loaded.path(".").canonicalize().ok()?;
    let home = std::env::var_os("HOME").and_then(|home| PathBuf::from(home).canonicalize().ok());
    (!home.is_some_and(|home| home.starts_with(&folder))).then_some(folder)
}
