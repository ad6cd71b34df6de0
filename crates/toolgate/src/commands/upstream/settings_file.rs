//! The settings file as commands change it: one value at a time, checked, and replaced as a whole. Two commands at once
//! lose nothing: each waits for the other, and starts from what it finds then.

use std::{
    collections::BTreeMap,
    fs::{File, TryLockError},
    io::ErrorKind,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context, bail};
use contract::{Document, document::edit};
use serde_json::{Map, Value};

use crate::{
    files, interrupts,
    settings::{self, DEFAULT_FILE, Flags, LoadedSettings, env_file, secret_values},
};

/// The time that a command waits for another one that changes the settings.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(10);
/// The interval between two attempts to get the lock.
const LOCK_POLL: Duration = Duration::from_millis(20);
/// The most variables of one name that are told apart by a number.
const MAX_SAME_NAMES: usize = 1_000;

/// The settings file of this command.
pub struct SettingsFile<'a> {
    flags: &'a Flags,
    pub path: PathBuf,
}

/// The settings as they would be: nothing is written yet.
#[derive(Clone)]
pub struct SettingsDraft<'a> {
    file: &'a SettingsFile<'a>,
    text: String,
    /// New variables of the variables file.
    variables: BTreeMap<String, String>,
}

impl<'a> SettingsFile<'a> {
    /// The file that the settings are read from, or `toolgate.yaml`, which is then created.
    pub fn of(flags: &'a Flags, command: &str) -> anyhow::Result<Self> {
        if flags.no_config {
            bail!("`--no-config` cannot be used with `{command}`: it changes the settings file");
        }
        let path = flags.file().unwrap_or_else(|| DEFAULT_FILE.into());
        files::can_be_written(&path)?;
        Ok(Self { flags, path })
    }

    /// The settings as they are now. A file with mistakes is not changed.
    pub fn draft(&self) -> anyhow::Result<SettingsDraft<'_>> {
        let is_missing =
            self.path.metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        let text = if is_missing { String::new() } else { settings::read(&self.path)? };
        Ok(SettingsDraft { file: self, text, variables: BTreeMap::new() })
    }

    /// Changes the file. The edit starts from what is in the file now.
    pub fn change<T>(
        &self,
        edit: impl FnOnce(&mut SettingsDraft<'_>) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let _lock = self.lock()?;
        let mut draft = self.draft()?;
        let before = draft.text.clone();
        let done = edit(&mut draft)?;
        draft.load()?;
        // First: settings that name a variable which is not there could not be used.
        draft.write_variables()?;
        if draft.text != before {
            files::replace(&self.path, &draft.text)?;
        }
        Ok(done)
    }

    /// Keeps other commands from changing the file: the file itself is replaced, so its folder is locked.
    fn lock(&self) -> anyhow::Result<File> {
        let real = self.path.canonicalize().unwrap_or_else(|_| self.path.clone());
        let folder = real.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let shown = folder.display();
        let opened =
            File::open(folder).with_context(|| format!("cannot open the folder `{shown}`"))?;
        let deadline = Instant::now() + MAX_LOCK_WAIT;
        loop {
            match opened.try_lock() {
                Ok(()) => return Ok(opened),
                Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                    interrupts::check()?;
                    std::thread::sleep(LOCK_POLL);
                }
                Err(TryLockError::WouldBlock) => bail!(
                    "another command has been changing the settings in `{shown}` for {} s; try again",
                    MAX_LOCK_WAIT.as_secs()
                ),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("cannot lock the folder `{shown}`"));
                }
            }
        }
    }

    fn variables_file(&self) -> PathBuf {
        self.path.with_file_name(env_file::NAME)
    }
}

impl SettingsDraft<'_> {
    /// The settings, with all variables.
    pub fn load(&self) -> anyhow::Result<LoadedSettings> {
        let loaded = self.file.flags.load_text(Some(self.file.path.clone()), self.text.clone())?;
        let mut variables = env_file::read(&self.file.variables_file())?;
        variables.extend(self.variables.clone());
        guard::variables::set_of_file(variables);
        Ok(loaded)
    }

    /// The value at these keys.
    pub fn value(&self, path: &[&str]) -> Option<Value> {
        let document = Document::parse("", &self.text).ok()?;
        path.iter().try_fold(document.value(), |value, key| value.get(*key)).cloned()
    }

    /// Sets a value.
    pub fn set(&mut self, path: &[&str], value: &Value) -> anyhow::Result<()> {
        self.text = edit::set(&self.text, path, value)
            .with_context(|| format!("cannot change `{}`", self.file.path.display()))?;
        Ok(())
    }

    /// Adds an item to a list.
    pub fn push(&mut self, path: &[&str], item: &Value) -> anyhow::Result<()> {
        self.text = edit::push(&self.text, path, item)
            .with_context(|| format!("cannot change `{}`", self.file.path.display()))?;
        Ok(())
    }

    /// Moves the secrets of an upstream into the variables file. Returns the key and the variable of each.
    pub fn move_secrets(
        &mut self,
        id: &str,
        entry: &mut Map<String, Value>,
    ) -> anyhow::Result<Vec<(String, String)>> {
        let mut moved = Vec::new();
        for place in secret_values::secrets(entry) {
            let value = match &place[..] {
                [key] => entry.get_mut(key),
                [section, key] => match entry.get_mut(section) {
                    Some(Value::Array(items)) => {
                        key.parse::<usize>().ok().and_then(|index| items.get_mut(index))
                    }
                    section => section.and_then(|section| section.get_mut(key)),
                },
                _ => None,
            };
            let Some(value) = value else { continue };
            let text = value.as_str().unwrap_or_default().to_owned();
            // Of an option with its value only the value.
            let (option, secret) = match text.split_once('=') {
                Some((option, secret)) if option.starts_with('-') => (format!("{option}="), secret),
                _ => (String::new(), text.as_str()),
            };
            let key = match place[0].as_str() {
                "args" if option.is_empty() => "ARGUMENT",
                "args" => option.trim_matches(['-', '=']),
                _ => &place[place.len() - 1],
            };
            let name = self.variable(id, key, secret)?;
            *value = Value::from(format!("{option}${{{name}}}"));
            self.variables.insert(name.clone(), secret.to_owned());
            moved.push((place.join("."), name));
        }
        Ok(moved)
    }

    /// The name of a variable for a secret: one that nothing else has.
    fn variable(&self, id: &str, key: &str, secret: &str) -> anyhow::Result<String> {
        let of_file = env_file::read(&self.file.variables_file())?;
        let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
        let plain = |text: &str| text.chars().map(fits).collect::<String>();
        let (id, key) = (plain(id), plain(key));
        let base = if key.starts_with(&format!("{id}_")) { key } else { format!("{id}_{key}") };
        let numbered = (2..MAX_SAME_NAMES).map(|number| format!("{base}_{number}"));
        let is_free = |name: &String| {
            let taken = self.variables.get(name).or_else(|| of_file.get(name)).cloned();
            let taken = std::env::var(name).ok().or(taken);
            taken.is_none_or(|taken| taken == secret)
        };
        std::iter::once(base.clone())
            .chain(numbered)
            .find(is_free)
            .with_context(|| format!("more than {MAX_SAME_NAMES} variables are named `{base}`"))
    }

    fn write_variables(&self) -> anyhow::Result<()> {
        let file = self.file.variables_file();
        let there = env_file::read(&file)?;
        let mut new = self.variables.clone();
        new.retain(|name, value| there.get(name) != Some(value));
        if new.is_empty() {
            return Ok(());
        }
        let text = env_file::with(&env_file::text(&file)?, &new);
        files::create_private(&file);
        files::replace(&file, &text)
    }
}
